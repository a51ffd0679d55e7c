"""What a user of plain g++ or of nvcc may ask of the fragments wrongly: each is one error, of one sentence.

  misuse_host.py <c++ compiler> <include folder> <folder>

Misuse that only kernels can do is in misuse.cu.
"""
import pathlib
import re
import subprocess
import sys

UNKNOWN = "this type is not an element of an mma operand or accumulator, which are __half, __nv_bfloat16, tenon::tf32"
RIGHT = "constexpr auto x = LayoutA<m16n8k16, __half>::coord(1, 2);"
# {name: (what stands in the source, the sentence)}
MISUSE = {
    "unknown_a": ("auto x = LayoutA<m16n8k16, short>::coord(1, 2);", UNKNOWN),
    "unknown_b": ("auto x = LayoutB<m16n8k16, char>::coord(1, 2);", UNKNOWN),
    "unknown_c": ("auto x = LayoutC<m16n8k16, long>::owner(1, 2);", UNKNOWN),
    "unknown_a_of_wgmma": ("auto x = LayoutA<WgmmaShape<64, 16>, short>::coord(1, 2);", UNKNOWN),
    "unknown_c_of_wgmma": ("auto x = LayoutC<WgmmaShape<64, 16>, long>::coord(1, 2);", UNKNOWN),
    "unknown_a_of_wmma": ("auto x = LayoutA<wmma16x16x16, short>::coord(1, 2);", UNKNOWN),
    "unknown_c_of_wmma": ("auto x = LayoutC<wmma16x16x16, long>::coord(1, 2);", UNKNOWN),
    "unknown_element": ("int bits = Element<short>::bits;", UNKNOWN),
    "unknown_layout": ("int bits = LayoutOf<short, 8, 8>::registers;", UNKNOWN),
    "no_such_a": ("auto x = LayoutA<m16n8k32, __half>::coord(1, 2);",
                  "LayoutA: no mma instruction takes an A of this element type in this shape"),
    "no_such_b": ("auto x = LayoutB<m8n8k4, __nv_bfloat16>::coord(1, 2);",
                  "LayoutB: no mma instruction takes a B of this element type in this shape"),
    "no_such_c": ("auto x = LayoutC<m8n8k16, double>::coord(1, 2);",
                  "LayoutC: no mma instruction accumulates in this type in this shape"),
    "b_of_wgmma": ("auto x = LayoutB<WgmmaShape<64, 16>, __half>::coord(1, 2);",
                   "LayoutB: wgmma reads B from shared memory: no thread holds it in registers"),
    "no_such_a_of_wgmma": ("auto x = LayoutA<WgmmaShape<64, 8>, __half>::coord(1, 2);",
                           "LayoutA: no wgmma instruction takes an A of this element type in this shape"),
    "tf32_of_wmma": ("auto x = LayoutA<wmma16x16x16, tf32>::coord(1, 2);",
                     "LayoutA: nvcuda::wmma takes no A of this element type in this shape"),
    "fp8_of_wmma": ("auto x = LayoutB<wmma16x16x16, e4m3>::owner(1, 2);",
                    "LayoutB: nvcuda::wmma takes no B of this element type in this shape"),
    "shape_of_wmma": ("auto x = LayoutA<WmmaShape<16, 16, 32>, std::int8_t>::coord(1, 2);",
                      "LayoutA: nvcuda::wmma takes no A of this element type in this shape"),
    "f64_of_wmma": ("auto x = LayoutC<wmma16x16x16, double>::coord(1, 2);",
                    "LayoutC: nvcuda::wmma does not accumulate in this type in this shape"),
    "movmatrix_f32": ("auto x = AfterMovmatrix<LayoutC<m16n8k16, float>>::coord(1, 2);",
                      "AfterMovmatrix: movmatrix transposes registers that each hold an 8 x 8 matrix of 16-bit elements"),
    "ldmatrix_f64": ("auto x = ldmatrix_row_a<LayoutA<m16n8k16, double>, true>(0);",
                     "ldmatrix fills 32-bit registers: load f64 fragments element by element, with fill()"),
    "ldmatrix_f64_columns": ("auto x = ldmatrix_row_b<LayoutB<m16n8k16, double>, false>(0);",
                             "ldmatrix fills 32-bit registers: load f64 fragments element by element, with fill()"),
    "ldmatrix_wgmma": ("auto x = ldmatrix_row_a<LayoutA<WgmmaShape<64, 16>, __half>, true>(0);",
                       "ldmatrix loads for a warp: load the A of wgmma with fill()"),
    "ldmatrix_volta": ("auto x = ldmatrix_row_a<LayoutA<m8n8k4, __half>, true>(0);",
                       "ldmatrix does not fit the fragments of Volta's m8n8k4"),
    "ldmatrix_bytes": ("auto x = ldmatrix_row_a<LayoutA<m16n8k32, std::int8_t>, false>(0);",
                       "ldmatrix.trans, which an operand that is not k-major needs, transposes 16-bit elements only"),
    "ldmatrix_words": ("auto x = ldmatrix_row_b<LayoutB<m16n8k8, tf32>, false>(0);",
                       "ldmatrix.trans, which an operand that is not k-major needs, transposes 16-bit elements only"),
    "ldmatrix_three": ("auto x = ldmatrix_row_b<LayoutB<m16n8k8, __half>, true, 3>(0);",
                       "ldmatrix loads 1, 2 or 4 matrices, one for each register of the fragments"),
    "ldmatrix_none": ("auto x = ldmatrix_row_b<LayoutB<m16n8k16, __half>, true, 0>(0);",
                      "ldmatrix loads 1, 2 or 4 matrices, one for each register of the fragments"),
}


def main(cxx, include, folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    failures = []

    def errors(name, text):
        source = folder / f"misuse_{name}.cpp"
        source.write_text('#include "tenon/fragment/layout.hpp"\n#include "tenon/fragment/ldmatrix_rows.hpp"\n'
                          f"using namespace tenon;\n{text}\n")
        result = subprocess.run([cxx, "-std=c++17", "-Wall", "-Wextra", "-fsyntax-only", f"-I{include}", source],
                                text=True, capture_output=True, env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"})
        return [line for line in result.stderr.splitlines() if re.search(r"\b(error|warning):", line)]

    if errors("right", RIGHT):
        failures.append(f"{RIGHT} does not compile: {errors('right', RIGHT)}")
    for name, (text, sentence) in MISUSE.items():
        found = errors(name, text)
        if len(found) != 1 or sentence not in found[0]:
            failures.append(f"{name}: {text}\n  expected the one error: {sentence}\n  found {len(found)}:\n    " +
                            "\n    ".join(found))
    if failures:
        sys.exit("\n".join(failures))
    print(f"{len(MISUSE)} mistakes, each an error of one sentence")


if __name__ == "__main__":
    main(*sys.argv[1:])
