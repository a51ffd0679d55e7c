"""README.md says what is true: its code is the code that is tested, its commands run, its links lead somewhere.

Needs TENON_PROGRAM (the executable `tenon`), TENON_CXX (a C++ compiler) and TENON_CUDA_INCLUDE (the toolkit's headers).
"""

import os
import re
import shlex
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
DONE, CANNOT = 0, 3  # exit statuses of tenon


def run(*command, **options):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, **options)


def blocks(language):
    """The fenced blocks of one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def write_npy(path, rows, columns):
    header = f"{{'descr': '<f2', 'fortran_order': False, 'shape': ({rows}, {columns}), }}\n"
    values = [(i * 7 % 11 - 5) / 4 for i in range(rows * columns)]
    content = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
    path.write_bytes(content + struct.pack(f"<{len(values)}e", *values))


class Code(unittest.TestCase):
    def test_the_embedding_example_is_the_one_that_is_compiled_and_run(self):
        (quoted,) = blocks("cuda")
        self.assertEqual(quoted, (ROOT / "tests/examples/embed.cu").read_text(encoding="utf-8"))
        self.assertLessEqual(len(quoted.splitlines()), 20)

    def test_the_host_examples_compile(self):
        examples = blocks("cpp")
        self.assertEqual(len(examples), 2)
        flags = ["-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-x", "c++", "-"]
        folders = ["-I", ROOT / "include"]
        for folder in os.environ["TENON_CUDA_INCLUDE"].split(";"):
            folders += ["-isystem", folder]
        for example in examples:
            done = run(os.environ["TENON_CXX"], *folders, *flags, input=example)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_cmake_example_uses_arguments_that_exist(self):
        (example,) = blocks("cmake")
        module = (ROOT / "scripts/cmake/TenonSass.cmake").read_text(encoding="utf-8")
        self.assertIn("include(TenonSass)", example)
        call = re.search(r"tenon_add_sass_test\((.*?)\)", example, re.DOTALL)[1]
        known = set(";".join(re.findall(r'"([A-Z_;]+)"', module)).split(";"))
        keywords = set(re.findall(r"\b(?!HMMA|LDSM|LDL|STL)[A-Z_]{4,}\b", call))
        self.assertEqual(keywords, {"KERNEL", "ARCH", "EXPECT", "FORBID", "MAX_REGISTERS", "SPILL_FREE"})
        self.assertLessEqual(keywords, known)


class Commands(unittest.TestCase):
    def test_every_tenon_command_runs(self):
        """To the end on a machine with a GPU. Elsewhere the emulator takes the small products; the large ones would take
        it minutes, so they go up to the missing device, past all checks of the input."""
        lines = [shlex.split(line, comments=True) for block in blocks("sh") for line in block.splitlines()]
        commands = [words for words in lines if words]
        self.assertEqual({words[1] for words in commands}, {"gemm", "ladder", "layout", "list", "info", "doctor", "tune"})
        for words in commands:
            self.assertEqual(words[0], "tenon")
            with self.subTest(command=" ".join(words)), tempfile.TemporaryDirectory() as folder:
                write_npy(Path(folder, "A.npy"), 24, 40)
                write_npy(Path(folder, "B.npy"), 40, 56)
                large = words[1] == "gemm" and any(len(word) > 3 for word in words if word.isdigit())
                done = run(os.environ["TENON_PROGRAM"], *words[1:], *(["--device", "cuda"] if large else []), cwd=folder)
                allowed = (DONE, CANNOT) if words[1] in ("gemm", "ladder", "tune") else (DONE,)
                self.assertIn(done.returncode, allowed, done.stderr)
                if done.returncode == CANNOT:
                    self.assertIn("no CUDA device", done.stderr)

    def test_every_script_is_there(self):
        scripts = set(re.findall(r"\bscripts/\w+", TEXT))
        self.assertLessEqual({"scripts/run", "scripts/test", "scripts/sass_check"}, scripts)
        for script in scripts:
            path = ROOT / script
            self.assertTrue(path.is_dir() or os.access(path, os.X_OK), script)

    def test_the_options_of_the_scripts_exist(self):
        sass_check = run(sys.executable, "-B", ROOT / "scripts/sass_check", "--help").stdout
        (line,) = re.findall(r"^ +scripts/sass_check (.*)$", TEXT, re.MULTILINE)
        for option in re.findall(r"--[a-z-]+", line):
            self.assertIn(option, sass_check)
        test = run("bash", ROOT / "scripts/test", "--help").stdout
        for name, options in (("kernel_report", ["--baseline"]), ("binary_doctor", ["--binary", "--kernel"])):
            shown = run(sys.executable, "-B", ROOT / "scripts" / name, "--help").stdout
            for option in options:
                self.assertIn(option, TEXT)
                self.assertIn(option, shown)
        for option in ("--level", "--filter"):
            self.assertIn(option, TEXT)
            self.assertIn(option, test)


class Links(unittest.TestCase):
    def test_every_link_leads_somewhere(self):
        targets = re.findall(r"\]\(([^)\s]+)\)", TEXT)
        self.assertGreater(len(targets), 10)
        titles = re.findall(r"^#+ (.*)$", TEXT, re.MULTILINE)
        anchors = {"#" + re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}
        for target in targets:
            with self.subTest(link=target):
                self.assertTrue(target in anchors if target.startswith("#") else (ROOT / target).exists())


if __name__ == "__main__":
    unittest.main()
