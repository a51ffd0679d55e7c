"""The headers compile with the compilers of this machine, with warnings as errors, and scripts/compilers would say if not.

  test_compilers.py Host <nvcc>    each g++ and clang++ in PATH alone, the oldest and the newest also as the host compiler of nvcc
  test_compilers.py Cuda <nvcc>    the newest clang++ as the compiler of CUDA: skipped where none of 16 or newer is in PATH
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
sys.dont_write_bytecode = True
from tenon_toolkit import compilers  # noqa: E402  (the lines above make it importable)

NVCC = "nvcc"
SAID = ("crt/host_config.h:151:2: error: -- unsupported clang version! clang version must be less than 21 and greater than 3.2 . "
        "The nvcc flag '-allow-unsupported-compiler' can be used to override this version check; use at your own risk.")
SAID_OF_GCC = ("crt/host_config.h:137:2: error: #error -- unsupported GNU version! gcc versions later than 15 are not supported! "
               "The nvcc flag '-allow-unsupported-compiler' can be used")
SAID_OF_CXX20 = ("nvcc warning : The -std=c++20 flag is not supported with the configured host compiler. Flag will be ignored.\n"
                 "cpp17.hpp:6:2: error: #error tenon needs C++17")


def script(*arguments):
    return subprocess.run([sys.executable, "-B", ROOT / "scripts/compilers", *arguments], capture_output=True, text=True)


def wrapper(folder, name, program, text):
    """A program in the folder that runs `program` behind these lines of the shell."""
    path = pathlib.Path(folder) / name
    path.write_text(f'#!/bin/sh\n{text}\nexec {program} "$@"\n')
    path.chmod(0o755)
    return str(path)


class Host(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_the_oldest_and_the_newest_of_each_kind(self):
        installed = compilers.installed()
        kinds = [[one for one in installed if one.kind == kind] for kind in ("g++", "clang++")]
        chosen = list(dict.fromkeys(one.path for kind in kinds if kind for one in (kind[0], kind[-1])))
        self.assertTrue(chosen)
        done = script("host", *chosen, "--nvcc", NVCC, "--json")
        self.assertIn(done.returncode, (0, 1), done.stderr)
        rows = json.loads(done.stdout)
        for row in rows:
            print(f"{row['compiler']}, {row['standard']}{', not as the host compiler of nvcc' if row['nvcc'] else ''}")
            self.assertEqual(row["failures"], {})
        self.assertEqual(len(rows), 2 * len(chosen))
        self.assertEqual({row["standard"] for row in rows}, {"C++17", "C++20"})
        self.assertTrue([row for row in rows if not row["nvcc"]], "nvcc takes none of them")

    def test_each_between_the_oldest_and_the_newest_alone(self):
        installed = compilers.installed()
        for kind in ("g++", "clang++"):
            for one in [one for one in installed if one.kind == kind][1:-1]:
                for year in compilers.STANDARDS:
                    with self.subTest(compiler=str(one), standard=f"C++{year}"):
                        self.assertEqual(compilers.alone(one, year, pathlib.Path(NVCC).parents[1] / "include"), {})
                        print(f"{one}, C++{year}, alone")

    def test_a_warning_is_a_failure_of_that_part(self):
        warning = pathlib.Path(self.folder) / "warning.hpp"
        warning.write_text("static void unused() {}\n")
        one = compilers.compiler(wrapper(self.folder, "g++", f"g++ -include {warning}", ""))
        failures = compilers.alone(one, "17", pathlib.Path(NVCC).parents[1] / "include")
        self.assertEqual(sorted(name.split()[-1] for name in failures), ["C", "headers", "host_api.c", "host_api.cpp"])
        self.assertRegex(failures["host_api.cpp"], "warning.hpp:1:13: error: .*unused")

    def test_what_nvcc_says_of_a_compiler_that_it_does_not_take_is_no_failure(self):
        one = compilers.Compiler("g++", "g++", "12.2.0")
        for said, sentence in ((SAID, "unsupported clang version! clang version must be less than 21 and greater than 3.2 "),
                               (SAID_OF_GCC, "unsupported GNU version! gcc versions later than 15 are not supported"),
                               (SAID_OF_CXX20, "The -std=c++20 flag is not supported with the configured host compiler")):
            refuses = wrapper(self.folder, "nvcc", "false", f'echo "{said}" >&2')
            self.assertEqual(compilers.under_nvcc(one, "17", refuses), (sentence, ""))
        fails = wrapper(self.folder, "nvcc", "false", 'echo "all.cu(7): error: expected a declaration" >&2')
        self.assertEqual(compilers.under_nvcc(one, "17", fails), (None, "all.cu(7): error: expected a declaration"))

    def test_compilers_that_are_none_or_too_old_are_refused(self):
        old = wrapper(self.folder, "g++-8", "true", "echo '#define __GNUC__ 8\n#define __GNUC_MINOR__ 3\n#define __GNUC_PATCHLEVEL__ 0'")
        for name, sentence in ((old, "is g++ 8.3.0 but must be g++ 9 or newer"), ("true", "'true' but must be g++ or clang++"),
                               ("g++-of-nobody", "must be a program such as")):
            done = script("host", name)
            self.assertEqual(done.returncode, 2)
            self.assertIn(sentence, done.stderr)
        done = script("cuda", "g++")
        self.assertEqual((done.returncode, done.stderr), (3, "compilers: there is no clang++ 16 or newer among g++\n"))


class Cuda(unittest.TestCase):
    def test_the_newest_clang(self):
        fit = [one for one in compilers.installed() if one.is_cuda_compiler]
        if not fit:
            self.skipTest("no clang++ of 16 or newer is in PATH")
        done = script("cuda", fit[-1].path, "--nvcc", NVCC, "--json")
        self.assertIn(done.returncode, (0, 1), done.stderr)
        compiled = 0
        for row in json.loads(done.stdout):
            what = f"{row['compiler']}, {row['target']}"
            if "cannot" in row:
                print(f"{what}: {row['cannot']}")
                continue
            print(f"{what}: {row['compiled']} headers, {row['refused']} refused")
            self.assertEqual(row["failures"], {})
            self.assertGreater(row["compiled"], 100)
            compiled += 1
        if compiled == 0:
            self.skipTest(f"{fit[-1]} cannot compile for this CUDA Toolkit")


if __name__ == "__main__":
    NVCC = str(pathlib.Path(sys.argv.pop(2)).resolve())
    unittest.main(verbosity=2)
