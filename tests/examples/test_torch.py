"""The examples for PyTorch: torch_linear.py (C API by ctypes) and torch_extension.cpp with its .py (operators in C++).

  test_torch.py layout <C compiler> <include folder> <folder to write into>
  test_torch.py cpu <c++ compiler> <folder of CUDA's headers> <folder to write into> <library of cpu_library.cpp>
  test_torch.py run <c++ compiler> <folder of CUDA's headers> <folder to write into> <libtenon.a> <exported.map> <cuda library folder>

layout: the structs of torch_linear.py are those of the C headers. cpu and run: what both examples compute is what PyTorch does,
without a GPU by cpu_library.cpp and a PyTorch that the test fetches, and with one. Exit status 77: skipped, there is no PyTorch of
2.4 or newer (run: none with a GPU).
"""
import contextlib
import ctypes
import os
import pathlib
import subprocess
import sys
import types
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
STRUCTS = {"Status": "tenon_status", "ConstMatrix": "tenon_const_matrix", "Matrix": "tenon_matrix", "ConstVector": "tenon_const_vector",
           "Epilogue": "tenon_epilogue", "GemmProblem": "tenon_gemm_problem"}  # fmt: skip
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE), str(ROOT / "scripts")]


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


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def compiled(compiler, source, torch_include, cuda_include, folder, *options):
    to = folder / f"{source.stem}.o"
    subprocess.run([compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fPIC", "-c", source, "-o", to, f"-I{ROOT / 'include'}",
                    "-isystem", torch_include, "-isystem", cuda_include, *options], check=True)  # fmt: skip
    return to


def with_torch():
    try:
        import torch
    except ImportError:
        skip("no PyTorch")
    if not hasattr(torch.library, "register_autograd"):
        skip(f"PyTorch is {torch.__version__} but must be of 2.4 or newer")
    return torch


def extension(compiler, source, cuda_include, folder, tenon, *libraries):
    """Builds the operators as a user does, and loads them."""
    import torch
    import torch_extension

    torch_folder = pathlib.Path(torch.__file__).parent
    abi = f"-D_GLIBCXX_USE_CXX11_ABI={int(torch._C._GLIBCXX_USE_CXX11_ABI)}"
    code = compiled(compiler, HERE / source, torch_folder / "include", cuda_include, folder, abi)
    places = [torch_folder / "lib", pathlib.Path(tenon).resolve().parent]
    subprocess.run([compiler, "-shared", "-o", folder / "libtenon_torch.so", code, tenon, *(f"-L{place}" for place in places),
                    *(f"-Wl,-rpath,{place}" for place in places), "-ltorch_cpu", "-lc10", *libraries], check=True)  # fmt: skip
    torch_extension.load(folder / "libtenon_torch.so")


def cases(device):
    """The tests of both examples, on that device."""
    import torch
    import torch_extension
    import torch_linear

    def reference(x, weight, bias):
        return torch.nn.functional.gelu(torch.nn.functional.linear(x, weight, bias), approximate="tanh")

    class Layer(unittest.TestCase):
        def operands(self, dtype, shape=(3, 40, 136), n=200, grad=False):
            torch.manual_seed(1)
            x = torch.randn(shape, device=device, dtype=dtype)
            weight = torch.randn(n, shape[-1], device=device, dtype=dtype) / max(shape[-1], 1) ** 0.5
            bias = torch.randn(n, device=device, dtype=dtype)
            return [t.requires_grad_(grad) for t in (x, weight, bias)]

        def close(self, found, wanted):
            torch.testing.assert_close(found.float(), wanted.float(), rtol=2e-2, atol=2e-2)

        def test_forward_is_that_of_torch(self):
            for dtype in (torch.float16, torch.bfloat16):
                for shape, n in (((3, 40, 136), 200), ((1, 7), 5), ((7,), 3), ((513, 64), 1), ((2, 0, 16), 8), ((4, 0), 8)):
                    operands = self.operands(dtype, shape, n)
                    self.close(self.layer(*operands), reference(*operands))

        def test_operands_that_are_views(self):
            x, weight, bias = self.operands(torch.bfloat16, (40, 136))
            self.close(self.layer(x[:1].expand(5, 136), weight, bias), reference(x[:1].expand(5, 136), weight, bias))
            self.close(self.layer(x[:, :1].expand(40, 136), weight, bias), reference(x[:, :1].expand(40, 136), weight, bias))
            self.close(self.layer(x[:, 8:24], weight[:, ::2][:, :16], bias), reference(x[:, 8:24], weight[:, ::2][:, :16], bias))
            self.close(self.layer(x.t().contiguous().t(), weight, bias), reference(x, weight, bias))
            self.close(self.layer(x, weight, bias[:1].expand(200)), reference(x, weight, bias[:1].expand(200)))

        def test_gradients_are_those_of_torch(self):
            for shape in ((3, 40, 136), (136,)):
                ours, theirs = self.operands(torch.bfloat16, shape, grad=True), self.operands(torch.bfloat16, shape, grad=True)
                self.layer(*ours).float().square().mean().backward()
                reference(*theirs).float().square().mean().backward()
                for a, b in zip(ours, theirs):
                    torch.testing.assert_close(a.grad.float(), b.grad.float(), rtol=3e-2, atol=1e-3)

        def test_the_operator_is_registered_as_torch_wants_it(self):
            torch.library.opcheck(self.operator, self.operands(torch.float16, grad=True))

        def test_compiled_without_a_break(self):
            operands = self.operands(torch.bfloat16)
            compiled = torch.compile(lambda *t: self.layer(*t) + 1, fullgraph=True, backend="aot_eager")
            self.close(compiled(*operands), reference(*operands) + 1)

        @unittest.skipUnless(device == "cuda", "needs a GPU")
        def test_on_another_stream_and_in_a_graph(self):
            operands = self.operands(torch.float16)
            self.layer(*operands)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                y = self.layer(*operands)
            operands[0].copy_(torch.randn_like(operands[0]))
            graph.replay()
            self.close(y, reference(*operands))

        def test_misuse_is_a_sentence(self):
            x, weight, bias = self.operands(torch.float16)
            sizes = r"x, weight and bias are \[3, 40, 136\], .* but must be \[\.\.\., k\], \[n, k\] and \[n\]"
            for operands, sentence in (
                ((x, weight[:, :8], bias), sizes),
                ((x, weight, bias[1:]), sizes),
                ((x, weight, bias[0]), sizes),
                ((x, weight.bfloat16(), bias), "must have the same type"),
            ):  # fmt: skip
                with self.assertRaisesRegex((RuntimeError, ValueError), sentence):
                    self.layer(*operands)

    class ByCtypes(Layer):
        layer = staticmethod(torch_linear.linear_gelu)
        operator = torch_linear.linear_gelu_with_input

    class InCpp(Layer):
        layer = staticmethod(torch_extension.linear_gelu)
        operator = torch.ops.tenon_cpp.linear_gelu.default

    tests = map(unittest.defaultTestLoader.loadTestsFromTestCase, (ByCtypes, InCpp))
    result = unittest.TextTestRunner(verbosity=2).run(unittest.TestSuite(tests))
    sys.exit(0 if result.wasSuccessful() and result.testsRun > 0 else 1)


def cpu(compiler, cuda_include, folder, tenon):
    import torch_wheel
    from tenon_sass.errors import NoTool

    folder = pathlib.Path(folder).resolve()
    try:
        torch_wheel.make_importable(folder / "stand_ins", compiler)
    except NoTool as error:
        skip(error)
    torch = with_torch()
    compiled(compiler, HERE / "torch_extension.cpp", pathlib.Path(torch.__file__).parent / "include", cuda_include, folder)
    os.environ["TENON_LIBRARY"] = str(pathlib.Path(tenon).resolve())
    # The operators of torch_linear.py are for CUDA: here they are those of the CPU, where there is no stream.
    custom_op = torch.library.custom_op
    with mock.patch.object(torch.library, "custom_op", lambda *a, **k: custom_op(*a, **{**k, "device_types": "cpu"})):
        import torch_linear  # noqa: F401
    extension(compiler, "torch_on_cpu.cpp", cuda_include, folder, tenon)
    with (
        mock.patch.object(torch.cuda, "device", lambda device: contextlib.nullcontext()),
        mock.patch.object(torch.cuda, "current_stream", lambda: types.SimpleNamespace(cuda_stream=None)),
    ):
        cases("cpu")


def run(compiler, cuda_include, folder, *of_the_library):
    torch = with_torch()
    if not torch.cuda.is_available():
        skip("PyTorch has no GPU")
    folder = pathlib.Path(folder).resolve()
    tenon = shared_library(compiler, *of_the_library, folder)
    os.environ["TENON_LIBRARY"] = str(tenon)
    extension(compiler, "torch_extension.cpp", cuda_include, folder, tenon, "-lc10_cuda")
    cases("cuda")


if __name__ == "__main__":
    {"layout": layout, "cpu": cpu, "run": run}[sys.argv[1]](*sys.argv[2:])
