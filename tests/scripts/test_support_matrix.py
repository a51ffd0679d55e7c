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
CATALOGUE = """\
form,function,header,sm80,sm90,sm90a,sass_sm80
"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 d, a, b, c;",f,mma_f16.hpp,native,native,native,1*HMMA
"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 d, a, b, c;",f,mma_f16.hpp,native,native,native,1*HMMA
"mma.sync.aligned.m8n8k32.row.col.satfinite.s32.s4.u4.s32 d, a, b, c;",f,mma_int4.hpp,native,emulated,emulated,1*IMMA
"mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc d, a, b, c;",f,mma_b1.hpp,native,emulated,emulated,1*BMMA
"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64.rz d, a, b, c;",f,mma_f64.hpp,native,native,native,1*DMMA
"ldmatrix.sync.aligned.m8n8.x1.shared.b16 d, [address];",f,ldmatrix.hpp,native,native,native,1*LDSM
"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 d, [address];",f,ldmatrix.hpp,native,native,native,1*LDSM
"cp.async.cg.shared.global.L2::128B [destination], [source], 16, source_bytes;",f,cp_async.hpp,native,native,native,1*LDGSTS
cp.async.commit_group;,f,cp_async.hpp,native,native,native,1*LDGDEPBAR
setmaxnreg.inc.sync.aligned.u32 registers;,f,setmaxnreg.hpp,absent,absent,native,
"cvt.rn.satfinite.e4m3x2.f32 d, upper, lower;",f,convert.hpp,absent,native,native,
"cvt.rn.satfinite.e4m3x2.f16x2 d, a;",f,convert.hpp,absent,native,native,
"cvt.pack.sat.s8.s32.b32 d, upper, lower, rest;",f,convert.hpp,native,native,native,1*I2IP
"cvt.rna.tf32.f32 d, a;",f,convert.hpp,emulated,emulated,emulated,1*LOP3
"""


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
        self.assertIn("| header | types | shapes | forms | sm_80 | sm_90 | sm_90a |", self.text())
        native = ["native"] * 3
        expected = [
            ["mma_f16.hpp", "f16 → f16, f32", "m16n8k8, m16n8k16", "2", *native],
            ["mma_int4.hpp", "s4, u4 → s32", "m8n8k32", "1", "native", "emulated", "emulated"],
            ["mma_b1.hpp", "b1 → s32 (xor popc)", "m8n8k128", "1", "native", "emulated", "emulated"],
            ["mma_f64.hpp", "f64 → f64", "m8n8k4", "1", *native],
            ["ldmatrix.hpp", "", "m8n8.x1, m8n8.x4", "2", *native],
            ["cp_async.hpp", "", "16 bytes, commit_group", "2", *native],
            ["setmaxnreg.hpp", "", "inc", "1", "–", "–", "native"],
            ["convert.hpp", "f32, f16x2 → e4m3x2", "", "2", "–", "native", "native"],
            ["convert.hpp", "s32 → s8", "", "1", *native],
            ["convert.hpp", "f32 → tf32 (rna)", "", "1", "emulated", "emulated", "emulated"],
        ]
        self.assertEqual(self.rows(), expected)

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
            ("a,b\n1,2\n", "no column form, header"),
            ("form,header\nx,y\n", "for an architecture"),
            (CATALOGUE.splitlines()[0] + "\n", "no forms"),
            (CATALOGUE.replace("emulated", "maybe"), "'maybe' but must be one of native, emulated, absent"),
            (CATALOGUE.replace(".f16.f16.f16.f16 ", ".f16 "), "no types"),
        ):
            self.catalogue.write_text(catalogue, encoding="utf-8")
            done = self.run_script()
            self.assertEqual(done.returncode, 2, catalogue)
            self.assertIn(sentence, done.stderr)
            self.assertEqual(self.text(), README)
        self.catalogue.write_text(CATALOGUE, encoding="utf-8")
        self.readme.write_text("# nothing\n", encoding="utf-8")
        self.assertEqual(self.run_script().returncode, 2)


class ThisTree(unittest.TestCase):
    def test_the_readme_is_fresh(self):
        command = [sys.executable, "-B", str(ROOT / "scripts/support_matrix"), "--check"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_every_form_is_counted_once(self):
        with (ROOT / "ptx/instructions.csv").open(newline="", encoding="utf-8") as file:
            forms = sum(1 for _ in csv.DictReader(file))
        matrix = (ROOT / "README.md").read_text(encoding="utf-8").split("support-matrix -->")[1]
        counts = [int(line.split("|")[4]) for line in matrix.splitlines() if line.startswith("| [")]
        self.assertEqual(sum(counts), forms)


if __name__ == "__main__":
    unittest.main()
