"""The compilers of a CUDA version, from PyPI, at the versions and hashes of scripts/requirements/toolkits, kept in .tools."""

import platform
from dataclasses import dataclass
from pathlib import Path

from tenon_sass.errors import BadInput

from . import packages
from .packages import ROOT

LISTS = packages.LISTS / "toolkits"
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
    """Where a version is kept: lists have two hashes a package, one for each processor."""
    return packages.folder_of(LISTS / f"{version}.txt", KEPT, platform.machine())


def fetch(version):
    """The Toolkit, fetched unless it is kept already."""
    if version not in versions():
        raise BadInput(f"the version is '{version}' but must be one of {', '.join(versions())}")
    return Toolkit(version, packages.fetch(LISTS / f"{version}.txt", KEPT, f"CUDA {version}", platform.machine(), _complete))


def _complete(folder):
    if (folder / "nvidia/cu13/bin").is_dir():  # nvcc looks for its libraries in lib64
        (folder / "nvidia/cu13/lib64").symlink_to("lib")
