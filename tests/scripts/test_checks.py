"""scripts/check_floors, check_format and check_tidy: each finds its kind of fault in a tree made for the test."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run(*command):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)


class Tree(unittest.TestCase):
    """A small checkout with copies of this one's scripts and configuration files."""

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.root = Path(self._folder.name).resolve()
        (self.root / "scripts").mkdir()
        for name in ("check_floors", "check_format", "check_tidy", "environment.sh", "tenon_tidy.py"):
            shutil.copy(ROOT / "scripts" / name, self.root / "scripts")
        (self.root / "scripts" / "tenon_sass").symlink_to(ROOT / "scripts" / "tenon_sass")
        for name in (".clang-format", ".clang-tidy"):
            shutil.copy(ROOT / name, self.root)
        if (ROOT / ".tools").is_dir():
            (self.root / ".tools").symlink_to(ROOT / ".tools")
        self.write("include/tenon/ptx/mma.hpp", "#pragma once\n#include <cstdint>\n")

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)
        return self.root / path

    def script(self, name, *arguments):
        return run(self.root / "scripts" / name, *arguments)

    def assert_finds(self, name, sentence, *arguments):
        done = self.script(name, *arguments)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn(sentence, done.stdout + done.stderr)

    def assert_content(self, name, *arguments):
        done = self.script(name, *arguments)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Floors(Tree):
    def test_a_lower_layer_is_accepted(self):
        self.write("include/tenon/warp/tile.hpp", '#include "tenon/ptx/mma.hpp"\n#include "tenon/status.hpp"\n')
        self.write("include/tenon/status.hpp", '#pragma once\n#include "tenon/needs_host.hpp"\n')
        self.write("include/tenon/needs_host.hpp", "#pragma once\n")
        self.write("include/tenon/gemm.hpp", '#include "tenon/status.hpp"\n')
        self.assert_content("check_floors")

    def test_a_higher_layer_is_found(self):
        self.write("include/tenon/shared/tile.hpp", "#pragma once\n")
        self.write("include/tenon/fragment/f16.hpp", '#pragma once\n\n# include "tenon/shared/tile.hpp"\n')
        self.assert_finds("check_floors", "include/tenon/fragment/f16.hpp:3: includes tenon/shared/tile.hpp, which is a higher layer")

    def test_host_api_is_above_all(self):
        self.write("include/tenon/gemm.hpp", "")
        self.write("include/tenon/gemm/tiles.hpp", '#include "tenon/gemm.hpp"\n')
        self.assert_finds("check_floors", "includes tenon/gemm.hpp, which is a higher layer")

    def test_absent_header_and_unknown_folder(self):
        self.write("include/tenon/warp/tile.hpp", '#include "tenon/ptx/absent.hpp"\n')
        self.assert_finds("check_floors", "tenon/ptx/absent.hpp, which does not exist")
        self.write("include/tenon/attic/old.hpp", "")
        self.assert_finds("check_floors", "include/tenon/attic/old.hpp: its folder is none of")

    def test_cuda_ptx_is_for_sm_90(self):
        self.write("include/tenon/pipeline/tma_ring.hpp", "#include <cuda/ptx>\n")
        self.assert_content("check_floors")
        self.write("include/tenon/gemm/mainloop.hpp", '#include "tenon/pipeline/tma_ring.hpp"\n')
        self.assert_finds("check_floors", "tenon/gemm/mainloop.hpp -> tenon/pipeline/tma_ring.hpp -> cuda/ptx")

    def test_emulator_stands_alone(self):
        self.write("src/emulator/warp.hpp", "")
        self.write("src/emulator/mma.cpp", '#include "emulator/warp.hpp"\n')
        self.assert_content("check_floors")
        self.write("src/emulator/mma.cpp", '#include "tenon/ptx/mma.hpp"\n')
        self.assert_finds("check_floors", "src/emulator/mma.cpp:1: includes tenon/ptx/mma.hpp, but the emulator stands alone")
        self.write("src/host/device.hpp", "")
        self.write("src/emulator/mma.cpp", '#include "host/device.hpp"\n')
        self.assert_finds("check_floors", "includes host/device.hpp, but the emulator stands alone")
        self.write("src/emulator/mma.cpp", '#include "tenon/emulator/types.hpp"\n')
        self.write("include/tenon/emulator/types.hpp", "")
        self.assert_content("check_floors")
        self.write("include/tenon/emulator/types.hpp", '#include "tenon/status.hpp"\n')
        self.assert_finds("check_floors", "types.hpp:1: includes tenon/status.hpp, but the emulator stands alone")

    def test_inline_assembly_stands_on_the_lowest_floor(self):
        statement = 'void f() {\n  asm volatile("bar.sync 1;" ::: "memory");\n}\n'
        self.write("include/tenon/ptx/barrier.hpp", statement)
        self.write("src/host/words.cpp", '// asm("nop;");\nconst char* text = "asm(nop)";  /* asm\n("nop;") */\n')
        self.assert_content("check_floors")
        for path, text, line in (("include/tenon/warp/tile.hpp", statement, 2),
                                 ("src/gemm/pad.cuh", '/* a\n */\n\nasm ("nop;");\n', 4),
                                 ("src/host/gemm.cpp", "void g() { __asm__ __volatile__(\"\"); }\n", 1)):
            written = self.write(path, text)
            self.assert_finds("check_floors", f"{path}:{line}: inline assembly, which stands in include/tenon/ptx alone")
            written.unlink()

    def test_bad_usage(self):
        done = self.script("check_floors", "--root", self.root / "scripts")
        self.assertEqual(done.returncode, 2)
        self.assertIn("has no folder include/tenon", done.stderr)


class Format(Tree):
    def test_finds_and_fixes(self):
        self.assert_content("check_format")
        path = self.write("src/host/a.cpp", "int  answer( )\n{ return 42;}\n")
        self.assert_finds("check_format", "a.cpp:1")
        self.assert_finds("check_format", "a.cpp:1", path)
        self.assert_content("check_format", "--fix", path)
        self.assert_content("check_format")
        self.assertIn("int answer() {\n", path.read_text())

    def test_bad_usage(self):
        self.assertEqual(self.script("check_format", "--fast").returncode, 2)


class Tidy(Tree):
    def database(self, *sources):
        rows = [f'{{"directory": "{self.root}", "command": "g++ -std=c++17 -c {s}", "file": "{s}"}}' for s in sources]
        self.write("build/compile_commands.json", "[" + ",\n".join(rows) + "]")

    def fake(self):
        """A fetched clang-tidy that prints its arguments."""
        (self.root / ".tools").unlink(missing_ok=True)
        self.write(".tools/path", "fetched\n")
        self.write(".tools/fetched/clang-tidy-14", '#!/bin/sh\necho "LLVM version 14.0.6" "$@"\n').chmod(0o755)

    def test_finds(self):
        good = self.write("src/host/good.cpp", "int answer(const int* p) { return p == nullptr ? 0 : *p; }\n")
        kernel = self.write("src/host/kernel.cu", "this is not C++\n")
        elsewhere = self.write("tests/host/test.cpp", "int* nothing = 0;\n")
        self.database(good, kernel, elsewhere)
        self.assert_content("check_tidy")
        bad = self.write("src/host/bad.cpp", "int* nothing = 0;\n")
        self.database(good, bad)
        self.assert_finds("check_tidy", "modernize-use-nullptr")

    def test_bad_usage(self):
        done = self.script("check_tidy", self.root / "nowhere")
        self.assertEqual(done.returncode, 2)
        self.assertIn("configure the build first", done.stderr)
        self.database(self.write("tests/a.cpp", ""))
        self.assertEqual(self.script("check_tidy").returncode, 2)
        done = self.script("check_tidy", "--bogus")
        self.assertEqual((done.returncode, done.stderr), (2, "check_tidy: unknown argument '--bogus'; see scripts/check_tidy --help\n"))
        for part in ("2/2", "1", "-1/2", "0/0"):
            done = self.script("check_tidy", "--part", part)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"--part is '{part}'", done.stderr)

    def test_sources_of_a_unity_build_are_checked_together(self):
        bad = "int* {0} = 0;\nstatic int twice_{0}(int unused) {{ return 2; }}\nstruct {0}_type {{ {0}_type(int); }};\n"
        sources = [self.write(f"src/host/{name}.cpp", bad.format(name)) for name in ("first", "second")]
        self.database(self.write("build/unity_0_cxx.cxx", "".join(f'#include "{source}"\n\n' for source in sources)))
        for name in ("first", "second"):  # as in a source by itself
            for line, check in ((1, "modernize-use-nullptr"), (2, "misc-unused-parameters"), (3, "google-explicit-constructor")):
                self.assert_finds("check_tidy", f"{name}.cpp:{line}:")
                self.assert_finds("check_tidy", check)
        for source in sources:
            source.write_text(f"int {source.stem} = 1;\n")
        self.assert_content("check_tidy")

    def pair(self, *blocks):
        """Two sources of one command, with these lines in their unnamed namespaces."""
        self.database(*(self.write(f"src/host/{name}.cpp", f"namespace {{\n\n{block}\n\n}}  // namespace\nint use_{name}() {{ return 1{use}; }}\n")
                        for name, block, use in zip(("first", "second"), blocks, (" + one()", "")))) # fmt: skip

    def test_sources_of_one_command_are_read_as_one(self):
        one = "int one() { return 1; }"
        self.pair(one, "")
        self.assert_content("check_tidy")
        for second, finding in (("int Two() { return 2; }", "invalid case style for function 'Two'"),
                                ("int* nothing = 0;", "modernize-use-nullptr"),
                                ("struct Two {\n  Two(int);\n};", "google-explicit-constructor")):  # fmt: skip
            self.pair(one, second)
            self.assert_finds("check_tidy", finding)
            self.assert_finds("check_tidy", f"/src/host/second.cpp:{4 if second.startswith('struct') else 3}:")
        # Sources that do not compile as one: a name of a header and of an unnamed namespace.
        self.write("src/host/shown.hpp", "#pragma once\ninline int shown() { return 3; }\n")
        header = f'}}  // namespace\n#include "{self.root}/src/host/shown.hpp"\nnamespace {{\n'
        hidden = "int shown() { return 4; }\n}  // namespace\nint use_shown() { return shown(); }\nnamespace {"
        self.pair(header + one, hidden)
        self.assert_content("check_tidy")
        self.assertIn("reads 2 sources one by one, which do not compile as one: ", self.script("check_tidy").stdout)
        self.pair(header + one, hidden.replace("4", "absent"))
        self.assert_finds("check_tidy", "second.cpp:3:22: error: use of undeclared identifier 'absent'")
        # What clang-tidy gets.
        self.fake()
        for second, files in (("", 1), ("int one(int x);", 2), ("struct one {", 2), ("constexpr int one = 1;", 2), ("  int one;", 1)):
            self.pair(one, second)
            self.assertEqual(self.script("check_tidy").stdout.count("\n"), files, second)

    def test_precompiled_headers_are_the_compilers_alone(self):
        source = self.write("src/host/a.cpp", "std::size_t one = 1;\n")
        header = self.write("build/cmake_pch.hxx", "#include <cstddef>\n")
        self.write("build/cmake_pch.hxx.gch", "for gcc")
        self.write("build/compile_commands.json", json.dumps([{
            "directory": str(self.root), "file": str(source),
            "command": f"g++ -std=c++17 -Winvalid-pch -include {header} -c {source}"}]))
        self.assert_finds("check_tidy", "'std'")
        self.write("src/host/a.cpp", "#include <cstddef>\nstd::size_t one = 1;\n")
        self.assert_content("check_tidy")

    def test_a_part_is_every_nth_source(self):
        self.database(self.write("src/host/a.cpp", "int* nothing = 0;\n"), self.write("src/host/b.cpp", "int one = 1;\n"))
        self.assertEqual([self.script("check_tidy", "--part", f"{i}/2").returncode for i in (0, 1)], [1, 0])

    def test_a_fetched_clang_tidy_gets_the_headers_that_it_lacks(self):
        self.fake()
        self.database(self.write("src/host/a.cpp", "int one = 1;\n"))
        done = self.script("check_tidy")
        headers = run("g++", "-print-file-name=include").stdout.rstrip("\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f" --extra-arg=-isystem{headers} {self.root}/src/host/a.cpp\n", done.stdout)


class Help(unittest.TestCase):
    def scripts(self):
        """(path, is it Python)"""
        files = [p for p in sorted((ROOT / "scripts").iterdir()) if p.is_file() and not p.suffix and p.stat().st_mode & 0o100]
        return [(path, "python" in path.read_text().split("\n")[0]) for path in files]

    def test_every_script_has_help_with_examples(self):
        for path, is_python in self.scripts():
            if path.name == "main_job":
                continue
            with self.subTest(script=path.name):
                done = run(sys.executable if is_python else "bash", path, "--help")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertRegex(done.stdout, r"examples?:\n")

    def test_closed_or_full_output(self):
        # Without a buffer argparse ignores a failed write of its help.
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
        for path, is_python in self.scripts():
            if not is_python:
                continue
            with self.subTest(script=path.name), open("/dev/full", "w") as full:
                read, write = os.pipe()
                os.close(read)
                command = [sys.executable, "-B", path, "--help"]
                options = {"stderr": subprocess.PIPE, "text": True, "check": False, "env": environment}
                done = subprocess.run(command, stdout=write, **options)
                os.close(write)
                self.assertEqual((done.returncode, done.stderr), (128 + signal.SIGPIPE, ""))
                done = subprocess.run(command, stdout=full, **options)
                self.assertEqual(done.returncode, 3)
                self.assertRegex(done.stderr, r"^[\w ]+: standard output cannot be written: No space left on device\n$")


if __name__ == "__main__":
    unittest.main()
