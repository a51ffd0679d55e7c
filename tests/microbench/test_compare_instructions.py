"""scripts/compare_instructions on small results."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = sys.argv.pop(1)


def record(name, cycles, family="mma", measure="latency"):
    return {"benchmark": "instruction", "name": name, "family": family, "measure": measure, "cycles": cycles}


class Compare(unittest.TestCase):
    def compare(self, first, second, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for name, records in (("a", first), ("b", second)):
                paths.append(Path(folder, name + ".json"))
                paths[-1].write_text(records if isinstance(records, str) else json.dumps(records), encoding="utf-8")
            return subprocess.run([SCRIPT, *map(str, paths), *arguments], capture_output=True, text=True, check=False)

    def test_within_one_percent_agrees(self):
        done = self.compare([record("x", 24.0)], [record("x", 24.2), record("y", 1)])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("1 cases compared, 1 in one file only: 0 differ", done.stdout)

    def test_beyond_it_does_not_and_is_named(self):
        done = self.compare([record("x", 24.0), record("z", 5)], [record("x", 25.0), record("z", 5)])
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"4\.08%.*x")
        done = self.compare([record("x", 24.0)], [record("x", 25.0)], "--tolerance", "5")
        self.assertEqual(done.returncode, 0)

    def test_memory_has_its_own_tolerance(self):
        done = self.compare([record("x", 24.0, "tma")], [record("x", 25.0, "tma")], "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["apart"], [])

    def test_the_programs_files_are_read(self):
        case = "tma/cp_async_bulk/latency/bytes:2048/stages:1"
        written = {"benchmark": "instruction", "machine": "m", "results": [{"name": case, "cycles": 24.0}]}
        done = self.compare(json.dumps(written), [record(case, 25.0, "tma")], "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["compared"], 1)  # a copy, so with the tolerance of memory

    def test_bad_input_is_a_sentence(self):
        self.assertEqual(self.compare("{", [record("x", 1)]).returncode, 2)
        self.assertIn("no case in common", self.compare([record("x", 1)], [record("y", 1)]).stderr)
        good = [record("x", 1)]
        for bad, sentence in (
            (record("x", None), "'cycles' is null but must be a number above 0"),
            (record("x", 0), "'cycles' is 0 but must be a number above 0"),
            (record("x", float("nan")), "'cycles' is NaN but must be a number above 0"),
            ({"benchmark": "instruction", "name": "x"}, "result 0 lacks family, measure, cycles"),
        ):
            done = self.compare(good, [bad])
            self.assertEqual(done.returncode, 2)
            self.assertRegex(done.stderr, f"^compare_instructions: .*b.json: .*{sentence}")
        for results, sentence in (
            ([{"cycles": 1}], "result 0 lacks name"),
            ([None], "result 0 is null but must be an object"),
            ([{"name": "x", "cycles": 1}], 'name is "x" but must be family/kernel/measure'),
            ([{"name": "a/b/c/d", "cycles": 1}], 'name is "a/b/c/d" but must be family/kernel/measure'),
        ):
            done = self.compare(json.dumps({"benchmark": "instruction", "results": results}), good)
            self.assertEqual(done.returncode, 2, sentence)
            self.assertIn(sentence, done.stderr)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "latin")
            path.write_bytes(b'["\xe9"]')
            done = subprocess.run([SCRIPT, path, path], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"{path} is not UTF-8 text", done.stderr)
        self.assertEqual(self.compare(good, good, "--tolerance", "nan").returncode, 2)  # no difference exceeds nan
        self.assertIn("must hold results of", self.compare([{"benchmark": "gemm"}], [record("y", 1)]).stderr)


if __name__ == "__main__":
    unittest.main()
