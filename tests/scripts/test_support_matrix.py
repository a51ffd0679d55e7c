"""scripts/support_matrix on a canned catalogue, and on the catalogue of this tree."""

import csv
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = "# x\n\n<!-- support-matrix -->\nold\n<!-- /support-matrix -->\nend\n"
COLUMNS = "form,provider,name,header,results,operands,ptx_isa,toolkit,sass\n"


def row(form, header, sass, provider="tenon", toolkit="12.4"):
    return f'"{form}",{provider},{"f" if header else ""},{header},,,7.0,{toolkit},{sass}\n'


ALL, SINCE_89 = "75-121a: 1*X", "89-121a: 1*X"
UP_TO_89 = "75-89: 1*X; 90-121a: emulated 2*X"
CATALOGUE = COLUMNS + "".join((
    row("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 d, a, b, c;", "mma_f16.hpp", ALL),
    row("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 d, a, b, c;", "mma_f16.hpp", ALL),
    row("mma.sync.aligned.m8n8k32.row.col.satfinite.s32.s4.u4.s32 d, a, b, c;", "mma_int4.hpp", UP_TO_89),
    row("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc d, a, b, c;", "mma_b1.hpp", UP_TO_89),
    row("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64.rz d, a, b, c;", "mma_f64.hpp", ALL),
    row("mma.sp.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16 d, a, b, c, e, selector;", "mma_sp_f16.hpp", ALL),
    row("mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e2m1."
        "f32.ue8m0 d, a;", "mma_block_scale.hpp", "120a-121a: 1*X"),
    row("ldmatrix.sync.aligned.m8n8.x1.shared.b16 d, [address];", "ldmatrix.hpp", ALL),
    row("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 d, [address];", "ldmatrix.hpp", ALL),
    row("ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.b4x16_p64 d, [address];", "ldmatrix_narrow.hpp", "120a-121a: 1*X"),
    row("ldmatrix.sync.aligned.m8n8.x4.b16 d, [address];", "", ALL, "ptx"),
    row("cp.async.cg.shared.global.L2::128B [destination], [source], 16, source_bytes;", "cp_async.hpp", SINCE_89),
    row("cp.async.commit_group;", "cp_async.hpp", SINCE_89),
    row("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [tensor_map, coordinates];", "tensor.hpp", SINCE_89),
    row("createpolicy.fractional.L2::evict_first.b64 d, 1.0;", "tensor.hpp", SINCE_89),
    row("ld.shared.v4.b32 d, [address];", "ld_shared.hpp", ALL),
    row("@predicate ld.shared.b32 d, [address];", "ld_shared.hpp", ALL),
    row("st.shared::cluster.v2.b32 [address], b;", "st_shared.hpp", SINCE_89),
    row("mov.u32 d, %laneid;", "special_registers.hpp", ALL),
    row("cvt.rn.satfinite.e4m3x2.f32 d, upper, lower;", "convert.hpp", SINCE_89),
    row("cvt.rn.satfinite.e4m3x2.f16x2 d, a;", "convert.hpp", SINCE_89),
    row("cvt.pack.sat.s8.s32.b32 d, upper, lower, rest;", "convert.hpp", ALL),
    row("cvt.rna.tf32.f32 d, a;", "convert.hpp", "75-121a: emulated 2*X"),
))


class SupportMatrix(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.readme, self.catalogue = Path(folder.name, "README.md"), Path(folder.name, "instructions.csv")
        self.readme.write_text(README, encoding="utf-8")
        self.catalogue.write_text(CATALOGUE, encoding="utf-8")

    def run_script(self, *arguments):
        command = [sys.executable, "-B", ROOT / "scripts/support_matrix", "--readme", self.readme]
        command += ["--catalogue", self.catalogue, *arguments]
        return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)

    def text(self):
        return self.readme.read_text(encoding="utf-8")

    def rows(self):
        """The cells of each row of the matrix, with its header's link cut to the name."""
        lines = [line for line in self.text().splitlines() if line.startswith("| [")]
        return [[re.sub(r"\[(.*)\]\(.*\)", r"\1", cell.strip()) for cell in line.split("|")[1:-1]] for line in lines]

    def test_a_row_a_family(self):
        self.assertEqual(self.run_script().returncode, 0)
        spans = "sm_75 to 88 | sm_89 | sm_90 to 110a | sm_120a to 121a"
        self.assertIn(f"| header | types | shapes | forms | CUDA | {spans} |", self.text())
        native, emulated = ["12.4", *["native"] * 4], ["12.4", *["native"] * 2, *["emulated"] * 2]
        since_89, blackwell = ["12.4", "–", *["native"] * 3], ["12.4", "–", "–", "–", "native"]
        expected = [
            ["mma_f16.hpp", "f16 → f16, f32", "m16n8k8, m16n8k16", "2", *native],
            ["mma_int4.hpp", "s4, u4 → s32", "m8n8k32", "1", *emulated],
            ["mma_b1.hpp", "b1 → s32 (xor popc)", "m8n8k128", "1", *emulated],
            ["mma_f64.hpp", "f64 → f64", "m8n8k4", "1", *native],
            ["mma_sp_f16.hpp", "f16 → f16 (unordered metadata)", "m16n8k32", "1", *native],
            ["mma_block_scale.hpp", "e4m3, e2m1 → f32 (mxf8f6f4 ordered metadata)", "m16n8k64", "1", *blackwell],
            ["ldmatrix.hpp", "", "m8n8.x1, m8n8.x4", "2", *native],
            ["ldmatrix_narrow.hpp", "", "m8n16.b4x16_p64", "1", *blackwell],
            ["cp_async.hpp", "", "16 bytes, commit_group", "2", *since_89],
            ["tensor.hpp", "", "L2 prefetch of a box, L2::evict_first policy", "2", *since_89],
            ["ld_shared.hpp", "", "v4.b32, b32", "2", *native],
            ["st_shared.hpp", "", "shared::cluster.v2.b32", "1", *since_89],
            ["special_registers.hpp", "", "laneid", "1", *native],
            ["convert.hpp", "f32, f16x2 → e4m3x2", "", "2", *since_89],
            ["convert.hpp", "s32 → s8", "", "1", *native],
            ["convert.hpp", "f32 → tf32 (rna)", "", "1", "12.4", *["emulated"] * 4],
        ]
        self.assertEqual(self.rows(), expected)

    def test_wgmma_and_tcgen05_have_a_row_for_all_n_and_for_all_kinds_alike(self):
        self.catalogue.write_text(COLUMNS + "".join((
            row("wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 d, a;", "wgmma.hpp", "90a: 1*X"),
            row("wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 d, a;", "wgmma.hpp", "90a: 1*X"),
            row("wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.u8.satfinite d, a;", "wgmma.hpp", "90a: 1*X"),
            row("wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc d, a;", "wgmma.hpp", "90a: 1*X"),
            row("wgmma.mma_async.sp.sync.aligned.m64n8k64.f32.e4m3.e5m2 d, a;", "wgmma_sp.hpp", "90a: 1*X"),
            row("wgmma.fence.sync.aligned;", "wgmma_sync.hpp", "90a: 1*X"),
            row("tcgen05.mma.cta_group::1.kind::f16.collector::a::use [d], a;", "tcgen05_mma.hpp", "100a-110a: 1*X"),
            row("tcgen05.mma.ws.sp.cta_group::1.kind::tf32 [d], a;", "tcgen05_mma.hpp", "100a-110a: 1*X"),
        )), encoding="utf-8")
        self.assertEqual(self.run_script().returncode, 0)
        hopper, blackwell = ["12.4", "–", "native", "–", "–", "–"], ["12.4", "–", "–", "–", "native", "–"]
        self.assertEqual(self.rows(), [
            ["wgmma.hpp", "f16 → f16; bf16 → f32; s8, u8 → s32", "m64nNk16, m64nNk32", "3", *hopper],
            ["wgmma.hpp", "b1 → s32 (and.popc)", "m64nNk256", "1", *hopper],
            ["wgmma_sp.hpp", "e4m3, e5m2 → f32", "m64nNk64", "1", *hopper],
            ["wgmma_sync.hpp", "", "fence", "1", *hopper],
            ["tcgen05_mma.hpp", "f16, tf32 → tensor memory", "mma, mma.ws.sp", "2", *blackwell],
        ])

    def test_forms_of_two_toolkits_have_two_rows(self):
        sparse = "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f{0}.e4m3.e4m3.f{0} d, a;"
        self.catalogue.write_text(COLUMNS + "".join((
            row(sparse.format(32), "mma_sp_fp8.hpp", ALL, toolkit="12.5"),
            row(sparse.format(16), "mma_sp_fp8.hpp", ALL, toolkit="12.8"),
        )), encoding="utf-8")
        self.assertEqual(self.run_script().returncode, 0)
        self.assertEqual([row[1:5] for row in self.rows()], [
            ["e4m3 → f32 (ordered metadata)", "m16n8k64", "1", "12.5"],
            ["e4m3 → f16 (ordered metadata)", "m16n8k64", "1", "12.8"],
        ])

    def test_forms_are_counted_by_provider(self):
        self.run_script()
        self.assertIn("| family | tenon | cuda::ptx | nvcuda::wmma | cuda | ptx |", self.text())
        self.assertIn("| matrix move | 3 |  |  |  | 1 |", self.text())

    def test_text_around_the_matrix_stays(self):
        self.run_script()
        self.assertTrue(self.text().startswith("# x\n\n<!-- support-matrix -->\n| header"))
        self.assertTrue(self.text().endswith("|\n<!-- /support-matrix -->\nend\n"))
        self.assertNotIn("old", self.text())

    def test_check_tells_stale_from_fresh_and_writes_nothing(self):
        stale = self.run_script("--check")
        self.assertEqual(stale.returncode, 1)
        self.assertIn("stale", stale.stderr)
        self.assertEqual(self.text(), README)
        self.run_script()
        self.assertEqual(self.run_script("--check").returncode, 0)

    def test_bad_input_is_a_sentence_and_writes_nothing(self):
        for catalogue, sentence in (
            ("a,b\n1,2\n", "the columns are 'a,b' but must be 'form,"),
            (CATALOGUE + "short,tenon\n", f":{CATALOGUE.count(chr(10)) + 1}: the row has 2 cells but must have 9"),
            (CATALOGUE.replace("7.0", "7.x", 1), "PTX ISA is '7.x'"),
            (CATALOGUE.replace("75-121a: 1*X", "75-121a: X", 1), "the SASS is 'X'"),
            (CATALOGUE.replace("cvt.rna.tf32.f32 d, a;", "mma.sync;"), "'mma.sync;' is too short"),
            (COLUMNS, "no forms"),
            (CATALOGUE.replace("75-121a", "75-99"), "architecture '99', which must be one of 75, 80,"),
            (CATALOGUE.replace(".f16.f16.f16.f16 ", ".f16 "), "no types"),
        ):
            self.catalogue.write_text(catalogue, encoding="utf-8")
            done = self.run_script()
            self.assertEqual(done.returncode, 2, catalogue)
            self.assertIn(sentence, done.stderr)
            self.assertEqual(self.text(), README)
        self.catalogue.write_bytes(b"\xff")
        self.assertIn(f"{self.catalogue} is not UTF-8 text", self.run_script().stderr)
        self.catalogue.write_text(CATALOGUE, encoding="utf-8")
        self.readme.write_text("# nothing\n", encoding="utf-8")
        self.assertEqual(self.run_script().returncode, 2)


class ThisTree(unittest.TestCase):
    def test_the_matrix_beside_the_table_is_fresh(self):
        command = [sys.executable, "-B", str(ROOT / "scripts/support_matrix"), "--check"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_its_headers_are_links_that_lead_somewhere(self):
        page = ROOT / "ptx/README.md"
        links = re.findall(r"^\| \[[^\]]+\]\(([^)]+)\)", page.read_text(encoding="utf-8"), re.MULTILINE)
        self.assertGreater(len(links), 50)
        for link in links:
            self.assertTrue((page.parent / link).is_file(), link)

    def test_every_form_is_counted_once(self):
        with (ROOT / "ptx/instructions.csv").open(newline="", encoding="utf-8") as file:
            providers = [row["provider"] for row in csv.DictReader(file)]
        matrix = (ROOT / "ptx/README.md").read_text(encoding="utf-8").split("support-matrix -->")[1]
        counts = [int(line.split("|")[4]) for line in matrix.splitlines() if line.startswith("| [")]
        self.assertEqual(sum(counts), providers.count("tenon"))
        by_family = [line.split("|")[2:-1] for line in matrix.split("| family |")[1].splitlines()[2:] if line]
        self.assertEqual(sum(int(cell) for line in by_family for cell in line if cell.strip()), len(providers))


if __name__ == "__main__":
    unittest.main()
