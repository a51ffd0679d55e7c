"""What clang, without nvcc, makes of the kernels of embed_sm80.cu computes what they compute: its PTX is executed by the emulator, by
the launch that the host plans.

  test_clang.py <example_embed_sm80> <nvcc> <folder>    with the CUDA Toolkit of that nvcc

Exit status 77: skipped, because no clang++ in PATH can compile for this CUDA Toolkit.
"""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
sys.dont_write_bytecode = True
from tenon_toolkit import compilers  # noqa: E402  (the lines above make it importable)


def main(example, nvcc, folder):
    toolkit, folder = pathlib.Path(nvcc).resolve().parents[1], pathlib.Path(folder)
    for clang in reversed([one for one in compilers.installed() if one.is_cuda_compiler]):
        command = compilers.cuda_command(clang, toolkit, "sm_80")
        if not compilers.cannot(command):
            break
        print(f"{clang} cannot compile for this CUDA Toolkit: {compilers.cannot(command)}")
    else:
        print(f"skipped: no clang++ of {compilers.OLDEST_CUDA} or newer in PATH compiles for {toolkit}")
        return 77
    print(clang, flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run([*command, "--cuda-device-only", "-O3", "-S", "-o", folder / "kernel.ptx", ROOT / "tests/examples/embed_sm80.cu"],
                   check=True)
    subprocess.run([example, "--device=emulator", "--gtest_brief=1"], check=True,
                   env={**os.environ, "TENON_EMBEDDED_PTX": str(folder / "kernel")})
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
