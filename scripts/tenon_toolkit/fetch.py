"""The compilers of a CUDA version, from PyPI, at the versions and hashes of scripts/requirements/toolkits, kept in .tools."""

import fcntl
import hashlib
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tenon_sass.errors import BadInput, NoTool

ROOT = Path(__file__).resolve().parents[2]
LISTS = ROOT / "scripts" / "requirements" / "toolkits"
KEPT = ROOT / ".tools" / "toolkits"


def number(version):
    return tuple(map(int, version.split(".")))


def versions():
    """Every version that has a list, the oldest first."""
    return sorted((path.stem for path in LISTS.glob("*.txt")), key=number)


@dataclass(frozen=True)
class Toolkit:
    """A fetched version. PyPI's packages of 12 have a folder each; those of 13 share one."""

    version: str
    folder: Path

    def _in(self, package, below):
        """The folder `below` of a package, or None."""
        found = [p for p in (self.folder / "nvidia" / package / below, self.folder / "nvidia/cu13" / below) if p.is_dir()]
        return found[0] if found else None

    @property
    def libraries(self):
        """The folder of libnvrtc."""
        return self._in("cuda_nvrtc", "lib")

    @property
    def ptxas(self):
        return self._in("cuda_nvcc", "bin") / "ptxas"

    @property
    def includes(self):
        folders = dict.fromkeys(self._in(name, "include") for name in ("cuda_runtime", "cuda_nvcc", "cuda_cccl"))
        cccl = self._in("cuda_cccl", "include/cccl")
        return [*folders, *([cccl] if cccl else [])]


def folder_of(version):
    """Where a version is kept: the name changes with its list and with the processor, for which lists have two hashes."""
    text = (LISTS / f"{version}.txt").read_bytes() + platform.machine().encode()
    return KEPT / f"{version}-{hashlib.sha256(text).hexdigest()[:12]}"


def fetch(version):
    """The Toolkit, fetched unless it is kept already. Its folder appears at once and whole."""
    if version not in versions():
        raise BadInput(f"the version is '{version}' but must be one of {', '.join(versions())}")
    folder = folder_of(version)
    if folder.is_dir():
        return Toolkit(version, folder)
    KEPT.mkdir(parents=True, exist_ok=True)
    with open(KEPT / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two processes in one folder take turns
        if not folder.is_dir():
            _install(version, folder)
    return Toolkit(version, folder)


def _install(version, folder):
    part = KEPT / "part"
    shutil.rmtree(part, ignore_errors=True)
    print(f"toolkit: fetching what PyPI has of CUDA {version} into .tools", file=sys.stderr)
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-compile", "--require-hashes",
         "--only-binary", ":all:", "--no-deps", "--target", str(part), "--requirement", str(LISTS / f"{version}.txt")],
        capture_output=True, text=True, check=False)  # fmt: skip
    if done.returncode != 0:
        shutil.rmtree(part, ignore_errors=True)
        last = (done.stderr.strip().splitlines() or ["no message"])[-1].strip()
        if "DO NOT MATCH THE HASHES" in done.stderr:
            raise BadInput(f"a package of CUDA {version} has another hash than scripts/requirements/toolkits/{version}.txt says: {last}")
        raise NoTool(f"pip could not install CUDA {version}: does the network reach PyPI? {last}")
    for old in KEPT.glob(f"{version}-*"):  # of an older list
        shutil.rmtree(old)
    bin_folder = part / "nvidia/cu13/bin"
    if bin_folder.is_dir():  # nvcc looks for its libraries in lib64
        (part / "nvidia/cu13/lib64").symlink_to("lib")
    part.rename(folder)
