"""A small library is built with another CUDA Toolkit, a program links it, and has its kernels.

  test_toolkit.py <folder> <CMake generator>    in the folder, which a later run with the same version goes on with

Of the versions of PyPI that have nvcc each commit takes another one, by their number; TENON_TOOLKIT=13.2 names one. Skipped, with
77, only where PyPI does not answer and no such version is in .tools.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
sys.dont_write_bytecode = True
from tenon_sass.errors import NoTool  # noqa: E402  (the lines above make it importable)
from tenon_toolkit import fetch  # noqa: E402


def with_nvcc():
    return [version for version in fetch.versions() if fetch.number(version) >= (13, 0)]


def turn():
    """The number of commits; outside of git, of days."""
    done = subprocess.run(["git", "-C", ROOT, "rev-list", "--count", "HEAD"], capture_output=True, text=True, check=False)
    return int(done.stdout) if done.returncode == 0 else int(time.time()) // 86400


def chosen():
    """The Toolkit whose turn it is; without a network, another one that is kept."""
    named = os.environ.get("TENON_TOOLKIT")
    if named and named not in with_nvcc():
        sys.exit(f"TENON_TOOLKIT is '{named}' but must be one of {', '.join(with_nvcc())}")
    versions = [named] if named else with_nvcc()
    version = versions[turn() % len(versions)]
    try:
        return fetch.fetch(version)
    except NoTool as error:
        kept = [other for other in versions if fetch.folder_of(other).is_dir()]
        if not kept:
            print(f"skipped: {error}")
            sys.exit(77)
        print(f"in place of CUDA {version}: {error}")
        return fetch.fetch(kept[-1])


def main(folder, generator):
    toolkit, folder = chosen(), pathlib.Path(folder)
    print(f"CUDA {toolkit.version}", flush=True)
    home = toolkit.as_installed()
    build = folder / home.parents[1].name
    for other in folder.glob("*"):
        if other != build:
            shutil.rmtree(other)
    environment = {**os.environ, "CUDA_HOME": str(home), "CUDA_PATH": str(home), "PATH": f"{home / 'bin'}:{os.environ['PATH']}"}
    for command in (
        # No build type: host code is not optimised.
        ["cmake", "-G", generator, "-S", ROOT / "tests/host/toolkit", "-B", build, f"-DTENON={ROOT}", "-DCMAKE_BUILD_TYPE=None",
         f"-DCMAKE_CUDA_COMPILER={home / 'bin/nvcc'}", f"-DCUDAToolkit_ROOT={home}"],
        ["cmake", "--build", build, "--parallel", "1", "--target", "program"],
    ):  # fmt: skip
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"CUDA {toolkit.version}: {' '.join(map(str, command))} fails:\n{done.stdout}")
    text = (build / "tenon/src/host/tenon.pc").read_text(encoding="utf-8")
    if "cuda_libdir=/usr/local/cuda/lib64\n" not in text or ".tools" in text:
        sys.exit(f"tenon.pc must not name the private toolkit of this checkout:\n{text}")
    runtime, *kernels = subprocess.run([build / "program"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    major, minor = fetch.number(toolkit.version)
    if int(runtime) != 1000 * major + 10 * minor:
        sys.exit(f"the program has the runtime of CUDA {runtime} but must have that of {toolkit.version}")
    counts = {family: sum(kernel.startswith(f"{family}_f16_f16_nn_") for kernel in kernels) for family in ("cp_async", "wgmma")}
    print(f"{len(kernels)} kernels: {counts}")
    if 0 in counts.values():
        sys.exit(f"the library has the kernels {', '.join(kernels)} but must have some of each family: {counts}")


if __name__ == "__main__":
    main(*sys.argv[1:])
