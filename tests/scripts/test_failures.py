"""How the commands of scripts/ fail: a sentence, the exit status of --help, and with --json an object on standard output."""

import contextlib
import io
import json
import re
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
sys.path.insert(0, str(SCRIPTS))
sys.dont_write_bytecode = True
from tenon_sass.command import Parser, command  # noqa: E402  (the lines above make it importable)
from tenon_sass.errors import BadInput, NoTool  # noqa: E402


def programs():
    """Every command of scripts/ that is Python."""
    return [path for path in sorted(SCRIPTS.iterdir()) if path.is_file() and path.read_bytes().startswith(b"#!/usr/bin/env python3")]


def run(*words):
    return subprocess.run([sys.executable, "-B", *map(str, words)], capture_output=True, text=True, check=False)


class Help(unittest.TestCase):
    def test_each_command_has_examples_and_exit_statuses(self):
        self.assertGreater(len(programs()), 15)
        for path in programs():
            with self.subTest(path.name):
                done = run(path, "--help")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertRegex(done.stdout, r"(?m)^examples?:\n  ")
                self.assertRegex(done.stdout, r"exit status: ")
                self.assertNotIn("See --help", done.stdout)
                self.assertNotIn("] -- COMMAND [-- COMMAND", done.stdout)

    def test_a_wrong_option_is_2(self):
        for path in programs():
            with self.subTest(path.name):
                done = run(path, "--no-such-option")
                self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                self.assertRegex(done.stderr, r"(?s)^usage: .*: error: ")
                self.assertNotIn("Traceback", done.stderr)


class Json(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "empty").touch()
        (self.folder / "garbage").write_text('{"a": [1,')

    def assert_fails(self, status, code, sentence, script, *arguments):
        done = run(SCRIPTS / script, *arguments)
        with self.subTest(script=script, arguments=arguments):
            self.assertEqual(done.returncode, status, done.stdout + done.stderr)
            error = json.loads(done.stdout)["error"]
            self.assertEqual(error["code"], code)
            self.assertIn(sentence, error["message"])
            self.assertIn(error["message"], done.stderr)
            self.assertNotIn("Traceback", done.stderr)

    def test_each_command_with_json_fails_with_an_object(self):
        for script, *more in (
            ("sass_check", "--kernel", "a", "--expect", "HMMA"), ("kernel_report",), ("binary_doctor",), ("compare_instructions", self.folder / "empty"),
            ("sass_diff", self.folder / "empty"),
        ):  # fmt: skip
            self.assert_fails(2, "bad_input", "absent: cannot be read: No such file", script, "absent", *more, "--json")
            self.assert_fails(2, "bad_input", "cannot be read: Is a directory", script, self.folder, *more, "--json")
            self.assert_fails(2, "bad_input", "unrecognized arguments: --wrong", script, self.folder / "empty", *more, "--json", "--wrong")
        for name, sentence in (("empty", "empty is empty but must hold JSON"), ("garbage", "garbage is not JSON")):
            self.assert_fails(2, "bad_input", sentence, "compare_instructions", *[self.folder / name] * 2, "--json")
        self.assert_fails(2, "bad_input", "empty: neither an ELF file", "sass_check", self.folder / "empty", "--kernel", "a", "--expect", "HMMA", "--json")
        self.assert_fails(2, "bad_input", "has no README.md", "docs", "--check", "--json", "--root", self.folder)
        self.assert_fails(2, "bad_input", "the columns are ''", "instruction_table", "--json", "--table", self.folder / "empty")
        self.assert_fails(2, "bad_input", "the version is '9.9' but must be one of", "toolkit", "headers", "--json", "9.9")
        self.assert_fails(2, "bad_input", "the compiler is 'absent'", "compilers", "host", "--json", "absent")
        self.assert_fails(3, "machine_cannot", "/absent/ncu cannot be run", "tensor_utilisation", "--json", "--ncu", "/absent/ncu", "--", "true")
        self.assert_fails(2, "bad_input", "the kernel pattern '[' is not a regular expression",
                          "tensor_utilisation", "--json", "--kernel", "[", "--", "true")  # fmt: skip
        self.assert_fails(3, "machine_cannot", "/absent/nvcc cannot be run: No such file", "ptxas_notes", "--json", "--", "/absent/nvcc")

    def test_without_json_and_behind_the_dashes_nothing_is_printed(self):
        for words in (("kernel_report", "absent"), ("ptxas_notes", "--", "/absent/nvcc", "--json"), ("bank_conflicts", "--json", self.folder, "--", "true")):
            with self.subTest(words):
                done = run(SCRIPTS / words[0], *words[1:])
                self.assertEqual(done.stdout, "")
                self.assertRegex(done.stderr, rf"^{words[0]}: .+\n$")

    def test_what_a_main_may_raise(self):
        for error, status, code in ((BadInput("x"), 2, "bad_input"), (NoTool("x"), 3, "machine_cannot"), (MemoryError(), 3, "machine_cannot"),
                                    (OSError(13, "Permission denied", "f"), 2, "bad_input")):  # fmt: skip
            @command("example")
            def main(arguments, error=error):
                raise error

            with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as said:
                self.assertEqual(main(["--json"]), status)
            self.assertEqual(json.loads(out.getvalue())["error"]["code"], code)
            self.assertTrue(said.getvalue().startswith("example: "))

    def test_an_interrupt_is_no_traceback(self):
        @command("example")
        def main():
            raise KeyboardInterrupt

        self.assertEqual(main(), 128 + signal.SIGINT)

    def test_the_usage_is_that_of_the_part(self):
        @command("example")
        def main(arguments):
            parser = Parser(prog="example")
            parser.add_subparsers(required=True).add_parser("part").add_argument("--n", type=int)
            parser.parse_args(arguments)

        with contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertEqual(main(["part", "--n", "x"]), 2)
        self.assertTrue(re.match(r"usage: example part .*\nexample part: error: argument --n: ", said.getvalue()), said.getvalue())


class Sentences(unittest.TestCase):
    """What is not of one tool alone: folders for files, files for folders."""

    def assert_says(self, status, sentence, *words):
        done = run(SCRIPTS / words[0], *words[1:])
        with self.subTest(words):
            self.assertEqual((done.returncode, done.stderr), (status, f"{words[0]}: {sentence}\n"), done.stdout)

    def test_files_and_folders(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "file")
            file.touch()
            self.assert_says(2, f"{file} is a file but must be a folder, or not exist", "single_headers", file)
            self.assert_says(2, f"{file}: not XML: no element found: line 1, column 0", "test_summary", file)
            self.assert_says(2, f"{folder}: Is a directory", "test_summary", folder)
            self.assert_says(2, f"{folder}/absent: No such file or directory", "test_summary", f"{folder}/absent")
            self.assert_says(2, f"{folder}/no/x.json cannot be written: there is no folder {folder}/no",
                             "bank_conflicts", "--json", f"{folder}/no/x.json", "--", "true")  # fmt: skip
            self.assertEqual(list(Path(folder).iterdir()), [file])


if __name__ == "__main__":
    unittest.main()
