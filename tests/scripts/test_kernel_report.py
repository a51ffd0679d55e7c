"""scripts/kernel_report, sass_diff and binary_doctor on real machine code: patterns found, differences told apart.

Needs nvcc and a disassembler; a machine without one fails here, it does not skip.
"""

import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
SCRIPTS = HERE.parents[1] / "scripts"
sys.path.insert(0, str(SCRIPTS))
sys.dont_write_bytecode = True
from tenon_sass.baseline import compare, row_of, write_baseline  # noqa: E402
from tenon_sass.expect import Selection  # noqa: E402
from tenon_sass.name_pattern import NamePattern  # noqa: E402
from tenon_sass.report import analyses_of  # noqa: E402

SOURCE = HERE / "patterns.cu"
CODE = ["-gencode", "arch=compute_80,code=sm_80", "-gencode", "arch=compute_90a,code=sm_90a"]


def run(script, *arguments):
    command = [sys.executable, SCRIPTS / script, *arguments]
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)


def nvcc():
    toolkit = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    found = shutil.which("nvcc", path=f"{toolkit}/bin") or shutil.which("nvcc")
    if not found:
        raise AssertionError("no nvcc: run scripts/setup")
    return found


_shared = tempfile.TemporaryDirectory()
FOLDER = Path(_shared.name)


def compile_kernels(name, text, *options):
    folder = FOLDER / name  # the file's name is part of names with internal linkage
    folder.mkdir(exist_ok=True)
    source, output = folder / "kernels.cu", FOLDER / f"{name}.fatbin"
    if output.exists():
        return output
    source.write_text(text, encoding="utf-8")
    done = subprocess.run(
        [nvcc(), "-std=c++17", *(options or CODE), "-fatbin", source, "-o", output], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise AssertionError(done.stderr)
    return output


def setUpModule():
    global PATTERNS, ROWS, ANALYSES
    PATTERNS = compile_kernels("patterns", SOURCE.read_text(encoding="utf-8"))
    done = run("kernel_report", PATTERNS, "--json")
    assert done.returncode == 0, done.stderr
    ANALYSES = analyses_of([PATTERNS])
    ROWS = {(row["kernel"], row["arch"]): row for row in json.loads(done.stdout)}


def tearDownModule():
    _shared.cleanup()


class Patterns(unittest.TestCase):
    def findings(self, kernel, arch):
        return {f["kind"]: f for f in ROWS[kernel, arch]["findings"]}

    def assert_against(self, kernel, arch, *kinds):
        against = {kind for kind, f in self.findings(kernel, arch).items() if f["severity"] == "against"}
        self.assertEqual(against, set(kinds), f"{kernel} sm_{arch}")

    def test_findings_against_each_kernel(self):
        for kernel, archs, kinds in (
            ("independent", ("80", "90a"), ()),
            ("dependent", ("80", "90a"), ("dependent",)),
            ("narrow", ("80", "90a"), ("narrow_loads", "dependent")),
            ("fp32", ("80", "90a"), ("no_tensor_cores",)),
            ("copy", ("80", "90a"), ()),
            ("int4_products", ("80",), ("dependent",)),
            ("int4_products", ("90a",), ("emulated",)),
            ("fp8_products", ("90a",), ("emulated", "dependent")),
            ("wgmma_in_groups", ("90a",), ()),
            ("wgmma_serialised", ("90a",), ("serialised_wgmma",)),
        ):
            for arch in archs:
                with self.subTest(kernel=kernel, arch=arch):
                    self.assert_against(kernel, arch, *kinds)

    def test_counts(self):
        self.assertEqual(self.findings("dependent", "80")["dependent"]["count"], 8)
        self.assertEqual(self.findings("wgmma_serialised", "90a")["serialised_wgmma"]["count"], 4)
        self.assertEqual(self.findings("wgmma_in_groups", "90a")["drained_wgmma"]["count"], 1)
        self.assertEqual(self.findings("narrow", "90a")["narrow_loads"]["count"], 12)
        self.assertEqual(self.findings("narrow", "80")["barriers"]["count"], 2)
        self.assertIn("mma_sub_byte", self.findings("int4_products", "90a")["emulated"]["message"])

    def test_mma_sync_is_noted_where_wgmma_is_faster(self):
        self.assertIn("mma_sync_on_sm_90", self.findings("independent", "90a"))
        self.assertNotIn("mma_sync_on_sm_90", self.findings("independent", "80"))
        self.assertNotIn("mma_sync_on_sm_90", self.findings("wgmma_in_groups", "90a"))

    def test_the_loop(self):
        for arch in ("80", "90a"):
            loop = ROWS["independent", arch]["loop"]
            self.assertEqual((loop["tensor"], loop["every_trip_tensor"]), (8, 8))
            self.assertTrue(8 < loop["every_trip"] <= loop["instructions"] < ROWS["independent", arch]["instructions"])
            self.assertAlmostEqual(loop["tensor_density"], 8 / loop["every_trip"], places=3)
            self.assertIsNone(ROWS["fp32", arch]["loop"])
        called = ROWS["int4_products", "90a"]["loop"]  # the loop calls the function with the tensor instructions
        self.assertEqual(called["tensor"], 2)

    def test_opcodes_and_resources(self):
        row = ROWS["narrow", "80"]
        self.assertEqual(row["tensor_opcodes"], {"HMMA.16816.F32": 1})
        self.assertEqual(row["opcodes"]["LDG.E.U16"], 12)
        self.assertEqual(sum(row["opcodes"].values()), row["instructions"])
        self.assertNotIn("NOP", row["opcodes"])
        self.assertEqual((row["static_shared_bytes"], row["local_bytes"], row["barriers"]), (768, 0, 1))

    def test_barriers_agree_with_ptxas(self):
        text = """extern "C" __global__ void none(float* a) { a[0] = 1; }
                  extern "C" __global__ void one(float* a) { a[0] = 1; __syncthreads(); a[1] = 2; }
                  extern "C" __global__ void five(float* a) { asm volatile("bar.sync 4, 64;"); a[0] = 1; }"""
        source, cubin = FOLDER / "barriers.cu", FOLDER / "barriers.cubin"
        source.write_text(text, encoding="utf-8")
        command = [nvcc(), "-arch=sm_80", "-Xptxas", "-v", "-cubin", source, "-o", cubin]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        said = dict(re.findall(r"entry function '(\w+)'.*?used (\d+) barriers", done.stderr, re.S))
        found = {row["kernel"]: str(row["barriers"]) for row in json.loads(run("kernel_report", cubin, "--json").stdout)}
        self.assertEqual(found, said)
        self.assertEqual(found, {"none": "0", "one": "1", "five": "5"})

    def test_text(self):
        done = run("kernel_report", PATTERNS, "--kernel", "^dependent$", "--arch", "80", "--opcodes")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"sm_80 .* dependent\n +against: 8 of 8 tensor instructions in the tensor loop must wait")
        self.assertRegex(done.stdout, r"\n +8 HMMA\.16816\.F32\n")

    def test_bad_requests(self):
        for arguments, words in (
            ((PATTERNS, "--kernel", "("), "not a regular expression"),
            ((PATTERNS, "--kernel", "absent"), "no kernel matches 'absent'"),
            ((PATTERNS, "--arch", "86"), "for sm_86: the files hold sm_80, sm_90a"),
            ((PATTERNS, "--arch", "x"), "must be one such as 80"),
            ((PATTERNS, "--update-baseline"), "needs --baseline"),
            ((PATTERNS, "--cpp", FOLDER / "table.cpp", "--kernel", "copy"), "--kernel, --arch and --baseline do not go with it"),
            ((PATTERNS, "--cpp", FOLDER / "table.cpp", "--arch", "80"), "--kernel, --arch and --baseline do not go with it"),
            ((SOURCE,), "neither an ELF file"),
        ):
            with self.subTest(words=words):
                done = run("kernel_report", *arguments)
                self.assertEqual(done.returncode, 2, done.stdout)
                self.assertIn(words, done.stderr)
                self.assertNotIn("Traceback", done.stderr)


class Baselines(unittest.TestCase):
    def setUp(self):
        self.rows = json.loads(write_baseline(map(row_of, ANALYSES)))

    def row(self, kernel="independent", arch="80"):
        return next(row for row in self.rows if (row["kernel"], row["arch"]) == (kernel, arch))

    def test_the_command(self):
        file = FOLDER / "baseline.json"
        self.assertEqual(run("kernel_report", PATTERNS, "--baseline", file, "--update-baseline").returncode, 0)
        self.assertEqual(json.loads(file.read_text(encoding="utf-8")), self.rows)
        done = run("kernel_report", PATTERNS, "--baseline", file)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn(f"{len(ROWS)} kernels compared", done.stdout)
        self.row()["registers"] += 5
        file.write_text(json.dumps(self.rows), encoding="utf-8")
        done = run("kernel_report", PATTERNS, "--baseline", file, "--arch", "80")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"FAIL +sm_80 independent: registers is \d+ but the baseline has \d+")
        self.assertIn("--update-baseline", done.stdout)
        done = run("kernel_report", PATTERNS, "--baseline", file, "--arch", "90a", "--json")
        self.assertEqual((done.returncode, json.loads(done.stdout)["differences"]), (0, []))

    def test_of_kernels_that_were_chosen(self):
        file, asked = FOLDER / "chosen.json", ("--kernel", "^(copy|fp32)$", "--arch", "80")
        for row in self.rows:
            row["registers"] += 50
        self.rows.append({**self.row("copy"), "kernel": "gone"})
        chosen = (self.row("copy"), self.row("fp32"))
        text = write_baseline(self.rows)
        file.write_text(text, encoding="utf-8")
        done = run("kernel_report", PATTERNS, "--baseline", file, "--json", *asked)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(len(json.loads(done.stdout)["differences"]), 2)  # the others are not 'not in the files'
        done = run("kernel_report", PATTERNS, "--baseline", file, "--update-baseline", "--json", *asked)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout), {"baseline": str(file), "kernels": 2, "kept": len(self.rows) - 2})
        for row in chosen:
            row["registers"] -= 50
        self.assertEqual(file.read_text(encoding="utf-8"), write_baseline(self.rows))
        done = run("kernel_report", PATTERNS, "--baseline", file, *asked)
        self.assertEqual(done.returncode, 0, done.stdout)
        # A row without a kernel in the files is removed only if it was selected.
        asked = ("--kernel", "^(copy|gone)$", "--arch", "80")
        self.assertIn("sm_80 gone: in the baseline", run("kernel_report", PATTERNS, "--baseline", file, *asked).stdout)
        done = run("kernel_report", PATTERNS, "--baseline", file, "--update-baseline", *asked)
        self.assertIn(f"1 kernels written, {len(self.rows) - 2} others kept", done.stdout)
        self.assertNotIn("gone", file.read_text(encoding="utf-8"))

    def test_each_value_can_fail(self):
        self.assertEqual(compare(self.rows, ANALYSES), [])
        for key, change, ok in (
            ("registers", 4, True), ("registers", -4, True), ("registers", 5, False), ("registers", -5, False),
            ("local_bytes", 8, False), ("static_shared_bytes", 4, False), ("barriers", 1, False), ("loop_tensor", 1, False),
            ("instructions", 4, True), ("instructions", 20, False), ("loop", 4, True), ("loop", -5, False),
        ):  # fmt: skip
            with self.subTest(key=key, change=change):
                self.row()[key] += change
                differences = compare(self.rows, ANALYSES)
                self.assertEqual(len(differences), 0 if ok else 1, differences)
                if not ok:
                    self.assertRegex(differences[0], rf"^sm_80 independent: {key} is \d+ but the baseline has \d+")
                self.row()[key] -= change

    def test_a_new_finding_fails_and_one_less_does_not(self):
        self.row("dependent")["findings"].remove("dependent")
        self.row("copy")["findings"].append("local_memory")
        self.assertEqual(compare(self.rows, ANALYSES), ["sm_80 dependent: the finding 'dependent' is new"])

    def test_kernels_on_one_side_only(self):
        self.rows.remove(self.row("copy"))
        self.rows.append({**self.row(), "kernel": "gone"})
        self.assertEqual(
            compare(self.rows, ANALYSES), ["sm_80 gone: in the baseline but not in the files", "sm_80 copy: not in the baseline"]
        )
        newest = [analysis for analysis in ANALYSES if analysis.arch == "90a"]
        self.assertEqual(compare(self.rows, newest, Selection(archs=["90a"])), [])

    def test_files_that_are_no_baseline(self):
        file = FOLDER / "bad.json"
        strange = json.dumps([{**self.row(), "registers": "many"}])
        for text, words in (("{", "not JSON"), ('[{"kernel": "x"}]', "with the keys"), (strange, '"many" but must be a whole number')):
            file.write_text(text, encoding="utf-8")
            done = run("kernel_report", PATTERNS, "--baseline", file, "--kernel", "copy")
            self.assertEqual(done.returncode, 2)
            self.assertIn(words, done.stderr)


class Differences(unittest.TestCase):
    KERNEL = """extern "C" __global__ void k(const float* a, const float* b, float* c, int n) {
                  float s = 0;
                  for (int i = threadIdx.x; i < n; i += 32) s += a[i] * b[i];
                  c[threadIdx.x] = s BODY;
                }
                extern "C" __global__ void same(float* a) { a[threadIdx.x] += 1; }
                namespace { __global__ void hidden(float* a) { a[threadIdx.x] *= 3; } }
                const void* keep() { return (const void*)&hidden; }
             """

    def variant(self, name, body="", text=None):
        return compile_kernels(name, (text or self.KERNEL).replace("BODY", body), "-arch=sm_80")

    def states(self, old, new, *options):
        done = run("sass_diff", old, new, "--json", *options)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        answer = json.loads(done.stdout)
        self.assertEqual(done.returncode, 0 if answer["identical"] else 1)
        return {re.sub(r".*hidden.*", "hidden", row["kernel"]): row["state"] for row in answer["kernels"]}, answer

    def test_the_same_source_under_another_name(self):
        # The path is part of names with internal linkage and must not matter.
        states, _ = self.states(self.variant("plain"), self.variant("elsewhere"))
        self.assertEqual(states, {"k": "identical", "same": "identical", "hidden": "identical"})

    def test_another_constant(self):
        states, answer = self.states(self.variant("two", "* 2.5f"), self.variant("three", "* 3.5f"))
        self.assertEqual(states, {"k": "reordered", "same": "identical", "hidden": "identical"})
        self.assertEqual(answer["kernels"][0]["opcodes"] or {}, {})
        self.assertEqual(self.states(FOLDER / "two.fatbin", FOLDER / "three.fatbin", "--order")[0]["k"], "reordered")

    def test_other_opcodes(self):
        old, new = self.variant("plain"), self.variant("root", "+ sqrtf(s)")
        states, answer = self.states(old, new)
        self.assertEqual(states["k"], "different")
        delta = next(row["opcodes"] for row in answer["kernels"] if row["kernel"] == "k")
        self.assertGreaterEqual(delta["MUFU.RSQ"], 1)
        full = run("sass_diff", old, new, "--full", "--kernel", "^k$")
        self.assertEqual(full.returncode, 1)
        self.assertRegex(full.stdout, r"different +sm_80 +k\n.*\+\d MUFU\.RSQ")
        self.assertRegex(full.stdout, r"\n\+ *MUFU\.RSQ R\d+\.\d, R")

    def test_repeated_architectures_accumulate(self):
        _, answer = self.states(PATTERNS, PATTERNS, "--kernel", "copy", "--arch", "80", "--arch", "90a")
        self.assertEqual([row["arch"] for row in answer["kernels"]], ["80", "90a"])

    def test_a_kernel_that_is_gone(self):
        shorter = self.KERNEL.replace('extern "C" __global__ void same(float* a) { a[threadIdx.x] += 1; }', "")
        states, _ = self.states(self.variant("plain"), self.variant("fewer", text=shorter))
        self.assertEqual(states, {"k": "identical", "same": "only old", "hidden": "identical"})

    def test_bad_requests(self):
        old = self.variant("plain")
        for arguments, status, words in (
            ((old, FOLDER / "absent"), 2, "cannot be read"),
            ((old, old, "--kernel", "absent"), 2, "nothing was compared"),
            ((old, old, "--kernel", "("), 2, "not a regular expression"),
            ((old, old, "--tool", "/absent/nvdisasm"), 3, "is not a program"),
        ):
            done = run("sass_diff", *arguments)
            self.assertEqual(done.returncode, status)
            self.assertIn(words, done.stderr)


class NamePatterns(unittest.TestCase):
    def defined(self, pattern, name):
        if not pattern:
            return not name
        if pattern[0] == "*":
            return self.defined(pattern[1:], name) or (name != "" and self.defined(pattern, name[1:]))
        return name != "" and pattern[0] in ("?", name[0]) and self.defined(pattern[1:], name[1:])

    def test_they_are_what_their_definition_says(self):
        draw, matched = random.Random(7), 0
        for _ in range(20000):
            pattern = "".join(draw.choice("ab*?") for _ in range(draw.randrange(7)))
            name = "".join(draw.choice("ab") for _ in range(draw.randrange(7)))
            wanted = self.defined(pattern, name)
            self.assertEqual(NamePattern(pattern).matches(name), wanted, (pattern, name))
            matched += wanted
        self.assertGreater(matched, 1000)

    def test_alternatives(self):
        self.assertTrue(NamePattern("a*|b*").matches("berry"))
        self.assertFalse(NamePattern("a*|b*").matches("cherry"))


class Doctor(unittest.TestCase):
    KEYS = ["kernel", "demangled", "arch", "file", "tensor_cores", "tensor_opcodes", "registers", "local_bytes",
            "static_shared_bytes", "barriers", "instructions", "tensor_density", "loop", "findings"]  # fmt: skip

    def test_text(self):
        done = run("binary_doctor", "--binary", PATTERNS, "--arch", "90a")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"sm_90a +fp32\n +no tensor cores\n +against: .*FFMA in a loop: FP32 operands run on CUDA")
        self.assertRegex(done.stdout, r"tensor cores: 4 HGMMA\.64x8x16\.F32; 4 of \d+ instructions of a trip")
        self.assertIn("7 of 9 kernels use tensor cores\n", done.stdout)
        both = run("binary_doctor", "--binary", PATTERNS, "--kernel", "copy", "--arch", "80", "--arch", "90a")
        self.assertIn("of 2 kernels use tensor cores", both.stdout)

    def test_json_keeps_its_form(self):
        done = run("binary_doctor", "--binary", PATTERNS, "--kernel", "dep*nt", "--arch", "80", "--json")
        (row,) = json.loads(done.stdout)
        self.assertEqual(list(row), self.KEYS)
        self.assertEqual(list(row["findings"][0]), ["kind", "severity", "count", "message"])
        self.assertTrue(row["tensor_cores"])

    def test_a_pattern_is_of_whole_names_and_no_regular_expression(self):
        def refused(pattern):
            done = run("binary_doctor", "--binary", PATTERNS, "--kernel", pattern)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            return done.stderr

        self.assertIn("no kernel matches 'depend'", refused("depend"))
        self.assertIn("has '(' but must be a pattern of whole names", refused("((.*)*)*x"))
        self.assertIn("of 300 characters but a pattern must have at most 256", refused("a" * 300))
        self.assertIn("no kernel matches", refused("*a" * 128))

    def test_no_disassembler_is_3_and_no_file_2(self):
        done = run("binary_doctor", "--binary", PATTERNS, "--tool", "/absent/nvdisasm")
        self.assertEqual(done.returncode, 3)
        self.assertIn("tenon doctor: ", done.stderr)
        self.assertEqual(run("binary_doctor", "--binary", FOLDER / "absent").returncode, 2)
        self.assertEqual(run("binary_doctor").returncode, 2)

    def test_help_has_examples(self):
        for script in ("kernel_report", "sass_diff", "binary_doctor"):
            done = run(script, "--help")
            self.assertEqual(done.returncode, 0)
            self.assertIn("examples:", done.stdout)
            self.assertIn("exit status:", done.stdout)


if __name__ == "__main__":
    unittest.main()
