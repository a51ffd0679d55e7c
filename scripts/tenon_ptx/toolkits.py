"""The ptxas that filled the table, and which forms the ptxas of a CUDA version has.

Each form is assembled for the targets of its row, until one accepts it. The PTX says the newest version that this ptxas knows:
it is the ISA version of the toolkit that is asked about, not of the row.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

from tenon_sass.errors import BadInput, NoTool
from tenon_toolkit import fetch

from .assemble import CUDA_VERSION, accepted, batches
from .table import ARCHITECTURES, parse_version, spell_version

# Versions whose ptxas dies of a form in the kernel of assemble.py, which gives no answer: this one has more registers already
# than setmaxnreg.inc asks for.
DIES = {("12.5", "setmaxnreg.inc.sync.aligned.u32")}


def said(ptxas, *arguments, text=""):
    """What ptxas prints of itself, or of a source."""
    try:
        done = subprocess.run([str(ptxas), *arguments], input=text, capture_output=True, text=True, check=False)
    except OSError as error:
        raise BadInput(f"{ptxas} does not run: {error.strerror}") from None
    return done.stdout + done.stderr


def version_of(ptxas):
    """ "13.0" """
    text = said(ptxas, "--version")
    found = re.search(r"\brelease (\d+\.\d+)", text)
    if not found:
        raise BadInput(f"{ptxas} does not say its version but: {text.strip().partition(chr(10))[0][:500]}")
    return found[1]


def find_ptxas(name="ptxas"):
    """The installed program of that name or path, or None."""
    folders = [os.environ.get("PATH", "")]
    folders += [str(Path(t, "bin")) for t in (os.environ.get("CUDA_HOME"), "/usr/local/cuda") if t]
    return shutil.which(name, path=os.pathsep.join(folders))


def ptxas_of_the_table():
    """The installed ptxas if it is of the version that filled the table, else PyPI's of that version."""
    installed = find_ptxas()
    version = installed and version_of(installed)
    if version == CUDA_VERSION:
        return installed
    try:
        return str(fetch.fetch(CUDA_VERSION).ptxas)
    except NoTool as error:
        here = f"that of CUDA {version} is installed" if installed else "none is installed"
        raise NoTool(f"the table is of the ptxas of CUDA {CUDA_VERSION}, but {here}, and {error}") from None


def newest_isa(ptxas):
    """ "8.4": ptxas names it when it refuses a version that no ptxas has."""
    text = said(ptxas, "-arch=sm_75", "-", "-o", "/dev/null", text=".version 99.9\n.target sm_75\n")
    found = re.search(r"current version is '([\d.]+)'", text)
    if not found:
        raise BadInput(f"{ptxas} does not say its PTX ISA version but: {text.strip()[:500]}")
    return found[1]


def targets(ptxas):
    """The architectures of the table that this ptxas knows."""
    known = set(re.findall(r"'sm_(\w+)'", said(ptxas, "--help")))
    return [arch for arch in ARCHITECTURES if arch in known]


def has(forms, ptxas):
    """[whether this ptxas has the form]"""
    version, missing = newest_isa(ptxas), set(range(len(forms)))
    for arch in targets(ptxas):
        for batch in batches(sorted(i for i in missing if arch in forms[i].sass)):
            missing -= {batch[k] for k in accepted([forms[i] for i in batch], arch, ptxas, version)}
    return [i not in missing for i in range(len(forms))]


def since(by_version):
    """[the oldest version that has the form, as (12, 4), or ()] of {version: [whether it has the form]}, the oldest first."""
    versions = [parse_version(version) for version in by_version]
    return [next((version for version, there in zip(versions, row) if there), ()) for row in zip(*by_version.values())]


def differences(forms, by_version):
    """A sentence for each form and version that says otherwise than the column `toolkit`."""
    lines = []
    for version, found in by_version.items():
        for form, there in zip(forms, found):
            claimed = bool(form.toolkit) and form.toolkit <= parse_version(version)
            if claimed != there and (version, form.mnemonic) not in DIES:
                column = spell_version(form.toolkit)
                lines.append(f"{form.form}: the column toolkit says '{column}', but CUDA {version} {'has' if there else 'lacks'} it")
    return lines
