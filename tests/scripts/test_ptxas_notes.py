"""scripts/ptxas_notes: notes of ptxas fail the command, whatever else it prints; and ptxas still prints these notes."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "ptxas_notes"
NVCC = Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "bin" / "nvcc"

IGNORED = "ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored; unable to determine register count at entry."


def run(*arguments):
    return subprocess.run([sys.executable, str(SCRIPT), *map(str, arguments)], capture_output=True, text=True, check=False)


def saying(text, status=0):
    """A command that writes text to stderr."""
    return ["--", sys.executable, "-c", f"import sys; sys.stderr.write({text!r} + '\\n'); sys.exit({status})"]


class Notes(unittest.TestCase):
    def test_silence_and_other_information_pass(self):
        self.assertEqual(run(*saying("")).returncode, 0)
        done = run(*saying("ptxas info    : Used 62 registers, used 0 barriers"))
        self.assertEqual(done.returncode, 0)
        self.assertIn("Used 62 registers", done.stderr)

    def test_a_note_fails_and_is_shown(self):
        done = run(*saying(IGNORED))
        self.assertEqual(done.returncode, 1)
        self.assertIn(IGNORED, done.stderr)
        self.assertIn("1 note about lost performance", done.stderr)

    def test_json(self):
        done = run("--json", *saying("one\n" + IGNORED))
        self.assertEqual(done.returncode, 1)
        self.assertEqual(json.loads(done.stdout), [IGNORED])
        self.assertEqual(json.loads(run("--json", *saying("one")).stdout), [])

    def test_the_commands_own_failure_is_kept(self):
        self.assertEqual(run(*saying(IGNORED, 5)).returncode, 5)

    def test_usage(self):
        self.assertEqual(run().returncode, 2)
        self.assertIn("exit status", run("--help").stdout)
        done = run("--", "/nowhere/nvcc")
        self.assertEqual(done.returncode, 3)
        self.assertIn("/nowhere/nvcc cannot be run", done.stderr)


SOURCE = """
#include "tenon/ptx/setmaxnreg.hpp"
#include "tenon/ptx/wgmma.hpp"
using namespace tenon::ptx;
#if defined(SETMAXNREG)
__global__ void kernel(float* out) { setmaxnreg_dec_sync_aligned_u32<40>(); *out = 1; }
#else
__global__ void __launch_bounds__(128) kernel(float* out, uint64_t a, uint64_t b, float scale) {
  float d[4] = {};
  wgmma_fence_sync_aligned(d);
  wgmma_mma_async_sync_aligned<8, type_f16, type_f16>(d, a, b, 0);
#if defined(TOUCHED)
  for (float& x : d) x *= scale;  // in flight
  wgmma_mma_async_sync_aligned<8, type_f16, type_f16>(d, a, b, 1);
#endif
  wgmma_commit_group_sync_aligned();
  wgmma_wait_group_sync_aligned<0>(d);
  for (int i = 0; i < 4; ++i) out[4 * threadIdx.x + i] = d[i];
}
#endif
"""


class Ptxas(unittest.TestCase):
    def compile(self, *flags):
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "kernel.cu")
            source.write_text(SOURCE)
            return run("--", NVCC, "-std=c++17", "-gencode", "arch=compute_90a,code=sm_90a", f"-I{ROOT}/include", *flags,
                       "-cubin", source, "-o", Path(folder, "kernel.cubin"))

    def test_a_right_kernel_passes(self):
        done = self.compile()
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_accumulators_touched_in_flight(self):
        done = self.compile("-DTOUCHED")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr, "wgmma.mma_async instructions are serialized|injected")

    def test_setmaxnreg_without_launch_bounds(self):
        done = self.compile("-DSETMAXNREG")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("'setmaxnreg' ignored", done.stderr)


if __name__ == "__main__":
    unittest.main()
