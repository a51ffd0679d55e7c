"""scripts/single_headers: what it makes of a small tree, and that its files compile, alone and together, by each compiler."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "single_headers"
CUDA = Path(os.environ.get("CUDA_HOME", "/usr/local/cuda"))
ARCHITECTURES = {"sm_80": ["-arch=sm_80"], "sm_90a": ["-gencode", "arch=compute_90a,code=sm_90a"]}


def run(*command):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)


def headers_test():
    """tests/headers/test_headers.py, which knows NVRTC."""
    spec = importlib.util.spec_from_file_location("test_headers", ROOT / "tests" / "headers" / "test_headers.py")
    headers = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(headers)
    return headers


def nvrtc_library(headers):
    return headers.nvrtc_library(*(CUDA / name for name in ("lib64", "lib")))


class SmallTree(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.write("LICENSE", "Some license\n")
        self.write("CMakeLists.txt", "project(tenon VERSION 7.8.9 LANGUAGES CXX)\n")
        self.header("needs_host.hpp")
        self.header("ptx/arch.hpp", "<cstdint>")
        self.header("fragment/layout.hpp")

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")

    def header(self, path, *includes, after=(), conditional=()):
        """A header that declares a namespace of its name."""
        lines = [f'#include "tenon/{i}"' if i.endswith(".hpp") else f"#include {i}" for i in includes]
        lines += ["#if defined(__CUDACC__)", *(f'#include "tenon/{i}"' for i in conditional), "#endif"] if conditional else []
        lines += [f"namespace {Path(path).stem} {{", f"}}  // namespace {Path(path).stem}"]
        lines += [f'#include "tenon/{i}"' for i in after]
        self.write(f"include/tenon/{path}", "// A comment.\n#pragma once\n\n" + "\n".join(lines) + "\n")

    def generate(self, *arguments):
        return run(sys.executable, SCRIPT, self.root / "generated", "--root", self.root, *arguments)

    def text(self, name):
        done = self.generate()
        self.assertEqual(done.returncode, 0, done.stderr)
        return (self.root / "generated" / name).read_text(encoding="utf-8")

    def names(self, name):
        return re.findall(r"^namespace (\w+)", self.text(name), re.MULTILINE)

    def test_each_header_comes_once_after_what_it_needs(self):
        self.header("fragment/a.hpp", "fragment/z.hpp", "ptx/arch.hpp")
        self.header("fragment/z.hpp", "ptx/arch.hpp", "status.hpp")
        self.header("status.hpp", "<cstdio>")
        self.assertEqual(self.names("tenon_fragment.hpp"), ["arch", "status", "z", "a", "layout"])
        self.assertEqual(self.names("tenon_ptx.hpp"), ["arch"])

    def test_includes_at_the_end_of_a_header_follow_it(self):
        self.header("fragment/layout.hpp", "ptx/arch.hpp", after=["fragment/volta.hpp"])
        self.header("fragment/volta.hpp", "fragment/layout.hpp")
        self.assertEqual(self.names("tenon_fragment.hpp"), ["arch", "layout", "volta"])

    def test_the_opening_says_version_and_license_and_system_headers_stay(self):
        text = self.text("tenon_ptx.hpp")
        self.assertRegex(text, r"\A// tenon 7\.8\.9, the headers of ptx in one file,\n")
        self.assertIn("// Some license\n#pragma once\n", text)
        self.assertIn("#include <cstdint>\n", text)
        self.assertEqual(text.count("#pragma once"), 1)
        self.assertNotIn('#include "tenon/', text)

    def test_the_commit_is_named_and_changes_to_it(self):
        def git(*arguments):
            self.assertEqual(run("git", "-C", self.root, "-c", "user.name=n", "-c", "user.email=e", *arguments).returncode, 0)

        git("init", "-q")
        git("add", "include")
        git("commit", "-q", "-m", "Add")
        commit = run("git", "-C", self.root, "rev-parse", "--short=12", "HEAD").stdout.strip()
        self.assertIn(f"tenon 7.8.9 (commit {commit}), ", self.text("tenon_ptx.hpp"))
        self.header("ptx/new.hpp")
        self.assertIn(f"tenon 7.8.9 (commit {commit}, with changes), ", self.text("tenon_ptx.hpp"))

    def test_what_needs_sm_90_has_files_of_its_own(self):
        self.header("pipeline/ring.hpp")
        self.header("pipeline/tma.hpp", "<cuda/ptx>")
        self.header("gemm/wgmma.hpp", "ptx/needs_sm_90a.hpp", "pipeline/tma.hpp")
        self.header("ptx/needs_sm_90a.hpp")
        self.assertEqual(self.names("tenon_gemm.hpp"), ["arch", "layout", "ring"])
        self.assertEqual(self.names("tenon_gemm_sm90.hpp"), ["arch", "layout", "ring", "tma", "needs_sm_90a", "wgmma"])

    def test_parts_for_the_host_or_for_device_code_are_conditional(self):
        self.header("fragment/print.hpp")  # needs the compiled library
        self.header("fragment/device.hpp", "ptx/arch.hpp")
        self.header("fragment/either.hpp", conditional=["ptx/arch.hpp"])
        self.header("fragment/launch.hpp", "fragment/device.hpp", "needs_host.hpp")
        text = self.text("tenon_fragment.hpp")
        condition = {name: match for match, name in re.findall(r"^#if !defined\(\w+\)(.*)\n#define TENON_INLINED_(\w+)", text, re.M)}
        self.assertEqual(condition, {
            "PTX_ARCH_HPP": " && defined(__CUDACC__)",
            "FRAGMENT_DEVICE_HPP": " && defined(__CUDACC__)",
            "FRAGMENT_EITHER_HPP": "",
            "FRAGMENT_LAYOUT_HPP": "",
            "FRAGMENT_LAUNCH_HPP": " && defined(__CUDACC__) && !defined(__CUDACC_RTC__)",
        })

    def test_bad_usage_and_bad_trees_are_sentences(self):
        self.assertEqual(run(sys.executable, SCRIPT, "--help").returncode, 0)
        self.assertEqual(run(sys.executable, SCRIPT).returncode, 2)
        self.header("ptx/lost.hpp", "ptx/absent.hpp")
        done = self.generate()
        self.assertEqual(done.returncode, 2)
        self.assertIn("tenon/ptx/absent.hpp does not exist, but a header includes it", done.stderr)
        shutil.rmtree(self.root / "include")
        self.assertIn("has no folder include/tenon", self.generate().stderr)
        self.assertEqual(run(sys.executable, SCRIPT, "/dev/null/folder").returncode, 2)


class ThisTree(unittest.TestCase):
    """The files of this checkout. The compilers see their folder alone, not include/."""

    @classmethod
    def setUpClass(cls):
        cls._folder = tempfile.TemporaryDirectory()
        cls.folder = Path(cls._folder.name)
        done = run(sys.executable, SCRIPT, cls.folder / "generated")
        assert done.returncode == 0, done.stderr
        cls.files = sorted((cls.folder / "generated").iterdir())
        cls.names = [path.name for path in cls.files]

    @classmethod
    def tearDownClass(cls):
        cls._folder.cleanup()

    def assert_compiles(self, source, architecture, suffix="cu", options=("-cubin",)):
        path = self.folder / f"source.{suffix}"
        path.write_text(source, encoding="utf-8")
        nvcc = [CUDA / "bin" / "nvcc", "--Werror=all-warnings", "-Xcompiler=-Wall,-Wextra,-Werror", *options,
                "-o", self.folder / "cubin", *ARCHITECTURES.get(architecture, [])]
        plain = ["g++", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]
        done = run(*(nvcc if suffix == "cu" else plain), "-std=c++17", "-I", self.folder / "generated", path)
        self.assertEqual((done.returncode, done.stderr), (0, ""), source[:500])

    def test_the_files_are_those_of_the_floors(self):
        floors = ("ptx", "fragment", "shared", "warp", "pipeline", "gemm", "attention")
        expected = [f"tenon_{floor}.hpp" for floor in floors] + [f"tenon_{floor}_sm90.hpp" for floor in floors[4:]]
        self.assertEqual(self.names, sorted(expected))
        for path in self.files:
            inlined = re.findall(r"^#define (TENON_INLINED_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
            self.assertEqual(len(inlined), len(set(inlined)), path.name)

    def test_each_compiles_alone(self):
        # Where NVRTC is there, it compiles them alone for sm_80, in a fifth of the time; what is for the host is the same.
        architectures = ("sm_90a",) if nvrtc_library(headers_test()) else ("sm_80", "sm_90a")
        for name in self.names:
            for architecture in ("sm_90a",) if "sm90" in name else architectures:
                with self.subTest(name=name, architecture=architecture):
                    self.assert_compiles(f'#include "{name}"\n#include "{name}"\n', architecture)

    def test_they_compile_together(self):
        for names in (self.names, self.names[::-1]):
            for architecture in ARCHITECTURES:
                fit = [name for name in names if architecture == "sm_90a" or "sm90" not in name]
                with self.subTest(names=fit):
                    self.assert_compiles("".join(f'#include "{name}"\n' for name in fit), architecture)

    def test_layouts_need_no_cuda(self):
        use = """
static_assert(tenon::LayoutA<tenon::m16n8k16, __half>::coord(1, 2) == tenon::Coord{8, 2});
"""
        for names in (["fragment"], ["shared"], ["shared", "fragment"]):
            self.assert_compiles("".join(f'#include "tenon_{name}.hpp"\n' for name in names) + use, None, "cpp")

    def test_examples_compile_with_one_file(self):
        for example, name, architecture in (("embed_sm80", "tenon_gemm", "sm_80"), ("embed_sm90", "tenon_gemm_sm90", "sm_90a"),
                                            ("attention_score", "tenon_attention", "sm_80"), ("shared", "tenon_shared", "sm_80")):
            with self.subTest(example=example):
                source = (ROOT / "tests" / "examples" / f"{example}.cu").read_text(encoding="utf-8")
                source = re.sub(r'#include "example.hpp"\n|#include "tenon/[^"]+".*\n', "", source)
                # tests/examples optimises them. Of unoptimised wgmma ptxas notes that it is slow.
                options = ["--Ofast-compile=max", *(["-ptx"] if architecture == "sm_90a" else ["-cubin"])]
                text = f'#include "{name}.hpp"\n{source.partition("int main()")[0]}'
                self.assert_compiles(text, architecture, options=options)

    def test_nvrtc_compiles_them_without_a_folder_of_tenon(self):
        headers = headers_test()
        library = nvrtc_library(headers)
        if library is None:
            self.skipTest("no libnvrtc")
        folders = headers.with_cccl(CUDA / "include")
        for path in self.files:
            with self.subTest(path=path.name):
                text = path.read_text(encoding="utf-8")
                with headers.Program(library, folders, "sm_90a" if "sm90" in path.name else "sm_80", text) as program:
                    self.assertEqual(program.log, "")


if __name__ == "__main__":
    unittest.main()
