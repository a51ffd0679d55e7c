"""scripts/tensor_utilisation, with a profiler that answers in ncu's CSV, on kernels that nvcc compiled.

The text has the form that `ncu --csv --metrics` of Nsight Compute 2023 to 2025 prints; the numbers are made up.
"""

import json
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SCRIPTS = HERE.parents[1] / "scripts"
sys.path.insert(0, str(SCRIPTS))
sys.dont_write_bytecode = True
from tenon_sass.errors import NoTool  # noqa: E402
from tenon_sass.profile import launches  # noqa: E402

BUSY = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"
HEAD = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC",'
    '"Section Name","Metric Name","Metric Unit","Metric Value"\n'
)


def row(number, kernel, metric, unit, value, capability="9.0"):
    return (
        f'"{number}","19963","program","127.0.0.1","{kernel}","1","7","(32, 1, 1)","(1, 1, 1)","0","{capability}",'
        f'"Command line profiler metrics","{metric}","{unit}","{value}"\n'
    )


def launch(number, kernel, nanoseconds, busy, instructions, capability="9.0"):
    return (
        row(number, kernel, "gpu__time_duration.sum", "nsecond", nanoseconds, capability)
        + row(number, kernel, "sm__inst_executed_pipe_tensor.sum", "inst", instructions, capability)
        + row(number, kernel, BUSY, "%", busy, capability)
    )


RECORDING = (
    "==PROF== Connected to process 19963 (/tmp/program)\n"
    'the program\'s own line, with "quotes"\n'
    '==PROF== Profiling "independent" - 0: 0%....50%....100% - 1 pass\n'
    "==PROF== Disconnected from process 19963\n"
    + HEAD
    + launch(0, "independent", "1,000", "60.5", "1,234,567")
    + launch(1, "fp32", "2,000", "0", "0")
    + launch(2, "independent", "3,000", "70.5", "1,234,569")
)


class Recording(unittest.TestCase):
    def test_launches(self):
        found = launches(RECORDING)
        self.assertEqual([(f.kernel, f.capability) for f in found], [(k, "9.0") for k in ("independent", "fp32", "independent")])
        self.assertEqual(found[0].counters["sm__inst_executed_pipe_tensor.sum"], 1234567)
        self.assertEqual(found[2].counters[BUSY], 70.5)

    def test_a_counter_that_the_gpu_lacks(self):
        (found,) = launches(HEAD + row(0, "k", BUSY, "", "n/a"))
        self.assertIsNone(found.counters[BUSY])

    def test_no_kernel(self):
        with self.assertRaisesRegex(NoTool, "measured no kernel"):
            launches("==PROF== Connected to process 1\n==WARNING== No kernels were profiled.\n")


class Command(unittest.TestCase):
    """The script, with a stand-in for ncu that prints the recording and stores its arguments."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.binary = cls.folder / "kernels.cubin"
        compiler = os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin", "nvcc")
        options = ["-std=c++17", "-gencode", "arch=compute_90a,code=sm_90a", "-cubin"]
        done = subprocess.run([compiler, *options, HERE / "patterns.cu", "-o", cls.binary], capture_output=True, text=True, check=False)
        if done.returncode:
            raise AssertionError(done.stderr)
        cls.ncu = cls.folder / "ncu"
        cls.ncu.write_text(
            "#!/usr/bin/env python3\nimport os, sys\n"
            "open(os.environ['CALL'], 'w').write('\\n'.join(sys.argv[1:]))\n"
            "sys.stdout.write(os.environ['ANSWER']); sys.exit(int(os.environ.get('STATUS', '0')))\n",
            encoding="utf-8",
        )
        cls.ncu.chmod(cls.ncu.stat().st_mode | stat.S_IXUSR)

    def call(self, *arguments, answer=RECORDING, **environment):
        command = [sys.executable, "-B", SCRIPTS / "tensor_utilisation", "--ncu", self.ncu, "--binary", self.binary, *arguments]
        environment = {**os.environ, "CALL": str(self.folder / "call"), "ANSWER": answer, **environment}
        return subprocess.run([*map(str, command), "--", "true", "--flag"], capture_output=True, text=True, check=False, env=environment)

    def test_the_metric_is_beside_the_verdict(self):
        done = self.call("--json", "--kernel", "in.*")
        self.assertEqual(done.returncode, 0, done.stderr)
        tensor, plain = json.loads(done.stdout)
        self.assertEqual((tensor["kernel"], tensor["launches"], tensor["mean_us"]), ("independent", 2, 2.0))
        self.assertEqual((tensor["tensor_pipe_percent"], tensor["tensor_instructions"]), (65.5, 1234568))
        self.assertTrue(tensor["verdict"].startswith("tensor cores: 8 HMMA.16816.F32"), tensor["verdict"])
        self.assertEqual((plain["kernel"], plain["verdict"]), ("fp32", "no tensor cores"))
        self.assertEqual(plain["findings"][0]["kind"], "no_tensor_cores")

    def test_the_arguments_of_ncu(self):
        self.call("--kernel", "in.*", "--launches", "3")
        words = (self.folder / "call").read_text(encoding="utf-8").split("\n")
        self.assertIn(BUSY, words[words.index("--metrics") + 1].split(","))
        self.assertEqual(words[words.index("-k") + 1], "regex:in.*")
        self.assertEqual(words[words.index("--launch-count") + 1], "3")
        self.assertEqual(words[words.index("--print-kernel-base") + 1], "mangled")
        self.assertEqual(words[-2:], ["true", "--flag"])

    def test_text(self):
        done = self.call()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"\n +2 +2\.0 +65\.5 % +1234568  independent\n +tensor cores: 8 HMMA")
        self.assertRegex(done.stdout, r"\n +1 +2\.0 +0\.0 % +0  fp32\n +no tensor cores\n +against: .*FFMA in a loop")

    def test_code_of_another_architecture_is_no_verdict(self):
        done = self.call("--json", answer=HEAD + launch(0, "independent", "1", "1", "1", capability="8.0"))
        self.assertTrue(json.loads(done.stdout)[0]["verdict"].startswith("unknown: not in "), done.stdout)

    def test_a_counter_that_is_missing(self):
        answer = HEAD + launch(0, "independent", "1,000", "n/a", "8")
        self.assertRegex(self.call(answer=answer).stdout, r" 1\.0 +- +8  independent")

    def test_a_failed_measurement_is_3_with_a_sentence(self):
        for answer, words in (
            ("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters\n", "ERR_NVGPUCTRPERM"),
            ("==PROF== nothing\n", "measured no kernel"),
        ):
            done = self.call(answer=answer)
            self.assertEqual(done.returncode, 3)
            self.assertIn("tensor_utilisation: ", done.stderr)
            self.assertIn(words, done.stderr)
        self.assertEqual(self.call(STATUS="1", answer="").returncode, 3)
        done = self.call("--ncu", "/absent/ncu")
        self.assertEqual(done.returncode, 3)
        self.assertIn("/absent/ncu cannot be run: No such file", done.stderr)

    def test_bad_usage(self):
        self.assertEqual(self.call("--launches", "0").returncode, 2)
        alone = subprocess.run([sys.executable, "-B", SCRIPTS / "tensor_utilisation"], capture_output=True, text=True, check=False)
        self.assertEqual(alone.returncode, 2)
        shown = subprocess.run([sys.executable, "-B", SCRIPTS / "tensor_utilisation", "--help"], capture_output=True, text=True, check=False)
        self.assertIn("examples:", shown.stdout)


if __name__ == "__main__":
    unittest.main()
