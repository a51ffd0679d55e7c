"""scripts/instruction_table on a small table: fills it, finds wrong rows, and reports what it cannot do.

Tests of the column toolkit are skipped where PyPI does not answer and nothing is kept in .tools.
"""

import csv
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts"))

from tenon_ptx import assemble, toolkits  # noqa: E402  (the line above makes it importable)
from tenon_ptx.table import COLUMNS, form_of  # noqa: E402
from tenon_sass.errors import BadInput, NoTool  # noqa: E402
from tenon_toolkit import fetch  # noqa: E402

F16 = ["mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 d, a, b, c;", "ptx", "", "", "d=4xf32",
       "a=4xb32 b=2xb32 c=4xf32", "7.0", "12.4", "80: 1*HMMA.16816.F32; 120a: 1*HMMA.16816.F32"]
S4 = ["mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32 d, a, b, c;", "ptx", "", "", "d=4xs32", "a=4xb32 b=2xb32 c=4xs32",
      "7.0", "12.4", "80: 1*IMMA.16864.S4.S4"]
ORDERED = ["mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 d, a, b, c, e, selector;", "ptx", "", "",
           "d=4xf32", "a=2xb32 b=2xb32 c=4xf32 e=b32 selector=imm:0", "8.5", "12.5", "80: 1*HMMA.SP.16816.F32"]
BLACKWELL = ["tcgen05.wait::ld.sync.aligned;", "ptx", "", "", "", "", "8.6", "12.8", "100a: nothing"]
WAIT = ["mbarrier.try_wait.b64 done, [barrier], state;", "ptx", "", "", "done=pred", "barrier=b64 state=b64", "7.8", "12.4", ""]


def tools_here():
    done = subprocess.run([sys.executable, ROOT / "scripts/instruction_table", "--check", "--arch", "80", "--family", "fence"],
                          capture_output=True, text=True, check=False)
    return done.returncode != 3


class SmallTable(unittest.TestCase):
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


@unittest.skipUnless(tools_here(), "needs ptxas and nvdisasm")
class InstructionTable(SmallTable):
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
            self.write([[*row[:6], "9.0", "", ""]])
            self.run_script("--arch", "90")
            self.assertEqual(self.run_script("--check", "--arch", "90", "--isa").returncode, 0)
            self.write([[*row[:6], version, "", *self.sass()]])
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
        self.write([[*F16[:8], "80: HMMA"]])
        done = self.run_script("--check")
        self.assertEqual(done.returncode, 2)
        self.assertTrue(done.stderr.startswith(f"instruction_table: {self.table}:2: the SASS is 'HMMA'"), done.stderr)
        self.table.write_text(",".join(COLUMNS) + "\nx,ptx\n", encoding="utf-8")
        done = self.run_script("--check")
        self.assertEqual(done.returncode, 2)
        self.assertIn("the row has 2 cells but must have 9", done.stderr)
        self.write([[*F16[:7], "12.x", ""]])
        self.assertIn("the toolkit is '12.x' but must be a version such as 12.4, or empty", self.run_script("--check").stderr)
        self.write([[*F16[:8], "79: 1*HMMA"]])
        done = self.run_script("--check")
        self.assertEqual(done.returncode, 2)
        self.assertIn("names architecture '79'", done.stderr)
        self.write([F16])
        done = self.run_script("--ptxas", "no-such-program")
        self.assertEqual(done.returncode, 3)
        self.assertIn("no-such-program", done.stderr)

    def test_fences_of_one_direction_begin_with_sm_90(self):  # ptxas 13.0 takes them for older targets, the PTX ISA does not
        self.write([["fence.acquire.cta;", "ptx", "", "", "", "", "8.6", "12.8", ""]])
        self.assertEqual(self.run_script("--arch", "75", "89", "90").returncode, 0)
        self.assertEqual(self.sass(), ["90: nothing"])


class ChosenPtxas(SmallTable):
    """Where another CUDA version is installed than that which filled the table."""

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.installed = Path(folder.name, "ptxas")
        self.install("13.5")

    def install(self, version):
        self.installed.write_text(f"#!/bin/sh\necho Cuda compilation tools, release {version}, V{version}.88\n")
        self.installed.chmod(0o755)
        patched = mock.patch.dict(os.environ, {"PATH": f"{self.installed.parent}:{os.environ['PATH']}"})
        patched.start()
        self.addCleanup(patched.stop)

    def test_the_installed_one_is_taken_if_it_is_of_that_version(self):
        self.install(assemble.CUDA_VERSION)
        with mock.patch.object(fetch, "fetch", side_effect=AssertionError("fetches")):
            self.assertEqual(toolkits.ptxas_of_the_table(), str(self.installed))

    def test_else_that_of_pypi_is_taken(self):
        self.write([[*F16[:8], "80-90: 1*HMMA.16816.F32"]])
        done = self.run_script("--check", "--arch", "80", "90")
        if done.returncode == 3:
            self.skipTest(done.stderr.strip())
        self.assertEqual((done.returncode, done.stdout),
                         (0, f"1 forms on 2 architectures agree with the table, by ptxas of CUDA {assemble.CUDA_VERSION}\n"), done.stderr)

    def test_without_pypi_a_sentence_names_both_versions(self):
        kept = Path(self.table.parent, "kept")
        no_network = subprocess.CompletedProcess([], 1, "", "ERROR: No matching distribution found\n")
        with mock.patch.object(fetch, "KEPT", kept), mock.patch.object(toolkits, "version_of", return_value="13.5"), \
             mock.patch.object(subprocess, "run", return_value=no_network), self.assertRaises(NoTool) as refused:  # fmt: skip
            toolkits.ptxas_of_the_table()
        self.assertEqual(
            str(refused.exception),
            "the table is of the ptxas of CUDA 13.0, but that of CUDA 13.5 is installed, and pip could not install CUDA 13.0: "
            "does the network reach PyPI? ERROR: No matching distribution found")
        with mock.patch.object(fetch, "fetch", side_effect=NoTool("there is no pip")), \
             mock.patch.object(toolkits, "find_ptxas", return_value=None):  # fmt: skip
            with self.assertRaisesRegex(NoTool, "of CUDA 13.0, but none is installed, and there is no pip"):
                toolkits.ptxas_of_the_table()

    def test_the_one_that_is_named_is_taken_whatever_its_version(self):
        done = self.run_script("--check", "--ptxas", "ptxas", "--arch", "80")
        # It makes no cubin.
        self.assertEqual(done.returncode, 2 if tools_here() else 3)
        self.assertNotIn("fetching", done.stderr)

    def test_a_program_that_is_no_ptxas_is_a_sentence(self):
        self.installed.write_text("#!/bin/sh\necho hello\necho more\n")
        with self.assertRaisesRegex(BadInput, "/ptxas does not say its version but: hello$"):
            toolkits.ptxas_of_the_table()


def toolkit(row, version):
    return [*row[:7], version, row[8]]


class Toolkits(SmallTable):
    """The column toolkit, with the ptxas of the oldest version of PyPI."""

    def check(self, *rows):
        self.write(rows)
        done = self.run_script("--check", "--toolkits", "12.4")
        if done.returncode == 3:
            self.skipTest(done.stderr.strip())
        return done

    def test_a_column_that_is_right(self):
        done = self.check(F16, S4, ORDERED, BLACKWELL)
        self.assertEqual((done.returncode, done.stdout), (0, "CUDA 12.4 has 2 of 4 forms\n"), done.stderr)

    def test_a_column_that_says_too_new_too_old_or_nothing(self):
        for row, version, verb in ((F16, "12.5", "has"), (F16, "", "has"), (ORDERED, "12.4", "lacks"), (BLACKWELL, "12.4", "lacks")):
            done = self.check(S4, toolkit(row, version))
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stderr, f"{row[0]}: the column toolkit says '{version}', but CUDA 12.4 {verb} it\n")

    def test_the_oldest_version_that_has_a_form_is_its_toolkit(self):
        found = {"12.4": [True, False, False], "12.8": [True, True, False], "13.0": [True, True, False]}
        self.assertEqual(toolkits.since(found), [(12, 4), (12, 8), ()])

    def test_a_form_that_a_newer_version_lacks_again_is_a_difference(self):
        forms = [form_of(dict(zip(COLUMNS, toolkit(F16, "12.4"))))]
        self.assertEqual(toolkits.differences(forms, {"12.4": [True], "12.5": [True]}), [])
        lines = toolkits.differences(forms, {"12.4": [True], "12.5": [False]})
        self.assertEqual(lines, [f"{F16[0]}: the column toolkit says '12.4', but CUDA 12.5 lacks it"])

    def test_a_form_of_which_ptxas_dies_is_the_only_one_that_is_lost(self):
        forms = [form_of(dict(zip(COLUMNS, row))) for row in (F16, S4, WAIT, F16, S4)]

        def dies(text, *_):
            if WAIT[0].split()[0] in text:
                raise BadInput("ptxas fails for sm_90 without naming a line")
            return "forms.cubin", {}

        with mock.patch.object(assemble, "ptxas", dies):
            self.assertEqual(assemble.accepted(forms, "90", "ptxas", "8.5"), {0, 1, 3, 4})

    def test_what_it_cannot_do_is_a_sentence(self):
        done = self.run_script("--toolkits", "12.4")
        self.assertEqual(done.returncode, 2)
        self.assertIn("give versions only with --check", done.stderr)
        done = self.run_script("--check", "--toolkits", "12.7")
        self.assertEqual(done.returncode, 2)
        self.assertIn("the version is '12.7' but must be one of 12.4, ", done.stderr)
        with self.assertRaisesRegex(BadInput, "echo does not say its PTX ISA version but: -arch"):
            toolkits.newest_isa("echo")
        with self.assertRaisesRegex(BadInput, "no-such-program does not run"):
            toolkits.newest_isa("no-such-program")


if __name__ == "__main__":
    unittest.main()
