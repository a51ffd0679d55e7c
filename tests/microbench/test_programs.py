"""The measuring programs up to the point where they need a GPU: the input that they refuse, and their error when
standard output is lost."""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAMS = {}


def run(program, *arguments, stdout=subprocess.PIPE):
    done = subprocess.run([PROGRAMS[program], *arguments], stdout=stdout, stderr=subprocess.PIPE, text=True, timeout=300)
    return done.returncode, done.stdout, done.stderr


class Programs(unittest.TestCase):
    def refused(self, words, program, *arguments):
        code, out, err = run(program, *arguments)
        self.assertEqual((code, out), (2, ""), err)
        self.assertIn(words, err)

    def test_help_has_examples_and_exit_statuses(self):
        for program in PROGRAMS:
            code, out, _ = run(program, "--help")
            self.assertEqual(code, 0)
            self.assertIn("Examples:\n  tenon_" + program, out)
            self.assertIn("Exit status: 0 ", out)

    def test_values_that_no_case_of_the_instruction_benchmark_has(self):
        program = "instruction_benchmark"
        for more in ("--list", "--proofs"):
            self.refused("the family 'nosuch' is that of no case, there are barrier, ", program, "--family", "mma,nosuch", more)
        self.refused("the measure 'nosuch' is that of no case", program, "--measure", "nosuch", "--list")
        self.refused("the axis 'nosuch' is that of no case", program, "--axis", "nosuch:1", "--list")
        self.refused("the value of warps 'abc' is that of no case, there are 1, ", program, "--axis", "warps:8,abc", "--list")
        self.refused("--proofs is about kernels", program, "--axis", "warps:8", "--proofs")
        for seconds in ("nan", "-1", "soon"):
            self.refused("'%s' is not a number of seconds" % seconds, program, "--budget", seconds, "--list")
        self.assertIn("/warps:8/", run(program, "--axis", "warps:8", "--family", "mma", "--list")[1])

    def test_proofs_of_a_family(self):
        every = run("instruction_benchmark", "--proofs")[1].splitlines()
        some = run("instruction_benchmark", "--proofs", "--family", "mma_sp")[1].splitlines()
        self.assertLess(set(some[:-1]), set(every))
        self.assertTrue(some[-1].startswith("%d kernels, " % (len(some) - 1)), some[-1])

    def test_numbers_of_results(self):
        for option in ("--results", "--seed"):
            for text in ("-1", "1e3", "nan", "010", "9" * 19):
                self.refused("%s: '%s' is not a whole number" % (option, text), "numerics", "--device", "emulator", option, text)

    def test_a_list_with_a_gap(self):
        for program, option, text in (
            ("batched_benchmark", "--types", "f16,,bf16"), ("batched_benchmark", "--batches", ",8:64:64:64"),
            ("scaled_benchmark", "--operations", "dense,"), ("slices_benchmark", "--slices", "4,,5"),
            ("slices_benchmark", "--shapes", "64:64:64,"), ("instruction_benchmark", "--family", "mma,,wgmma"),
            ("instruction_benchmark", "--measure", ",")):  # fmt: skip
            words = "%s: '%s' must have a value on each side of a comma" % (option, text)
            self.refused(words, program, option, text)
            self.refused(words, program, option + "=" + text)

    def test_an_unknown_kernel(self):
        self.refused("--kernel is 'nosuch' but no kernel of that name takes", "gemm_benchmark", "--kernel", "nosuch")
        self.refused("--kernel is '*_e4m3_*' but no kernel of that name takes", "gemm_benchmark", "--types", "bf16", "--kernel",
                     "wgmma_*", "--kernel", "*_e4m3_*")

    def test_results_that_cannot_be_written(self):
        """They are refused before anything is measured."""
        for program in PROGRAMS:
            self.refused("tenon_%s: --json: '/nonexistent/x.json' cannot be written: No such file" % program, program, "--json",
                         "/nonexistent/x.json")

    def test_without_a_gpu(self):
        hidden = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
        for program in PROGRAMS:
            if program != "numerics":  # which names the emulator
                done = subprocess.run([PROGRAMS[program]], env=hidden, capture_output=True, text=True, timeout=300)
                self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
                self.assertTrue(done.stderr.startswith("tenon_%s: needs a GPU: no CUDA device" % program), done.stderr)
        done = subprocess.run([PROGRAMS["attention_benchmark"], "--list"], env=hidden, capture_output=True, text=True, timeout=300)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("forward  causal", done.stdout)

    def test_an_unknown_option(self):
        for program in PROGRAMS:
            code, out, err = run(program, "--nosuch")
            self.assertEqual((code, out), (2, ""))
            self.assertEqual(err, "tenon_%s: The following argument was not expected: --nosuch; see --help\n" % program)

    def test_pipes_and_links(self):
        numerics = ("numerics", "--device", "emulator", "--forms", "*m16n8k8*bf16*", "--results", "10", "--quiet", "--json")
        with tempfile.TemporaryDirectory() as folder:
            target, link = os.path.join(folder, "x.json"), os.path.join(folder, "link")
            os.symlink(target, link)
            for _ in range(2):  # first a dangling link, then a link to a file
                self.assertEqual(run(*numerics, link)[0], 0)
                self.assertTrue(os.path.islink(link))
                with open(target) as file:
                    self.assertIn("fits", json.load(file))
            self.assertEqual(sorted(os.listdir(folder)), ["link", "x.json"])
        code, out, _ = run(*numerics, "/dev/stdout")
        self.assertEqual(code, 0)
        self.assertIn('"fits"', out)

    def test_asking_leaves_no_file(self):
        with tempfile.TemporaryDirectory() as folder:
            run("numerics", "--device", "emulator", "--forms", "(", "--json", os.path.join(folder, "x.json"))
            self.assertEqual(os.listdir(folder), [])

    def test_a_full_disk(self):
        for arguments in (("instruction_benchmark", "--list"), ("instruction_benchmark", "--proofs"),
                          ("instruction_benchmark", "--help"), ("gemm_benchmark", "--help"), ("numerics", "--help"),
                          ("numerics", "--device", "emulator", "--forms", "*m16n8k8*bf16*", "--results", "10")):
            with self.subTest(arguments), open("/dev/full", "w") as full:
                code, _, err = run(*arguments, stdout=full)
                self.assertEqual(code, 3, err)
                self.assertIn("tenon_%s: standard output cannot be written" % arguments[0], err)

    def test_deep_gemm(self):
        """Up to the point where it needs PyTorch."""
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../microbench/time_deep_gemm.py")

        def run_it(*arguments):
            done = subprocess.run([sys.executable, "-B", script, *arguments], capture_output=True, text=True, timeout=300)
            return done.returncode, done.stdout, done.stderr

        code, out, _ = run_it("--help")
        self.assertEqual(code, 0)
        self.assertIn("examples:\n  python3 time_deep_gemm.py", out)
        code, out, err = run_it("--operations", "fp8-dense,nosuch")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("'nosuch' is none of fp8-dense, ", err)
        code, out, err = run_it("--part", "4/4")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("invalid part value: '4/4'", err)

    def test_attention_peers(self):
        """Up to the point where they need PyTorch. They are timed at the benchmark's rows."""
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../microbench/time_attention.py")

        def run_it(*arguments):
            done = subprocess.run([sys.executable, "-B", script, *arguments], capture_output=True, text=True, timeout=300)
            return done.returncode, done.stdout, done.stderr

        code, out, _ = run_it("--help")
        self.assertEqual(code, 0)
        self.assertIn("examples:\n  python3 time_attention.py", out)
        code, out, err = run_it("--rows", "forward,nosuch")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("'nosuch' is none of forward, ", err)
        self.assertEqual(run_it("--list")[1], run("attention_benchmark", "--list")[1])
        code, out, _ = run_it("--list", "--rows", "e4m3,mla", "--head-dimensions", "256,576")
        self.assertEqual(out, run("attention_benchmark", "--list", "--rows", "e4m3", "mla", "--head-dimensions", "256", "576")[1])
        self.assertEqual((code, len(out.splitlines())), (0, 8 + 12))

    def test_records_are_stored_whole_or_not_at_all(self):
        sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../microbench"))
        from store_records import store

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "records.json")
            for records in ([{"m": 1}], [{"m": 1}, {"m": 2}]):
                store(path, records)
                with open(path, encoding="utf-8") as file:
                    self.assertEqual(json.load(file), records)
            os.mkdir(f"{path}.{os.getpid()}.tmp")  # the new file cannot be written
            with self.assertRaises(OSError):
                store(path, [])
            with open(path, encoding="utf-8") as file:
                self.assertEqual(json.load(file), [{"m": 1}, {"m": 2}])
            for script in ("time_attention.py", "time_deep_gemm.py"):
                for wrong, why in ((folder, "is a folder but must be a file"), (f"{folder}/no/x.json", f"the folder {folder}/no is not there")):
                    command = [sys.executable, "-B", os.path.join(sys.path[0], script), "--json", wrong]
                    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
                    self.assertEqual((done.returncode, done.stdout), (2, ""))
                    self.assertIn(f"'{wrong}'", done.stderr)
                    self.assertIn(why, done.stderr)
        store(os.devnull, [])  # written to, not replaced
        self.assertFalse(os.path.isfile(os.devnull))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name in ("gemm_benchmark", "epilogue_benchmark", "grouped_benchmark", "batched_benchmark",
                 "scaled_benchmark", "slices_benchmark", "attention_benchmark", "host_benchmark",
                 "instruction_benchmark", "numerics"):
        parser.add_argument("--" + name, required=True)
    PROGRAMS = vars(parser.parse_args())
    unittest.main(argv=["test_programs"], verbosity=2)
