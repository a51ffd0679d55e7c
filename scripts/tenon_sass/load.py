"""Disassembles and evaluates every kernel of some files."""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from .disassemble import disassemble
from .elf import Resources
from .errors import BadInput
from .fatbin import cubins_of_file
from .listing import Listing


@dataclass
class Code:
    """A kernel as compiled for one architecture."""

    name: str  # mangled
    arch: str  # "80", "90a"
    origin: str  # the file (and the member of a static library) that holds it
    resources: Resources
    listing: Listing


def evaluate_kernels(files, tool, wanted, look):
    """([look(Code) for each kernel with wanted(name, arch)], [(arch, name)] of every kernel in the files).

    Keeps only the results of look(), because a library's listings together are far larger.
    """
    cubins = [cubin for file in files for cubin in cubins_of_file(file)]
    if not cubins:
        raise BadInput(f"no device code in {', '.join(map(str, files))} (PTX alone is not machine code)")
    present = [(cubin.arch, name) for cubin in cubins for name in cubin.kernels]

    def look_at(cubin):
        names = [name for name in cubin.kernels if wanted(name, cubin.arch)]
        listings = disassemble(cubin, names, tool) if names else {}
        return [look(Code(n, cubin.arch, cubin.origin, cubin.resources(n), listings[n])) for n in names]

    with ThreadPoolExecutor(os.cpu_count()) as pool:  # the disassembler does the work, one process for each cubin
        return [seen for cubin in pool.map(look_at, cubins) for seen in cubin], present
