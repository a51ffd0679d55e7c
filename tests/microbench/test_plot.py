"""scripts/plot: argument handling everywhere, the drawing itself where matplotlib is present."""

import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

SCRIPT = sys.argv.pop(1)
HAVE_MATPLOTLIB = importlib.util.find_spec("matplotlib") is not None


def record(kernel, burst, sustained, layout="tn"):
    return dict(
        m=4096, n=4096, k=4096, types="f16_f32_f16", layout=layout, machine="NVIDIA H200", kernel=kernel,
        tflops_burst=burst, tflops_sustained=sustained, reference_tflops_burst=790.0, reference_tflops_sustained=None,
    )  # fmt: skip


class Plot(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        self.out = self.root / "ladder.svg"

    def tearDown(self):
        self.folder.cleanup()

    def run_script(self, records, *arguments, python=(sys.executable,)):
        results = self.root / "results.json"
        results.write_text(records if isinstance(records, str) else json.dumps(records), encoding="utf-8")
        command = [*python, SCRIPT, str(results), "--out", str(self.out), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def test_bad_input_is_a_sentence(self):
        two_cases = [record("a", 1.0, 1.0), record("a", 1.0, 1.0, layout="nt")]
        for records, arguments, sentence in (
            ("[", (), "plot: "),
            ("{}", (), "array of objects"),
            ([{"m": 1}], (), "lacks 'n'"),
            (two_cases, (), "more than one case"),
            (two_cases, ("--shape", "1:2:3"), "no record"),
        ):
            outcome = self.run_script(records, *arguments)
            self.assertEqual(outcome.returncode, 2, outcome.stderr)
            self.assertIn(sentence, outcome.stderr)
            self.assertFalse(self.out.exists())

    def test_without_matplotlib_it_says_how_to_get_it(self):
        outcome = self.run_script([record("a", 1.0, 1.0)], python=(sys.executable, "-S"))  # no installed packages
        self.assertEqual(outcome.returncode, 3)
        self.assertIn("pip install matplotlib", outcome.stderr)

    @unittest.skipUnless(HAVE_MATPLOTLIB, "needs matplotlib")
    def test_it_draws_one_case_as_svg(self):
        records = [record("naive_f32", 5.0, 4.0), record("tma", 500.0, 450.0), record("x", 1.0, 1.0, layout="nt")]
        outcome = self.run_script(records, "--layout", "tn")
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        root = xml.etree.ElementTree.parse(self.out).getroot()
        self.assertTrue(root.tag.endswith("svg"))
        text = self.out.read_text(encoding="utf-8")
        for label in ("naive_f32", "tma", "cuBLASLt", "500 / 450"):
            self.assertIn(label, text)


if __name__ == "__main__":
    unittest.main()
