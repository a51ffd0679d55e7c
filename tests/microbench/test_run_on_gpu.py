"""microbench/run_on_gpu.sh with stand-ins for its programs."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = sys.argv.pop(1)


class RunOnGpu(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        self.out = self.root / "out"
        self.program("nvidia-smi", "echo a GPU")
        self.program("compute-sanitizer", 'echo "sanitizer $*"; echo "========= ERROR SUMMARY: 0 errors"')
        self.program("good", 'echo "[  PASSED  ] 3 tests."; echo "$*"')
        self.program("bad", 'echo "[  FAILED  ] 1 test, listed below:"; exit 1')
        self.program("benchmark", 'echo "a table $*"; echo "[]" > "${!#}"')

    def tearDown(self):
        self.folder.cleanup()

    def program(self, name, body):
        path = self.root / name
        path.write_text(f"#!/usr/bin/env bash\n{body}\n", encoding="utf-8")
        path.chmod(0o755)

    def run_script(self, *arguments):
        environment = {**os.environ, "PATH": f"{self.root}:{os.environ['PATH']}"}
        command = ["bash", SCRIPT, str(self.out), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)

    def test_runs_everything_and_ends_with_the_table(self):
        outcome = self.run_script(
            "--test", str(self.root / "good"), "--sanitize", f"memcheck:{self.root}/good",
            "--benchmark", str(self.root / "benchmark"), "--quick",
        )  # fmt: skip
        self.assertEqual(outcome.returncode, 0, outcome.stdout + outcome.stderr)
        rows = outcome.stdout.strip().splitlines()[-3:]
        self.assertRegex(rows[0], r"^passed .* good .*PASSED 3 tests")
        self.assertRegex(rows[1], r"^passed .* memcheck.good .*ERROR SUMMARY: 0 errors")
        self.assertRegex(rows[2], r"^passed .* gemm_benchmark")
        self.assertIn("a table --quick --json", outcome.stdout)
        self.assertIn("--tool memcheck", (self.out / "memcheck.good.log").read_text(encoding="utf-8"))
        self.assertEqual((self.out / "gemm.json").read_text(encoding="utf-8"), "[]\n")
        self.assertEqual((self.out / "nvidia-smi.txt").read_text(encoding="utf-8"), "a GPU\n")

    def test_a_failure_does_not_stop_the_rest_and_is_reported(self):
        outcome = self.run_script("--test", str(self.root / "bad"), "--test", str(self.root / "good"))
        self.assertEqual(outcome.returncode, 1)
        summary = (self.out / "summary.txt").read_text(encoding="utf-8")
        self.assertRegex(summary, r"(?m)^FAILED\(1\) .* bad ")
        self.assertRegex(summary, r"(?m)^passed .* good ")

    def test_nothing_runs_before_all_words_are_right(self):
        good = ("--test", str(self.root / "good"))
        for wrong, sentence in ((("--fast",), "does not know '--fast'"), (("--test",), "--test needs a program"),
                                (("--sanitize", "memcheck"), "--sanitize needs TOOL:PROGRAM"), (("--benchmark",), "--benchmark needs a program")):  # fmt: skip
            outcome = self.run_script(*good, *wrong)
            self.assertEqual((outcome.returncode, outcome.stdout), (2, ""))
            self.assertEqual(outcome.stderr, f"run_on_gpu.sh: {sentence}; see microbench/run_on_gpu.sh --help\n")
            self.assertFalse(self.out.exists())
        self.out.touch()
        self.assertIn("is a file but must be a folder", self.run_script(*good).stderr)

    def test_a_missing_program_is_a_failure(self):
        outcome = self.run_script("--test", str(self.root / "absent"))
        self.assertEqual(outcome.returncode, 1)
        self.assertIn("MISSING", outcome.stdout)

    def test_bad_usage_is_a_sentence(self):
        for arguments in ([], ["--test"], ["--sanitize", "memcheck"], ["--nonsense"], ["--benchmark"]):
            outcome = self.run_script(*arguments)
            self.assertEqual(outcome.returncode, 2)
            self.assertIn("run_on_gpu.sh: ", outcome.stderr)
        self.assertIn("has nothing to run", self.run_script().stderr)

    def test_help_and_options_are_no_folders(self):
        for argument, status in (("--help", 0), ("-h", 0), ("--test", 2), ("-x", 2)):
            command = ["bash", str(pathlib.Path(SCRIPT).resolve()), argument, str(self.root / "good")]
            outcome = subprocess.run(command, capture_output=True, text=True, check=False, cwd=self.root)
            self.assertEqual(outcome.returncode, status, outcome.stderr)
            self.assertIn("usage: microbench/run_on_gpu.sh OUT" if status == 0 else "needs the folder to write to", outcome.stdout + outcome.stderr)
            self.assertFalse((self.root / argument).exists())


if __name__ == "__main__":
    unittest.main()
