"""recorded_with.py, which skips tests of a record of another CUDA version."""

import subprocess
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent


class RecordedWith(unittest.TestCase):
    def run_test(self, recorded, here, code):
        command = [sys.executable, "-B", HERE / "recorded_with.py", recorded, here, sys.executable, "-c", code]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def test_the_same_version_runs_the_test(self):
        for here in ("13.0", "13.0.48", "13.0.88"):
            for status in (0, 1, 3):
                done = self.run_test("13.0", here, f"import sys; print('ran'); sys.exit({status})")
                self.assertEqual((done.returncode, done.stdout), (status, "ran\n"), done.stderr)

    def test_another_version_skips_it_and_names_both(self):
        for here, named in (("13.5.37", "13.5"), ("13.10.1", "13.10"), ("14.0", "14.0")):
            done = self.run_test("13.0", here, "print('ran')")
            sentence = f"skipped: the record is of CUDA 13.0, but CUDA {named} compiles here, and makes other machine code\n"
            self.assertEqual((done.returncode, done.stdout, done.stderr), (77, sentence, ""))


if __name__ == "__main__":
    unittest.main()
