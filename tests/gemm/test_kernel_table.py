"""src/gemm/kernels.csv: what its reader refuses and writes, and whether the built program has exactly its kernels.

  test_kernel_table.py                   the reader
  test_kernel_table.py --command TENON   the kernels of a whole build
"""

import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "src" / "gemm"))
sys.dont_write_bytecode = True
import kernel_table  # noqa: E402  (the lines above make it importable)

COMMAND = None


def table_of(*rows, columns=kernel_table.COLUMNS):
    """A table with these rows; each is a dict of the fields that differ from a valid wgmma row."""
    good = dict(
        family="wgmma", types="f16_f32", layouts="tn", tile_m=128, tile_n=256, tile_k=64, narrowest="", warpgroups=2, warp_m="", warp_n="",
        stages=4, clusters="2x1", cluster_k=1, subtiles=2, schedule="cooperative", variant="", set="core",
        efficiency=0.9, resident=1, why="",
    )  # fmt: skip
    lines = [", ".join(columns)]
    lines += [", ".join(str({**good, **row}.get(column, 0)) for column in columns) for row in rows]
    return "\n".join(lines) + "\n"


def read(text):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kernels.csv")
        path.write_text(text)
        return kernel_table.read_table(path)


MMA = dict(family="cp_async", narrowest="", warpgroups="", warp_m=64, warp_n=64, clusters="", cluster_k="", subtiles="",
           schedule="", stages=3)  # fmt: skip


class Refusals(unittest.TestCase):
    """Every bad row is refused with a sentence that names line and column."""

    def refused(self, sentence, *rows, **options):
        with self.assertRaises(kernel_table.BadTable) as caught:
            read(table_of(*rows, **options))
        self.assertEqual(str(caught.exception), f"kernels.csv, {sentence}")

    def test_good_rows_are_read(self):
        self.assertEqual(len(read(table_of({}, MMA))), 2)

    def test_words(self):
        self.refused(
            "line 3, column family: 'wgma' is there but must be 'wgmma' or 'tma' or 'cp_async' or 'cp_async_unaligned'", {}, {"family": "wgma"}
        )
        self.refused("line 2, column layouts: 'tx' is not a layout but must be of tn, nn, tt, nt", {"layouts": "tn tx"})
        self.refused("line 2, column layouts: 'tn tn' names a layout twice", {"layouts": "tn tn"})
        self.refused("line 2, column layouts: nothing is there but must be at least one of tn, nn, tt, nt", {"layouts": ""})
        self.refused("line 2, column set: 'some' is there but must be 'core' or 'more'", {"set": "some"})
        self.refused("line 2, column schedule: nothing is there but must be 'cooperative' or 'pingpong'", {"schedule": ""})
        for row, column in (({"types": "f17_f32"}, "types"), ({"variant": "rotated"}, "variant"), ({**MMA, "family": "tma", "types": "e4m3_f32"}, "types")):
            with self.assertRaisesRegex(kernel_table.BadTable, f"line 2, column {column}: '.*' "):
                read(table_of(row))

    def test_numbers(self):
        self.refused("line 2, column tile_m: '25x' is there but must be a whole number", {"tile_m": "25x"})
        self.refused("line 2, column stages: nothing is there but must be a whole number", {"stages": ""})
        self.refused("line 2, column tile_m: 64 must be a multiple of 128 from 128 to 256", {"tile_m": 64})
        self.refused("line 2, column tile_n: 100 must be a multiple of 8 from 8 to 256", {"tile_n": 100})
        self.refused("line 2, column warpgroups: 4 must be from 1 to 3", {"warpgroups": 4})
        self.refused("line 2, column tile_m: 128 must be a multiple of 192 from 192 to 256", {"warpgroups": 3})
        self.refused("line 2, column tile_n: 208 must be a multiple of 8 from 8 to 200", {"warpgroups": 3, "tile_m": 192, "tile_n": 208})
        self.refused("line 2, column efficiency: '1.5' must be a number above 0, and 1 at most", {"efficiency": 1.5})
        self.refused("line 2, column efficiency: 'nan' must be a number above 0, and 1 at most", {"efficiency": "nan"})
        self.refused("line 2, column resident: 0 must be from 1 to 32", {"resident": 0})

    def test_what_does_not_go_together(self):
        self.refused("line 2, column tile_k: 64 must be 32, 128 bytes of tf32_f32", {"types": "tf32_f32"})
        self.refused(
            "line 2, column tile_n: 200 must be a multiple of 16 from 16 to 256", {"types": "s8_s32", "tile_k": 128, "tile_n": 200}
        )
        self.refused(
            "line 2, column layouts: 'nn' must be tn: wgmma reads e4m3_f32 with k contiguous alone",
            {"types": "e4m3_f32", "tile_k": 128, "layouts": "nn"},
        )
        self.refused("line 2, column layouts: 'tn' must be tt, the layout of rowinterleaved", {"variant": "rowinterleaved"})
        self.refused("line 2, column types: f16_f32 is there but promoted is for bf16, tf32, e4m3 and e5m2 alone", {"variant": "promoted"})
        self.refused(
            "line 2, column types: f16_f16 is there but swapab is for f16_f32 and bf16_f32 alone",
            {"variant": "swapab", "types": "f16_f16"},
        )
        self.refused(
            "line 2, column types: f16_f16 is there but streamk adds up accumulators in f32 and s32 alone",
            {"variant": "streamk", "types": "f16_f16"},
        )
        for variant in ("streamk", "swapab streamk"):
            self.refused("line 2, column cluster_k: 2 must be from 1 to 1", {"variant": variant, "cluster_k": 2})
        self.refused(
            "line 2, column clusters: 2x2 has 4 CTAs but streamk runs in clusters of 1 or 2", {"variant": "streamk", "clusters": "2x1 2x2"}
        )
        self.refused("line 2, column warpgroups: 2 must be from 1 to 1", {"schedule": "pingpong"})
        self.refused("line 2, column cluster_k: 4 gives clusters of 16 CTAs, but they have 8 at most", {"clusters": "4x1", "cluster_k": 4})
        self.refused("line 2, column clusters: '2' must be MxN, of numbers from 1 to 8", {"clusters": "2"})
        self.refused("line 2, column clusters: '2x9' must be MxN, of numbers from 1 to 8", {"clusters": "2x1 2x9"})
        self.refused("line 2, column clusters: nothing is there but must be at least one MxN", {"clusters": ""})
        self.refused("line 2, column clusters: '2x1 2x1' names a cluster twice", {"clusters": "2x1 2x1"})
        self.refused(
            "line 2, column clusters: 3 must be a power of two where the launch says how many CTAs a cluster has", {"clusters": "1x1 3x1"}
        )
        self.refused(
            "line 2, column clusters: 4x1 shares 208 rows of an operand among 4 CTAs, but each must load a multiple of 8",
            {"clusters": "1x1 4x1", "tile_n": 208},
        )
        self.refused(
            "line 2, column stages: 5 k-tiles take 245760 bytes of shared memory, but a CTA has 232448",
            {"layouts": "tn tt", "tile_n": 208, "stages": 5, "clusters": "2x1"},
        )
        self.refused("line 2, column stages: 5 k-tiles take 245760 bytes of shared memory, but a CTA has 232448", {"stages": 5})
        self.refused("line 2, column narrowest: 256 must be a multiple of 8 from 8 to 248", {"narrowest": 256})
        self.refused(
            "line 2, column narrowest: 136 must be a multiple of 16 from 16 to 240", {"narrowest": 136, "types": "s8_s32", "tile_k": 128}
        )
        self.refused(
            "line 2, column narrowest: 248 is there but no layout of 'tt nt' can have narrower tiles", {"layouts": "tt nt", "narrowest": 248}
        )
        for variant, types in (("fused", "f16_f32"), ("promoted", "bf16_f32")):
            self.refused(
                f"line 2, column narrowest: 64 is there but must be empty with {variant}", {"narrowest": 64, "variant": variant, "types": types}
            )
        self.refused("line 2, column narrowest: '64' is there but must be empty: kernels of the family cp_async have none", {**MMA, "narrowest": 64})
        self.refused("line 2, column warp_m: '64' is there but must be empty: kernels of the family wgmma have none", {"warp_m": 64})
        self.refused("line 2, column warp_n: 48 must divide tile_n, which is 256", {**MMA, "warp_n": 48})
        self.refused(
            "line 2, column layouts: 'nt' must be tn: ldmatrix transposes 16-bit elements alone",
            {**MMA, "types": "s8_s32", "layouts": "nt"},
        )
        self.refused("line 2, column tile_k: 64 must be a multiple of 8 from 8 to 32", {**MMA, "types": "tf32_f32"})
        self.refused("line 2, column tile_k: 48 must be a multiple of 32 from 32 to 128", {**MMA, "types": "e4m3_f32", "tile_k": 48})
        self.refused(
            "line 2, column types: 's8_s32 tf32_f32' must have operands of one size: tile_k counts elements",
            {**MMA, "types": "s8_s32 tf32_f32", "tile_k": 32},
        )

    def test_the_same_kernel_twice(self):
        self.refused("line 3, column types: f16_f32 tn has this kernel in line 2 already", {}, {"types": "bf16_f32 f16_f32"})

    def test_the_shape_of_the_file(self):
        self.refused("line 1: there is no column why", {}, columns=kernel_table.COLUMNS[:-1])
        self.refused("line 1, column colour: no kernel has it, or it is there twice", {}, columns=(*kernel_table.COLUMNS, "colour"))
        with self.assertRaisesRegex(kernel_table.BadTable, "line 2, column why: the line has 21 cells but must have 20"):
            read(table_of({"why": "one, two"}))
        with self.assertRaisesRegex(kernel_table.BadTable, "line 3, column family: the line has 1 cells but must have 20"):
            read(table_of({}) + "wgmma\n")
        for text in ("", "\n", table_of()):
            with self.assertRaises(kernel_table.BadTable):
                read(text)

    def test_cmake_is_told(self):
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder, "kernels.csv")
            table.write_text(table_of({"tile_m": 192}))
            done = subprocess.run(
                [sys.executable, "-B", kernel_table.__file__, "generate", "--table", table, "--output", Path(folder, "out")],
                capture_output=True, text=True, check=False,
            )  # fmt: skip
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stderr, "kernels.csv, line 2, column tile_m: 192 must be a multiple of 128 from 128 to 256\n")
            self.assertFalse(Path(folder, "out").exists())


class Statements(unittest.TestCase):
    """The C++ of a row of each variant; the build checks that of all others."""

    def cpp(self, **row):
        return [kernel.cpp() for kernel in kernel_table.kernels_of(read(table_of(row)))]

    def test_types_and_layouts_multiply(self):
        self.assertEqual(len(self.cpp(types="f16_f32 bf16_f32", layouts="tn nn tt nt")), 8)

    def test_swapab_names_the_tile_of_c(self):
        self.assertEqual(
            self.cpp(variant="swapab", tile_m=144, tile_n=256, clusters="1x2"),
            [
                f"append_wgmma<{kernel_table.TEMPLATES['swapab']}<WgmmaConfig<WgmmaOperands<__half, __half, float>, row_major, "
                "column_major, TileShape<256, 144, 64>, 2, 4, ClusterShape<2, 1, 1>, 2>>>(list);"
            ],
        )

    def test_one_statement_for_all_clusters(self):
        kernels = kernel_table.kernels_of(read(table_of({"clusters": "2x1 2x2", "types": "f16_f32 bf16_f32"})))
        self.assertEqual([kernel.cluster for kernel in kernels], [(2, 1), (2, 2)] * 2)
        self.assertEqual([kernel.begins_statement() for kernel in kernels], [True, False] * 2)
        (source,) = kernel_table.sources_of(kernels[:2])
        self.assertEqual(
            [line for line in kernel_table.source_text(source).splitlines() if line.startswith("  ")],
            [
                "  append_wgmma<WgmmaConfig<WgmmaOperands<__half, __half, float>, row_major, column_major, TileShape<128, 256, 64>, 2, "
                "4, LaunchedCluster<1>, 2>>({{2, 1}, {2, 2}}, list);"
            ],
        )
        self.assertIn("{0.9, 1}, {0.9, 1}", kernel_table.list_text([source], ("90",)))


    def test_tiles_with_contiguous_columns_are_fitted_to_those_that_need_every_panel(self):
        def narrowest(**changes):
            fitted = {"layouts": "tn nn tt nt", "narrowest": 64, **changes}
            found = [re.search(r"Fitted<.*, (\d+)>(?:>*)\(", statement) for statement in self.cpp(**fitted)]
            return [int(match[1]) if match else None for match in found]

        self.assertEqual(narrowest(), [64, 64, 208, 208])
        self.assertEqual(narrowest(variant="swapab", tile_m=256, tile_n=128), [64, 208, 64, 208])
        self.assertEqual(narrowest(narrowest=216), [216, 216, 224, 224])
        self.assertEqual(narrowest(narrowest=248), [248, 248, None, None])
        self.assertEqual(narrowest(tile_n=208), [64, 64, None, None])
        self.assertEqual(narrowest(tile_n=200), [64, 64, None, None])
        (statement,) = self.cpp(narrowest=64, schedule="pingpong", warpgroups=1)
        self.assertIn("Pingpong<Fitted<WgmmaConfig<", statement)
        self.assertIn(", 64>>>(", statement)


class Whole(unittest.TestCase):
    """The table of this tree."""

    def setUp(self):
        self.rows = kernel_table.read_table()

    def test_a_core_tile_for_every_kind_of_product(self):
        kinds = {}
        for kernel in kernel_table.kernels_of(self.rows):
            kind = kernel.types, kernel.layout, "promoted" in kernel.row.variant
            kinds.setdefault(kind, set()).add(kernel.row.set)
        self.assertEqual([kind for kind, sets in kinds.items() if "core" not in sets], [])

    def test_no_source_is_long_to_compile_and_each_kernel_is_in_one(self):
        kernels = kernel_table.kernels_of(self.rows)
        sources = kernel_table.sources_of(kernels)
        self.assertEqual(sorted(map(id, kernels)), sorted(id(k) for source in sources for k in source.kernels))
        self.assertEqual(len({source.name for source in sources}), len(sources))
        for source in sources:
            work = sum(map(kernel_table.work_of, source.kernels))
            self.assertTrue(work <= kernel_table.MOST_WORK or len(source.kernels) == 1, (source.name, work))

    def test_sources_that_stay_the_same_are_not_written(self):
        kernels = kernel_table.kernels_of(self.rows)
        with tempfile.TemporaryDirectory() as folder:
            kernel_table.generate(kernels, folder)
            before = {path.name: path.stat().st_mtime_ns for path in Path(folder).iterdir()}
            kernel_table.generate([kernel for kernel in kernels if kernel.row.line != len(self.rows)], folder)
            after = {path.name: path.stat().st_mtime_ns for path in Path(folder).iterdir()}
            changed = {name for name in before if after.get(name) != before[name]}
        self.assertIn("kernel_sources.cpp", changed)
        self.assertLessEqual(len(changed), 3 + len(self.rows[-1].types), changed)


class Built(unittest.TestCase):
    def setUp(self):
        if COMMAND is None:
            self.skipTest("no --command")

    def tenon(self, *arguments):
        done = subprocess.run([COMMAND, *arguments], capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    def test_the_program_has_the_kernels_of_the_table(self):
        """`tenon list` reads everything but the costs from the compiled kernels, not from the table."""
        listed = [kernel for kernel in self.tenon("list", "--json") if not kernel["name"].startswith("module_")]
        expected = [kernel.fields() for kernel in kernel_table.kernels_of(kernel_table.read_table())]
        for kernel in listed:
            kernel["family"] = kernel["part"][: -len(kernel["types"]) - 1]
            self.assertTrue(kernel["name"].startswith(kernel["family"].replace("_unaligned", "")), kernel)

        def key(fields):
            return json.dumps({name: fields[name] for name in expected[0]}, sort_keys=True)

        listed_keys, expected_keys = sorted(map(key, listed)), sorted(map(key, expected))
        self.assertEqual(set(listed_keys) - set(expected_keys), set())
        self.assertEqual(set(expected_keys) - set(listed_keys), set())
        self.assertEqual(listed_keys, expected_keys)
        # The first of several kernels with equal cost is chosen, so the order matters within types and layout.
        for kind in {(kernel["types"], kernel["layout"]) for kernel in expected}:
            orders = [[key(k) for k in kernels if (k["types"], k["layout"]) == kind] for kernels in (listed, expected)]
            self.assertEqual(*orders)

    def test_the_parts_are_the_library(self):
        parts = {part["part"]: part for part in self.tenon("list", "--parts", "--json")}
        listed = self.tenon("list", "--json")
        self.assertEqual(sum(part["kernels"] for part in parts.values()), len(listed))
        for name in {kernel["part"] for kernel in listed if not kernel["name"].startswith("module_")}:
            self.assertEqual(parts[name]["kernels"], sum(kernel["part"] == name for kernel in listed))
            # A kernel has at least some kilobytes of instructions and its host code.
            self.assertGreater(parts[name]["bytes"], 5000 * parts[name]["kernels"], name)
        archive = Path(COMMAND).resolve().parents[1] / "src" / "host" / "libtenon.a"
        size = archive.stat().st_size
        found = sum(part["bytes"] for part in parts.values())
        self.assertTrue(0.9 * size < found <= size, (found, size))  # the rest is the index of the archive


if __name__ == "__main__":
    if sys.argv[1:2] == ["--command"]:
        COMMAND = sys.argv[2]
        del sys.argv[1:3]
    unittest.main()
