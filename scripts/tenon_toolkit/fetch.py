"""The compilers of a CUDA version, from PyPI, at the versions and hashes of scripts/requirements/toolkits, kept in .tools."""

import os
import platform
import shutil
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

    def as_installed(self):
        """A folder that is laid out as an installed toolkit: include, lib64, nvvm, and in bin what PyPI has."""
        if (self.folder / "nvidia/cu13/bin").is_dir():
            return self.folder / "nvidia/cu13"
        whole, part = self.folder / "installed", self.folder / f"installed.{os.getpid()}"
        if not whole.is_dir():
            for includes in self.includes:
                shutil.copytree(includes, part / "include", copy_function=_link, dirs_exist_ok=True)
            for name, path in (("bin", self.ptxas.parent), ("nvvm", self._in("cuda_nvcc", "nvvm")),
                               ("lib64", self._in("cuda_runtime", "lib"))):  # fmt: skip
                (part / name).symlink_to(path)
            try:
                part.rename(whole)
            except OSError:  # another process was faster
                shutil.rmtree(part)
        return whole


def folder_of(version):
    """Where a version is kept: lists have two hashes a package, one for each processor."""
    return packages.folder_of(LISTS / f"{version}.txt", KEPT, platform.machine())


def fetch(version):
    """The Toolkit, fetched unless it is kept already."""
    if version not in versions():
        raise BadInput(f"the version is '{version}' but must be one of {', '.join(versions())}")
    return Toolkit(version, packages.fetch(LISTS / f"{version}.txt", KEPT, f"CUDA {version}", platform.machine(), _complete))


def _link(path, link):
    if not os.path.lexists(link):  # each package has an empty __init__.py
        os.symlink(path, link)


def _complete(folder):
    if (folder / "nvidia/cu13/bin").is_dir():  # nvcc looks for its libraries in lib64
        (folder / "nvidia/cu13/lib64").symlink_to("lib")
