"""src/emulator/README.md says what is true: its commands run, its kernels compute and fail as it says, its tables are whole.

  test_guide.py <nvcc> <tenon> <root of the sources> <program of library.cpp>
"""
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

import numpy as np

NVCC, *paths = sys.argv[1:]
TENON, ROOT, LIBRARY = (pathlib.Path(path).resolve() for path in paths)
TEXT = (ROOT / "src/emulator/README.md").read_text(encoding="utf-8")
GUIDE = ROOT / "tests/emulator/guide"


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


class Guide(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """All commands of the page, one after the other, in a folder with the files that it names."""
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        (cls.folder / "tenon").symlink_to(ROOT)
        random = np.random.default_rng(1)
        cls.x = random.integers(-9, 9, 1000).astype(np.float32)
        cls.a = random.integers(-3, 4, (24, 40)).astype(np.float16)
        np.save(cls.folder / "X.npy", cls.x)
        np.save(cls.folder / "A.npy", cls.a)
        cls.commands = [shlex.split(line) for block in blocks("sh") for line in block.replace("\\\n", " ").splitlines()]
        cls.outputs = [cls.run_command(words) for words in cls.commands]

    @classmethod
    def run_command(cls, words):
        program = {"nvcc": NVCC, "tenon": TENON}[words[0]]
        return subprocess.run([program, *words[1:]], cwd=cls.folder, text=True, capture_output=True, check=False)

    def test_every_command_runs(self):
        self.assertGreaterEqual(len(self.commands), 8)
        for words, done in zip(self.commands, self.outputs):
            self.assertEqual(done.returncode, 0, f"{shlex.join(words)}\n{done.stdout}{done.stderr}")

    def test_the_kernels_compute_what_the_page_says(self):
        np.testing.assert_array_equal(np.load(self.folder / "Y.npy"), 2 * self.x)
        np.testing.assert_array_equal(np.load(self.folder / "Z.npy"), 2.5 * self.x)
        c, a = np.load(self.folder / "C.npy"), self.a.astype(np.float32)
        np.testing.assert_array_equal(c[:24, :24], a @ a.T)
        self.assertFalse(c[24:].any() or c[:, 24:].any())

    def test_the_kernels_are_those_of_the_files(self):
        quoted = blocks("cuda")
        sources = [(GUIDE / name).read_text(encoding="utf-8") for name in ("scale.cu", "axpy.cu", "reverse.cu")]
        self.assertEqual(len(quoted), len(sources))
        for block, source in zip(quoted, sources):
            self.assertIn(block, source)

    def test_the_missing_barrier_is_found_as_shown(self):
        (command,) = re.findall(r"`(tenon emulate reverse[^`]*)`", TEXT)
        (shown,) = map(json.loads, blocks("json"))
        done = self.run_command(["nvcc", "-std=c++17", "-arch=sm_80", "-lineinfo", "-ptx", str(GUIDE / "reverse.cu"), "-o", "reverse.ptx"])
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.run_command(shlex.split(command))
        self.assertEqual(done.returncode, 1, done.stderr)
        (found,) = json.loads(done.stdout)["findings"]
        for place in (found, *found["lines"]):
            place["source"] = os.path.basename(place["source"])
        # Lines of PTX are another compiler's to choose.
        lines = re.compile(r"(?<=at line )\d+")
        for finding in (found, shown):
            finding["message"] = lines.sub("N", finding["message"])
            for place in (finding, *finding["lines"]):
                place["ptx_line"] = "N"
        self.assertEqual(found, shown)

    def test_the_programs_are_those_that_are_compiled_and_run(self):
        quoted = blocks("cpp")
        sources = [GUIDE / "library.cpp", ROOT / "tests/examples/emulator_test.cpp"]  # the second runs as an example
        self.assertEqual(quoted, [source.read_text(encoding="utf-8") for source in sources])
        done = subprocess.run([LIBRARY], cwd=self.folder, text=True, capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, "3 after 577 instructions\n"), done.stderr)

    def test_every_kind_of_finding_and_argument_is_explained(self):
        types = (ROOT / "include/tenon/emulator/types.hpp").read_text(encoding="utf-8")
        (kinds,) = re.findall(r"enum class FindingKind.*?\{(.*?)\};", types, re.DOTALL)
        kinds = set(re.findall(r"^ *(\w+)", kinds, re.MULTILINE))
        table = TEXT[TEXT.index("| finding |"):TEXT.index("One bug makes one finding")]
        self.assertEqual(set(re.findall(r"`(\w+)`", table)) - {"trap", "brkpt"}, kinds - {"trap"})
        help_text = self.run_command(["tenon", "emulate", "--help"]).stdout
        table = TEXT[TEXT.index("| argument |"):TEXT.index("`--buffer` makes")]
        for kind in re.findall(r"`(\w+):", table):
            self.assertIn(f" {kind}:", help_text.replace("'", " ").replace("{", " "))

    def test_every_option_exists(self):
        help_text = self.run_command(["tenon", "emulate", "--help"]).stdout
        prose = re.sub(r"^```.*?^```$", "", TEXT, flags=re.MULTILINE | re.DOTALL)
        for option in set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", prose)) - {"--device"}:
            self.assertRegex(help_text, rf"(?m)^  (-h,)?{option} ")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
