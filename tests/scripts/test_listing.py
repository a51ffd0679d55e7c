"""The pieces of scripts/tenon_sass that need no compiler: canned listings, requirements, decompression."""

import sys
import unittest
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
sys.dont_write_bytecode = True
from tenon_sass.decompress import lz4_block  # noqa: E402
from tenon_sass.demangle import demangle  # noqa: E402
from tenon_sass.listing import read_listings  # noqa: E402
from tenon_sass.elf import Elf, Resources  # noqa: E402
from tenon_sass.errors import BadInput  # noqa: E402
from tenon_sass.expect import Expectation, Kernel  # noqa: E402
from tenon_sass.fatbin import cubins_of  # noqa: E402

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
        self.assertEqual({name: found.opcodes for name, found in read_listings(NVDISASM).items()}, EXPECTED)

    def test_cuobjdump(self):
        self.assertEqual({name: found.opcodes for name, found in read_listings(CUOBJDUMP).items()}, EXPECTED)


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

    def test_pattern_meets_mangled_and_demangled_names(self):
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

    def test_corrupt_blocks_get_a_sentence(self):
        for block, size in ((b"\x46abc", 4), (b"\x46abcd\x09\x00", 14), (b"\x46abcd\x02", 14), (b"\x40abcd", 5)):
            with self.subTest(block=block), self.assertRaisesRegex(BadInput, "truncated|corrupt|header says"):
                lz4_block(block, size)


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
