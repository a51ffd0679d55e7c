"""Compiles every form of the catalogue for one architecture, and checks the SASS that comes out.

  compile_forms.py compile <nvcc> <target> <folder>    one kernel a form, called by its exact signature -> cubin
  compile_forms.py sass <nvdisasm> <target> <folder>   each kernel holds the catalogue's opcodes, in number

<target> as in sm_<target>: 75, 80, 86, 89, 90, 90a. Exit status 77: skipped, for want of a disassembler.
"""
import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys

from catalogue import INCLUDE, ROOT, kernel_name, load, source

# Opcodes of which a kernel must hold no other than those the catalogue lists; loads and stores of local memory
# would mean a spill.
WATCHED = re.compile(r"^(HMMA|IMMA|BMMA|DMMA|QMMA|QGMMA|HGMMA|LDSM|STSM|MOVM|LDGSTS|LDGDEPBAR|USETMAXREG|LDL|STL)\b")


def forms_of(target):
    catalogue = load()
    return catalogue, [f for f in catalogue if f.exists_on(target)]


def compile_forms(nvcc, target, folder):
    catalogue, forms = forms_of(target)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"forms_sm_{target}.cu"
    path.write_text(source(forms, catalogue))
    subprocess.run([nvcc, "-std=c++17", "--Werror=all-warnings", "-Xcompiler=-Wall,-Wextra,-Werror", "-cubin",
                    f"-arch=sm_{target}", f"-I{INCLUDE}", path, "-o", path.with_suffix(".cubin")], check=True)
    print(f"sm_{target}: {len(forms)} forms compiled")


def opcodes_by_kernel(listing):
    kernels = collections.defaultdict(collections.Counter)
    name = None
    for line in listing.splitlines():
        if header := re.match(r"\.text\.(\w+):", line):
            name = header.group(1)
        elif name and (found := re.match(r"\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)", line)):
            kernels[name][found.group(1)] += 1
    return kernels


def find_nvdisasm(explicit):
    private = sorted(str(p) for p in (ROOT / ".tools").glob("venv/lib*/python3*/site-packages/nvidia/*/bin"))
    path = os.pathsep.join(private + [os.environ.get("PATH", "")])
    return shutil.which(explicit or os.environ.get("TENON_NVDISASM") or "nvdisasm", path=path)


def check_sass(nvdisasm, target, folder):
    tool = find_nvdisasm(nvdisasm)
    if not tool:
        print("skipped: no nvdisasm in PATH; name one with -DTENON_NVDISASM or the environment variable TENON_NVDISASM")
        sys.exit(1 if (ROOT / ".tools").exists() else 77)  # where the set-up ran, its absence is a failure
    catalogue, forms = forms_of(target)
    listing = subprocess.run([tool, folder / f"forms_sm_{target}.cubin"], check=True, text=True,
                             stdout=subprocess.PIPE).stdout
    kernels = opcodes_by_kernel(listing)
    wrong = []
    for form in forms:
        expected = form.sass[target]
        found = kernels[kernel_name(catalogue.index(form), form)]
        relevant = {op: n for op, n in found.items() if op in expected or WATCHED.match(op)}
        if relevant != expected:
            wrong.append(f"{form.form}\n  expected {expected}\n  found    {relevant}")
    print("\n".join(wrong) or f"sm_{target}: the SASS of {len(forms)} forms is as the catalogue says")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    action, program, target, folder = sys.argv[1:]
    {"compile": compile_forms, "sass": check_sass}[action](program, target, pathlib.Path(folder))
