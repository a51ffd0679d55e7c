"""What the compiler made of a kernel: its SASS, its registers, its memory.

Read upwards: errors; decompress (LZ4, zstd); elf (sections, symbols, the cubin's resource notes); fatbin (from any
file to its cubins); demangle; disassemble (a cubin to opcodes, through nvdisasm or cuobjdump); expect (what a kernel
must and must not contain); on top the commands check (scripts/sass_check) and resources (scripts/kernel_resources).
Python standard library only.
"""
