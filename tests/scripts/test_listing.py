"""The parts of scripts/tenon_sass that need no compiler: canned listings, requirements, decompression."""

import os
import random
import signal
import struct
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
sys.dont_write_bytecode = True
from tenon_sass.decompress import lz4_block, zstd_frame  # noqa: E402
from tenon_sass.demangle import demangle  # noqa: E402
from tenon_sass.disassemble import opcodes_of_listing  # noqa: E402
from tenon_sass.flow import busiest_loop, loops  # noqa: E402
from tenon_sass.listing import read_listings  # noqa: E402
from tenon_sass.normalise import canonical, stable_name, without_registers  # noqa: E402
from tenon_sass.elf import Elf, Resources  # noqa: E402
from tenon_sass.errors import BadInput  # noqa: E402
from tenon_sass.expect import Expectation, Kernel  # noqa: E402
from tenon_sass.fatbin import cubins_of  # noqa: E402
from tenon_sass.files import read_csv, read_json, write_file  # noqa: E402

NVDISASM = """\
	.target	sm_80
//--------------------- .text._Z5plainPf          --------------------------
	.section	.text._Z5plainPf,"ax",@progbits
	.sectioninfo	@"SHI_REGISTERS=36"
_Z5plainPf:
.text._Z5plainPf:
        /*0000*/                   IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28] ;
        /*0010*/              @!P0 LDG.E.128 R4, [R2.64+0x100] ;
        /*0020*/              @UP0 UIADD3 UR4, UR4, 0x1, URZ ;
        /*0030*/               @PT HMMA.16816.F32 R4, R4, R8, RZ ;
.L_x_0:
        /*0040*/                   BRA `(.L_x_0);
	.section	.text.second,"ax",@progbits
        /*0000*/                   LDSM.16.MT88.4 R4, [R2] ;
"""

CUOBJDUMP = """\
	code for sm_80
		Function : _Z5plainPf
	.headerflags	@"EF_CUDA_SM80 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM80)"
        /*0000*/                   IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28] ;                    /* 0x00000a00ff017624 */
                                                                                              /* 0x000fe400078e00ff */
        /*0010*/              @!P0 LDG.E.128 R4, [R2.64+0x100] ;                              /* 0x0000000000037919 */
        /*0020*/              @UP0 UIADD3 UR4, UR4, 0x1, URZ ;                                /* 0x0000000000037919 */
        /*0030*/               @PT HMMA.16816.F32 R4, R4, R8, RZ ;                            /* 0x0000000000037919 */
        /*0040*/                   BRA 0x40;                                                  /* 0x0000000000037919 */
		Function : second
        /*0000*/                   LDSM.16.MT88.4 R4, [R2] ;                                  /* 0x0000000000037919 */
"""

EXPECTED = {
    "_Z5plainPf": ["IMAD.MOV.U32", "LDG.E.128", "UIADD3", "HMMA.16816.F32", "BRA"],
    "second": ["LDSM.16.MT88.4"],
}


class Listings(unittest.TestCase):
    def test_nvdisasm(self):
        self.assertEqual(opcodes_of_listing(NVDISASM), EXPECTED)

    def test_cuobjdump(self):
        self.assertEqual(opcodes_of_listing(CUOBJDUMP), EXPECTED)


def listing(*lines):
    """A kernel with these lines; a line that ends in a colon is a label."""
    text, address = ['\t.section\t.text.k,"ax",@progbits'], 0
    for line in lines:
        text.append(line if line.endswith(":") else f"        /*{address:04x}*/                   {line} ;")
        address += 0 if line.endswith(":") else 16
    return read_listings("\n".join(text))["k"]


class Flow(unittest.TestCase):
    def sizes(self, *lines):
        return [(loop.header, len(loop.positions), len(loop.every_trip)) for loop in loops(listing(*lines))]

    def test_a_loop_and_the_branch_in_it(self):
        code = ("MOV R0, RZ", ".L_x_0:", "IADD3 R0, R0, 0x1, RZ", "@P1 BRA `(.L_x_1)", "LDG.E R4, [R2.64]", ".L_x_1:",
                "@P0 BRA `(.L_x_0)", "EXIT")  # fmt: skip
        self.assertEqual(self.sizes(*code), [(1, 4, 3)])  # the load is in the loop, but not on every trip

    def test_rare_code_at_the_end_that_jumps_back_is_no_loop(self):
        code = ("SYNCS.PHASECHK P0, [UR4]", "@!P0 BRA `(.L_x_1)", ".L_x_0:", "HMMA.16816.F32 R4, R4, R8, R4", "EXIT",
                ".L_x_1:", "SYNCS.PHASECHK P0, [UR4]", "@!P0 BRA `(.L_x_1)", "BRA `(.L_x_0)", ".L_x_2:", "BRA `(.L_x_2)")  # fmt: skip
        self.assertEqual(self.sizes(*code), [(4, 2, 2)])  # the waiting loop; the unreachable code after EXIT is not a loop

    def test_branches_to_addresses(self):
        self.assertEqual(self.sizes("MOV R0, RZ", "IADD3 R0, R0, 0x1, RZ", "@P0 BRA 0x10", "EXIT"), [(1, 2, 2)])

    def test_a_condition_among_the_operands(self):
        self.assertEqual(self.sizes(".L_x_0:", "NOP", "BRA P0, `(.L_x_0)", "MOV R0, R1", "EXIT"), [(0, 2, 2)])

    def test_convergence(self):
        code = (".L_x_0:", "BSSY B0, `(.L_x_2)", "@P1 BRA `(.L_x_1)", "MOV R0, R1", ".L_x_1:", "BSYNC B0", ".L_x_2:",
                "@P0 BRA `(.L_x_0)", "EXIT")  # fmt: skip
        self.assertEqual(self.sizes(*code), [(0, 5, 4)])

    def test_the_innermost_of_nested_loops_and_what_it_calls(self):
        code = listing(".L_x_0:", "HMMA.1688 R4, R4, R8, R4", ".L_x_1:", "CALL.REL.NOINC `($multiply)", "@P1 BRA `(.L_x_1)",
                       "@P0 BRA `(.L_x_0)", "EXIT", "$multiply:", "HMMA.16816 R4, R4, R8, R4", "HMMA.16816 R4, R4, R8, R4",
                       "RET.REL.NODEC R2 `(k)")  # fmt: skip
        found = busiest_loop(code, lambda i: i.is_a("HMMA"))
        self.assertEqual((found.header, len(found.positions)), (1, 5))
        self.assertIsNone(busiest_loop(code, lambda i: i.is_a("DMMA")))


class Normalising(unittest.TestCase):
    def same(self, old, new):
        return canonical(listing(*old)) == canonical(listing(*new))

    def test_a_consistent_renaming_is_none(self):
        old = (".L_x_7:", "@P0 LDG.E.128 R4, [R2.64]", "FFMA R8, R5.reuse, R6, R8", "NOP", "@P1 BRA `(.L_x_7)")
        new = (".L_x_9:", "@P3 LDG.E.128 R12, [R18.64]", "FFMA R0, R13, R14.reuse, R0", "@P2 BRA `(.L_x_9)")
        self.assertTrue(self.same(old, new))

    def test_parts_of_vectors_that_are_exchanged_are_no_renaming(self):
        loads = ("LDG.E.128 R4, [R0.64]", "LDG.E.128 R8, [R0.64+0x10]")
        self.assertFalse(self.same((*loads, "MOV R12, R6", "MOV R13, R10"), (*loads, "MOV R12, R10", "MOV R13, R6")))
        products = ("HGMMA.64x64x16.F32 R24, gdesc[UR4], R24", "HGMMA.64x64x16.F32 R56, gdesc[UR4], R56")
        self.assertFalse(self.same((*products, "MOV R0, R28", "MOV R1, R60"), (*products, "MOV R0, R60", "MOV R1, R28")))

    def test_other_constants_and_targets_are_seen(self):
        self.assertFalse(self.same(("MOV R0, 0x1",), ("MOV R0, 0x2",)))
        self.assertFalse(self.same(("MOV R0, c[0x0][0x160]",), ("MOV R0, c[0x0][0x168]",)))
        self.assertFalse(self.same(("I2F.S8 R0, R1.B1",), ("I2F.S8 R0, R1.B2",)))
        self.assertFalse(self.same((".L_a:", "NOP", "MOV R0, R1", ".L_b:", "EXIT", "@P0 BRA `(.L_a)", "BRA `(.L_b)"),
                                   (".L_a:", "NOP", "MOV R0, R1", ".L_b:", "EXIT", "@P0 BRA `(.L_b)", "BRA `(.L_b)")))  # fmt: skip

    def test_without_registers_only_the_kind_stays(self):
        self.assertEqual(
            without_registers(listing("@!P0 LDG.E R4, desc[UR6][R2.64+0x100]", ".L_x_3:", "@P1 BRA `(.L_x_3)")),
            ["@!P LDG.E R, desc[UR][R.64+0x100]", "@P BRA label"],
        )

    def test_names_without_the_hash_of_a_path(self):
        names = ("_ZN36_GLOBAL__N__32b85d55_4_x_cu__Z4keepv6hiddenEPf", "_ZN36_GLOBAL__N__b42c2ffb_4_x_cu__Z4keepv6hiddenEPf")
        self.assertEqual(stable_name(names[0]), stable_name(names[1]))
        self.assertEqual(stable_name("_Z5plainPf"), "_Z5plainPf")


class Requirements(unittest.TestCase):
    def kernel(self, **counts):
        opcodes = Counter({name.replace("_", "."): n for name, n in counts.items()})
        return Kernel("k", "80", "f", Resources(40, 0, 0), opcodes)

    def test_opcodes_match_by_prefix_at_dots(self):
        kernel = self.kernel(HMMA_16816_F32=3, HMMA_1688_F32=2, HMMAX=7, LDS_U=1, LDSM_16=5)
        self.assertEqual(kernel.count("HMMA"), 5)
        self.assertEqual(kernel.count("HMMA.16816"), 3)
        self.assertEqual(kernel.count("HMMA.168"), 0)
        self.assertEqual(kernel.count("LDS"), 1)

    def test_comparisons(self):
        kernel = self.kernel(LDSM=4)
        for text, ok in (
            ("LDSM", True), ("LDSM>=4", True), ("LDSM >= 5", False), ("LDSM<=4", True), ("LDSM<4", False),
            ("LDSM==4", True), ("LDSM=4", True), ("LDSM>4", False), ("LDGSTS", False), ("LDGSTS==0", True),
        ):  # fmt: skip
            with self.subTest(text=text):
                (verdict,) = Expectation("k", expect=[text]).judge(kernel)
                self.assertEqual(verdict.ok, ok)

    def test_local_memory_without_accesses_is_no_spill_free_kernel(self):
        kernel = self.kernel(LDSM=4)
        self.assertTrue(Expectation("k", spill_free=True).judge(kernel)[0].ok)
        kernel.resources = Resources(40, 16, 0)
        self.assertFalse(Expectation("k", spill_free=True).judge(kernel)[0].ok)

    def test_a_pattern_matches_mangled_and_demangled_names(self):
        name = "_ZN6sample6tensorILi4EEEvPK6__halfS3_Pf"
        for pattern, found in ((r"sample::tensor<4>", True), ("tensorILi4", True), ("^tensor", False)):
            self.assertEqual(Expectation(pattern, forbid=["LDL"]).matches(name), found, pattern)

    def test_demangle_leaves_other_names_alone(self):
        self.assertEqual(demangle("_Z5plainPf"), "plain(float*)")
        self.assertEqual(demangle("gemm_kernel"), "gemm_kernel")
        self.assertEqual(demangle("_Znot_a_name"), "_Znot_a_name")


class Lz4(unittest.TestCase):
    def test_literals_and_overlapping_matches(self):
        # 4 literals "abcd"; match of 4 + 6 at distance 2 ("cdcdcdcdcd"); 5 last literals.
        block = bytes([0x46]) + b"abcd" + bytes([2, 0]) + bytes([0x50]) + b"vwxyz"
        self.assertEqual(lz4_block(block, 19), b"abcd" + b"cd" * 5 + b"vwxyz")

    def test_long_lengths(self):
        # 15 + 255 + 3 literals; match of 4 + 15 + 1 at distance 1.
        block = bytes([0xFF, 255, 3]) + b"x" * 273 + bytes([1, 0, 1]) + bytes([0x10]) + b"y"
        self.assertEqual(lz4_block(block, 294), b"x" * 293 + b"y")

    def test_a_match_stops_at_the_size_that_the_header_says(self):
        block = bytes([0x1F]) + b"x" + bytes([1, 0]) + b"\xff" * 1000 + bytes([0, 0x10]) + b"y"
        with self.assertRaisesRegex(BadInput, "more than the 9 bytes"):
            lz4_block(block, 9)

    def test_corrupt_blocks_get_a_sentence(self):
        for block, size in ((b"\x46abc", 4), (b"\x46abcd\x09\x00", 14), (b"\x46abcd\x02", 14), (b"\x40abcd", 5)):
            with self.subTest(block=block), self.assertRaisesRegex(BadInput, "truncated|corrupt|header says"):
                lz4_block(block, size)


class Zstd(unittest.TestCase):
    # Magic, one segment of 5 bytes, a last block of 5 raw bytes.
    FRAME = bytes.fromhex("28b52ffd 20 05 290000") + b"hello"

    def test_a_frame(self):
        self.assertEqual(zstd_frame(self.FRAME, 5), b"hello")

    def test_a_forged_size_takes_no_memory(self):
        for size in (6, 1 << 40, (1 << 64) - 1):
            with self.assertRaisesRegex(BadInput, f"holds 5 bytes at most but its header says {size}"):
                zstd_frame(self.FRAME, size)
        with self.assertRaisesRegex(BadInput, "truncated or corrupt"):
            zstd_frame(self.FRAME[:-1], 5)


def fat_binary(payload, header=16):
    return struct.pack("<IHHQ", 0xBA55ED50, 1, header, len(payload)) + payload


def archive(body, name=b"a.o/", size=None):
    return b"!<arch>\n" + name.ljust(48) + (str(len(body)).encode() if size is None else size).ljust(10) + b"`\n" + body


def cubin():
    """The smallest image that the reader accepts as a cubin: a kernel k with its records."""
    names = b"\0.strtab\0.symtab\0.text.k\0.nv.info\0.nv.info.k\0.nv.shared.k\0k\0"
    symbols = bytes(24) + struct.pack("<IBBHQQ", names.index(b"\0k\0") + 1, 0x12, 0x10, 3, 0, 16)
    registers = struct.pack("<BBHII", 4, 0x2F, 8, 1, 40) + struct.pack("<BBHII", 4, 0x11, 8, 1, 24)
    contents = [(b"", 0), (names, 3), (symbols, 2), (bytes(16), 1), (registers, 1), (struct.pack("<BBH", 2, 0x4C, 1), 1), (bytes(64), 8)]
    titles = (b"", b".strtab", b".symtab", b".text.k", b".nv.info", b".nv.info.k", b".nv.shared.k")
    image, rows = bytearray(64), b""
    for title, (content, kind) in zip(titles, contents):
        at = names.index(title + b"\0") if title else 0
        rows += struct.pack("<IIQQQQIIQQ", at, kind, 0, 0, len(image), len(content), 1, 0, 1, 24 if kind == 2 else 0)
        image += content if kind != 8 else b""
    image[:9] = b"\x7fELF\x02\x01\x01\x33\x08"
    image[18:20], image[40:48], image[48:52] = struct.pack("<H", 190), struct.pack("<Q", len(image)), struct.pack("<I", 80 << 8)
    image[58:64] = struct.pack("<HHH", 64, len(contents), 1)
    return bytes(image + rows)


def entry(image):
    return struct.pack("<HHIQIIII", 2, 1, 64, len(image), 0, 0, 0, 80) + bytes(32) + image


class Corruption(unittest.TestCase):
    """A file that is not an image, whatever its bytes, is rejected quickly, with a sentence that names it."""

    def setUp(self):
        signal.alarm(60)  # an endless loop ends this test without stopping the others
        self.addCleanup(signal.alarm, 0)

    def test_the_images_are_read(self):
        for image in (cubin(), fat_binary(entry(cubin())), archive(cubin())):
            (found,) = cubins_of(image, "file")
            self.assertEqual((found.arch, list(found.kernels)), ("80", ["k"]))
            self.assertEqual(found.resources("k"), Resources(40, 24, 64, 1))

    def test_sizes_beyond_the_file(self):
        for data, sentence in (
            (fat_binary(b"", header=0) + bytes(32), "file: corrupt: the header of the fat binary at byte 0 has 0 bytes"),
            (fat_binary(bytes(64), header=8), "has 8 bytes but needs 16"),
            (archive(b"", size=b"-60"), "file: corrupt: no member size"),
            (archive(b"", size=b"1_0"), "file: corrupt: no member size"),
            (archive(cubin(), name=b"/x"), "file: corrupt: no member name at byte 8"),
        ):
            with self.subTest(sentence=sentence), self.assertRaisesRegex(BadInput, sentence):
                cubins_of(data, "file")

    def test_numbers_out_of_range(self):
        image = cubin()
        table = struct.unpack_from("<Q", image, 40)[0]
        symbol = image.index(struct.pack("<IBBH", image.index(b"\0k\0") - 64 + 1, 0x12, 0x10, 3))
        for at, value, sentence in (
            (40, b"\xff" * 8, "file: truncated: the ELF image has .* refers to byte 18446744073709551615"),
            (table + 2 * 64 + 40, b"\x99", "file: corrupt: section 153 should hold the names of symbols but there are 7"),
            (symbol + 6, b"\x99", "file: corrupt: section 153 should hold the code of k but there are 7"),
        ):
            changed = bytearray(image)
            changed[at : at + len(value)] = value
            with self.subTest(sentence=sentence), self.assertRaisesRegex(BadInput, sentence):
                cubins_of(bytes(changed), "file")[0].resources("k")

    def test_an_image_that_cannot_be_unpacked_names_its_file(self):
        packed = bytearray(entry(Zstd.FRAME))
        packed[16:20], packed[40:48], packed[56:64] = struct.pack("<I", 14), struct.pack("<Q", 0x8000), struct.pack("<Q", 1 << 50)
        with self.assertRaisesRegex(BadInput, "^file: a zstd image .* says 1125899906842624"):
            cubins_of(fat_binary(bytes(packed)), "file")

    def test_flipped_bytes(self):
        chance = random.Random(7)
        for name, image in (("cubin", cubin()), ("fatbin", fat_binary(entry(cubin()))), ("archive", archive(cubin()))):
            outcomes = Counter()
            for trial in range(2000):
                changed = bytearray(image)
                for _ in range(chance.choice((1, 1, 2, 3))):
                    changed[chance.randrange(len(changed))] = chance.choice((0, 0x7F, 0x80, 0xFF, chance.randrange(256)))
                with self.subTest(image=name, trial=trial):
                    try:
                        for found in cubins_of(bytes(changed), "the file"):
                            for kernel in found.kernels:
                                found.resources(kernel)
                        outcomes["read"] += 1
                    except BadInput as error:
                        self.assertIn("the file", str(error))
                        outcomes["refused"] += 1
            self.assertGreater(min(outcomes["read"], outcomes["refused"]), 100)


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.file = self.folder / "file"

    def test_a_file_keeps_its_mode_and_a_link_its_target(self):
        self.file.write_text("old")
        self.file.chmod(0o640)
        link = self.folder / "link"
        link.symlink_to(self.file)
        write_file(link, "new")
        self.assertEqual((self.file.read_text(), self.file.stat().st_mode & 0o777, link.is_symlink()), ("new", 0o640, True))
        before = os.umask(0o027)
        self.addCleanup(os.umask, before)
        write_file(self.folder / "fresh", b"bytes")
        self.assertEqual((self.folder / "fresh").stat().st_mode & 0o777, 0o640)
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["file", "fresh", "link"])

    def test_a_special_file_is_written_and_not_replaced(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        end = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, end)
        write_file(pipe, "text")
        self.assertEqual(os.read(end, 9), b"text")
        self.assertTrue(pipe.is_fifo())

    def test_unwritable_files(self):
        for path, why in ((self.folder, "Is a directory"), (self.folder / "no" / "x", "No such file"), ("/dev/full", "No space left")):
            with self.assertRaisesRegex(BadInput, f"^{path}: cannot be written: {why}"):
                write_file(path, "text")

    def test_unreadable_files(self):
        for data, why in ((b"", "is empty but must hold JSON"), (b"[", "is not JSON"), (b"\xff", "is not UTF-8 text: invalid start byte at byte 0"), (b"[" * 100000, "too deeply"),
                          (b'"\\ud800"', "surrogates")):  # fmt: skip
            self.file.write_bytes(data)
            with self.subTest(data=data[:9]), self.assertRaisesRegex(BadInput, f"^{self.file} .*{why}"):
                read_json(self.file)
        for data, why in ((b"a,c\n", "the columns are 'a,c' but must be 'a,b'"), (b"a,b\n1\n", ":2: the row has 1 cells but must have 2"),
                          (b"a,b\n1,2\n1,2,3\n", ":3: the row has 3 cells"), (b'a,b\n"1"2,3\n', ":2: not CSV")):  # fmt: skip
            self.file.write_bytes(data)
            with self.subTest(data=data), self.assertRaisesRegex(BadInput, f"^{self.file}.*{why}"):
                read_csv(self.file, ("a", "b"))


class Containers(unittest.TestCase):
    def test_images_that_are_no_images(self):
        for data, sentence in (
            (b"", "neither an ELF file"),
            (b"\x7fELF", "truncated"),
            (b"\x7fELF\x01\x01" + bytes(58), "not a 64-bit"),
            (b"!<arch>\n" + b"a.o/".ljust(48) + b"oops".ljust(10) + b"`\n", "no member size"),
            (b"!<arch>\n" + b"a.o/".ljust(48) + b"100".ljust(10) + b"`\n", "truncated"),
            (b"\x50\xed\x55\xba\x01\x00\x10\x00" + (640).to_bytes(8, "little") + bytes(64), "truncated"),
            (b"\x50\xed\x55\xba\x01\x00\x10\x00" + (64).to_bytes(8, "little") + b"\xff" * 64, "corrupt"),
        ):
            with self.subTest(sentence=sentence), self.assertRaisesRegex(BadInput, sentence):
                cubins_of(data, "file")

    def test_section_names_out_of_range(self):
        image = bytearray(128)
        image[:6] = b"\x7fELF\x02\x01"
        image[40:48] = (64).to_bytes(8, "little")  # section headers at 64
        image[58:64] = (64).to_bytes(2, "little") + (1).to_bytes(2, "little") + (7).to_bytes(2, "little")
        with self.assertRaisesRegex(BadInput, "section 7 should hold names"):
            Elf(bytes(image), "file")


if __name__ == "__main__":
    unittest.main()
