"""What the compiler made of a kernel: its SASS, its registers, its memory.

Read upwards: errors; command (how a main() ends); files (read with a sentence, written at once); decompress (LZ4, zstd);
elf (sections, symbols, the cubin's resource notes); fatbin (from any file to its cubins); demangle; listing (a
disassembler's text as data); disassemble (a cubin to listings, through nvdisasm or cuobjdump); load (every kernel of some
files); flow (loops); patterns (what keeps tensor cores waiting); analyse (all that is known of a kernel); expect (what a
kernel must and must not contain); baseline; normalise; profile (ncu's counters).
On top the commands: check (scripts/sass_check), report with resources (scripts/kernel_report), diff (scripts/sass_diff),
doctor (scripts/binary_doctor, `tenon doctor --binary`), utilisation (scripts/tensor_utilisation).
Python standard library only.
"""
