"""Disassembles a cubin's kernels through nvdisasm or, if only that is installed, cuobjdump."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from .errors import BadInput, NoTool
from .listing import read_listings

SCRIPTS = Path(__file__).resolve().parents[1]
SET_UP = SCRIPTS / "setup"  # of a checkout; absent where the package is installed
PRIVATE_FOLDER = SCRIPTS.parent / ".tools"  # SET_UP fills it


def find_tool(explicit=None):
    """Path of nvdisasm or cuobjdump: the one given, else that of the checkout's private folder, of this Python's packages
    (nvidia-cuda-nvdisasm), of PATH, of the CUDA Toolkit. NoTool if none."""
    if explicit:
        found = shutil.which(explicit)
        if not found:
            raise NoTool(f"{explicit} is not a program on this machine: give --tool the path of nvdisasm or cuobjdump")
        if not Path(found).name.startswith(("nvdisasm", "cuobjdump")):
            raise BadInput(f"--tool is {explicit} but must be nvdisasm or cuobjdump")
        return found
    in_checkout = SET_UP.is_file()
    folders = sorted(PRIVATE_FOLDER.glob("nvdisasm-*/nvidia/*/bin")) if in_checkout else []
    for place in map(Path, filter(None, sys.path)):
        folders += sorted(place.glob("nvidia/*/bin"))
    toolkits = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    folders = [str(folder) for folder in folders]
    folders += os.environ.get("PATH", "").split(os.pathsep)
    folders += [str(Path(t, "bin")) for t in toolkits if t]
    for name in ("nvdisasm", "cuobjdump"):
        found = shutil.which(name, path=os.pathsep.join(folders))
        if found:
            return found
    if in_checkout and PRIVATE_FOLDER.is_dir():
        raise NoTool(
            f"no disassembler, although set-up ran: {PRIVATE_FOLDER} holds none. "
            f"Remove {PRIVATE_FOLDER} and run scripts/setup again"
        )
    remedy = "Run scripts/setup, or install one" if in_checkout else "Install one"
    raise NoTool(
        "no disassembler: neither nvdisasm nor cuobjdump is among the packages of this Python, in PATH or in the CUDA Toolkit. "
        f"{remedy}: `{sys.executable} -m pip install nvidia-cuda-nvdisasm`"
    )


def opcodes_of_listing(text):
    """{kernel: [opcode, ...]} of the output of `nvdisasm -c` or `cuobjdump -sass`."""
    return {kernel: listing.opcodes for kernel, listing in read_listings(text).items()}


def disassemble(cubin, kernels, tool):
    """{kernel: listing.Listing} for the given kernels (mangled names) of an elf.Cubin."""
    with tempfile.TemporaryDirectory(prefix="tenon-sass-") as folder:
        path = Path(folder, "kernel.cubin")
        try:
            path.write_bytes(cubin.data)
        except OSError as error:
            raise NoTool(f"{path}: cannot be written: {error.strerror}") from None
        if Path(tool).name.startswith("nvdisasm"):
            indices = ",".join(str(cubin.kernels[k]) for k in kernels)
            command = [tool, "--print-code", "--no-dataflow", f"--cuda-function-index={indices}", str(path)]
        else:
            command = [tool, "-sass", str(path)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        except OSError as error:
            raise NoTool(f"{tool} cannot be run: {error.strerror}") from None
    if done.returncode != 0:
        why = (done.stderr or done.stdout).strip().splitlines()
        raise BadInput(f"{cubin.origin}: {Path(tool).name} fails: {why[-1] if why else f'exit {done.returncode}'}")
    listings = read_listings(done.stdout)
    for kernel in kernels:
        if kernel not in listings or not listings[kernel].instructions:
            raise BadInput(f"{cubin.origin}: {Path(tool).name} prints no instruction of {kernel}")
    return {kernel: listings[kernel] for kernel in kernels}
