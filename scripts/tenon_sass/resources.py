"""The resources of each kernel of a file, also as a C++ table. Needs no disassembler.

The C++ table lets a program answer on a machine without a GPU or driver, where cudaFuncGetAttributes cannot.
"""

from .elf import MACHINE_CUDA, Elf
from .fatbin import ARCHIVE_MAGIC, archive_members, cubins_of_file


def rows_of(files):
    """One dict for each kernel and architecture, sorted; several instances of a kernel appear once."""
    rows = {}
    for file in files:
        for cubin in cubins_of_file(file):
            for name in cubin.kernels:
                found = cubin.resources(name)
                rows[name, cubin.arch] = {
                    "symbol": name,
                    "arch": cubin.arch,
                    "registers": found.registers,
                    "local_bytes": found.local_bytes,
                    "static_shared_bytes": found.static_shared_bytes,
                }
    return [rows[key] for key in sorted(rows)]


def host_stubs_of(files):
    """Names of the host functions visible to other objects: a kernel's stub has the kernel's symbol."""
    names = set()
    for file in files:
        with open(file, "rb") as stream:
            data = stream.read()
        images = archive_members(data, file) if data.startswith(ARCHIVE_MAGIC) else [(file, data)]
        for origin, image in images:
            elf = Elf(image, origin) if image.startswith(b"\x7fELF") else None
            if elf and elf.machine != MACHINE_CUDA:
                names.update(s.name for s in elf.symbols() if s.is_function and not s.is_local)
    return names


def as_cpp(rows, stubs):
    """A C++ source that defines the table. Its key is a kernel's address, which is that of its host stub."""
    linked = sorted({row["symbol"] for row in rows} & stubs)
    index = {symbol: i for i, symbol in enumerate(linked)}
    lines = [
        "// Written by scripts/kernel_report from the compiled kernels. Do not edit.",
        '#include "gemm/kernel_resources.hpp"',
        "",
        "// The host stubs of the kernels, by the names that the linker knows.",
        'extern "C" {',
    ]
    lines += [f'extern const char tenon_stub_{i} __asm__("{symbol}");' for symbol, i in index.items()]
    lines += ["}", "", "namespace tenon {", "", "const KernelResources kernel_resources[] = {"]
    for row in rows:
        symbol, arch = row["symbol"], row["arch"]
        stub = f"&tenon_stub_{index[symbol]}" if symbol in index else "nullptr"
        exact = "true" if arch[-1].isalpha() else "false"
        lines.append(
            f'    {{"{symbol}", {stub}, {arch.rstrip("af")}, {exact}, '
            f'{row["registers"]}, {row["local_bytes"]}, {row["static_shared_bytes"]}}},'
        )
    lines += ["};", f"const std::size_t kernel_resources_count = {len(rows)};", "", "}  // namespace tenon", ""]
    return "\n".join(lines)
