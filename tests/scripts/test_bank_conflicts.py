"""scripts/bank_conflicts, with a stand-in for the profiler that prints each test's counts."""

import json
import os
import pathlib
import re
import stat
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "bank_conflicts"

# Prints ncu's CSV; the counts come from the environment.
NCU = """#!/usr/bin/env python3
import os, sys
if os.environ.get("FAIL"):
    print("==ERROR== No GPU was found"); sys.exit(1)
metrics = sys.argv[sys.argv.index("--metrics") + 1].split(",")
print("==PROF== Connected to process 1")
if os.environ.get("NOTHING"):
    sys.exit(0)
print('"ID","Process ID","Kernel Name","Metric Name","Metric Unit","Metric Value"')
for metric in metrics:
    if metric == os.environ.get("WITHOUT"):
        continue
    count = "1,024" if os.environ.get("CONFLICT", "none") in metric else "0"
    print(f'"0","1","gemm_tma<int, 4>","{metric}","","{count}"')
"""


class BankConflicts(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.ncu = pathlib.Path(self.folder.name, "ncu")
        self.ncu.write_text(NCU, encoding="utf-8")
        self.ncu.chmod(self.ncu.stat().st_mode | stat.S_IXUSR)

    def call(self, *arguments, **environment):
        command = [sys.executable, "-B", SCRIPT, "--ncu", self.ncu, *arguments, "--", "true"]
        return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})

    def test_no_conflict_is_0(self):
        done = self.call()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("kernel gemm_tma<int, 4>, conflicts_ldmatrix 0", done.stdout)

    def test_a_conflict_of_an_instruction_is_1(self):
        for kind in ("op_ldsm", "op_ldgsts", "op_stsm"):
            with self.subTest(kind):
                self.assertEqual(self.call(CONFLICT=f"bank_conflicts_pipe_lsu_mem_shared_{kind}").returncode, 1)

    def test_conflicts_of_plain_loads_are_reported_but_do_not_decide(self):
        done = self.call(CONFLICT="l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("conflicts_loads 1024", done.stdout)

    def test_json_is_appended_with_its_origin(self):
        path = pathlib.Path(self.folder.name, "out.json")
        for label in ("first", "second"):
            self.call("--json", path, "--label", label, "--commit", "abc", "--machine", "GPU")
        stored = json.loads(path.read_text(encoding="utf-8"))
        self.assertEqual([record["kernel"] for record in stored], ["first", "second"])
        self.assertEqual((stored[0]["benchmark"], stored[0]["commit"], stored[0]["machine"]), ("bank_conflicts", "abc", "GPU"))

    def test_a_failed_measurement_is_3_with_a_sentence(self):
        self.assertIn("No GPU was found", self.call(FAIL="1").stderr)
        self.assertEqual(self.call(FAIL="1").returncode, 3)
        self.assertIn("measured no kernel", self.call(NOTHING="1").stderr)
        missing = "smsp__sass_inst_executed_op_ldsm.sum"
        self.assertIn(missing, self.call(WITHOUT=missing).stderr)
        self.assertEqual(self.call("--ncu", "/does/not/exist").returncode, 3)

    def test_a_file_that_is_not_json_is_2_and_stays(self):
        path = pathlib.Path(self.folder.name, "out.json")
        for text, sentence in (("not json", "is not JSON"), ('{"kernel": 1}', "must hold an array of objects"), ("[1]", "array of objects")):
            path.write_text(text, encoding="utf-8")
            done = self.call("--json", path)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"bank_conflicts: {path} ", done.stderr)
            self.assertIn(sentence, done.stderr)
            self.assertEqual(path.read_text(encoding="utf-8"), text)

    def test_the_examples_name_the_extents_that_tenon_gemm_needs(self):
        done = subprocess.run([sys.executable, "-B", SCRIPT, "--help"], capture_output=True, text=True, check=False)
        examples = re.findall(r"tenon gemm (.*)", done.stdout)
        self.assertEqual(len(examples), 2)
        for example in examples:
            self.assertRegex(example, r"--m \d+ --n \d+ --k \d+")


if __name__ == "__main__":
    unittest.main()
