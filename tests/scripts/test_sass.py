"""scripts/sass_check and scripts/kernel_report on real machine code: every container, tool and verdict.

Needs nvcc and a disassembler; a machine without one fails here, it does not skip.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SCRIPTS = ROOT / "scripts"
sys.path.insert(0, str(SCRIPTS))
sys.dont_write_bytecode = True
from tenon_sass.fatbin import cubins_of_file  # noqa: E402  (the lines above make it importable)

SOURCE = HERE / "kernels.cu"
CODE = ["-gencode", "arch=compute_80,code=sm_80", "-gencode", "arch=compute_90a,code=sm_90a"]
TENSOR, PLAIN, SPILLING = "_ZN6sample6tensorILi8EEEvPKjS2_Pf", "_Z5plainPf", "_Z8spillingPf"


def run(command, **options):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, **options)


def check(*arguments, **options):
    return run([sys.executable, SCRIPTS / "sass_check", *arguments], **options)


def resources(*arguments, **options):
    return run([sys.executable, SCRIPTS / "kernel_report", *arguments], **options)


def nvcc():
    toolkit = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    found = shutil.which("nvcc", path=f"{toolkit}/bin") or shutil.which("nvcc")
    if not found:
        raise AssertionError("no nvcc: run scripts/setup")
    return found


_compiled = {}
_said = {}  # by the compiler, of each output
_shared = tempfile.TemporaryDirectory()


def tearDownModule():
    _shared.cleanup()


class Compiled(unittest.TestCase):
    """Gives each test a folder and, compiled once, the kernels in any container that a build can produce."""

    @classmethod
    def setUpClass(cls):
        cls._folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls._folder.cleanup)
        cls.folder = Path(cls._folder.name)
        cls.object = cls.compile("default.o", *CODE, "-c")
        cls.fatbin = cls.compile("kernels.fatbin", *CODE, "-fatbin")

    @classmethod
    def compile(cls, output, *options):
        if options not in _compiled:
            path = Path(_shared.name, f"{len(_compiled)}_{output}")
            done = run([nvcc(), "-std=c++17", *options, SOURCE, "-o", path])
            if done.returncode:
                raise AssertionError(done.stderr)
            _compiled[options] = path
            _said[path] = done.stderr
        return _compiled[options]

    @classmethod
    def cubin(cls, arch):
        """Of one architecture; _said has what ptxas says of its kernels."""
        return cls.compile(f"{arch}.cubin", f"-gencode=arch=compute_{arch},code=sm_{arch}", "-Xptxas", "-v", "-cubin")


class Containers(Compiled):
    GOOD = ("--kernel", r"sample::tensor<8>", "--arch", "80", "90a", "--expect", "HMMA.16816.F32==8", "--spill-free")

    def assert_good(self, path):
        done = check(path, *self.GOOD)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("2 kernels as expected, 0 not", done.stdout)

    def test_object(self):
        self.assert_good(self.object)

    def test_fatbin_file(self):
        self.assert_good(self.fatbin)

    def test_every_compression(self):
        images = []
        for arch in ("80", "90a"):
            cubin = self.cubin(arch)
            images.append(f"--image3=kind=elf,sm={arch},file={cubin}")
        sizes = {}
        for mode in ("none", "speed", "balance", "size"):
            with self.subTest(mode=mode):
                path = self.folder / f"{mode}.fatbin"
                create = ["--64", "--create", path, "--compress-all", "--compress-mode", mode, *images]
                done = run([Path(nvcc()).parent / "fatbinary", *create])
                self.assertEqual(done.returncode, 0, done.stderr)
                sizes[mode] = path.stat().st_size
                held = [cubin.data for cubin in cubins_of_file(path)]
                self.assertEqual(held, [self.cubin(arch).read_bytes() for arch in ("80", "90a")])
        self.assertLess(max(sizes["speed"], sizes["balance"], sizes["size"]), sizes["none"])
        self.assert_good(path)

    def test_relocatable_device_code(self):
        self.assert_good(self.compile("relocatable.o", *CODE, "-rdc=true", "-c"))

    def test_executable_and_static_library(self):
        self.assert_good(self.compile("program", *CODE, "-DWITH_MAIN"))
        library = self.folder / "libkernels.a"
        long_name = self.folder / "a_name_longer_than_the_sixteen_bytes_of_a_header.o"
        shutil.copy(self.object, long_name)
        self.assertEqual(run(["ar", "rcs", library, long_name]).returncode, 0)
        found = json.loads(check(library, *self.GOOD, "--json").stdout)
        self.assertEqual((found["ok"], len(found["kernels"])), (True, 2))
        file = found["kernels"][0]["file"]
        self.assertTrue(file.endswith(f"({long_name.name})"), file)

    def test_cubin(self):
        done = check(self.cubin("80"), "--kernel", "tensor", "--expect", "HMMA>=1")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_several_files_one_without_device_code(self):
        host = self.folder / "host.cpp"
        host.write_text("int answer() { return 42; }\n")
        self.assertEqual(run(["g++", "-c", host, "-o", self.folder / "host.o"]).returncode, 0)
        self.assertEqual(check(self.folder / "host.o", self.object, *self.GOOD).returncode, 0)
        alone = check(self.folder / "host.o", *self.GOOD)
        self.assertEqual(alone.returncode, 2)
        self.assertIn("no device code", alone.stderr)

    def test_ptx_alone_is_no_machine_code(self):
        path = self.compile("ptx.o", "-gencode", "arch=compute_80,code=compute_80", "-c")
        done = check(path, *self.GOOD)
        self.assertEqual(done.returncode, 2)
        self.assertIn("no device code", done.stderr)


class Verdicts(Compiled):
    def test_fp32_kernel(self):
        self.assertEqual(check(self.object, "--kernel", "plain", "--expect", "FFMA", "--forbid", "HMMA").returncode, 0)

    def test_each_requirement_can_fail(self):
        for requirement in (
            ["--expect", "HMMA.16816.F32>=9"],
            ["--expect", "HMMA.16816.F32<8"],
            ["--expect", "HMMA.1688"],
            ["--expect", "LDSM"],
            ["--forbid", "HMMA"],
            ["--max-registers", "8"],
        ):
            with self.subTest(requirement=requirement):
                done = check(self.object, "--kernel", "tensor", "--arch", "80", *requirement)
                self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
                self.assertRegex(done.stdout, r"FAIL +sm_80 +void sample::tensor<8>")

    def test_spills(self):
        done = check(self.object, "--kernel", "spilling", "--spill-free")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"FAIL +no spills +found [1-9]\d* bytes of local memory, [1-9]\d* LDL/STL")
        self.assertEqual(check(self.object, "--kernel", "spilling", "--arch", "80", "--forbid", "LDL", "STL").returncode, 1)
        self.assertEqual(check(self.object, "--kernel", "tensor|plain", "--spill-free").returncode, 0)

    def test_repeated_lists_accumulate(self):
        for requirements, sentence in (
            (["--arch", "80", "--forbid", "HMMA", "--forbid", "LDL"], "no HMMA"),
            (["--arch", "80", "--expect", "LDSM", "--expect", "HMMA"], "LDSM >= 1"),
            (["--arch", "77", "--arch", "80", "--expect", "HMMA"], "for sm_77"),
        ):
            done = check(self.object, "--kernel", "tensor", *requirements)
            self.assertEqual(done.returncode, 1, requirements)
            self.assertRegex(done.stdout, f"FAIL .*{sentence}")
        done = check(self.object, "--kernel", "tensor", "--kernel", "plain", "--expect", "HMMA")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--kernel is given twice", done.stderr)

    def test_a_pattern_or_architecture_without_a_kernel_fails(self):
        done = check(self.object, "--kernel", "absent", "--forbid", "LDL")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no kernel matches 'absent'", done.stdout)
        self.assertIn("plain(float*)", done.stdout)
        done = check(self.object, "--kernel", "tensor", "--arch", "80", "90", "--forbid", "LDL")
        self.assertEqual(done.returncode, 1)
        self.assertIn("for sm_90: the files hold code for sm_80, sm_90a", done.stdout)

    def test_brief_shows_what_fails(self):
        done = check(self.object, "--kernel", ".", "--spill-free", "--brief")
        self.assertEqual(done.returncode, 1)
        self.assertIn("spilling(float*)", done.stdout)
        self.assertNotIn("plain(float*)", done.stdout)
        self.assertIn("4 kernels as expected, 2 not", done.stdout)

    def test_json(self):
        done = check(self.object, "--kernel", "tensor", "--arch", "80", "--expect", "HMMA>=8", "LDSM", "--json")
        self.assertEqual(done.returncode, 1)
        found = json.loads(done.stdout)
        self.assertFalse(found["ok"])
        (kernel,) = found["kernels"]
        self.assertEqual((kernel["kernel"], kernel["arch"]), (TENSOR, "80"))
        self.assertEqual(kernel["checks"][0], {"requirement": "HMMA >= 8", "found": "8", "ok": True})
        self.assertFalse(kernel["checks"][1]["ok"])

    def test_file_of_expectations(self):
        path = self.folder / "expectations.json"
        good = [
            {"kernel": "tensor", "arch": ["80", "sm_90a"], "expect": ["HMMA.16816.F32>=8"], "spill_free": True},
            {"kernel": "plain", "expect": ["FFMA"], "forbid": ["HMMA"], "max_registers": 64},
        ]
        path.write_text(json.dumps(good))
        self.assertEqual(check(self.object, "--expectations", path).returncode, 0)
        good[1]["forbid"] = ["FFMA"]
        path.write_text(json.dumps(good))
        self.assertEqual(check(self.object, "--expectations", path).returncode, 1)
        for bad, sentence in (
            ("{", "not JSON"),
            ("[]", "one or more objects"),
            ('[{"kernel": "x", "expct": ["LDSM"]}]', "unknown key 'expct'"),
            ('[{"expect": ["LDSM"]}]', "no key 'kernel'"),
            ('[{"kernel": "x", "expect": "LDSM"}]', "must be a list"),
            ('[{"kernel": "x", "expect": [1]}]', "'expect' is [1] but must be a list of strings"),
            ('[{"kernel": "x", "forbid": [1]}]', "'forbid' is [1] but must be a list of strings"),
            ('[{"kernel": "x", "forbid": ["LDL"], "max_registers": true}]', "'max_registers' is true but must be a whole number"),
            ('[{"kernel": "a{99999999999}", "forbid": ["LDL"]}]', "not a regular expression"),
            ("[" * 100000, "nested too deeply"),
        ):
            with self.subTest(bad=bad[:60]):
                path.write_text(bad)
                done = check(self.object, "--expectations", path)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(sentence, done.stderr)
                self.assertNotIn("Traceback", done.stderr)


class BadUsage(Compiled):
    def assert_status(self, status, sentence, *arguments, **options):
        done = check(*arguments, **options)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertIn(sentence, done.stderr)
        self.assertNotIn("Traceback", done.stderr)

    def test_requests(self):
        self.assert_status(2, "nothing to check", self.object)
        self.assert_status(2, "nothing to check for", self.object, "--kernel", "tensor")
        self.assert_status(2, "requirements without a kernel", self.object, "--expect", "HMMA")
        self.assert_status(2, "not a regular expression", self.object, "--kernel", "(", "--expect", "HMMA")
        self.assert_status(2, "'HMMA>=many'", self.object, "--kernel", "x", "--expect", "HMMA>=many")
        self.assert_status(2, "'sm90'", self.object, "--kernel", "x", "--arch", "sm90", "--expect", "HMMA")
        self.assert_status(2, "must lie in 1..255", self.object, "--kernel", "x", "--max-registers", "300")
        self.assert_status(2, "unrecognized", self.object, "--kernl", "x")

    def test_files(self):
        good = ("--kernel", "tensor", "--expect", "HMMA")
        self.assert_status(2, "cannot be read", self.folder / "absent.o", *good)
        self.assert_status(2, "neither an ELF file", SOURCE, *good)
        empty = self.folder / "empty.o"
        empty.write_bytes(b"")
        self.assert_status(2, "neither an ELF file", empty, *good)

    def test_truncated_files(self):
        for whole in (self.cubin("80"), self.object, self.fatbin):
            data = whole.read_bytes()
            for size in (5, 40, 100, len(data) // 2, len(data) - 9):
                with self.subTest(file=whole.name, size=size):
                    cut = self.folder / "cut"
                    cut.write_bytes(data[:size])
                    done = check(cut, "--kernel", "tensor", "--expect", "HMMA")
                    self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                    self.assertRegex(done.stderr, r"truncated|cannot|no device code")
                    self.assertNotIn("Traceback", done.stderr)

    def test_missing_tool(self):
        good = (self.object, "--kernel", "tensor", "--expect", "HMMA")
        self.assert_status(3, "is not a program", *good, "--tool", "/absent/nvdisasm")
        self.assert_status(2, "must be nvdisasm or cuobjdump", *good, "--tool", "ls")

    def test_missing_tool_of_a_machine(self):
        # A copy of a checkout has its own private folder; with an empty PATH and no toolkit there is no disassembler.
        shutil.copytree(SCRIPTS / "tenon_sass", self.folder / "scripts" / "tenon_sass")
        shutil.copy(SCRIPTS / "setup", self.folder / "scripts")
        code = (
            "import sys; sys.path.insert(0, sys.argv.pop(1)); from tenon_sass import check, disassemble; "
            "disassemble.shutil.which = lambda *a, **k: None; sys.exit(check.main(sys.argv[1:]))"
        )
        command = [sys.executable, "-c", code, self.folder / "scripts", self.object]
        command += ["--kernel", "tensor", "--expect", "HMMA"]
        done = run(command)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("Run scripts/setup", done.stderr)
        (self.folder / ".tools").mkdir()
        done = run(command)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("although set-up ran", done.stderr)

    def test_help_has_examples(self):
        for script in ("sass_check", "kernel_report"):
            done = run([sys.executable, SCRIPTS / script, "--help"])
            self.assertEqual(done.returncode, 0)
            self.assertIn("examples:", done.stdout)
            self.assertIn("exit status:", done.stdout)


class Resources(Compiled):
    def test_agrees_with_ptxas(self):
        for arch in ("80", "90a"):
            with self.subTest(arch=arch):
                cubin, expected = self.cubin(arch), {}
                for name, text in re.findall(r"Compiling entry function '(\w+)'(.*?Used.*?)\n", _said[cubin], re.S):
                    number = lambda pattern: int((re.search(pattern, text) or [0, 0])[1])  # noqa: E731
                    expected[name] = (
                        number(r"Used (\d+) registers"),
                        number(r"(\d+) bytes stack frame"),
                        number(r"(\d+) bytes smem"),
                    )
                rows = json.loads(resources(cubin, "--json").stdout)
                found = {r["kernel"]: (r["registers"], r["local_bytes"], r["static_shared_bytes"]) for r in rows}
                self.assertEqual(found, expected)
                self.assertEqual({r["arch"] for r in rows}, {arch})
                self.assertEqual(found[PLAIN][2], 256)
                self.assertGreater(found[SPILLING][1], 0)

    def test_cpp_table_is_found_by_address(self):
        kernels = self.compile("weak.o", *CODE, "-static-global-template-stub=false", "-c")
        table = self.folder / "table.cpp"
        done = resources(kernels, "--cpp", table)
        self.assertEqual(done.returncode, 0, done.stderr)
        program = self.folder / "lookup.cu"
        program.write_text(
            """
                        #include <cstdio>
            #include "gemm/kernel_resources.hpp"
            namespace sample { template <int n> __global__ void tensor(const unsigned*, const unsigned*, float*);
            extern template __global__ void tensor<8>(const unsigned*, const unsigned*, float*); }
            __global__ void spilling(float*);
            int main() {
              const void* functions[] = {(const void*)&sample::tensor<8>, (const void*)&spilling};
              for (const void* f : functions)
                for (int sm : {75, 80, 86, 90, 100}) {
                  const tenon::KernelResources* r = tenon::find_kernel_resources(tenon::kernel_symbol(f), sm);
                  std::printf("%d %s\\n", sm, r ? r->symbol : "none");
                }
              for (const void* f : functions)
                std::printf("lowest %d\\n", tenon::lowest_kernel_resources(tenon::kernel_symbol(f))->sm);
              const bool known = tenon::kernel_symbol(nullptr) || tenon::find_kernel_resources(nullptr, 80) ||
                                 tenon::lowest_kernel_resources(nullptr) || tenon::lowest_kernel_resources("absent");
              std::printf("%d %d\\n", int(tenon::kernel_resources_count), int(known));
            }
            """
        )
        output = self.folder / "lookup"
        build = [nvcc(), "-std=c++17", "-arch=sm_80", "-static-global-template-stub=false", f"-I{ROOT}/src"]
        done = run([*build, program, table, kernels, "-o", output])
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = run([output]).stdout.split("\n")
        expected = []
        for symbol in (TENSOR, SPILLING):
            expected += ["75 none", f"80 {symbol}", f"86 {symbol}", f"90 {symbol}", "100 none"]
        self.assertEqual(lines[:10], expected)
        self.assertEqual(lines[10:13], ["lowest 80", "lowest 80", "6 0"])

    def test_bad_input(self):
        done = resources(SOURCE)
        self.assertEqual(done.returncode, 2)
        self.assertIn("neither an ELF file", done.stderr)
        done = resources(self.object, "--cpp", self.folder / "absent" / "x.cpp")
        self.assertEqual(done.returncode, 2)
        self.assertIn("cannot be written", done.stderr)


if __name__ == "__main__":
    unittest.main()
