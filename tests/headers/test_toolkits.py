"""The headers compile with the oldest and the newest CUDA version of PyPI, and say so in one sentence where a version is too old.

Skipped only where PyPI does not answer and nothing is kept in .tools. Prints the versions that ran.
"""
import json
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
sys.dont_write_bytecode = True
from tenon_toolkit.fetch import versions  # noqa: E402


def toolkit(*arguments):
    return subprocess.run([sys.executable, "-B", ROOT / "scripts/toolkit", *arguments], capture_output=True, text=True)


class Toolkits(unittest.TestCase):
    def check(self, version):
        done = toolkit("headers", version, "--json")
        if done.returncode == 3:
            self.skipTest(done.stderr.strip())
        self.assertIn(done.returncode, (0, 1), done.stderr)
        results = json.loads(done.stdout)
        for result in results:
            print(f"CUDA {version}, {result['target']}: {result['compiled']} headers, {result['refused']} refused")
            self.assertEqual(result["failures"], {})
            self.assertGreater(result["compiled"], 100)
        return {result["target"]: result for result in results}

    def test_the_oldest(self):
        oldest = versions()[0]
        results = self.check(oldest)
        self.assertEqual(list(results), ["sm_80", "sm_89", "sm_90a"])
        self.assertGreater(results["sm_90a"]["refused"], 0)  # its <cuda/ptx> has no copies of TMA

    def test_the_newest(self):
        results = self.check(versions()[-1])
        self.assertEqual({target: result["refused"] for target, result in results.items()},
                         dict.fromkeys(("sm_80", "sm_89", "sm_90a", "sm_100a", "sm_120a"), 0))

    def test_a_version_that_pypi_lacks_is_refused(self):
        done = toolkit("headers", "12.7")
        self.assertEqual(done.returncode, 2)
        self.assertIn("the version is '12.7' but must be one of 12.4, ", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
