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

    def test_our_figure_is_beside_the_published_one(self):
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

    def test_figures_that_depend_on_the_clock_show_it(self):
        rows = "clusters,barrier,24 ns,S2,a/latency,cycles,\nwgmma,rate,500 (H800),S1,a/latency,tflops,\n"
        self.run_script(rows, [{**RECORD, "sm_mhz": 2000.0, "tflops": 600.0}])
        text = self.page.read_text(encoding="utf-8")
        self.assertIn("| barrier | 24 ns | S2 | 24.0 (12 ns) | 0.50 |  |", text)
        self.assertIn("| rate | 500 (H800) | S1 | 600.0 (2000 MHz) | 1.20 |  |", text)

    def test_further_tables_are_made_from_the_results(self):
        def record(name, cycles, **other):
            return {**RECORD, "name": name, "cycles": cycles, "flop_per_clk_per_sm": 2730.6, **other}

        wgmma = "wgmma/wgmma_mma_async_m64n{}k{}_{}_{}_g4w1/throughput/warpgroups:1/group:4/outstanding:1"
        self.run_script("open,new,,,a/latency,cycles,\n", [
            RECORD, record(wgmma.format(8, 16, "f32_f16_f16", "ss"), 18.0), record(wgmma.format(8, 8, "f32_tf32_tf32", "rs"), 13.0),
            record("mma/mma_m16n8k16_x1/latency/warps:1/accumulators:1", 24.0),
            record("mma/mma_m16n8k16_x4/throughput/warps:8/accumulators:4", 12.0),
            record("mma/mma_s4_x1/latency/warps:1/accumulators:1", 90.0),
            record("mma/mma_s4_x4/throughput/warps:8/accumulators:4", 80.0, emulated=True),
        ])  # fmt: skip
        text = self.page.read_text(encoding="utf-8")
        self.assertIn("| 8 | 18.0 | – | – | 13.0 | – | – | – | – |", text)
        self.assertIn("| `mma_m16n8k16` | 24.0 | 12.0 | 2731 |", text)
        self.assertIn("| `mma_s4`, emulated | 90.0 | 80.0 | 2731 |", text)

    def test_a_stale_page_is_noticed(self):
        rows = "open,new,,,a/latency,cycles,\n"
        self.run_script(rows, [RECORD])
        self.assertEqual(self.run_script(rows, [RECORD], "--check").returncode, 0)
        self.assertEqual(self.run_script(rows, [{**RECORD, "cycles": 25.0}], "--check").returncode, 1)

    def test_a_wrong_section_is_a_sentence(self):
        done = self.run_script("magic,new,,,a/latency,cycles,\n", [RECORD])
        self.assertEqual(done.returncode, 2)
        self.assertIn("but the sections are mma.sync", done.stderr)

    def test_bad_input_is_a_sentence_and_writes_nothing(self):
        rows = "open,new,,,a/latency,cycles,\n"
        self.run_script(rows, [RECORD])
        before = self.page.read_text(encoding="utf-8")
        for bad_rows, records, more, sentence in (
            (rows, [RECORD], ["--results", str(self.root / "absent")], "absent must be a folder of results but is not there"),
            (rows, [RECORD], ["--results", str(self.root / "empty")], "empty must hold results, files *.json, but has none"),
            (rows, [RECORD], ["--results", str(self.root / "rows.csv")], "rows.csv must be a folder of results but is a file"),
            (rows, [{**RECORD, "cycles": None}], [], "r.json: result 0: 'cycles' is null"),
            (rows, [{**RECORD, "name": 1}], [], "r.json: result 0: 'name' is 1"),
            (rows, [{"benchmark": "instruction"}], [], "r.json: result 0 lacks name"),
            (rows.replace("cycles", "remark"), [{**RECORD, "remark": "fast"}], [], "'remark' is \"fast\" but must be a number"),
            ("open,new\n", [RECORD], [], "rows.csv:2: the row has 2 cells but must have 7"),
            (rows, [{**RECORD, "cycles": 9.0}], ["--page", str(self.root / "no" / "page.md")], "page.md: cannot be written: No such file"),
        ):
            (self.root / "empty").mkdir(exist_ok=True)
            done = self.run_script(bad_rows, records, *more)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertRegex(done.stderr, r"^published_figures: [^\n]*\n$")
            self.assertIn(sentence, done.stderr)
            self.assertEqual(self.page.read_text(encoding="utf-8"), before)


if __name__ == "__main__":
    unittest.main()
