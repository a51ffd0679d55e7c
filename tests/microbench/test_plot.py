"""scripts/plot: input and figures everywhere, the drawing itself if matplotlib is installed."""

import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

SCRIPT = sys.argv.pop(1)
HAVE_MATPLOTLIB = importlib.util.find_spec("matplotlib") is not None


def load_script():
    loader = importlib.machinery.SourceFileLoader("plot", SCRIPT)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("plot", loader))
    loader.exec_module(module)
    return module


PLOT = load_script()


def record(kernel, burst, sustained, layout="tn", shape=(4096, 4096, 4096), reference=790.0):
    m, n, k = shape
    return dict(
        m=m, n=n, k=k, types="f16_f32_f16", layout=layout, machine="NVIDIA H200", kernel=kernel,
        tflops_burst=burst, tflops_sustained=sustained, reference_tflops_burst=reference,
        reference_tflops_sustained=None,
    )  # fmt: skip


def instruction(name, tflops=None, gigabytes_per_second=None, **axes):
    return dict(
        benchmark="instruction", name=name, measure=name.split("/")[2], axes=axes, tflops=tflops,
        gigabytes_per_second=gigabytes_per_second,
    )  # fmt: skip


WGMMA = "wgmma/wgmma_mma_async_m64n256k16_f32_f16_f16_ss_g4w1/all_sm/x"
COPY = "copies/cp_async_bulk/throughput/x"
INSTRUCTIONS = [
    instruction(WGMMA, 880.0, data="normal"),
    instruction(WGMMA, 890.0, data="normal"),
    instruction(WGMMA, 950.0, data="zeros"),
    instruction("wgmma/wgmma_mma_async_m64n256k32_f32_e4m3_e4m3_ss_g4w1/all_sm/x", 1800.0, data="normal"),
    instruction("mma/mma_sp_m16n8k32_row_col_f32_f16_f16_f32_x4/all_sm/x", 999.0),
    instruction("mma/mma_m16n8k16_row_col_f32_f16_f16_f32_x4/throughput/x"),
    instruction(COPY, None, 4100.0, source="dram"),
    instruction(COPY, None, 3900.0, source="dram"),
    {"benchmark": "gemm"},
]


def sweep(extents, shape):
    return [record("tma", 10.0 * i, None, shape=shape(x), reference=20.0 * i) for i, x in enumerate(extents, 1)]


class Plot(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        self.out = self.root / "plot.svg"

    def tearDown(self):
        self.folder.cleanup()

    def write(self, name, content):
        path = self.root / name
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path

    def line(self, command, records, *arguments, out=None):
        results = self.write("results.json", records)
        return [command, str(results), "--out", str(out or self.out), *map(str, arguments)]

    def run_script(self, command, records, *arguments, out=None):
        """Runs the script in this process, so that matplotlib is imported once. Returns exit status and stderr."""
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors):
            try:
                status = PLOT.main(self.line(command, records, *arguments, out=out))
            except SystemExit as end:
                status = end.code
        return status, errors.getvalue()

    def refused(self, sentence, command, records, *arguments, out=None):
        status, errors = self.run_script(command, records, *arguments, out=out)
        self.assertEqual(status, 2, errors)
        self.assertIn(sentence, errors)
        self.assertFalse(self.out.exists())

    def drawn(self, command, records, *arguments):
        """The texts of the plot."""
        status, errors = self.run_script(command, records, *arguments)
        self.assertEqual(status, 0, errors)
        root = xml.etree.ElementTree.parse(self.out).getroot()
        self.assertTrue(root.tag.endswith("svg"))
        return [" ".join(text.itertext()).strip() for text in root.iter() if text.tag.endswith("}text")]


class Input(Plot):
    def test_bad_input_is_a_sentence(self):
        two_cases = [record("a", 1.0, 1.0), record("a", 1.0, 1.0, layout="nt")]
        self.refused("results.json is not JSON", "ladder", "[")
        self.refused("results.json is empty", "scaling", "")
        self.refused("array of objects", "ladder", "{}")
        self.refused("record 0 lacks n, k", "ladder", [{"m": 1}])
        self.refused("more than one case", "ladder", two_cases)
        self.refused("no record has 1:2:3; there are 4096:4096:4096 f16_f32_f16 nt; 4096", "ladder", two_cases, "--shape", "1:2:3")
        self.refused("there is no record to draw", "ladder", [])
        self.refused("no row", "ladder", {"m": 1, "n": 1, "k": 1, "machine": "x", "rows": []})
        self.refused("more than one kind", "scaling", two_cases)
        self.refused("nothing to scale with", "scaling", two_cases, "--layout", "tn")
        self.refused("no record has a burst figure", "roofline", [record("a", None, 1.0)])
        self.refused("'tflops_burst' is \"fast\" but must be a number or null", "ladder", [dict(record("a", 1.0, 1.0), tflops_burst="fast")])
        self.refused("'m' is 0 but must be a whole number above 0", "roofline", [record("a", 1.0, 1.0, shape=(0, 1, 1))])
        ladder = {"m": 1, "n": 1, "k": 1, "machine": "x"}
        self.refused("row 0 is null but must be an object", "ladder", {**ladder, "rows": [None]})
        self.refused("'rows' must be a list", "ladder", {**ladder, "rows": 1})
        self.refused("'tflops' is \"1\" but must be", "ladder", {**ladder, "rows": [{"rung": "a", "tflops": "1"}]})
        path = self.write("ceilings.json", [{"benchmark": "instruction", "name": "x", "measure": "y", "axes": 3}])
        self.refused("'axes' is 3 but must be an object", "roofline", two_cases, "--ceilings", path)
        self.refused("neither a .svg nor a .png", "ladder", two_cases, out=self.root / "x.pdf")

    def test_a_ladder_of_the_command_is_drawn_alone(self):
        ladder = {"m": 1, "n": 1, "k": 1, "machine": "x", "rows": [{"rung": "a", "tflops": 1.0}]}
        for more in (("--shape", "1:1:1"), ("--types", "f16_f32_f16"), ("--layout", "tn")):
            self.refused("it is drawn alone", "ladder", ladder, *more)
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors):
            status = PLOT.main(["ladder", str(self.root / "results.json"), str(self.root / "absent.json"), "--out", str(self.out)])
        self.assertEqual(status, 2)
        self.assertIn("it is drawn alone", errors.getvalue())

    def test_errors_come_from_the_command(self):
        self.refused("must hold the object", "precision", [])
        self.refused("'rows' must be a list", "precision", {"device_name": "x", "numbers": "normal", "rows": []})
        row = {"size": 64, "method": "f32", "relative_error": None}
        self.refused("has no error to draw", "precision", {"device_name": "x", "numbers": "normal", "rows": [row]})

    def test_the_page_names_files_that_are_there(self):
        root = pathlib.Path(SCRIPT).resolve().parents[1]
        lines = [line.split("#")[0].split() for line in (root / "microbench/README.md").read_text(encoding="utf-8").splitlines()
                 if line.startswith("scripts/plot")]  # fmt: skip
        self.assertEqual([words[1] for words in lines], ["ladder", "scaling", "roofline"])
        for name in (word for words in lines for word in words if word.endswith(".json")):
            self.assertTrue(list(root.glob(name)), name)

    def test_cases_that_cannot_be_drawn_are_a_sentence(self):
        def measured(*names):
            return {"benchmark": "instruction", "machine": "H", "results": [{"name": f"a/b/c/{name}", "cycles": 1.0} for name in names]}

        for names, arguments, sentence in (
            (("x:1",), ("--cases", "a/b/d", "--over", "x"), "has no case 'a/b/d'"),
            (("x:1",), ("--cases", "a/b/c/y:1", "--over", "x"), "has no case 'a/b/c/y:1': --cases names family/kernel/measure"),
            (("x:1", "y:1"), ("--cases", "a/b/c", "--over", "x"), "has no axis 'x'"),
            (("x:1/y:1/z:1", "x:1/y:2/z:2", "x:1/y:2/z:1"), ("--cases", "a/b/c", "--over", "x"), "more than one axis differs, give a value to"),
            (("x:one",), ("--cases", "a/b/c", "--over", "x"), "'one' is no number"),
        ):  # fmt: skip
            self.refused(sentence, "instructions", measured(*names), *arguments)
        unmeasured = {"benchmark": "instruction", "results": [{"name": "a/b/c/x:1", "cycles": None}]}
        self.refused("no figure in common", "instructions", unmeasured, "--cases", "a/b/c", "--over", "x")
        case = dict(benchmark="attention_forward", n=64, k=64, types="f16_f32_f16", layout="full", kernel="cuDNN", machine="H", tflops_burst=1.0)
        for records, layout, sentence in (
            ([dict(case, n=0)], "full", "'n' is 0"), ([case], "causal", "has the layout 'causal' and the types f16_f32_f16; there are 'full' f16_f32_f16"), ({}, "full", "array of objects"),
            ([dict(case, tflops_burst=None)], "full", "there are none"), ([dict(case, benchmark="attention_backward")], "full", "there are none"),
        ):  # fmt: skip
            self.refused(sentence, "attention", records, "--layout", layout, "--types", "f16_f32_f16")

    def test_the_swizzle_is_that_of_the_header(self):
        source = self.root / "swizzle.cpp"
        lines = "".join(f"  for (int row = 0; row < 8; ++row) for (int chunk = 0; chunk < {size} / 16; ++chunk) "
                        f"std::printf(\"%d \", tenon::swizzled_chunk<{size}>(row, chunk));\n" for size in (32, 64, 128))  # fmt: skip
        source.write_text(f'#include <cstdio>\n#include "tenon/shared/swizzle.hpp"\nint main() {{\n{lines}}}\n', encoding="utf-8")
        include = pathlib.Path(SCRIPT).resolve().parents[1] / "include"
        subprocess.run([os.environ.get("CXX", "c++"), "-std=c++17", "-I", include, "-o", self.root / "swizzle", source], check=True)
        printed = subprocess.run([self.root / "swizzle"], check=True, capture_output=True, text=True).stdout
        ours = [PLOT.tenon_plots.swizzled_chunk(size, row, chunk) for size in (32, 64, 128) for row in range(8) for chunk in range(size // 16)]
        self.assertEqual([int(word) for word in printed.split()], ours)
        for size in (32, 64, 128):  # each chunk lies in its row, at the place that the header names
            for at, (row, chunk) in enumerate(PLOT.tenon_plots.places(size, True)):
                self.assertEqual((at // (size // 16), at % (size // 16)), (row, PLOT.tenon_plots.swizzled_chunk(size, row, chunk)))

    def test_ceilings_are_an_array(self):
        path = self.write("ceilings.json", {"tflops": 1})
        self.refused("array of objects", "roofline", [record("a", 1.0, 1.0)], "--ceilings", path)
        path = self.write("ceilings.json", [{"benchmark": "instruction"}])
        self.refused("lacks measure", "roofline", [record("a", 1.0, 1.0)], "--ceilings", path)

    def test_without_matplotlib_it_takes_what_was_fetched_or_says_how_to_get_it(self):
        scripts = self.root / "scripts"  # a checkout where scripts/setup did not run
        scripts.mkdir()
        shutil.copy(SCRIPT, scripts)
        for name in ("tenon_plots.py", "tenon_results.py", "tenon_sass"):
            (scripts / name).symlink_to(pathlib.Path(SCRIPT).resolve().parent / name)
        line = [sys.executable, "-SE", scripts / "plot", *self.line("ladder", [record("a", 1.0, 1.0)])]  # -S: no packages
        outcome = subprocess.run(line, capture_output=True, text=True, check=False)
        self.assertEqual(outcome.returncode, 3)
        self.assertIn("matplotlib is missing; run scripts/setup, or pip install matplotlib", outcome.stderr)
        python = self.root / ".tools" / "venv" / "bin" / "python3"
        python.parent.mkdir(parents=True)
        python.write_text('#!/bin/sh\necho "fetched: $*"\n', encoding="utf-8")
        python.chmod(0o755)
        outcome = subprocess.run(line, capture_output=True, text=True, check=False)
        self.assertEqual((outcome.returncode, outcome.stdout), (0, "fetched: -B " + " ".join(map(str, line[2:])) + "\n"))


class Figures(unittest.TestCase):
    def test_intensity_counts_each_matrix_once(self):
        self.assertAlmostEqual(PLOT.intensity(record("a", 1, 1, shape=(64, 32, 16))), 2 * 64 * 32 * 16 / (2 * 3584))
        wide = dict(record("a", 1, 1, shape=(8, 8, 8)), types="bf16_f32_f32")
        self.assertAlmostEqual(PLOT.intensity(wide), 2 * 512 / (2 * 128 + 4 * 64))
        for types, size, result in (("e4m3_f32p_bf16", 1, 2), ("e4m3_e5m2_f32_f32", 1, 4), ("s8_s32_s32", 1, 4), ("tf32_f32_f32", 4, 4)):
            expected = 2 * 512 / (size * 128 + result * 64)
            self.assertAlmostEqual(PLOT.intensity(dict(wide, types=types)), expected, msg=types)
        with self.assertRaisesRegex(PLOT.BadInput, "'f8_f32_f16' name 'f8', which is none of"):
            PLOT.intensity(dict(wide, types="f8_f32_f16"))
        with self.assertRaisesRegex(PLOT.BadInput, "types 'f16' are not"):
            PLOT.intensity(dict(wide, types="f16"))

    def test_a_sweep_is_recognised_by_what_changes(self):
        for extents, shape, name, fixed in (
            ((64, 128), lambda x: (4096, 4096, x), "k", "m = 4096, n = 4096"),
            ((16, 32), lambda x: (x, 4096, 512), "m", "n = 4096, k = 512"),
            ((256, 512), lambda x: (x, x, x), "m = n = k", ""),
        ):
            found, rest, rows = PLOT.curves(sweep(extents, shape))
            self.assertEqual((found, rest), (name, fixed))
            self.assertEqual(rows, [(extents[0], 10.0, 20.0), (extents[1], 20.0, 40.0)])
        with self.assertRaisesRegex(PLOT.BadInput, "m and k change"):
            PLOT.curves(sweep((1, 2), lambda x: (x, 7, x)))

    def test_the_fastest_kernel_of_a_case_counts(self):
        records = sweep((64, 128), lambda x: (4096, 4096, x)) + [record("slow", 1.0, None, shape=(4096, 4096, 64))]
        self.assertEqual(PLOT.curves(records)[2][0], (64, 10.0, 20.0))

    def test_ceilings_are_the_fastest_of_random_data_and_those_missing_are_known(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "instructions.json"
            path.write_text(json.dumps(INSTRUCTIONS), encoding="utf-8")
            compute, memory, missing = PLOT.ceilings(path)
        self.assertEqual((compute, memory, missing), ({"wgmma f16": 890}, {"DRAM": 4100}, ["mma.sync f16", "L2"]))
        self.assertEqual(PLOT.ceilings(None)[2], ["mma.sync f16", "wgmma f16", "DRAM", "L2"])


@unittest.skipUnless(HAVE_MATPLOTLIB, "needs matplotlib")
class Drawing(Plot):
    def test_the_ladder_of_one_case(self):
        records = [record("naive_f32", 5.0, 4.0), record("tma", 500.0, 450.0), record("x", 1.0, 1.0, layout="nt")]
        text = self.drawn("ladder", records, "--layout", "tn")
        self.assertLessEqual({"naive_f32", "tma", "cuBLASLt", "500 / 450", "5.0 / 4.0"}, set(text))

    def test_the_object_of_the_command(self):
        rows = [{"rung": "naive FP32", "tflops": 0.5}, {"rung": "cuBLASLt", "tflops": 760.0}]
        text = self.drawn("ladder", {"m": 1, "n": 2, "k": 3, "machine": "NVIDIA H200", "rows": rows})
        self.assertLessEqual({"naive FP32", "cuBLASLt", "1 × 2 × 3, NVIDIA H200"}, set(text))

    def test_the_roofline_names_what_was_not_measured(self):
        ceilings = self.write("instructions.json", INSTRUCTIONS)
        records = sweep((64, 128, 4096), lambda x: (4096, 4096, x))
        text = self.drawn("roofline", records, "--ceilings", ceilings)
        self.assertLessEqual(
            {"wgmma f16: 890 TFLOP/s", "DRAM: 4100 GB/s", "not measured: mma.sync f16, L2"}, set(text)
        )
        self.assertIn("not measured: mma.sync f16, wgmma f16, DRAM, L2", self.drawn("roofline", records))
        self.assertNotIn("DRAM: 4100 GB/s", self.drawn("roofline", records))

    def test_scaling_draws_both_curves(self):
        text = self.drawn("scaling", sweep((64, 128), lambda x: (4096, 4096, x)))
        title = "m = 4096, n = 4096, f16_f32_f16 tn NVIDIA H200"
        self.assertLessEqual({"tenon", "cuBLASLt", title, "k", "64", "128"}, set(text))

    def test_errors_by_size(self):
        rows = [{"size": size, "method": method, "relative_error": error}
                for size in (64, 128) for method, error in (("f32", 1e-7 * size), ("f16_f16", None if size == 128 else 1e-3))]
        text = self.drawn("precision", {"device_name": "NVIDIA H200", "numbers": "normal", "rows": rows})
        self.assertLessEqual({"f32", "f16_f16", "64", "128", "m = n = k", "normal numbers, NVIDIA H200"}, set(text))

    def test_cases_over_an_axis(self):
        cases = [(1, 64, 5.0), (2, 64, 6.0), (1, 128, 7.0), (2, 128, 8.0)]
        results = [{"name": f"tma/load/throughput/bytes:{size}/stages:{n}/source:l2", "cycles": 1.0, "gigabytes_per_second": speed}
                   for n, size, speed in cases] + [{"name": "tma/load/latency/bytes:64/stages:1", "cycles": 2.0}]  # fmt: skip
        measured = {"benchmark": "instruction", "machine": "NVIDIA H200", "results": results}
        text = self.drawn("instructions", measured, "--cases", "tma/lo*/throughput/source:l2", "--over", "stages", "--label", "in flight")
        self.assertLessEqual({"in flight", "GB/s", "64 bytes", "128 bytes", "1", "2", "source l2, NVIDIA H200"}, set(text))
        text = self.drawn("instructions", measured, "--cases", "tma/load/latency", "--over", "stages")
        self.assertLessEqual({"stages", "cycles"}, set(text))  # the latency has no other figure
        text = self.drawn("instructions", measured, "--cases", "tma/load/throughput/bytes:64", "--over", "stages")
        self.assertNotIn("64 bytes", text)  # one curve needs no name

    def test_attention_by_contender(self):
        case = dict(benchmark="attention_forward", k=64, types="f16_f32_f16", layout="full", machine="NVIDIA H200")
        kernels = ("attention_wgmma_f16_64_192x128_full", "attention_mma_f16_64_128x64", "cuDNN")
        records = [dict(case, kernel=name, n=n, tflops_burst=float(n)) for name in kernels for n in (512, 1024)]
        text = self.drawn("attention", records, "--layout", "full", "--types", "f16_f32_f16")
        self.assertLessEqual({"tenon, wgmma", "tenon, mma.sync", "cuDNN", "512", "1024", "full, f16_f32_f16", "NVIDIA H200"}, set(text))

    def test_the_swizzle(self):
        for size, chunks in ((32, 2), (64, 4), (128, 8)):
            status = PLOT.main(["swizzle", "--row-bytes", str(size), "--out", str(self.out)])
            self.assertEqual(status, 0)
            text = [" ".join(t.itertext()).strip() for t in xml.etree.ElementTree.parse(self.out).getroot().iter() if t.tag.endswith("}text")]
            self.assertEqual(sorted(t for t in text if "," in t), sorted(2 * [f"{r},{c}" for r in range(8) for c in range(chunks)]))
            self.assertLessEqual({"swizzled", "not swizzled", "bank", "28"}, set(text))

    def test_the_same_figures_give_the_same_file_and_png_is_drawn_too(self):
        records = [record("a", 1.0, 1.0)]
        self.drawn("ladder", records)
        first = self.out.read_bytes()
        self.drawn("ladder", records)
        self.assertEqual(self.out.read_bytes(), first)
        picture = self.root / "plot.png"
        status, errors = self.run_script("ladder", records, out=picture)
        self.assertEqual(status, 0, errors)
        self.assertEqual(picture.read_bytes()[:8], b"\x89PNG\r\n\x1a\n")


if __name__ == "__main__":
    unittest.main()
