"""An example whose kernel takes tensor maps, run by `tenon emulate` on matrices of integers, under every schedule.

  test_emulated.py <nvcc> <tenon> <include folder> <tma_wgmma.cu>
"""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

nvcc, *paths = sys.argv[1:]
tenon, include, source = (pathlib.Path(path).resolve() for path in paths)
K = 200  # no multiple of the 64 of a k-tile
MAP = f"f16:64x{K}:box=64x64:swizzle=128B"
with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    subprocess.run([nvcc, "-std=c++17", "--generate-code=arch=compute_90a,code=sm_90a", f"-I{include}", "-ptx", source, "-o",
                    folder / "example.ptx"], check=True)
    random = np.random.default_rng(1)
    a, b = (random.integers(-3, 4, (64, K)).astype(np.float16) for _ in range(2))
    np.save(folder / "a.npy", a)
    np.save(folder / "b.npy", b)
    for schedule in ("early", "late", "random:7"):
        done = subprocess.run(
            [tenon, "emulate", "example.ptx", "--block", "160", "--schedule", schedule, "--buffer", "file:a.npy", "--buffer",
             "file:b.npy", "--arg", f"map:b1:{MAP}", "--arg", f"map:b2:{MAP}", "--arg", "out:c.npy:f32:64x64", "--arg", f"s32:{K}"],
            cwd=folder, text=True, capture_output=True)
        if done.returncode != 0:
            sys.exit(f"{schedule}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
        c = np.load(folder / "c.npy")
        if not np.array_equal(c, a.astype(np.float32) @ b.astype(np.float32).T):
            sys.exit(f"{schedule}: the product is wrong")
print("right under 3 schedules")
