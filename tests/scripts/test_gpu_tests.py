"""scripts/gpu_tests: what it packs of a build, and what it says of the tests that it runs, by stand-ins for programs."""

import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import textwrap
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "gpu_tests"


class GpuTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()
        self.build = self.folder / "build"
        self.build.mkdir()
        self.pack, self.out = self.folder / "tests.tar.xz", self.folder / "out"
        self.tests = []

    def program(self, name, text):
        path = self.build / name
        path.write_text("#!/bin/sh\n" + textwrap.dedent(text))
        path.chmod(0o755)
        return path

    def add(self, name, program, *arguments, level="L4", environment="", alone=False):
        words = " ".join(f'"{word}"' for word in (program, *arguments))
        more = (f' ENVIRONMENT "{environment}"' if environment else "") + (" RUN_SERIAL TRUE" if alone else "")
        self.tests.append(f'add_test({name} {words})\nset_tests_properties({name} PROPERTIES LABELS {level}{more})\n')
        (self.build / "CTestTestfile.cmake").write_text("".join(self.tests))

    def call(self, *arguments, path=None):
        environment = {**os.environ, "PATH": path} if path else None
        return subprocess.run([sys.executable, "-B", SCRIPT, *map(str, arguments)], capture_output=True, text=True, check=False, env=environment)

    def packed(self, *options):
        done = self.call("pack", self.build, self.pack, *options)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return done.stdout

    def run_pack(self, *options, status=0, path=None):
        done = self.call("run", self.pack, self.out, "--json", *options, path=path)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return {row["name"]: row["result"] for row in json.loads(done.stdout)}

    def test_a_pack_runs_where_the_build_is_gone(self):
        data = self.build / "kernels.ptx"
        data.write_text("text")
        self.add("reads", self.program("reads", f"test -e {data} && test $X = 3 && test $1 = --file={data}"), f"--file={data}", environment="X=3")
        self.add("skips", self.program("skips", "exit 77"))
        self.add("elsewhere", self.program("elsewhere", "exit 1"), level="L0")
        self.assertIn("2 tests, ", self.packed())
        shutil.rmtree(self.build)
        self.assertEqual(self.run_pack(), {"reads": "passed", "skips": "skipped"})
        self.assertFalse((self.build / "elsewhere").exists())
        self.assertEqual(len(json.loads((self.out / "summary.json").read_text())), 2)

    def test_paths_inside_a_program_are_packed(self):
        data = self.build / "deep" / "a+b.ptx"
        data.parent.mkdir()
        data.write_text("text")
        self.add("reads", self.program("reads", f"cat {data}"))
        self.packed()
        shutil.rmtree(self.build)
        self.assertEqual(self.run_pack(), {"reads": "passed"})

    def test_of_a_folder_the_ptx_is_packed(self):
        folder = self.build / "ptx"
        folder.mkdir()
        for name in ("a.ptx", "b.o"):
            (folder / name).write_text("text")
        self.add("reads", self.program("reads", 'test -e "$1/a.ptx" && ! test -e "$1/b.o"'), folder)
        self.packed()
        shutil.rmtree(self.build)
        self.assertEqual(self.run_pack(), {"reads": "passed"})

    def test_each_program_of_googletest_runs_once_and_the_longest_in_parts(self):
        runs = self.folder / "runs"
        many = self.program("many", f'echo run >> {runs}; cat "${{1#--gtest_flagfile=}}" >> {runs}')
        for name in ("A.One", "A.Two"):
            self.add(name, many, f"--gtest_filter={name}", "--gtest_also_run_disabled_tests")
        self.add("wide", self.program("wide", f"echo $GTEST_SHARD_INDEX/$GTEST_TOTAL_SHARDS >> {runs}"), "--gtest_filter=*.*/wgmma_*")
        self.packed()
        self.assertEqual(self.run_pack("--jobs", 1), {"many": "passed", "wide": "passed"})
        self.assertEqual(runs.read_text(), "/\nrun\n--gtest_filter=A.One:A.Two\n")
        runs.unlink()
        self.assertEqual(self.run_pack("--jobs", 4), {"many": "passed", "wide (1 of 2)": "passed", "wide (2 of 2)": "passed"})
        self.assertEqual({"0/2", "1/2"} - set(runs.read_text().split()), set())

    def test_the_sources_of_another_machine_are_this_checkout(self):
        source = self.folder / "elsewhere" / "tenon"
        listed = {"build": str(self.build), "source": str(source),
                  "tests": [{"name": "reads", "command": ["test", "-e", f"{source}/scripts/gpu_tests"], "environment": [], "folder": str(self.build),
                             "alone": False}]}  # fmt: skip
        with tarfile.open(self.pack, "w:xz") as tar:
            text = json.dumps(listed).encode()
            member = tarfile.TarInfo("gpu_tests.json")
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text))
        self.assertEqual(self.run_pack(), {"reads": "passed"})
        source.unlink()
        source.mkdir()
        done = self.call("run", self.pack, self.out)
        self.assertEqual((done.returncode, done.stderr), (2, f"gpu_tests: the pack is of {source}, which is another folder here than {ROOT}\n"))

    def test_failures_and_what_does_not_end_keep_their_logs(self):
        self.add("fails", self.program("fails", "echo why; exit 5"))
        self.add("hangs", self.program("hangs", "exec sleep 60"))
        self.packed()
        self.assertEqual(self.run_pack("--seconds", 1, status=1), {"fails": "failed", "hangs": "did not end"})
        self.assertEqual((self.out / "fails.log").read_text(), "why\n")

    def test_a_build_is_not_overwritten(self):
        self.add("one", self.program("one", "true"))
        self.packed()
        (self.build / "CMakeCache.txt").touch()
        done = self.call("run", self.pack, self.out)
        self.assertEqual((done.returncode, done.stderr), (2, f"gpu_tests: {self.build} is a build, which the pack would overwrite: use ctest here\n"))

    def test_what_times_something_runs_last_and_alone(self):
        runs = self.folder / "runs"
        for name in ("first", "second"):
            self.add(name, self.program(name, f"echo begin >> {runs}; sleep 0.2; echo end >> {runs}"), alone=True)
        self.add("other", self.program("other", f"sleep 0.5; echo other >> {runs}"))
        self.packed()
        self.assertEqual(self.run_pack("--jobs", 3), {name: "passed" for name in ("first", "second", "other")})
        self.assertEqual(runs.read_text().split(), ["other", "begin", "end", "begin", "end"])

    def test_only_some(self):
        for name in ("one", "two"):
            self.add(name, self.program(name, "true"))
        self.packed()
        self.assertEqual(self.run_pack("--only", "t*"), {"two": "passed"})
        done = self.call("run", self.pack, self.out, "--only", "three")
        self.assertEqual((done.returncode, done.stderr), (2, "gpu_tests: no test's name is like 'three'\n"))
        self.packed("--only", "t*")
        self.assertEqual(self.run_pack(), {"two": "passed"})
        done = self.call("pack", self.build, self.pack, "--only", "three")
        self.assertEqual((done.returncode, done.stderr), (2, "gpu_tests: no test's name is like 'three'\n"))

    def test_under_compute_sanitizer_too(self):
        self.add("one", self.program("one", "true"))
        self.packed()
        tools = self.folder / "tools"
        tools.mkdir()
        sanitizer = tools / "compute-sanitizer"
        sanitizer.write_text(f'#!/bin/sh\necho "$@" > {self.folder}/said\nexit 9\n')
        sanitizer.chmod(0o755)
        path = f"{tools}:{os.environ['PATH']}"
        self.assertEqual(self.run_pack("--sanitize", "memcheck:o*", status=1, path=path), {"one": "passed", "memcheck one": "failed"})
        self.assertIn("--tool memcheck --error-exitcode 9", (self.folder / "said").read_text())
        done = self.call("run", self.pack, self.out, "--sanitize", "memcheck:z", path=path)
        self.assertEqual((done.returncode, done.stderr), (2, "gpu_tests: --sanitize is 'memcheck:z', but no test's name is like 'z'\n"))

    def test_bad_usage(self):
        self.add("none", self.program("none", "true"), level="L0")
        empty = self.folder / "empty"
        empty.mkdir()
        text = self.folder / "text"
        text.write_text("text")
        for arguments, sentence in (
            (("pack", self.build, self.pack), f"{self.build} has no test of level L4"),
            (("pack", self.folder / "absent", self.pack), "absent: No such file or directory"),
            (("pack", empty, self.pack), f"{empty} has no test of level L4"),
            (("run", text, self.out), f"{text} is not what `gpu_tests pack` writes"),
            (("run", self.pack, self.out, "--jobs", "0"), "argument --jobs: invalid number of 1 or more value: '0'"),
            (("run", self.pack, self.out, "--sanitize", "valgrind:x"), "'valgrind:x' must be TOOL:PATTERN with a tool of memcheck"),
            (("run", self.folder / "absent", self.out), "No such file"),
        ):
            done = self.call(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(sentence, done.stderr)


if __name__ == "__main__":
    unittest.main()
