"""The executable `tenon` as scripts see it: exit status, JSON on stdout, sentences on stderr, files."""
import json
import os
import signal
import subprocess
import sys
import time
import unittest

import tenon_command
from tenon_command import Folder, has_gpu, npy, run


class Usage(Folder):
    SIZES = ("--m", 8, "--n", 8, "--k", 8)

    def test_help_has_examples(self):
        for command in ("gemm", "attention", "ladder", "ladder attention", "emulate", "layout", "list", "info", "doctor", "tune", "precision"):
            code, out, _ = run(*command.split(), "--help")
            self.assertEqual(code, 0)
            self.assertIn("Examples:\n  tenon " + command, out)
            self.assertEqual(out.count("Exit status: 0 "), 1)
        self.assertEqual(run("--help")[0], 0)

    def test_help_names_the_types(self):
        text = " ".join(run("gemm", "--help")[1].split())
        for words in ("{f16,bf16,tf32,e4m3,e5m2,s8,f64}", "{f16,bf16,f32,s32,f64,e4m3,e5m2,s8}", "{f32,f16,s32,f64}",
                      "--type-b", "--promote", "--scale-a", "--scale-b", "of s8 round(42 * N(0, 1)), within +-127"):
            self.assertIn(words, text)

    def test_bad_usage(self):
        self.refused(2, "--frobnicate", "gemm", "--frobnicate")
        self.refused(2, "give --m, --n and --k", "gemm")
        self.refused(2, "give --m, --n and --k", "gemm", "--m", 8, "--n", 8)
        self.refused(2, "--a and --b must be given together", "gemm", "--a", "x.npy")
        self.refused(2, "s4 not in", "gemm", *self.SIZES, "--type", "s4")
        self.refused(2, "xy not in", "gemm", *self.SIZES, "--layout", "xy")
        self.refused(2, "tpu not in", "gemm", *self.SIZES, "--device", "tpu")

    def test_failures_for_scripts(self):
        """With --json standard output is one object, whatever part of the program refuses."""
        self.refused(2, "--frobnicate", "gemm", "--frobnicate", "--json")
        self.refused(2, "s4 not in", "gemm", *self.SIZES, "--type", "s4", "--json")
        self.refused(2, "there is no command 'gem'", "gem", "--json")
        self.refused(2, "found '--json' where a command is needed", "--json")
        self.refused(2, "--out= ends where its value must follow", "gemm", *self.SIZES, "--out=", "--json")
        self.refused(2, "lda is 7 but", "gemm", *self.SIZES, "--lda", 7, "--json")
        self.refused(2, "A.npy: cannot be read", "gemm", "--a", self.path("A.npy"), "--b", self.path("A.npy"), "--json")
        self.refused(3, "TENON_PTX_PATH is '/nowhere' but", "gemm", *self.SIZES, "--device", "emulator", "--json",
                     TENON_PTX_PATH="/nowhere")
        self.refused(2, "no shape is called", "layout", "m1n1k1", "f16", "a", "--json")
        self.refused(2, "give --m, --n and --k of a problem", "doctor", "--json")
        self.refused(3, "that folder does not hold the scripts", "doctor", "--binary", "x", "--json",
                     TENON_SCRIPTS_PATH="/nowhere")
        self.refused(2, "--m: '0' is not a whole number", "ladder", "--m", 0, "--json")
        self.refused(2, "x.ptx: cannot be read", "emulate", self.path("x.ptx"), "--block", 32, "--json")
        self.refused(2, "give the shapes", "tune", "--dry-run", "--device", "emulator", "--json")
        for command in ("list", "info"):
            self.refused(2, "--frobnicate", command, "--json", "--frobnicate")

    def test_values_that_look_like_options(self):
        """A forgotten value: no file has the name of the option that follows."""
        here = os.getcwd()
        os.chdir(self.folder)
        try:
            for option in ("--out", "--tuning", "--kernel", "--seed", "--alpha"):
                self.refused(2, option + ": '--json' is given as the value, but looks like an option", "gemm",
                             *self.SIZES, "--device", "emulator", option, "--json")
            self.refused(2, "--svg: '--matrix' is given as the value", "layout", "m16n8k16", "f16", "a", "--svg", "--matrix")
            self.refused(2, "--out: '-h' is given as the value", "tune", "--shapes", 64, "--out", "-h")
            self.refused(2, "--commit: '--dry-run' is given as the value", "tune", "--shapes", 64, "--commit", "--dry-run")
            self.assertEqual(os.listdir(), [])
            self.assertEqual(run("layout", "m16n8k16", "f16", "a", "--svg", "./--matrix")[0], 0)
            self.assertEqual(os.listdir(), ["--matrix"])
        finally:
            os.chdir(here)

    def test_help_by_name(self):
        for command in ("gemm", "tune", "emulate"):
            self.assertEqual(run("help", command), run(command, "--help"))
        self.assertEqual(run("help"), run("--help"))
        code, out, _ = run("--version")
        self.assertEqual(code, 0)
        self.assertRegex(out, r"^tenon \d+\.\d+\.\d+\n$")

    def test_unknown_commands(self):
        self.refused(2, "give a command, one of gemm, attention, ladder, ")
        self.refused(2, "there is no command 'gem' (is gemm meant?); there are gemm, attention, ladder, ", "gem", "--m", 8)
        self.refused(2, "there is no command 'docter' (is doctor meant?)", "docter")
        self.refused(2, "there is no command 'multiply'; there are gemm, ", "help", "multiply")
        self.refused(2, "found '--json' where a command is needed", "--json", "list")

    def test_an_option_is_given_once(self):
        self.refused(2, "tenon: --m is given 2 times but must be given once\n", "gemm", *self.SIZES, "--m", 9)

    def test_a_list_has_no_gap(self):
        for arguments in (("gemm", "--groups", "1,,2", "--n", 8, "--k", 8), ("gemm", "--groups=1,2,", "--n", 8, "--k", 8),
                          ("attention", "--query-lengths", ",5"), ("attention", "--key-lengths", "5,")):
            self.refused(2, "but must have a number on each side of a comma", *arguments)

    def test_empty_values(self):
        """An empty variable of a script is neither a 0 nor an option that was left out."""
        gemm = ("gemm", *self.SIZES, "--device", "emulator")
        for option in ("--alpha", "--beta", "--out", "--kernel", "--tuning", "--lda", "--seed", "--type", "--scale-a"):
            self.refused(2, option + ": the value is empty but must not be", *gemm, option, "")
        self.refused(2, "--a: the value is empty", "gemm", "--a", "", "--b", "")
        self.refused(2, "--svg: the value is empty", "layout", "m16n8k16", "f16", "a", "--svg", "")
        self.refused(2, "shape: the value is empty", "layout", "", "f16", "a")
        self.refused(2, "--m: the value is empty", "ladder", "--m", "")
        self.refused(2, "--keys: the value is empty", "ladder", "attention", "--keys", "")
        self.refused(2, "--m stands before 'attention'", "ladder", "--m", 64, "attention")
        self.refused(2, "--arg: the value is empty", "emulate", "x.ptx", "--block", 32, "--arg", "")
        self.refused(2, "--out: the value is empty", "tune", "--shapes", 64, "--out", "")
        self.refused(2, "--binary: the value is empty", "doctor", "--binary", "")
        self.refused(2, "--out= ends where its value must follow", *gemm, "--out=", "--json")

    def test_numbers(self):
        gemm = ("gemm", "--n", 8, "--k", 8, "--device", "emulator")
        for text in ("1e3", "0x10", "1.5", "many", " 8", "+8", "-1", "9223372036854775808", "99999999999999999999"):
            self.refused(2, "--m: '%s' is not a whole number from 0 to 2147479552 in decimal digits" % text, *gemm, "--m", text)
        self.refused(2, "--seed: '99999999999999999999' is not a whole number from 0 to 18446744073709551615", "gemm",
                     *self.SIZES, "--seed", "99999999999999999999")
        self.refused(2, "--lda: '9223372036854775808' is not a whole number from 0 to 9223372036854775807", "gemm",
                     *self.SIZES, "--lda", "9223372036854775808")
        self.refused(2, "lda is 7 but", "gemm", *self.SIZES, "--lda", "007")
        self.refused(2, "--m: '0' is not a whole number from 1 to 1048576", "ladder", "--m", 0)
        self.refused(2, "--heads: '0' is not a whole number from 1 to 1024", "ladder", "attention", "--heads", 0)
        for option in ("--alpha", "--beta", "--scale-a", "--scale-b"):
            self.refused(2, option + ": '1e50' is not a number that a float holds: it would become infinite", "gemm",
                         *self.SIZES, option, "1e50")
            self.refused(2, option + ": '-1e-50' is not a number that a float holds: it would become 0", "gemm",
                         *self.SIZES, option, "-1e-50")
            self.refused(2, option + ": '1,5' is not a number such as 1.5", "gemm", *self.SIZES, option, "1,5")
        answer = json.loads(run("doctor", "--m", "010", "--n", "08", "--k", 8, "--json")[1])
        self.assertEqual((answer["m"], answer["n"]), (10, 8), "decimal, also with a zero in front")

    def test_combinations_that_would_drop_an_option(self):
        for more in (("m16n8k16",), ("--matrix",), ("--svg", "x.svg")):
            self.refused(2, "--list prints every layout", "layout", "--list", *more)
        self.refused(2, "--matrix and --json", "layout", "m16n8k16", "f16", "a", "--matrix", "--json")
        self.refused(2, "--seed is for random matrices", "gemm", "--a", "A.npy", "--b", "B.npy", "--seed", 1)

    def test_bad_problems(self):
        self.refused(2, "--k: '3000000000' is not a whole number from 0 to 2147479552", "gemm", "--m", 8, "--n", 8, "--k", 3000000000)
        self.refused(2, "lda is 7 but row-major A with k = 8 needs lda >= 8", "gemm", *self.SIZES, "--lda", 7)
        self.refused(2, "ldc is 7 but row-major C with n = 8 needs ldc >= 8", "gemm", *self.SIZES, "--ldc", 7)
        self.refused(2, "accumulate is f16 with bf16 inputs but must be f32", "gemm", *self.SIZES, "--type", "bf16",
                     "--accumulate", "f16")
        self.refused(2, "no kernel has the name 'nobody'", "gemm", *self.SIZES, "--kernel", "nobody")

    def test_bad_types(self):
        for words, arguments in (
                ("A is e4m3 and B is s8 but they must have the same type, or be e4m3 and e5m2",
                 ("--type", "e4m3", "--type-b", "s8")),
                ("A is f16 and B is e5m2 but they must have the same type", ("--type-b", "e5m2")),
                ("C is f64 with s8 inputs but must be s32, f16, bf16, f32, e4m3, e5m2 or s8", ("--type", "s8", "--out-type", "f64")),
                ("C is s32 with e4m3 inputs but must be f16, bf16, f32, e4m3, e5m2 or s8", ("--type", "e4m3", "--out-type", "s32")),
                ("accumulate is f32 with s8 inputs but must be s32", ("--type", "s8", "--accumulate", "f32")),
                ("accumulate is f16 with tf32 inputs but must be f32", ("--type", "tf32", "--accumulate", "f16")),
                ("promote is given but A and B are s8", ("--type", "s8", "--promote")),
                ("promote is given but A and B are f16", ("--promote",)),
                ("scale_a is given but A and B are tf32", ("--type", "tf32", "--scale-a", 2)),
                ("scale_b is given but A and B are bf16", ("--type", "bf16", "--scale-b", 2)),
                ("alpha is 0.5 but with C in s32 must be a whole number", ("--type", "s8", "--alpha", 0.5)),
                ("beta is 3e+09 but with C in s32 must be a whole number", ("--type", "s8", "--beta", 3e9)),
                ("f32 not in", ("--type", "f32")),
                ("tf32 not in", ("--out-type", "tf32"))):
            self.refused(2, words, "gemm", *self.SIZES, *arguments, "--device", "emulator")

    def test_the_emulator_does_not_time(self):
        self.refused(2, "--bench times a GPU", "gemm", *self.SIZES, "--device", "emulator", "--bench")

    def test_the_emulator_needs_the_ptx(self):
        self.refused(3, "TENON_PTX_PATH is '/nowhere' but", "gemm", *self.SIZES, "--device", "emulator",
                     TENON_PTX_PATH="/nowhere")

    def test_bad_input_comes_before_the_machine(self):
        self.refused(2, "--m: '-1' is not a whole number", "gemm", "--m", -1, "--n", 8, "--k", 8, "--device", "emulator",
                     TENON_PTX_PATH="/nowhere")



class Files(Folder):
    def setUp(self):
        super().setUp()
        self.a, self.b = self.path("A.npy"), self.path("B.npy")
        npy(self.a, (2, 3), [1, 2, 3, 4, 5, 6])
        npy(self.b, (3, 2), [1, 0, 0, 1, 1, 1])

    def gemm_refused(self, words, *more):
        before = sorted(os.listdir(self.folder))
        self.refused(2, words, "gemm", "--a", self.a, "--b", self.b, *more)
        self.assertEqual(sorted(os.listdir(self.folder)), before, "nothing was written")

    def test_missing(self):
        os.remove(self.b)
        self.gemm_refused("B.npy: cannot be read: No such file or directory", "--out", self.path("C.npy"))

    def test_truncated(self):
        with open(self.a, "rb+") as file:
            file.truncate(os.path.getsize(self.a) - 1)
        self.gemm_refused("A.npy: it is truncated", "--out", self.path("C.npy"))

    def test_inner_dimensions(self):
        npy(self.b, (4, 2), [0] * 8)
        self.gemm_refused("the columns of A (3) must be as many as the rows of B (4)", "--out", self.path("C.npy"))

    def test_types(self):
        npy(self.b, (3, 2), [0] * 6, code="q", descr="<i8")
        self.gemm_refused("its elements are '<i8' but must be")
        npy(self.b, (3, 2), [0] * 6, code="H", descr="<V2")
        self.gemm_refused("its elements are bf16 but must be f16, the type of")
        npy(self.b, (3, 2), [0] * 6)
        self.gemm_refused("its elements are f16 but must be bf16 (--type)", "--type", "bf16")
        self.gemm_refused("its elements are f16 but must be s8 (--type)", "--type", "s8")
        npy(self.a, (2, 3), [0] * 6, code="f", descr="<f4")
        self.gemm_refused("B.npy: its elements are f16 but must be e5m2 (--type-b)", "--type", "e4m3", "--type-b",
                          "e5m2")
        npy(self.b, (3, 2), [0] * 6, code="B", descr="|u1")
        self.gemm_refused("its elements are '|u1', which means an 8-bit float only with --type e4m3 or e5m2")
        npy(self.b, (3, 2), [0] * 6, code="b", descr="|i1")
        self.gemm_refused("its elements are s8 but must be tf32 (--type)", "--type", "tf32")
        npy(self.b, (3, 2), [0] * 6, code="i", descr="<i4")
        self.gemm_refused("its elements are s32 but must be s8 (--type)", "--type", "s8")

    def test_type_of_c(self):
        npy(self.path("C0.npy"), (2, 2), [0] * 4, code="i", descr="<i4")
        self.gemm_refused("C0.npy: its elements are s32 but C is f32", "--c", self.path("C0.npy"), "--beta", 1)
        npy(self.a, (2, 3), [0] * 6, code="b", descr="|i1")
        npy(self.b, (3, 2), [0] * 6, code="b", descr="|i1")
        npy(self.path("C0.npy"), (2, 2), [0] * 4)
        self.gemm_refused("C0.npy: its elements are f16 but C is s32", "--c", self.path("C0.npy"), "--beta", 1)

    def test_contradictions(self):
        self.gemm_refused("--m is 5 but the files make it 2", "--m", 5)
        self.gemm_refused("the files say how they lie", "--layout", "tn")
        self.gemm_refused("C is read: give it with --c", "--beta", 1)

    def test_shape_of_c(self):
        npy(self.path("C0.npy"), (3, 3), [0] * 9)
        self.gemm_refused("C must be 2 x 2", "--c", self.path("C0.npy"), "--beta", 1)

    def test_the_header_is_enough_to_refuse(self):
        """Sparse files of more than the machine can hold: reading them whole would fail or take minutes."""
        for path, rows, columns in ((self.a, 2**20, 2**19), (self.b, 2**18, 2**20)):
            npy(path, (rows, columns), [])
            os.truncate(path, os.path.getsize(path) + 2 * rows * columns)
        self.gemm_refused("the columns of A (524288) must be as many as the rows of B (262144)")
        npy(self.a, (2**20, 2**18), [])
        os.truncate(self.a, os.path.getsize(self.a) + 2 * 2**38)
        self.refused(3, "GiB of device memory but", "gemm", "--a", self.a, "--b", self.b, "--device", "emulator")

    def test_unwritable_output(self):
        self.gemm_refused("cannot be written: No such file or directory", "--out", self.path("no/folder/C.npy"))
        self.gemm_refused("cannot be written: it is a folder", "--out", self.folder)

    def test_standard_output_is_no_output_file(self):
        """Whoever appends the text to a log shall not lose the log to the picture."""
        log = self.path("log")
        for path in ("/dev/stdout", "/dev/fd/1", log):
            with open(log, "w") as file:
                file.write("precious\n")
            with open(log, "a") as file:
                done = subprocess.run([tenon_command.COMMAND, "layout", "m16n8k16", "f16", "a", "--svg", path],
                                      stdout=file, stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn(path + ": cannot be written: ", done.stderr)
            with open(log) as file:
                self.assertEqual(file.read(), "precious\n")

    def test_a_signal_leaves_nothing_behind(self):
        def as_usual():  # in the background, or under nohup, some are ignored
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_DFL)

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
            process = subprocess.Popen([tenon_command.COMMAND, "gemm", "--m", "2000", "--n", "2000", "--k", "2000",
                                        "--device", "emulator", "--out", self.path("C.npy")], stderr=subprocess.DEVNULL,
                                       preexec_fn=as_usual)
            # From then on it has the file.
            while not any(path.startswith(self.folder) for path in self.open_files(process.pid)):
                self.assertIsNone(process.poll(), "it ended before it opened the file")
                time.sleep(0.01)
            process.send_signal(number)
            self.assertEqual(process.wait(), -number)
            self.assertEqual(sorted(os.listdir(self.folder)), ["A.npy", "B.npy"])

    @staticmethod
    def open_files(pid):
        for descriptor in os.listdir("/proc/%d/fd" % pid):
            try:
                yield os.readlink("/proc/%d/fd/%s" % (pid, descriptor))
            except FileNotFoundError:
                pass  # closed since

    def test_an_input_is_kept_when_nothing_can_run(self):
        with open(self.a, "rb") as file:
            before = file.read()
        self.refused(3, "TENON_PTX_PATH", "gemm", "--a", self.a, "--b", self.b, "--out", self.a, "--device", "emulator",
                     TENON_PTX_PATH="/nowhere")
        with open(self.a, "rb") as file:
            self.assertEqual(file.read(), before)
        self.assertEqual(sorted(os.listdir(self.folder)), ["A.npy", "B.npy"])

    def test_without_a_gpu(self):
        if has_gpu():
            self.skipTest("this machine has a GPU")
        for arguments in (("--device", "cuda"), ("--bench",)):
            self.refused(3, "no CUDA device: ", "gemm", "--a", self.a, "--b", self.b, "--out", self.path("C.npy"),
                         *arguments, "--json")
        self.assertFalse(os.path.exists(self.path("C.npy")))
        self.refused(3, "no CUDA device: ", "ladder", "--m", 64)
        self.refused(3, "no CUDA device: ", "ladder", "attention", "--queries", 64, "--json")



class Layout(Folder):
    def test_json(self):
        code, out, _ = run("layout", "m16n8k16", "f16", "a", "--json")
        self.assertEqual(code, 0)
        elements = json.loads(out)
        self.assertEqual(len(elements), 256)
        self.assertTrue(all(list(e) == ["lane", "element", "row", "col"] for e in elements))
        self.assertEqual(len({(e["row"], e["col"]) for e in elements}), 256)
        held = {}
        for e in elements:
            held.setdefault(e["lane"], []).append(16 * e["row"] + e["col"])
        # The lanes printed in the founding documents.
        self.assertEqual(held[0], [0, 1, 128, 129, 8, 9, 136, 137])
        self.assertEqual(held[1], [2, 3, 130, 131, 10, 11, 138, 139])
        self.assertEqual(held[31], [118, 119, 246, 247, 126, 127, 254, 255])

    def test_text_and_svg(self):
        code, out, _ = run("layout", "m16n8k16", "f32", "d")
        self.assertEqual(code, 0)
        self.assertIn("lane 31:", out)
        self.assertIn("0:0", run("layout", "m16n8k16", "f32", "c", "--matrix")[1])
        self.assertEqual(run("layout", "m16n8k16", "f16", "b", "--svg", self.path("b.svg"))[0], 0)
        with open(self.path("b.svg")) as file:
            svg = file.read()
        self.assertTrue(svg.startswith("<svg") and svg.endswith("</svg>\n"))

    def test_every_layout_listed_can_be_printed(self):
        names = json.loads(run("layout", "--list", "--json")[1])
        self.assertGreater(len(names), 20)
        for x in names[::5]:
            self.assertEqual(run("layout", x["shape"], x["type"], x["operand"], "--json")[0], 0)

    def test_refusals(self):
        self.refused(2, "no shape is called 'm1n1k1'; there are", "layout", "m1n1k1", "f16", "a")
        self.refused(2, "m16n8k16 has no operand 'z' of type 'f16'; it has", "layout", "m16n8k16", "f16", "z")
        self.refused(2, "give a shape, a type and an operand", "layout", "m16n8k16")
        self.refused(2, "cannot be written", "layout", "m16n8k16", "f16", "a", "--svg", self.path("no/folder/x.svg"))



class StandardOutput(Folder):
    """What is printed arrives, or the exit status says that it did not."""
    COMMANDS = (("list",), ("list", "--json"), ("info",), ("layout", "m16n8k16", "f16", "a"), ("--help",), ("--version",),
                ("help", "gemm"), ("doctor", "--m", "8", "--n", "8", "--k", "8"),
                ("tune", "--shapes", "64", "--dry-run", "--device", "emulator"))

    def test_a_full_disk(self):
        for arguments in self.COMMANDS:
            with self.subTest(arguments), open("/dev/full", "w") as full:
                done = subprocess.run([tenon_command.COMMAND, *arguments], stdout=full, stderr=subprocess.PIPE, text=True)
                self.assertEqual(done.returncode, 3)
                self.assertRegex(done.stderr, "^tenon: standard output cannot be written(: No space left on device)?\n$")

    def test_closed(self):
        for arguments in self.COMMANDS:
            with self.subTest(arguments):
                done = subprocess.run(["/bin/sh", "-c", 'exec "$@" >&-', "sh", tenon_command.COMMAND, *arguments],
                                      stderr=subprocess.PIPE, text=True)
                self.assertEqual(done.returncode, 3)
                self.assertRegex(done.stderr, "^tenon: standard output cannot be written(: Bad file descriptor)?\n$")

    def test_text_does_not_end_in_a_file(self):
        """The first file that is opened would get the number of the closed descriptor."""
        svg = self.path("a.svg")
        subprocess.run(["/bin/sh", "-c", 'exec "$@" >&-', "sh", tenon_command.COMMAND, "layout", "m16n8k16", "f16", "a",
                        "--svg", svg], stderr=subprocess.DEVNULL)
        with open(svg) as file:
            self.assertTrue(file.read().endswith("</svg>\n"))


class ListAndInfo(unittest.TestCase):
    KEYS = ["name", "arch", "tile", "narrowest", "stages", "threads", "registers", "spill_bytes", "shared_bytes",
            "symbol", "types", "layout", "cluster", "schedule", "variant", "efficiency", "resident", "part"]

    def test_list(self):
        code, out, _ = run("list", "--json")
        self.assertEqual(code, 0)
        kernels = json.loads(out)
        self.assertGreater(len(kernels), 0)
        for kernel in kernels:
            self.assertEqual(sorted(kernel), sorted(self.KEYS))
            self.assertRegex(kernel["arch"], r"^sm_(80|89|90a)$")
            self.assertRegex(kernel["tile"], r"^\d+x\d+x\d+$")
            self.assertTrue(0 < kernel["registers"] <= 255, kernel["name"])
            self.assertEqual(kernel["spill_bytes"], 0, kernel["name"])
            if kernel["name"].startswith("module_"):
                self.assertEqual(kernel["symbol"], "tenon_" + kernel["name"])
            else:
                self.assertIn("gemm", kernel["symbol"])
        self.assertEqual(len({kernel["name"] for kernel in kernels}), len(kernels))
        text = run("list")[1]
        for kernel in kernels:
            self.assertIn(kernel["name"], text)

    def test_parts(self):
        parts = json.loads(run("list", "--parts", "--json")[1])
        self.assertEqual([sorted(part) for part in parts], [["bytes", "kernels", "part"]] * len(parts))
        lines = run("list", "--parts")[1].splitlines()
        self.assertEqual([line.split() for line in lines[1:-1]], [[p["part"], str(p["kernels"]), str(p["bytes"])] for p in parts])
        self.assertEqual(lines[-1].split(), ["all", *(str(sum(p[key] for p in parts)) for key in ("kernels", "bytes"))])

    def test_info(self):
        code, out, _ = run("info", "--json")
        self.assertEqual(code, 0)
        info = json.loads(out)
        emulator = info["can_run"]["emulator"]
        self.assertEqual((emulator["ok"], emulator["why"], emulator["kernels"]), (True, "", info["kernels"]))
        elsewhere = json.loads(run("info", "--json", TENON_PTX_PATH="/nowhere")[1])["can_run"]["emulator"]
        self.assertEqual(elsewhere["ok"], False)
        self.assertIn("/nowhere", elsewhere["why"])
        self.assertEqual(info["can_run"]["cuda"]["ok"], info["can_run"]["cuda"]["why"] == "")
        self.assertEqual(info["kernels"], len(json.loads(run("list", "--json")[1])))
        code, out, _ = run("info")
        self.assertEqual(code, 0)
        self.assertIn("--device cuda: ", out)
        self.assertIn("--device emulator: can run, emulator of sm_90", out)


if __name__ == "__main__":
    sys.exit(tenon_command.main({"L0": [Usage, Files, Layout, StandardOutput, ListAndInfo]}))
