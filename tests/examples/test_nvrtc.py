"""What NVRTC makes of the kernels of embed_sm80.cu and embed_sm90.cu computes what they compute: its PTX is executed by the
emulator, by the launch that the host plans.

  test_nvrtc.py <example_embed_sm80> <example_embed_sm90> <folder> <cuda library folder> <cuda include folder>...

Exit status 77: skipped.
"""
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "headers"))
sys.dont_write_bytecode = True
import test_headers  # noqa: E402  (the lines above make it importable)


def main(sm80, sm90, folder, libraries, *cuda):
    library = test_headers.nvrtc_library(libraries)
    if library is None:
        print(f"skipped: no libnvrtc in {libraries}")
        return 77
    kernels = [kernel for kernel in test_headers.KERNELS if "BiasRelu" in kernel[3]]
    assert len(kernels) == 3, kernels
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    folders = [test_headers.INCLUDE, *test_headers.with_cccl(*cuda)]
    for i, kernel in enumerate(kernels):
        architecture, _, _, name, _ = kernel
        to_ptx = architecture.replace("sm_", "compute_")  # no further: headers.nvrtc reads the machine code
        with test_headers.Program(library, folders, to_ptx, test_headers.source_of(kernel), [name]) as program:
            assert program.error is None, program.log
            ptx = pathlib.Path(folder) / f"kernel_{i}"
            ptx.with_suffix(".ptx").write_bytes(program.read("PTX").rstrip(b"\0"))
        print(name, flush=True)
        example = sm80 if architecture == "sm_80" else sm90
        # NVRTC has no kernel for k = 0: that is in a header of the host.
        subprocess.run([example, "--device=emulator", "--gtest_brief=1", "--gtest_filter=*ComputesTheActivatedProduct"],
                       env={**os.environ, "TENON_EMBEDDED_PTX": str(ptx)}, check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
