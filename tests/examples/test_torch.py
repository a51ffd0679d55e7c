"""torch_linear.py: its structs are those of the C headers (without a GPU), and it computes what PyTorch does (with one).

  test_torch.py layout <C compiler> <include folder> <folder to write into>
  test_torch.py run <c++ compiler> <libtenon.a> <exported.map> <cuda library folder> <folder to write into>

Exit status 77: skipped, there is no PyTorch with a GPU.
"""
import ctypes
import os
import pathlib
import subprocess
import sys
import types
import unittest

HERE = pathlib.Path(__file__).resolve().parent
STRUCTS = {"Status": "tenon_status", "ConstMatrix": "tenon_const_matrix", "Matrix": "tenon_matrix", "ConstVector": "tenon_const_vector",
           "Epilogue": "tenon_epilogue", "GemmProblem": "tenon_gemm_problem"}  # fmt: skip
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE))


def structs_alone():
    """The structs of the example, which a machine without PyTorch has as well."""
    source = (HERE / "torch_linear.py").read_text(encoding="utf-8")
    found = types.ModuleType("structs")
    begin, end = source.index("class Status"), source.index("@functools.lru_cache")
    exec("import ctypes\n" + source[begin:end], found.__dict__)  # noqa: S102  (the example's own text)
    return found


def layout(compiler, include, folder):
    module, folder = structs_alone(), pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    lines, wanted = [], []
    for python, c in STRUCTS.items():
        struct = getattr(module, python)
        lines.append(f'printf("%zu\\n", sizeof({c}));')
        wanted.append((c, ctypes.sizeof(struct)))
        for field, *_ in struct._fields_:
            lines.append(f'printf("%zu\\n", offsetof({c}, {field}));')
            wanted.append((f"{c}.{field}", getattr(struct, field).offset))
    source, program = folder / "layout.c", folder / "layout"
    source.write_text('#include <stddef.h>\n#include <stdio.h>\n#include "tenon/tenon.h"\nint main(void) {\n' + "\n".join(lines) + "\nreturn 0;\n}\n")
    # The inline functions of the headers need the library, which this program does not call.
    subprocess.run([compiler, "-O1", f"-I{include}", source, "-o", program, "-Wl,--unresolved-symbols=ignore-all"], check=True)
    found = [int(line) for line in subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()]
    wrong = [f"{name} is at {place}, in C at {in_c}" for (name, place), in_c in zip(wanted, found) if place != in_c]
    if wrong or len(found) != len(wanted):
        sys.exit("\n".join(wrong) or "the program printed another number of lines")
    print(f"{len(wanted)} sizes and offsets are those of C")


def shared_library(compiler, archive, exported, cuda_libraries, folder):
    """The static library as a shared one, as BUILD_SHARED_LIBS makes it."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run([compiler, "-shared", "-o", folder / "libtenon.so", "-Wl,--whole-archive", archive, "-Wl,--no-whole-archive",
                    f"-Wl,--version-script={exported}", f"-L{cuda_libraries}", "-lcudart_static", "-ldl", "-lrt", "-lpthread"],
                   check=True)  # fmt: skip
    return folder / "libtenon.so"


def run(*of_the_library):
    try:
        import torch
    except ImportError:
        print("skipped: no PyTorch")
        sys.exit(77)
    if not torch.cuda.is_available():
        print("skipped: PyTorch has no GPU")
        sys.exit(77)
    os.environ["TENON_LIBRARY"] = str(shared_library(*of_the_library))
    import torch_linear

    def reference(x, weight, bias):
        return torch.nn.functional.gelu(torch.nn.functional.linear(x, weight, bias), approximate="tanh")

    class Linear(unittest.TestCase):
        def operands(self, dtype, shape=(3, 40, 136), n=200, grad=False):
            torch.manual_seed(1)
            x = torch.randn(shape, device="cuda", dtype=dtype)
            weight = torch.randn(n, shape[-1], device="cuda", dtype=dtype) / shape[-1] ** 0.5
            bias = torch.randn(n, device="cuda", dtype=dtype)
            return [t.requires_grad_(grad) for t in (x, weight, bias)]

        def close(self, found, wanted):
            torch.testing.assert_close(found.float(), wanted.float(), rtol=2e-2, atol=2e-2)

        def test_forward_is_that_of_torch(self):
            for dtype in (torch.float16, torch.bfloat16):
                for shape, n in (((3, 40, 136), 200), ((1, 7), 5), ((513, 64), 1), ((2, 0, 16), 8)):
                    operands = self.operands(dtype, shape, n)
                    self.close(torch_linear.linear_gelu(*operands), reference(*operands))

        def test_gradients_are_those_of_torch(self):
            ours, theirs = self.operands(torch.bfloat16, grad=True), self.operands(torch.bfloat16, grad=True)
            torch_linear.linear_gelu(*ours).float().square().mean().backward()
            reference(*theirs).float().square().mean().backward()
            for a, b in zip(ours, theirs):
                torch.testing.assert_close(a.grad.float(), b.grad.float(), rtol=3e-2, atol=1e-3)

        def test_the_operator_is_registered_as_torch_wants_it(self):
            torch.library.opcheck(torch_linear.linear_gelu_with_input, self.operands(torch.float16, grad=True))

        def test_compiled_without_a_break(self):
            operands = self.operands(torch.bfloat16)
            compiled = torch.compile(lambda *t: torch_linear.linear_gelu(*t) + 1, fullgraph=True, backend="aot_eager")
            self.close(compiled(*operands), reference(*operands) + 1)

        def test_on_another_stream_and_in_a_graph(self):
            operands = self.operands(torch.float16)
            torch_linear.linear_gelu(*operands)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                y = torch_linear.linear_gelu(*operands)
            operands[0].copy_(torch.randn_like(operands[0]))
            graph.replay()
            self.close(y, reference(*operands))

        def test_a_refusal_is_the_librarys_sentence(self):
            x, weight, bias = self.operands(torch.float16)
            with self.assertRaisesRegex(RuntimeError, "must have the same type"):
                torch_linear.multiply(x.reshape(-1, 136), weight.t().bfloat16())

    result = unittest.TextTestRunner(verbosity=2).run(unittest.defaultTestLoader.loadTestsFromTestCase(Linear))
    sys.exit(0 if result.wasSuccessful() and result.testsRun > 0 else 1)


if __name__ == "__main__":
    {"layout": layout, "run": run}[sys.argv[1]](*sys.argv[2:])
