"""scripts/published_figures on a small table."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = sys.argv.pop(1)
HEADER = "section,quantity,published,source,case,field,explanation\n"
RECORD = {
    "benchmark": "instruction", "name": "a/latency", "cycles": 24.0, "date": "2024-01-02", "machine": "H200", "toolkit": "CUDA",
}  # fmt: skip


class Published(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name)
        self.page = self.root / "page.md"

    def tearDown(self):
        self.folder.cleanup()

    def run_script(self, rows, records, *arguments):
        (self.root / "rows.csv").write_text(HEADER + rows, encoding="utf-8")
        results = self.root / "results"
        results.mkdir(exist_ok=True)
        (results / "r.json").write_text(json.dumps(records), encoding="utf-8")
        command = [SCRIPT, "--rows", str(self.root / "rows.csv"), "--results", str(results), "--page", str(self.page), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def test_ours_stands_beside_the_published_one(self):
        older = {**RECORD, "cycles": 99.0, "date": "2024-01-01"}
        done = self.run_script("wgmma,latency,25.0,S2,a/latency,cycles,why\n", [RECORD, older, {"benchmark": "gemm"}])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("| latency | 25.0 | S2 | 24.0 | 0.96 | why |", self.page.read_text(encoding="utf-8"))

    def test_what_is_not_measured_is_a_dash_and_nanoseconds_have_no_ratio(self):
        rows = "wgmma,other,7,S2,b/latency,cycles,\nclusters,barrier,510 ns,S2,a/latency,cycles,\nopen,new,,,a/latency,cycles,\n"
        self.run_script(rows, [RECORD])
        text = self.page.read_text(encoding="utf-8")
        self.assertIn("| other | 7 | S2 | – |  |  |", text)
        self.assertIn("| barrier | 510 ns | S2 | 24.0 |  |  |", text)
        self.assertIn("| new | 24.0 |  |", text)

    def test_a_stale_page_is_noticed(self):
        rows = "open,new,,,a/latency,cycles,\n"
        self.run_script(rows, [RECORD])
        self.assertEqual(self.run_script(rows, [RECORD], "--check").returncode, 0)
        self.assertEqual(self.run_script(rows, [{**RECORD, "cycles": 25.0}], "--check").returncode, 1)

    def test_a_wrong_section_is_a_sentence(self):
        done = self.run_script("magic,new,,,a/latency,cycles,\n", [RECORD])
        self.assertEqual(done.returncode, 2)
        self.assertIn("a section of", done.stderr)


if __name__ == "__main__":
    unittest.main()
