"""scripts/readme_tables on canned results."""

import json
import pathlib
import resource
import subprocess
import sys
import tempfile
import unittest

SCRIPT = sys.argv.pop(1)
README = "# x\n\n<!-- table:gemm -->\nold\n<!-- /table -->\nbetween\n<!-- table:ladder -->\n<!-- /table -->\nend\n"

BETWEEN = dict(
    tflops_between=400.0, reference_between="cuBLASLt 13.1.0 #3 (tile 2)", reference_tflops_between=700.0, ratio_between=0.5714,
    pair_us=344.5, reference_pair_us=197.3, foreign_us=0.96,
)  # fmt: skip


def record(**changes):
    fields = dict(
        benchmark="gemm", m=4096, n=4096, k=4096, batch=1, types="bf16_f32_bf16", layout="tn", kernel="tma_a",
        tflops_burst=500.4, tflops_sustained=450.6, reference="cuBLASLt 13.1.0 #2 (tile 1)",
        reference_tflops_burst=790.0, reference_tflops_sustained=690.0, ratio_burst=0.6334, ratio_sustained=0.653,
        flop_per_clk_per_sm=2100.0, sm_mhz=1650.0, watts=690.0, max_error=0.1, error_bound=1.0,
        commit="0123456789abcdef", machine="NVIDIA H200", toolkit="CUDA 13.0", date="2026-11-21",
    )  # fmt: skip
    fields.update(changes)
    return fields


class ReadmeTables(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        self.readme = self.root / "README.md"
        self.results = self.root / "results"
        (self.results / "h200").mkdir(parents=True)
        self.readme.write_text(README, encoding="utf-8")

    def tearDown(self):
        self.folder.cleanup()

    def store(self, records, name="gemm.json"):
        (self.results / "h200" / name).write_text(json.dumps(records), encoding="utf-8")

    def run_script(self, *arguments):
        command = [sys.executable, SCRIPT, "--readme", str(self.readme), "--results", str(self.results), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def text(self):
        return self.readme.read_text(encoding="utf-8")

    def test_a_record_of_choices_among_the_results_is_no_result(self):
        self.store({"benchmark": "gemm_choices", "problems": [{"group": "fp8", "m": 4096}]}, "choices_1.json")
        self.store([record()])
        self.assertEqual(self.run_script().returncode, 0)
        self.assertEqual(len([line for line in self.text().splitlines() if line.startswith("| 4")]), 1)

    def test_the_fastest_kernel_of_each_case_stands_beside_cublaslt(self):
        self.store([
            record(),
            record(kernel="tma_b", tflops_sustained=460.0, ratio_sustained=0.6667),
            record(m=4095, n=4095, k=4095, kernel="any_c"),
        ])  # fmt: skip
        self.assertEqual(self.run_script().returncode, 0)
        rows = [line for line in self.text().splitlines() if line.startswith("| 4")]
        self.assertEqual(len(rows), 2)
        self.assertEqual(
            rows[1],
            "| 4096³ | bf16 → bf16 | tn | `tma_b` | 500 / 460 | 790 / 690 | 0.63 / 0.67 | 2100 | 1650 | 690 |",
        )
        self.assertIn("`any_c`", rows[0])
        self.assertNotIn("tma_a", self.text())
        self.assertIn("NVIDIA H200, CUDA 13.0, commit 012345678, 2026-11-21", self.text())

    def test_text_around_the_tables_stays(self):
        self.store([record()])
        self.run_script()
        self.assertTrue(self.text().startswith("# x\n\n<!-- table:gemm -->\n"))
        self.assertIn("<!-- /table -->\nbetween\n<!-- table:ladder -->\n", self.text())
        self.assertTrue(self.text().endswith("<!-- /table -->\nend\n"))
        self.assertNotIn("old", self.text())

    def test_the_ladder_ends_with_the_best_kernel_and_cublaslt(self):
        self.store([
            record(),
            record(kernel="wmma_shared", tflops_burst=100.0, tflops_sustained=99.0),
            record(kernel="naive_f32", tflops_burst=5.0, tflops_sustained=4.9),
            record(kernel="tma_slower", tflops_sustained=300.0),
        ])  # fmt: skip
        self.run_script()
        ladder = self.text().split("<!-- table:ladder -->")[1]
        names = [line.split("|")[1].strip() for line in ladder.splitlines() if line.startswith("| `")]
        self.assertEqual(names, ["`naive_f32`", "`wmma_shared`", "`tma_a`"])
        self.assertIn("| cuBLASLt 13.1.0 #2 (tile 1) | 790.0 / 690.0 | 1 / 1 |", ladder)

    def test_what_was_not_measured_is_a_dash(self):
        self.store([record(tflops_sustained=None, ratio_sustained=None, reference_tflops_sustained=None, watts=None)])
        self.assertEqual(self.run_script().returncode, 0)
        self.assertIn("| 500 / – | 790 / – | 0.63 / – | 2100 | 1650 | – |", self.text())

    def test_the_later_date_counts(self):
        self.store([record(tflops_burst=111.0, date="2026-11-22")], "a.json")
        self.store([record(tflops_burst=222.0)], "b.json")
        self.run_script()
        self.assertIn("111 /", self.text())
        self.assertNotIn("222 /", self.text())

    def test_check_tells_stale_from_fresh_and_writes_nothing(self):
        self.store([record()])
        stale = self.run_script("--check")
        self.assertEqual(stale.returncode, 1)
        self.assertIn("stale", stale.stderr)
        self.assertEqual(self.text(), README)
        self.run_script()
        self.assertEqual(self.run_script("--check").returncode, 0)
        self.store([record(tflops_burst=501.6)])
        self.assertEqual(self.run_script("--check").returncode, 1)

    def test_instructions_have_a_table_of_their_own(self):
        self.readme.write_text("<!-- table:instructions -->\n<!-- /table -->\n<!-- table:gemm -->\n<!-- /table -->\n", encoding="utf-8")
        case = "mma/mma_m16n8k16_row_col_f32_f16_f16_f32_x{}"
        self.store([record()])
        self.store({
            "benchmark": "instruction", "commit": "0123456789abcdef", "machine": "NVIDIA H200", "toolkit": "CUDA 13.0",
            "date": "2026-11-20", "results": [
                {"name": case.format("1/latency/warps:1/accumulators:1"), "cycles": 24.0},
                {"name": case.format("4/throughput/warps:8/accumulators:4"), "cycles": 12.0, "flop_per_clk_per_sm": 2730.6},
                {"name": "shared/stmatrix_x4/throughput/ways:1", "cycles": 64.0, "bytes_per_clk_per_sm": 127.99},
            ],
        }, "instructions.json")  # fmt: skip
        self.assertEqual(self.run_script().returncode, 0)
        table, rest = self.text().split("<!-- table:gemm -->")
        self.assertIn("| `mma.sync` m16n8k16 f16 → f32 | 24.0 | 2731 FLOP |", table)
        self.assertIn("| `stmatrix.x4` | – | 128 B |", table)
        self.assertIn("commit 012345678, 2026-11-20", table)
        self.assertNotIn("wgmma", table)
        self.assertIn("`tma_a`", rest)

    def test_types_are_written_for_people(self):
        self.store([
            record(m=m, n=m, k=m, types=types)
            for m, types in enumerate(("e4m3_f32_bf16", "e4m3_f32p_bf16", "e4m3_e5m2_f32p_f16", "s8_s32_s32", "f16_f16_f16"), 1)
        ])  # fmt: skip
        self.assertEqual(self.run_script().returncode, 0)
        rows = [line.split(" | ")[1] for line in self.text().splitlines() if "³ |" in line]
        self.assertEqual(
            sorted(rows),
            ["e4m3 × e5m2 → f16, promoted accumulators", "e4m3 → bf16", "e4m3 → bf16, promoted accumulators",
             "f16 → f16, f16 accumulators", "s8 → s32"],
        )
        self.assertIn("TFLOP/s (of s8 TOP/s)", self.text())
        self.store([record(types="bf16")])
        outcome = self.run_script()
        self.assertEqual(outcome.returncode, 2)
        self.assertIn("types 'bf16' are not", outcome.stderr)

    def test_suites_with_a_table_of_their_own_stand_in_it_alone(self):
        markers = "".join(f"<!-- table:{name} -->\n<!-- /table -->\n" for name in ("gemm", "types", "unaligned", "models", "tokens"))
        self.readme.write_text(markers, encoding="utf-8")
        self.store([record(kernel="of_main")], "main.json")
        self.store([record(kernel="of_types", types="e4m3_f32p_bf16")], "types.json")
        self.store([record(kernel="of_unaligned", layout="tn lda=4097 ldb=4097 ldc=4096")], "unaligned.json")
        self.store([record(kernel="of_models", m=1)], "models.json")
        self.store([record(kernel="of_tokens", m=136)], "tokens.json")
        self.assertEqual(self.run_script().returncode, 0)
        _, *tables = self.text().split("<!-- table:")
        self.assertEqual(len(tables), 5)
        for own in tables:
            name = own.split(" ")[0]
            for kernel in ("of_main", "of_types", "of_unaligned", "of_models", "of_tokens"):
                self.assertEqual(kernel in own, kernel == "of_" + name.replace("gemm", "main"), f"{kernel} in {name}")
        self.assertIn("| tn lda=4097 ldb=4097 ldc=4096 |", tables[2])

    def summary(self):
        self.readme.write_text("<!-- table:summary -->\n<!-- /table -->\n", encoding="utf-8")
        self.assertEqual(self.run_script().returncode, 0)
        return [line for line in self.text().splitlines() if line.startswith("| ")][1:]

    def test_the_summary_has_a_row_for_each_kind_of_product(self):
        ratio = dict(ratio_burst=1.0, ratio_sustained=1.0)
        self.store([
            record(m=2048, ratio_burst=0.5, ratio_sustained=0.25, tflops_burst=300.0),
            record(m=8192, ratio_burst=2.0, ratio_sustained=None, tflops_burst=600.4),
            record(m=8192, kernel="slower", ratio_burst=0.1, tflops_burst=1.0, tflops_sustained=1.0),
            record(layout="nt", **ratio),
            record(m=64, **ratio),
            record(types="f16_f16_f16", **ratio),
            record(kernel="naive_f32", m=256, ratio_burst=0.01),
        ], "main.json")  # fmt: skip
        self.store([record(types="e4m3_f32p_bf16", **ratio), record(types="s8_s32_s32", **ratio)], "types.json")
        self.store([record(m=16, ratio_burst=1.5, ratio_sustained=None), record(m=16, n=4097, ratio_burst=5.0)], "models.json")
        self.store([record(m=136, ratio_burst=0.9, ratio_sustained=None)], "tokens.json")
        self.store([record(m=8000, ratio_burst=9.0), record(types="tf32_f32_f32", ratio_burst=9.0)], "random_types.json")  # in no row
        self.store([
            record(k=4095, ratio_burst=4.0, ratio_sustained=4.0),
            record(layout="tn lda=4097 ldb=4097 ldc=4096", ratio_burst=4.0, ratio_sustained=4.0),
        ], "unaligned.json")  # fmt: skip
        self.assertEqual(self.summary(), [
            "| bf16, large | 2 | 600 at 8192 × 4096 × 4096 | 1.00 | 0.25 | 0.50 to 2.00 |",
            "| bf16, large, layouts nn, nt and tt | 1 | 500 at 4096³ | 1.00 | 1.00 | 1.00 to 1.00 |",
            "| f16, large, f16 accumulators | 1 | 500 at 4096³ | 1.00 | 1.00 | 1.00 to 1.00 |",
            "| fp8, promoted accumulators | 1 | 500 at 4096³ | 1.00 | 1.00 | 1.00 to 1.00 |",
            "| s8 | 1 | 500 at 4096³ | 1.00 | 1.00 | 1.00 to 1.00 |",
            "| 16-bit types, not large | 1 | 500 at 64 × 4096 × 4096 | 1.00 | 1.00 | 1.00 to 1.00 |",
            "| bf16, language models, up to 128 tokens | 1 | 500 at 16 × 4096 × 4096 | 1.50 | – | 1.50 to 1.50 |",
            "| bf16, language models, more than 128 tokens | 1 | 500 at 136 × 4096 × 4096 | 0.90 | – | 0.90 to 0.90 |",
            "| rows that do not start on 16 bytes | 3 | 500 at 16 × 4097 × 4096 | 4.31 | 2.19 | 4.00 to 5.00 |",
        ])  # fmt: skip

    def test_rows_of_c_and_of_narrow_types_decide_what_is_aligned(self):
        for layout, m, n, k, types, aligned in (
            ("tn", 4097, 4096, 4096, "bf16_f32_bf16", True),  # m is not a leading dimension
            ("nn", 4097, 4096, 4096, "bf16_f32_bf16", False),  # but here it is that of A
            ("nt", 4096, 4096, 4097, "bf16_f32_bf16", True),
            ("tn", 4096, 4100, 4096, "bf16_f32_bf16", False),  # C: 8200 bytes a row
            ("tn", 4096, 4100, 4096, "bf16_f32_f32", True),
            ("tn", 4096, 4096, 4104, "e4m3_f32_bf16", False),
            ("tn", 4096, 4096, 4100, "tf32_f32_f32", True),
        ):
            self.store([record(layout=layout, m=m, n=n, k=k, types=types)])
            (row,) = self.summary()
            self.assertEqual("16 bytes" not in row, aligned, (layout, m, n, k, types))

    def test_a_type_without_a_size_is_a_sentence(self):
        self.readme.write_text("<!-- table:summary -->\n<!-- /table -->\n", encoding="utf-8")
        self.store([record(types="e9m9_f32_bf16")])
        outcome = self.run_script()
        self.assertEqual(outcome.returncode, 2)
        self.assertIn("types 'e9m9_f32_bf16': e9m9 is none of f16, ", outcome.stderr)

    def test_several_pages_are_written_and_checked(self):
        self.store([record()])
        other = self.root / "other.md"
        other.write_text("<!-- table:gemm -->\n<!-- /table -->\n", encoding="utf-8")
        self.assertEqual(self.run_script("--readme", str(other)).returncode, 0)
        for path in (self.readme, other):
            self.assertIn("`tma_a`", path.read_text(encoding="utf-8"))
        other.write_text("<!-- table:gemm -->\nstale\n<!-- /table -->\n", encoding="utf-8")
        outcome = self.run_script("--readme", str(other), "--check")
        self.assertEqual((outcome.returncode, outcome.stderr.count("stale")), (1, 1))
        self.assertIn("other.md", outcome.stderr)

    def test_models_are_summed_up(self):
        self.readme.write_text("<!-- table:models -->\n<!-- /table -->\n", encoding="utf-8")
        ratios = {1: 0.5, 16: 2.0, 128: 1.0, 512: 0.9, 8192: 0.894}
        self.store([
            *(record(m=m, n=6144, ratio_burst=ratio, tflops_sustained=None, ratio_sustained=None) for m, ratio in ratios.items()),
            record(m=1, n=6144, kernel="slower", tflops_burst=1.0, ratio_burst=0.1, tflops_sustained=None),
        ], "models.json")  # fmt: skip
        self.assertEqual(self.run_script().returncode, 0)
        rows = [line for line in self.text().splitlines() if line.startswith("|")]
        self.assertEqual(rows[2], "| up to 128 tokens | 3 | 1.000 | 0.500 at 1 × 6144 × 4096 | 1 |")
        self.assertEqual(rows[3], "| more than 128 tokens | 2 | 0.897 | 0.894 at 8192 × 6144 × 4096 | 1 |")
        self.assertEqual(rows[4], "| all | 5 | 0.957 | 0.500 at 1 × 6144 × 4096 | 2 |")
        self.assertEqual(rows[7], "| 1 × 6144 × 4096 | `tma_a` | 500 | 790 | 0.50 |")
        self.assertEqual(len(rows), 12)
        self.assertIn("TFLOP/s: burst.\n", self.text())
        self.assertNotIn("slower", self.text())

    def test_ratios_between_others_stand_beside_those_back_to_back(self):
        self.store([record(**BETWEEN), record(m=4095, n=4095, k=4095, kernel="of_before")])
        self.assertEqual(self.run_script().returncode, 0)
        rows = [line for line in self.text().splitlines() if line.startswith("|")]
        self.assertIn("| tenon | cuBLASLt | ratio back to back | ratio between others | FLOP/clk/SM |", rows[0])
        self.assertTrue(rows[2].startswith("| 4095³ "))
        self.assertIn("| 500 / 451 | 790 / 690 | 0.63 / 0.65 | – | 2100 |", rows[2])
        self.assertIn("| 500 / 451 | 790 / 690 | 0.63 / 0.65 | 0.57 | 2100 |", rows[3])
        self.assertEqual({row.count("|") for row in rows[:4]}, {12})

    def test_without_ratios_between_others_there_is_no_column_for_them(self):
        self.readme.write_text("".join(f"<!-- table:{name} -->\n<!-- /table -->\n" for name in ("gemm", "models", "summary")), encoding="utf-8")
        self.store([record()])
        self.store([record(m=16)], "models.json")
        self.assertEqual(self.run_script().returncode, 0)
        self.assertNotIn("between", self.text())
        self.assertNotIn("back to back", self.text())

    def test_models_are_summed_up_in_both_ways(self):
        self.readme.write_text("<!-- table:models -->\n<!-- /table -->\n", encoding="utf-8")
        ratios = {1: (0.5, 2.0), 16: (2.0, 0.5), 512: (0.9, 0.89), 8192: (0.8, None)}
        self.store([
            record(m=m, ratio_burst=burst, **(dict(BETWEEN, ratio_between=between) if between else {}))
            for m, (burst, between) in ratios.items()
        ], "models.json")  # fmt: skip
        self.assertEqual(self.run_script().returncode, 0)
        rows = [line for line in self.text().splitlines() if line.startswith("|")]
        self.assertEqual(
            rows[0],
            "| m | products | back to back: geometric mean of the ratios | back to back: minimum | back to back: below 0.90 "
            "| between others: geometric mean of the ratios | between others: minimum | between others: below 0.90 |",
        )
        self.assertEqual(
            rows[2],
            "| up to 128 tokens | 2 | 1.000 | 0.500 at 1 × 4096 × 4096 | 1 | 1.000 | 0.500 at 16 × 4096 × 4096 | 1 |",
        )
        # A mean over some of the products could not be compared with the one beside it.
        self.assertEqual(rows[3], "| more than 128 tokens | 2 | 0.849 | 0.800 at 8192 × 4096 × 4096 | 1 | – | – | – |")
        self.assertEqual(rows[7], "| 1 × 4096 × 4096 | `tma_a` | 500 | 790 | 0.50 | 400 | 700 | 2.00 |")
        self.assertEqual(rows[10], "| 8192 × 4096 × 4096 | `tma_a` | 500 | 790 | 0.80 | – | – | – |")

    def test_the_summary_has_the_mean_between_others_of_kinds_measured_so(self):
        self.store([record(**BETWEEN), record(m=8192, **dict(BETWEEN, ratio_between=2.28)), record(m=64, **BETWEEN), record(m=65)])
        self.assertEqual(self.summary(), [
            "| bf16, large | 2 | 500 at 4096³ | 0.63 | 1.14 | 0.65 | 0.63 to 0.63 |",
            "| 16-bit types, not large | 2 | 500 at 64 × 4096 × 4096 | 0.63 | – | 0.65 | 0.63 to 0.63 |",
        ])  # fmt: skip
        self.assertIn("| burst: mean ratio | between others: mean ratio | sustained: mean ratio |", self.text())

    def test_a_record_of_other_ways_alone_replaces_none(self):
        self.store([record()], "a.json")
        nothing = dict(tflops_burst=None, tflops_sustained=None, ratio_burst=None, ratio_sustained=None)
        self.store([record(date="2026-11-30", **nothing, **BETWEEN)], "b.json")
        self.assertEqual(self.run_script().returncode, 0)
        self.assertIn("| 500 / 451 |", self.text())
        self.assertNotIn("between others", self.text())

    def test_of_one_day_what_was_also_measured_between_others_counts_more(self):
        self.store([record(**BETWEEN)], "a.json")
        self.store([record(tflops_burst=111.0)], "b.json")
        self.assertEqual(self.run_script().returncode, 0)
        self.assertIn("| 0.57 |", self.text())
        self.assertNotIn("111 /", self.text())

    def test_of_one_day_what_was_sustained_counts_more_than_a_burst(self):
        self.store([record(tflops_burst=111.0)], "main.json")
        self.store([record(tflops_burst=222.0, tflops_sustained=None), record(kernel="b", tflops_sustained=None)], "shapes.json")
        self.run_script()
        self.assertIn("`tma_a` | 111 / 451", self.text())
        self.assertNotIn("222 /", self.text())

    def test_sweeps_are_left_to_the_plots(self):
        self.store([record()], "main.json")
        self.store([record(kernel="c", m=64)], "sweep_m.json")
        self.assertEqual(self.run_script().returncode, 0)
        self.assertIn("`tma_a`", self.text())
        self.assertNotIn("`c`", self.text())

    def test_a_folder_that_is_wrong_writes_nothing(self):
        for folder, sentence in (("absent", "is not there"), ("results", "has none"), ("README.md", "is a file")):
            outcome = self.run_script("--results", str(self.root / folder))
            self.assertEqual(outcome.returncode, 2)
            self.assertIn(f"readme_tables: {self.root / folder} must", outcome.stderr)
            self.assertIn(sentence, outcome.stderr)
            self.assertEqual(self.text(), README)

    def test_a_full_disk_leaves_the_old_file(self):
        self.store([record()])
        self.readme.chmod(0o640)
        command = [sys.executable, SCRIPT, "--readme", str(self.readme), "--results", str(self.results)]
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))  # noqa: E731
        outcome = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=limit)
        self.assertEqual((outcome.returncode, outcome.stderr), (2, f"readme_tables: {self.readme}: cannot be written: File too large\n"))
        self.assertEqual(self.text(), README)
        self.assertEqual(self.run_script().returncode, 0)
        self.assertEqual(self.readme.stat().st_mode & 0o777, 0o640)
        self.assertEqual(sorted(path.name for path in self.root.iterdir()), ["README.md", "results"])

    def test_no_results_say_so(self):
        self.store([])
        self.assertEqual(self.run_script().returncode, 0)
        self.assertIn("No results are committed yet.", self.text())

    def test_bad_input_is_a_sentence_and_writes_nothing(self):
        for content, sentence in (
            ("[{", "is not JSON"),
            ("{}", "array of objects"),
            ('[{"m": 1}]', "record 0 lacks benchmark"),
            (json.dumps([record(m="x")]), "'m' is \"x\" but must be a whole number"),
            (json.dumps([record(ratio_between="1")]), "'ratio_between' is \"1\" but must be a number or null"),
            (json.dumps([record(watts=[])]), "'watts' is [] but must be a number or null"),
            (json.dumps([record(date=None)]), "'date' is null but must be a string"),
            ("", "gemm.json is empty but must hold JSON"),
            ("[" * 100000, "nested too deeply"),
        ):
            (self.results / "h200" / "gemm.json").write_text(content, encoding="utf-8")
            outcome = self.run_script()
            self.assertEqual(outcome.returncode, 2)
            self.assertIn(sentence, outcome.stderr)
            self.assertNotIn("Traceback", outcome.stderr)
            self.assertEqual(self.text(), README)
        (self.results / "h200" / "gemm.json").write_bytes(b"\xff")
        self.assertIn("gemm.json is not UTF-8 text", self.run_script().stderr)
        self.store([])
        for content, sentence in (("# nothing\n", "markers"), (README.replace("gemm", "gmm"), "table:gmm")):
            self.readme.write_text(content, encoding="utf-8")
            outcome = self.run_script()
            self.assertEqual(outcome.returncode, 2)
            self.assertIn(sentence, outcome.stderr)
            self.assertEqual(self.text(), content)


if __name__ == "__main__":
    unittest.main()
