"""scripts/kernel_resources: what each kernel of a file takes of an SM, as JSON or as a C++ table.

The C++ table lets a program answer on a machine without a GPU or driver, where cudaFuncGetAttributes cannot.
"""

import argparse
import json
import sys

from .demangle import demangle
from .elf import MACHINE_CUDA, Elf
from .errors import OK, BadInput, NoTool
from .fatbin import ARCHIVE_MAGIC, archive_members, cubins_of_file

EXAMPLES = """\
examples:
  kernel_resources build/lib/libtenon.a                       a table for people
  kernel_resources a.o b.o --json                             a list of objects
  kernel_resources a.o b.o --cpp kernel_resources.cpp         defines the table of src/gemm/kernel_resources.hpp

exit status: 0 done, 2 bad usage or an unreadable file, 3 a library that decompresses is missing
"""


def rows_of(files):
    """One dict a kernel and architecture, sorted; instances repeated in several objects appear once."""
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
    """Names of the host functions that other objects can refer to: a kernel's stub has the kernel's symbol."""
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
    """A C++ source that defines the table. A kernel is found by its address: the address of its host stub."""
    linked = sorted({row["symbol"] for row in rows} & stubs)
    index = {symbol: i for i, symbol in enumerate(linked)}
    lines = [
        "// Written by scripts/kernel_resources from the compiled kernels. Do not edit.",
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


def as_table(rows):
    head = f"{'arch':<8}{'registers':>9}{'local':>7}{'shared':>8}  kernel"
    return "\n".join(
        [head]
        + [
            f"sm_{r['arch']:<5}{r['registers']:>9}{r['local_bytes']:>7}{r['static_shared_bytes']:>8}  {demangle(r['symbol'])}"
            for r in rows
        ]
    )


def _write(path, text):
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror}") from None


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="kernel_resources",
        description="Registers, local memory and static shared memory of every kernel in the files.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("files", nargs="+", help="cubin, fatbin, object, static or shared library, executable")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="for scripts")
    form.add_argument("--cpp", metavar="FILE", help="write a C++ source that defines the table")
    options = parser.parse_args(arguments)
    try:
        rows = rows_of(options.files)
        if not rows:
            raise BadInput(f"no kernel in {', '.join(options.files)}")
        if options.cpp:
            _write(options.cpp, as_cpp(rows, host_stubs_of(options.files)))
        else:
            print(json.dumps(rows, indent=2) if options.json else as_table(rows))
    except (BadInput, NoTool) as error:
        print(f"kernel_resources: {error}", file=sys.stderr)
        return error.status
    return OK
