"""A fused linear layer for JAX on tenon's shared library: y = gelu(x weight^T + bias) in one kernel.

  import jax_linear                         # TENON_JAX_LIBRARY: path of libtenon_jax.so, made of jax_linear.cpp
  y = jax_linear.linear_gelu(x, weight, bias)

The product is a custom call of XLA, on the stream that XLA passes; so jit, grad and CUDA graphs take it. f16 and bf16, gelu as
with approximate=True. vmap launches one product for each element: leading dimensions of x are faster.
"""

import ctypes
import functools
import math
import os

import jax
import jax.numpy as jnp

TARGET = "tenon_gemm"


@functools.lru_cache
def library():
    """The compiled half, once registered with XLA for CUDA."""
    found = ctypes.CDLL(os.environ.get("TENON_JAX_LIBRARY", "libtenon_jax.so"))
    found.tenon_jax_workspace.argtypes = [ctypes.c_int64] * 3 + [ctypes.c_int] * 4
    found.tenon_jax_workspace.restype = ctypes.c_size_t
    jax.ffi.register_ffi_target(TARGET, jax.ffi.pycapsule(found.tenon_jax_gemm), platform="CUDA")
    return found


def product(a, b, bias=None, *, transpose_a=False, transpose_b=False, gelu=False, with_input=False):
    """gelu(a @ b + bias) of two matrices, each perhaps stored transposed; with_input: and what gelu was applied to."""
    (m, k), n = a.shape[::-1] if transpose_a else a.shape, b.shape[0 if transpose_b else 1]
    # Asked for when JAX traces, on the device that is current then: a program exported elsewhere runs with what it got there.
    workspace = library().tenon_jax_workspace(m, n, k, a.dtype == jnp.bfloat16, transpose_a, transpose_b, gelu)
    out = jax.ShapeDtypeStruct((m, n), a.dtype)
    results = (out, jax.ShapeDtypeStruct((workspace,), jnp.uint8), *[out] * with_input)
    call = jax.ffi.ffi_call(TARGET, results, vmap_method="sequential")
    y, _, *before = call(a, b, *([] if bias is None else [bias]), transpose_a=transpose_a, transpose_b=transpose_b, gelu=gelu)
    return (y, *before) if with_input else y


def check(x, weight, bias):
    if x.dtype not in (jnp.float16, jnp.bfloat16):
        raise TypeError(f"x is of {x.dtype} but must be of float16 or bfloat16")
    if x.ndim == 0 or weight.ndim != 2 or weight.shape[1] != x.shape[-1]:
        raise TypeError(f"weight is {weight.shape} but must be n x k, where k is the last size of x, which is {x.shape}")
    if bias.shape != weight.shape[:1]:
        raise TypeError(f"bias is {bias.shape} but must be {weight.shape[:1]}, the rows of weight")
    for name, array in (("weight", weight), ("bias", bias)):
        if array.dtype != x.dtype:
            raise TypeError(f"{name} is of {array.dtype} but must be of {x.dtype}, as x is")


def rows(x):
    return x.reshape(math.prod(x.shape[:-1]), x.shape[-1])


@jax.custom_vjp
def linear_gelu(x, weight, bias):
    """x: ... x k, weight: n x k, bias: n; all of one type, f16 or bf16."""
    check(x, weight, bias)
    return product(rows(x), weight, bias, transpose_b=True, gelu=True).reshape(*x.shape[:-1], weight.shape[0])


def forward(x, weight, bias):
    check(x, weight, bias)
    y, before = product(rows(x), weight, bias, transpose_b=True, gelu=True, with_input=True)
    return y.reshape(*x.shape[:-1], weight.shape[0]), (x, weight, before)


def backward(saved, grad_y):
    x, weight, before = saved
    _, gelu_backward = jax.vjp(functools.partial(jax.nn.gelu, approximate=True), before.astype(jnp.float32))
    (grad,) = gelu_backward(rows(grad_y).astype(jnp.float32))
    grad_bias, grad = grad.sum(0).astype(x.dtype), grad.astype(x.dtype)
    return product(grad, weight).reshape(x.shape), product(grad, rows(x), transpose_a=True), grad_bias


linear_gelu.defvjp(forward, backward)
