"""scripts/instruction_table on a small table: fills it, finds wrong rows, and reports what it cannot do."""

import csv
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts"))

from tenon_ptx.table import COLUMNS  # noqa: E402  (the line above makes it importable)

F16 = ["mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 d, a, b, c;", "ptx", "", "", "d=4xf32",
       "a=4xb32 b=2xb32 c=4xf32", "7.0", "80: 1*HMMA.16816.F32; 120a: 1*HMMA.16816.F32"]
S4 = ["mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32 d, a, b, c;", "ptx", "", "", "d=4xs32", "a=4xb32 b=2xb32 c=4xs32",
      "7.0", "80: 1*IMMA.16864.S4.S4"]
WAIT = ["mbarrier.try_wait.b64 done, [barrier], state;", "ptx", "", "", "done=pred", "barrier=b64 state=b64", "7.8", ""]


def tools_here():
    done = subprocess.run([sys.executable, ROOT / "scripts/instruction_table", "--check", "--arch", "80", "--family", "fence"],
                          capture_output=True, text=True, check=False)
    return done.returncode != 3


@unittest.skipUnless(tools_here(), "needs ptxas and nvdisasm")
class InstructionTable(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.table = Path(folder.name, "table.csv")
        self.write([F16, S4, WAIT])

    def write(self, rows):
        with self.table.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])

    def sass(self):
        with self.table.open(newline="", encoding="utf-8") as file:
            return [row["sass"] for row in csv.DictReader(file)]

    def run_script(self, *arguments):
        command = [sys.executable, ROOT / "scripts/instruction_table", "--table", self.table, *arguments]
        return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)

    def test_it_fills_the_opcodes_of_each_architecture_that_has_the_form(self):
        self.assertEqual(self.run_script("--arch", "75", "80", "90").returncode, 0)
        f16, s4, wait = self.sass()
        # 120a was not selected and stays.
        self.assertEqual(f16, "80: 1*HMMA.16816.F32; 90: 1*HMMA.16816.F32; 120a: 1*HMMA.16816.F32")
        self.assertRegex(s4, r"^80: 1\*IMMA\.16864\.S4\.S4; 90: emulated 2\*IMMA\.16832\.S8\.S8 1\*CALL\S* \d+\*ALU$")
        self.assertEqual(wait, "90: 1*SYNCS.PHASECHK.TRANS64.TRYWAIT")

    def test_check_accepts_a_filled_table_and_rejects_a_changed_one(self):
        self.run_script("--arch", "80")
        before = self.table.read_text(encoding="utf-8")
        self.assertEqual(self.run_script("--check", "--arch", "80", "--isa").returncode, 0)
        for right, wrong in (("1*HMMA", "2*HMMA"), ("80: 1*IMMA", "80: emulated 1*IMMA"), ("80: 1*HMMA.16816.F32; ", "")):
            self.table.write_text(before.replace(right, wrong), encoding="utf-8")
            done = self.run_script("--check", "--arch", "80")
            self.assertEqual(done.returncode, 1, wrong)
            self.assertIn("run scripts/instruction_table", done.stderr)
            self.assertEqual(self.table.read_text(encoding="utf-8"), before.replace(right, wrong))

    def test_a_row_that_claims_too_old_a_ptx_isa_is_found(self):
        arrive = "mbarrier.arrive.release.cluster.b64 state, [barrier];"
        sass = {"7.7": WAIT, "7.8": [arrive, "ptx", "", "", "state=b64", "barrier=b64"]}
        for version, row in sass.items():
            self.write([[*row[:6], "9.0", ""]])
            self.run_script("--arch", "90")
            self.assertEqual(self.run_script("--check", "--arch", "90", "--isa").returncode, 0)
            self.write([[*row[:6], version, *self.sass()]])
            done = self.run_script("--check", "--arch", "90", "--isa")
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"not in PTX ISA {version} for sm_90", done.stderr)

    def test_repeated_options_accumulate(self):
        rows = json.loads(self.run_script("--family", "mbarrier", "--family", "mma", "--json").stdout)
        self.assertEqual([row["form"] for row in rows], [F16[0], S4[0], WAIT[0]])
        self.assertEqual(self.run_script("--arch", "80", "--arch", "90", "80").returncode, 0)
        self.assertEqual(self.sass()[0], "80: 1*HMMA.16816.F32; 90: 1*HMMA.16816.F32; 120a: 1*HMMA.16816.F32")
        done = self.run_script("--check", "--arch", "80", "--arch", "90", "80")
        self.assertIn("3 forms on 2 architectures", done.stdout, done.stderr)

    def test_json_prints_the_rows_of_a_family(self):
        rows = json.loads(self.run_script("--family", "mbarrier", "--json").stdout)
        self.assertEqual([row["form"] for row in rows], [WAIT[0]])

    def test_failures_are_a_sentence(self):
        self.write([[*F16[:7], "80: HMMA"]])
        done = self.run_script("--check")
        self.assertEqual(done.returncode, 2)
        self.assertTrue(done.stderr.startswith(f"instruction_table: {self.table}:2: the SASS is 'HMMA'"), done.stderr)
        self.table.write_text(",".join(COLUMNS) + "\nx,ptx\n", encoding="utf-8")
        done = self.run_script("--check")
        self.assertEqual(done.returncode, 2)
        self.assertIn("the row has 2 cells but must have 8", done.stderr)
        self.write([[*F16[:7], "79: 1*HMMA"]])
        done = self.run_script("--check")
        self.assertEqual(done.returncode, 2)
        self.assertIn("names architecture '79'", done.stderr)
        self.write([F16])
        done = self.run_script("--ptxas", "no-such-program")
        self.assertEqual(done.returncode, 3)
        self.assertIn("no-such-program", done.stderr)

    def test_fences_of_one_direction_begin_with_sm_90(self):  # ptxas 13.0 takes them for older targets, the PTX ISA does not
        self.write([["fence.acquire.cta;", "ptx", "", "", "", "", "8.6", ""]])
        self.assertEqual(self.run_script("--arch", "75", "89", "90").returncode, 0)
        self.assertEqual(self.sass(), ["90: nothing"])


if __name__ == "__main__":
    unittest.main()
