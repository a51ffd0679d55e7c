"""jax_linear.py: compiled with the headers of jaxlib, traced for CUDA, executed on the CPU (without a GPU), and on a GPU.

  test_jax.py cpu <c++ compiler> <libtenon.a> <exported.map> <cuda library folder> <folder> <library of cpu_library.cpp>
  test_jax.py run <c++ compiler> <libtenon.a> <exported.map> <cuda library folder> <folder>

cpu: with the JAX of scripts/requirements/jax.txt, which it fetches. The custom call is linked with tenon's library, and for the
CPU with cpu_library.cpp, whose results are compared with JAX's. <folder>: where it writes. Exit status 77: skipped; there is no
JAX (run: none with a GPU).
"""
import ctypes
import os
import pathlib
import re
import subprocess
import sys
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE), str(ROOT / "scripts")]
from test_torch import shared_library  # noqa: E402  (the lines above make it importable)

TYPES = ("float16", "bfloat16")
SHAPES = (((3, 40, 136), 200), ((1, 7), 5), ((7,), 3), ((2, 0, 16), 8), ((4, 0), 8))
NN, NT, TN = (f"transpose_a = {a}, transpose_b = {b}" for a, b in (("false", "false"), ("false", "true"), ("true", "false")))


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def compiled(compiler, source, folder):
    """The object file of a source of the example."""
    import jax

    to = (folder / source).with_suffix(".o")
    subprocess.run([compiler, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-fPIC", "-c", HERE / source, "-o", to,
                    f"-I{ROOT / 'include'}", "-isystem", jax.ffi.include_dir()], check=True)  # fmt: skip
    return to


def linked(compiler, code, library, to):
    """The shared library of an object file and of the library that it calls."""
    library = pathlib.Path(library).resolve()
    subprocess.run([compiler, "-shared", "-o", to, code, library, f"-Wl,-rpath,{library.parent},--no-undefined"], check=True)
    return str(to)


def example(compiler, archive, exported, cuda_libraries, folder):
    """Builds the custom call as a user does; the library that it is linked with, and the folder of both."""
    folder = pathlib.Path(folder).resolve()
    tenon = shared_library(compiler, archive, exported, cuda_libraries, folder)
    code = compiled(compiler, "jax_linear.cpp", folder)
    os.environ["TENON_JAX_LIBRARY"] = linked(compiler, code, tenon, folder / "libtenon_jax.so")
    return tenon, folder


def register_on_cpu(target, custom_call):
    import jax

    jax.ffi.register_ffi_target(target, jax.ffi.pycapsule(ctypes.CDLL(custom_call).tenon_jax_gemm), platform="cpu")


def custom_calls(function, *operands):
    """Of the program for CUDA: attributes, types of the arguments, types of the results."""
    import jax

    text = jax.jit(function).trace(*operands).lower(lowering_platforms=("cuda",)).as_text()
    calls = re.findall(r"stablehlo\.custom_call @tenon_gemm\(.*?mhlo\.backend_config = \{(.*?)\}.* : \((.*?)\) -> \((.*?)\)", text)
    return [tuple(re.sub(r"tensor<(.*?)>", r"\1", part) for part in call) for call in calls]


def loss(function):
    def scalar(*operands):
        return (function(*operands).astype("float32") ** 2).mean()

    return scalar


class Example(unittest.TestCase):
    """What the classes below share: operands, and JAX's own layer."""

    def operands(self, dtype="bfloat16", shape=(3, 40, 136), n=200):
        import jax.numpy as jnp
        import numpy as np

        random = np.random.default_rng(1)
        x, weight, bias = (random.normal(size=size) for size in (shape, (n, shape[-1]), n))
        return [jnp.asarray(array, dtype) for array in (x, weight / max(shape[-1], 1) ** 0.5, bias)]

    def reference(self, x, weight, bias):
        import jax

        return jax.nn.gelu(jax.numpy.einsum("...k,nk->...n", x, weight, preferred_element_type="float32") + bias).astype(x.dtype)

    def close(self, found, wanted, roundings=3):
        """Apart by so many roundings of the largest element at most."""
        import jax.numpy as jnp
        import numpy as np

        self.assertEqual((found.dtype, found.shape), (wanted.dtype, wanted.shape))
        found, rounding, wanted = np.asarray(found, "float32"), float(jnp.finfo(found.dtype).eps) / 2, np.asarray(wanted, "float32")
        np.testing.assert_allclose(found, wanted, rtol=0, atol=roundings * rounding * np.abs(wanted).max(initial=0))

    def gradients(self, function):
        import jax

        return jax.jit(jax.grad(loss(function), argnums=(0, 1, 2)))


class Traced(Example):
    def test_the_forward_pass_is_one_call(self):
        self.assertEqual(custom_calls(self.layer, *self.operands()), [
            (f"gelu = true, {NT}", "120x136xbf16, 200x136xbf16, 200xbf16", "120x200xbf16, 0xui8")])  # fmt: skip

    def test_the_gradients_are_two_more(self):
        import jax

        calls = custom_calls(jax.grad(loss(self.layer), argnums=(0, 1, 2)), *self.operands("float16"))
        self.assertEqual(calls, [
            (f"gelu = true, {NT}", "120x136xf16, 200x136xf16, 200xf16", "120x200xf16, 0xui8, 120x200xf16"),
            (f"gelu = false, {NN}", "120x200xf16, 200x136xf16", "120x136xf16, 0xui8"),
            (f"gelu = false, {TN}", "120x200xf16, 120x136xf16", "200x136xf16, 0xui8")])  # fmt: skip

    def test_shapes_without_computing(self):
        import jax

        for dtype in TYPES:
            for shape, n in SHAPES:
                operands = self.operands(dtype, shape, n)
                y = jax.eval_shape(self.layer, *operands)
                self.assertEqual((y.shape, y.dtype), ((*shape[:-1], n), dtype))
                grads = jax.eval_shape(jax.grad(loss(self.layer), argnums=(0, 1, 2)), *operands)
                self.assertEqual([(g.shape, g.dtype) for g in grads], [(o.shape, o.dtype) for o in operands])

    def test_misuse_is_a_sentence(self):
        x, weight, bias = self.operands()
        f32 = "float32"
        for operands, sentence in (
            ((x.astype(f32), weight, bias), "x is of float32 but must be of float16 or bfloat16"),
            ((x, weight.astype(f32), bias), "weight is of float32 but must be of bfloat16, as x is"),
            ((x, weight, bias.astype(f32)), "bias is of float32 but must be of bfloat16, as x is"),
            ((x, weight.T, bias), "weight is (136, 200) but must be n x k, where k is the last size of x, which is (3, 40, 136)"),
            ((x, weight[0], bias), "weight is (136,) but must be n x k, where k is the last size of x, which is (3, 40, 136)"),
            ((x, weight, bias[1:]), "bias is (199,) but must be (200,), the rows of weight"),
        ):  # fmt: skip
            for function in (self.layer, self.gradients(self.layer)):
                with self.assertRaisesRegex(TypeError, re.escape(sentence)):
                    function(*operands)

    def test_without_a_gpu_xla_refuses(self):
        with self.assertRaisesRegex(Exception, "No FFI handler registered for tenon_gemm on a platform Host"):
            self.layer(*self.operands())

    def test_without_a_gpu_the_library_refuses(self):
        import jax_linear

        with mock.patch.object(jax_linear, "TARGET", "tenon_gemm_without_a_gpu"):
            register_on_cpu(jax_linear.TARGET, self.without_a_gpu)
            with self.assertRaisesRegex(Exception, "INTERNAL: no CUDA device: "):
                self.layer(*self.operands())


class Executed(Example):
    """On the CPU or on the GPU, whichever JAX has."""

    def test_forward_is_that_of_jax(self):
        for dtype in TYPES:
            for shape, n in SHAPES:
                operands = self.operands(dtype, shape, n)
                self.close(self.layer(*operands), self.reference(*operands))

    def test_gradients_are_those_of_jax(self):
        for dtype in TYPES:
            operands = self.operands(dtype)
            for found, wanted in zip(self.gradients(self.layer)(*operands), self.gradients(self.reference)(*operands)):
                self.close(found, wanted)

    def test_on_each_device(self):
        import jax

        for device in jax.devices():
            operands = [jax.device_put(operand, device) for operand in self.operands()]
            y = jax.jit(self.layer)(*operands)
            self.assertEqual(y.devices(), {device})
            self.close(y, self.reference(*operands))

    def test_vmap(self):
        import jax

        operands = self.operands()
        self.close(jax.vmap(self.layer, (0, None, None))(*operands), self.reference(*operands))

    def test_among_operations_of_xla_again_and_again(self):
        import jax

        def three_layers(function):
            def layers(x, weight, bias):
                for _ in range(3):
                    x = function(x + 1, weight[:, :136], bias)[..., :136] / 2
                return x

            return jax.jit(layers)

        x, weight, bias = self.operands()
        ours, theirs = three_layers(self.layer), three_layers(self.reference)
        for _ in range(5):
            self.close(ours(x, weight, bias), theirs(x, weight, bias), 6)
            x = x[::-1] + 0.5

    def test_a_product_of_other_shapes_is_refused_by_the_custom_call(self):
        import jax
        import jax_linear

        x, weight, bias = self.operands(shape=(40, 136))
        for operands, sentence in (((x, weight), "b is 200 x 136 but must be 136 x 136"),
                                   ((x, weight.T, bias[1:]), "bias is 199 but must be 200"),
                                   ((x, weight.T.astype("float16")), "b is of F16 but must be of BF16, as a is"),
                                   ((x.astype("float32"), weight.T), "a is of F32 but must be of F16 or BF16")):  # fmt: skip
            with self.assertRaisesRegex(Exception, sentence):
                jax.block_until_ready(jax_linear.product(*operands))


def suite(*classes):
    import jax_linear

    Example.layer = staticmethod(jax_linear.linear_gelu)
    load = unittest.defaultTestLoader.loadTestsFromTestCase
    result = unittest.TextTestRunner(verbosity=2).run(unittest.TestSuite(map(load, classes)))
    sys.exit(0 if result.wasSuccessful() and result.testsRun > 0 else 1)


def cpu(compiler, archive, exported, cuda_libraries, folder, library):
    from tenon_sass.errors import NoTool
    from tenon_toolkit import packages

    try:
        sys.path.insert(0, str(packages.of_this_python("jax", "JAX")))
    except NoTool as e:
        skip(e)
    os.environ.update(JAX_PLATFORMS="cpu", CUDA_VISIBLE_DEVICES="-1")
    tenon, folder = example(compiler, archive, exported, cuda_libraries, folder)
    code = compiled(compiler, "jax_on_cpu.cpp", folder)
    Traced.without_a_gpu = linked(compiler, code, tenon, folder / "without_a_gpu.so")
    on_cpu = linked(compiler, code, library, folder / "on_cpu.so")
    Executed.setUpClass = classmethod(lambda _: take(on_cpu))
    suite(Traced, Executed)  # in this order: the first is refused what the second registers


def take(on_cpu):
    """From now on the example calls the custom call for the CPU, and asks it for the workspace."""
    import jax
    import jax_linear

    register_on_cpu(jax_linear.TARGET, on_cpu)
    os.environ["TENON_JAX_LIBRARY"] = on_cpu
    jax_linear.library.cache_clear()
    jax.clear_caches()


def run(compiler, archive, exported, cuda_libraries, folder):
    # Every operation becomes part of a CUDA graph that can.
    os.environ.update(XLA_PYTHON_CLIENT_PREALLOCATE="false", XLA_FLAGS="--xla_gpu_graph_min_graph_size=1")
    try:
        import jax
    except ImportError:
        skip("no JAX")
    try:
        jax.devices("gpu")
    except RuntimeError:
        skip("JAX has no GPU")
    example(compiler, archive, exported, cuda_libraries, folder)
    suite(Executed)


if __name__ == "__main__":
    {"cpu": cpu, "run": run}[sys.argv[1]](*sys.argv[2:])
