"""scripts/cmake/TenonSass.cmake from another project: every type of target, good and bad requests."""

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

HEAD = f"""
cmake_minimum_required(VERSION 3.25)
project(stranger LANGUAGES CXX CUDA)
set(CMAKE_CUDA_ARCHITECTURES 80-real)
enable_testing()
list(APPEND CMAKE_MODULE_PATH {ROOT}/scripts/cmake)
include(TenonSass)
"""


def run(*command, **options):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, **options)


class Project(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.folder = Path(self._folder.name)

    def configure(self, text, head=HEAD):
        (self.folder / "CMakeLists.txt").write_text(head + text)
        return run("cmake", "-S", self.folder, "-B", self.folder / "build", "-G", "Ninja")

    def build(self):
        done = run("cmake", "--build", self.folder / "build", "-j", "2")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_targets_verdicts_and_table(self):
        done = self.configure(
            f"""
            add_library(objects OBJECT {HERE}/kernels.cu)
            add_library(archive STATIC $<TARGET_OBJECTS:objects>)
            set(cubin ${{CMAKE_CURRENT_BINARY_DIR}}/alone.cubin)
            file(WRITE ${{CMAKE_CURRENT_BINARY_DIR}}/alone.cu "extern \\"C\\" __global__ void alone() {{}}")
            add_custom_command(OUTPUT ${{cubin}} COMMAND ${{CMAKE_CUDA_COMPILER}} -cubin -arch=sm_80 alone.cu -o ${{cubin}})
            add_custom_target(cubins DEPENDS ${{cubin}})
            set_target_properties(cubins PROPERTIES TENON_CUBINS ${{cubin}})
            tenon_add_kernel_resources(archive FROM objects cubins)
            file(WRITE ${{CMAKE_CURRENT_BINARY_DIR}}/main.cpp [[
              #include <cstdio>
              #include "gemm/kernel_resources.hpp"
              int main() {{
                for (std::size_t i = 0; i < tenon::kernel_resources_count; ++i)
                  std::printf("%s %d %d\\n", tenon::kernel_resources[i].symbol, tenon::kernel_resources[i].registers,
                              int(tenon::kernel_resources[i].function != nullptr));
              }}
            ]])
            add_executable(program ${{CMAKE_CURRENT_BINARY_DIR}}/main.cpp)
            target_link_libraries(program archive)
            target_include_directories(program PRIVATE {ROOT}/src)
            foreach(target objects archive program)
              tenon_add_sass_test(${{target}} NAME good.${{target}} KERNEL "tensor<8>|tensorILi8" ARCH 80
                EXPECT HMMA.16816.F32>=8 FORBID LDL STL MAX_REGISTERS 64 SPILL_FREE)
            endforeach()
            tenon_add_sass_test(archive KERNEL plain EXPECT FFMA FORBID HMMA)
            tenon_add_sass_test(archive NAME bad.count KERNEL tensor EXPECT HMMA.16816.F32>=9)
            tenon_add_sass_test(archive NAME bad.arch KERNEL tensor ARCH 80 90a EXPECT HMMA)
            tenon_add_sass_test(archive NAME bad.spill KERNEL spilling SPILL_FREE)
            """
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.build()
        tests = self.folder / "build"
        good = run("ctest", "--test-dir", tests, "--output-on-failure", "-R", "good|sass.archive.plain", "-L", "L2")
        self.assertEqual(good.returncode, 0, good.stdout)
        self.assertIn("100% tests passed, 0 tests failed out of 4", good.stdout)
        bad = run("ctest", "--test-dir", tests, "--output-on-failure", "-R", "bad")
        self.assertIn("0% tests passed, 3 tests failed out of 3", bad.stdout)
        self.assertIn("HMMA.16816.F32 >= 9", bad.stdout)
        self.assertIn("for sm_90a: the files hold code for sm_80", bad.stdout)
        rows = [line.split() for line in run(tests / "program").stdout.splitlines()]
        self.assertEqual(len(rows), 4)
        for symbol, registers, linked in rows:
            if symbol == "alone":  # in a cubin: no host code can refer to it
                self.assertEqual(linked, "0")
            else:
                self.assertTrue(16 <= int(registers) <= 64 and linked == "1", rows)
        self.assertIn("alone", [row[0] for row in rows])

    def test_the_private_python_is_used_as_soon_as_it_exists(self):
        cmake = self.folder / "checkout" / "scripts" / "cmake"
        shutil.copytree(ROOT / "scripts" / "cmake", cmake)
        private = self.folder / "checkout" / ".tools" / "venv" / "bin" / "python3"
        (self.folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(stranger LANGUAGES NONE)\n"
            f"include({cmake}/TenonSass.cmake)\nmessage(STATUS \"python: ${{TENON_PYTHON}}.\")\n"
        )

        def found():
            done = run("cmake", "-S", self.folder, "-B", self.folder / "build")
            self.assertEqual(done.returncode, 0, done.stderr)
            return re.search(r"python: (.*)\.\n", done.stdout)[1]

        system = found()
        self.assertNotEqual(system, str(private))
        private.parent.mkdir(parents=True)
        private.symlink_to(sys.executable)
        self.assertEqual(found(), str(private))
        self.assertEqual(found(), str(private))
        private.unlink()
        self.assertEqual(found(), system)

    def test_bad_requests_stop_the_configuration(self):
        for request, sentence in (
            ('tenon_add_sass_test(absent KERNEL x EXPECT HMMA)', "neither a target defined so far"),
            ('tenon_add_sass_test(objects EXPECT HMMA)', "KERNEL <regex> is missing"),
            ('tenon_add_sass_test(objects KERNEL x)', "nothing to check"),
            ('tenon_add_sass_test(objects COLOUR red KERNEL x EXPECT HMMA)', "unknown arguments: COLOUR;red"),
            ('tenon_add_sass_test(face KERNEL x EXPECT HMMA)', "INTERFACE_LIBRARY"),
            ('tenon_add_kernel_resources(objects FROM absent)', "must name a target"),
            ('tenon_add_kernel_resources(objects FROM face)', "no property TENON_CUBINS"),
            ('tenon_add_kernel_resources(objects)', "FROM <target>... is missing"),
        ):  # fmt: skip
            with self.subTest(request=request):
                text = f"add_library(objects OBJECT {HERE}/kernels.cu)\nadd_library(face INTERFACE)\n{request}\n"
                done = self.configure(text, HEAD.replace(" CUDA)", ")"))  # it ends before a compiler of CUDA is needed
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(sentence, " ".join(done.stderr.split()))


class Tenon(unittest.TestCase):
    def test_a_toolkit_in_a_folder_with_a_space(self):
        """scripts/setup puts PyPI's into .tools, and the folder above it has any name. CMake finds its libraries all the same."""
        with tempfile.TemporaryDirectory(prefix="a b ") as folder:
            toolkit = Path(folder, "cuda")
            toolkit.symlink_to(os.environ.get("CUDA_HOME") or Path(shutil.which("nvcc")).parents[1])
            done = run("cmake", "-S", ROOT, "-B", Path(folder, "build"), "-G", "Ninja", f"-DCMAKE_CUDA_COMPILER={toolkit}/bin/nvcc",
                       f"-DTENON_PYTHON={sys.executable}", "-DTENON_TYPES=f16_f32", "-DTENON_LAYOUTS=tn", "-DTENON_TILES=core",
                       "-DTENON_BUILD_TESTS=OFF", "-DTENON_BUILD_BENCHMARKS=OFF")  # fmt: skip
            self.assertEqual(done.returncode, 0, done.stderr)
            rules = Path(folder, "build", "build.ninja").read_text()
            linked = re.search(r"^build bin/tenon: .*\n(?: .*\n)*?  LINK_PATH = (.*)", rules, re.M)[1]
            folders = [Path(path) for path in re.findall(r'-L"([^"]*)"', linked)]
            self.assertTrue([path for path in folders if (path / "libcudart_static.a").exists()], linked)


if __name__ == "__main__":
    unittest.main()
