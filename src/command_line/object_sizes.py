"""Writes what each object of an archive takes as a C++ table, for `tenon list`.

  object_sizes.py <ar> <archive> <output.cpp>
"""

import subprocess
import sys
from pathlib import Path


def sizes_of(ar, archive):
    """{name of the object, without extensions: bytes}"""
    listed = subprocess.run([ar, "tv", archive], check=True, capture_output=True, text=True).stdout
    sizes = {}
    for line in listed.splitlines():  # rw-r--r-- 0/0  123456 Jan  1 00:00 1970 name.cu.o
        cells = line.split()
        name = cells[-1].split(".")[0]
        sizes[name] = sizes.get(name, 0) + int(cells[2])
    return sizes


def main():
    ar, archive, output = sys.argv[1:]
    rows = "".join(f'    {{"{name}", {size}}},\n' for name, size in sorted(sizes_of(ar, archive).items()))
    Path(output).write_text(
        '// Written by src/command_line/object_sizes.py from the compiled library.\n#include "command_line/object_sizes.hpp"\n\n'
        f"namespace tenon::command {{\n\nconst ObjectSize object_sizes[] = {{\n{rows}}};\n"
        f"const std::size_t object_count = sizeof object_sizes / sizeof *object_sizes;\n\n}}  // namespace tenon::command\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
