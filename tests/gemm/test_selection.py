"""Configures, builds and runs a project that embeds tenon with some of its kernels; and choices that CMake refuses.

  test_selection.py <folder to work in> <libtenon_emulator.a>
"""

import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "src" / "gemm"))
sys.dont_write_bytecode = True
import kernel_table  # noqa: E402  (the line above makes it importable)

WORK, EMULATOR = None, None
ALL_OPTIONS = {
    "TENON_ARCHITECTURES", "TENON_TYPES", "TENON_LAYOUTS", "TENON_TILES", "TENON_BUILD_TESTS", "TENON_BUILD_BENCHMARKS",
    "TENON_BUILD_COMMAND", "TENON_INSTALL",
}  # fmt: skip


def cmake(*arguments):
    return subprocess.run(["cmake", *map(str, arguments)], capture_output=True, text=True, check=False)


def configure(source, folder, *options):
    return cmake("-S", source, "-B", folder, "-G", "Ninja", *options)


class Embedded(unittest.TestCase):
    def test_e5m2_tn_on_hopper(self):
        folder = WORK / "embedded"
        shutil.rmtree(folder, ignore_errors=True)
        # Every other test links the static library; tests/host/install_shared_test.cmake goes on with this one. No build type:
        # host code is not optimised, and device code neither.
        chosen = {"TENON_ARCHITECTURES": "90", "TENON_TYPES": "e5m2_f32", "TENON_LAYOUTS": "tn", "TENON_TILES": "core",
                  "BUILD_SHARED_LIBS": "ON", "TENON_INSTALL": "ON",
                  "CMAKE_BUILD_TYPE": "None", "CMAKE_CUDA_FLAGS": "--Ofast-compile=max"}  # fmt: skip
        done = configure(ROOT / "tests" / "gemm" / "selection", folder, f"-DTENON={ROOT}", f"-DEMULATOR={EMULATOR}",
                         *(f"-D{name}={value}" for name, value in chosen.items()))  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        done = cmake("--build", folder, "-j", 2, "--target", "selection", "tenon_library", "tenon_layouts", "tenon_emulator")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        lines = subprocess.run([folder / "selection"], capture_output=True, text=True, check=True).stdout.splitlines()
        self.assertEqual(lines.pop(), "scaled: this build has no kernel for block-scaled products of e4m3")
        self.assertEqual(lines.pop(), "bf16: this build has no kernel for bf16 inputs accumulated in f32, A row-major, B column-major")
        self.assertEqual(lines.pop(), "module_f16_f32_tn_128x128x32_s4")  # compiled by the driver, and small
        expected = kernel_table.selected(kernel_table.read_table(), kernel_table.Selection(("e5m2_f32",), ("tn",), "core", ("90",)))
        tiles = [(k.row.family, k.types, k.layout, k.row.tile_m, k.row.tile_n, k.row.tile_k, k.row.stages) for k in expected]
        names = [re.fullmatch(r"(wgmma|tma|cp_async)_(\w+?)_(tn)_(\d+)x(\d+)x(\d+)_s(\d+)(_.*)?", line) for line in lines]
        self.assertNotIn(None, names, lines)
        family = {("cp_async", "_unaligned"): "cp_async_unaligned"}
        found = [(family.get((name[1], (name[8] or "").removesuffix("_fused")), name[1]), *name.groups()[1:3], *map(int, name.groups()[3:7])) for name in names]
        self.assertEqual(sorted(found), sorted(tiles))
        self.assertEqual({tile[0] for tile in tiles}, {"wgmma", "cp_async"})
        # Every option is documented, and there are no others; what CMake found (programs, folders) is advanced or internal.
        cache = (folder / "CMakeCache.txt").read_text()
        advanced = set(re.findall(r"^(TENON_\w+)-ADVANCED:", cache, re.M))
        options = {name for name, kind in re.findall(r"^(TENON_\w+):(\w+)=", cache, re.M) if kind not in ("INTERNAL", "STATIC")}
        self.assertEqual(options - advanced, ALL_OPTIONS)
        text = (ROOT / "src" / "gemm" / "BUILD_OPTIONS.md").read_text()
        self.assertEqual(set(re.findall(r"^\| `(TENON_\w+)`", text, re.M)), ALL_OPTIONS)


class Refusals(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shutil.rmtree(WORK / "refused", ignore_errors=True)

    def refused(self, sentence, *options):
        # Each begins without the options of the one before, but with the compilers that it found.
        forgotten = [f"-U{name}" for name in ("TENON_*", "BUILD_SHARED_LIBS", "CMAKE_CUDA_RUNTIME_LIBRARY")]
        done = configure(ROOT, WORK / "refused", *forgotten, "-DTENON_BUILD_TESTS=OFF", "-DTENON_BUILD_BENCHMARKS=OFF",
                         *options)  # fmt: skip
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(sentence, " ".join(done.stderr.split()))

    def test_sentences(self):
        self.refused("TENON_TYPES names 'f17_f32' but must be 'all' or of f16_f32, bf16_f32,", "-DTENON_TYPES=f16_f32;f17_f32")
        self.refused("TENON_LAYOUTS names 'tx' but must be 'all' or of tn, nn, tt, nt", "-DTENON_LAYOUTS=tx")
        self.refused("TENON_TILES is 'few' but must be 'all' or 'core'", "-DTENON_TILES=few")
        self.refused("TENON_ARCHITECTURES names '90a' but must be of 80, 86,", "-DTENON_ARCHITECTURES=90a")
        self.refused("TENON_ARCHITECTURES leave no kernel to build", "-DTENON_ARCHITECTURES=80", "-DTENON_TYPES=s8_s32", "-DTENON_LAYOUTS=nn")
        self.refused("TENON_BUILD_TESTS and TENON_BUILD_BENCHMARKS need every kernel, but TENON_TYPES is 'all', TENON_LAYOUTS 'tn'",
                     "-DTENON_LAYOUTS=tn", "-DTENON_BUILD_TESTS=ON")  # fmt: skip
        self.refused("CMAKE_CUDA_RUNTIME_LIBRARY is 'Both' but must be Static, Shared or None", "-DCMAKE_CUDA_RUNTIME_LIBRARY=Both")
        self.refused("CMAKE_CUDA_RUNTIME_LIBRARY is 'None', but TENON_BUILD_TESTS, TENON_BUILD_BENCHMARKS and TENON_BUILD_COMMAND "
                     "need a runtime", "-DCMAKE_CUDA_RUNTIME_LIBRARY=None")  # fmt: skip
        self.refused("BUILD_SHARED_LIBS is 'ON', but TENON_BUILD_TESTS, TENON_BUILD_BENCHMARKS and TENON_BUILD_COMMAND need "
                     "the static library", "-DBUILD_SHARED_LIBS=ON", "-DTENON_BUILD_TESTS=ON")  # fmt: skip


if __name__ == "__main__":
    WORK, EMULATOR = (Path(sys.argv.pop(1)).resolve() for _ in range(2))
    unittest.main()
