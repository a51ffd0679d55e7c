"""The machine code of kernels: SASS, registers, memory.

The modules, lowest first: errors; command (how a main() begins and ends); files (checked reading, atomic writing); decompress (LZ4,
zstd); elf (sections, symbols, a cubin's resource records); fatbin (from any file to its cubins); demangle; listing (a
disassembler's text as data); disassemble (a cubin to listings, through nvdisasm or cuobjdump); load (every kernel of some
files); flow (loops); patterns (causes of idle tensor cores); analyse (the analysis of a kernel); expect (requirements on a
kernel's code); baseline; normalise; profile (ncu's counters).
The commands use them: check (scripts/sass_check), report with resources (scripts/kernel_report), diff
(scripts/sass_diff), doctor (scripts/binary_doctor, `tenon doctor --binary`), utilisation (scripts/tensor_utilisation).
Python 3.9 and its standard library only. pip installs the package by itself: scripts/pyproject.toml.
"""

__version__ = "0.2.0"  # that of tenon in CMakeLists.txt
