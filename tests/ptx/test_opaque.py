"""ptx::opaque hides a value from the compiler, and is not an instruction: what nvcc writes with it and without it.

  test_opaque.py <nvcc> <folder>
"""
import pathlib
import re
import subprocess
import sys

from catalogue import INCLUDE

KERNELS = """
#include "tenon/ptx/opaque.hpp"
using namespace tenon::ptx;
extern "C" __global__ void known(int* to) {
  int x = 20;
  long long y = 1;
  *to = x + static_cast<int>(y) + 100;
}
extern "C" __global__ void hidden(int* to) {
  int x = 20;
  long long y = 1;
  opaque(x, y);
  *to = x + static_cast<int>(y) + 100;
}
extern "C" __global__ void hidden_copy(int* to) {
  int x = 20;
  x = opaque_copy(x);
  *to = x + 101;
}
extern "C" __global__ void hidden_pointer(int* to) {
  to[1] = 7;
  opaque(to);
  to[1] = 8;
}
extern "C" __global__ void known_pointer(int* to) {
  to[1] = 7;
  to[1] = 8;
}
"""


def main(nvcc, folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    source, ptx = folder / "opaque.cu", folder / "opaque.ptx"

    def compiled(text):
        source.write_text(text)
        return subprocess.run([nvcc, "-std=c++17", "-arch=sm_80", "-ptx", "--Werror=all-warnings", f"-I{INCLUDE}", source, "-o", ptx],
                              text=True, capture_output=True)

    result = compiled(KERNELS)
    assert result.returncode == 0, result.stderr
    bodies = dict(re.findall(r"\.entry (\w+)\(([\s\S]*?)^}$", ptx.read_text(), re.M))
    count = {name: lambda opcode, body=body: len(re.findall(rf"^\s*{opcode}\b", body, re.M)) for name, body in bodies.items()}
    expected = {  # adds, stores
        "known": (0, 1), "hidden": (2, 1), "hidden_copy": (1, 1), "known_pointer": (0, 1), "hidden_pointer": (0, 2)}
    found = {name: (count[name](r"add\.s32"), count[name](r"st\.\S+")) for name in expected}
    assert found == expected, f"found {found}, expected {expected}"
    for name, body in bodies.items():
        for statement in re.findall(r"// begin inline asm\n([\s\S]*?)// end inline asm", body):
            assert not statement.strip(), f"{name}: opaque wrote {statement}"
    for kind in ("short", "char", "bool"):
        result = compiled(f'#include "tenon/ptx/opaque.hpp"\n__global__ void f({kind} x) {{ tenon::ptx::opaque(x); }}\n')
        assert result.returncode != 0 and "opaque takes values of 4 or 8 bytes" in result.stderr, f"{kind}: {result.stderr}"
    print(f"{len(expected)} kernels: a value that opaque hid is computed with, and no instruction is written")


if __name__ == "__main__":
    main(*sys.argv[1:])
