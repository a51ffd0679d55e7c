"""A fused linear layer for PyTorch on tenon's shared library: y = gelu(x weight^T + bias) in one kernel.

  import torch_linear                       # TENON_LIBRARY: path of libtenon.so
  y = torch_linear.linear_gelu(x, weight, bias)

No compiled extension: the operator calls the C API (tenon/tenon.h) by ctypes, on the current stream. It is registered with
PyTorch, so that autograd, torch.compile and CUDA graphs take it like an operator of their own. f16 and bf16, gelu as with
approximate="tanh". The structs below are those of tenon/c_types.h and tenon/tenon.h; their size is handed over, so that they
may be older than the library.
"""

import ctypes
import functools
import os

import torch

TYPES = {torch.float16: 0, torch.bfloat16: 1, torch.float32: 2}  # tenon_type
ROW_MAJOR, COLUMN_MAJOR = 0, 1
GELU = 2
ALIGNMENT = 256  # of a workspace, which not every allocator has


class Status(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("message", ctypes.c_char * 256)]


class ConstMatrix(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("ld", ctypes.c_int64), ("order", ctypes.c_int), ("type", ctypes.c_int),
                ("reserved", ctypes.c_int32 * 2)]  # fmt: skip


class Matrix(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("ld", ctypes.c_int64), ("type", ctypes.c_int), ("reserved", ctypes.c_int32 * 3)]


class ConstVector(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("type", ctypes.c_int), ("reserved", ctypes.c_int32 * 3)]


class Epilogue(ctypes.Structure):
    _fields_ = [
        ("activation", ctypes.c_int), ("bias", ConstVector), ("row_bias", ConstVector), ("row_scale", ctypes.c_void_p),
        ("column_scale", ctypes.c_void_p), ("aux", Matrix), ("lower", ctypes.c_float), ("upper", ctypes.c_float),
        ("gated", ctypes.c_int), ("scale_d", ctypes.c_void_p), ("absmax", ctypes.c_void_p), ("bias_gradient", ctypes.c_void_p),
        ("reserved", ctypes.c_void_p * 8),
    ]  # fmt: skip


class GemmProblem(ctypes.Structure):
    _fields_ = [
        ("struct_bytes", ctypes.c_size_t), ("m", ctypes.c_int64), ("n", ctypes.c_int64), ("k", ctypes.c_int64),
        ("a", ConstMatrix), ("b", ConstMatrix), ("c", Matrix), ("alpha", ctypes.c_double), ("beta", ctypes.c_double),
        ("d", Matrix), ("epilogue", Epilogue), ("accumulate", ctypes.c_int), ("promote", ctypes.c_int),
        ("scale_a", ctypes.c_void_p), ("scale_b", ctypes.c_void_p), ("kernel", ctypes.c_char_p), ("tuning", ctypes.c_void_p),
        ("workspace", ctypes.c_void_p), ("workspace_bytes", ctypes.c_size_t), ("precision", ctypes.c_int),
        ("multiprocessors", ctypes.c_int), ("no_overlap", ctypes.c_int),
    ]  # fmt: skip


@functools.lru_cache
def library():
    found = ctypes.CDLL(os.environ.get("TENON_LIBRARY", "libtenon.so"))
    found.tenon_gemm_problem_init.argtypes = [ctypes.POINTER(GemmProblem), ctypes.c_size_t]
    found.tenon_gemm_problem_init.restype = None
    found.tenon_gemm_workspace_size.argtypes = [ctypes.POINTER(GemmProblem)]
    found.tenon_gemm_workspace_size.restype = ctypes.c_size_t
    found.tenon_gemm.argtypes = [ctypes.POINTER(GemmProblem), ctypes.c_void_p]
    found.tenon_gemm.restype = Status
    return found


def is_matrix(tensor, inner):
    """Whether dimension `inner` is contiguous, and the other one does not repeat elements as expand() does."""
    outer = 1 - inner
    return tensor.stride(inner) == 1 and (tensor.shape[outer] == 1 or tensor.stride(outer) >= tensor.shape[inner])


def matrix(tensor):
    """A two-dimensional tensor as A or B; a copy of it where the library could not read it."""
    if not is_matrix(tensor, 1) and not is_matrix(tensor, 0):
        tensor = tensor.contiguous()
    inner = 1 if is_matrix(tensor, 1) else 0
    ld = max(tensor.stride(1 - inner), tensor.shape[inner])  # where the other dimension is 1, its stride may be anything
    return ConstMatrix(tensor.data_ptr(), ld, ROW_MAJOR if inner == 1 else COLUMN_MAJOR, TYPES[tensor.dtype]), tensor


def rows_of(tensor):
    return tensor.unsqueeze(0) if tensor.dim() == 1 else tensor.flatten(0, -2)


def multiply(a, b, bias=None, activation=0, aux=None):
    """activation(a @ b + bias), on the current stream. aux: where a @ b + bias goes."""
    out = torch.empty(a.shape[0], b.shape[1], dtype=a.dtype, device=a.device)
    p = GemmProblem()
    library().tenon_gemm_problem_init(p, ctypes.sizeof(p))
    p.m, p.n, p.k = out.shape[0], out.shape[1], a.shape[1]
    (p.a, a), (p.b, b) = matrix(a), matrix(b)
    p.c = Matrix(out.data_ptr(), out.shape[1], TYPES[out.dtype])
    p.epilogue.activation = activation
    if bias is not None:
        bias = bias.contiguous()
        p.epilogue.bias = ConstVector(bias.data_ptr(), TYPES[bias.dtype])
    if aux is not None:
        p.epilogue.aux = Matrix(aux.data_ptr(), aux.shape[1], TYPES[aux.dtype])
    with torch.cuda.device(a.device):
        if needed := library().tenon_gemm_workspace_size(p):
            workspace = torch.empty(needed + ALIGNMENT - 1, dtype=torch.uint8, device=a.device)
            p.workspace, p.workspace_bytes = -(-workspace.data_ptr() // ALIGNMENT) * ALIGNMENT, needed
        status = library().tenon_gemm(p, torch.cuda.current_stream().cuda_stream)
    if status.code != 0:
        raise RuntimeError(status.message.decode())
    return out


@torch.library.custom_op("tenon::linear_gelu", mutates_args=(), device_types="cuda")
def linear_gelu_with_input(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """gelu(x weight^T + bias), and what gelu was applied to."""
    if weight.dim() != 2 or x.shape[-1:] != weight.shape[1:] or bias.shape != weight.shape[:1]:
        raise ValueError(
            f"x, weight and bias are {list(x.shape)}, {list(weight.shape)} and {list(bias.shape)} but must be [..., k], [n, k] and [n]"
        )
    rows = rows_of(x)
    before = torch.empty(rows.shape[0], weight.shape[0], dtype=x.dtype, device=x.device)
    y = multiply(rows, weight.t(), bias, GELU, before)
    shape = (*x.shape[:-1], weight.shape[0])
    return y.view(shape), before.view(shape)


@linear_gelu_with_input.register_fake
def _(x, weight, bias):
    shape = (*x.shape[:-1], weight.shape[0])
    return x.new_empty(shape), x.new_empty(shape)


@torch.library.custom_op("tenon::matmul", mutates_args=(), device_types="cuda")
def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return multiply(a, b)


@matmul.register_fake
def _(a, b):
    return a.new_empty(a.shape[0], b.shape[1])


def backward_by(product):
    """The gradients of the layer, computed by that operator."""

    def backward(ctx, grad_y, _grad_before):
        x, weight, before = ctx.saved_tensors
        grad = rows_of(torch.ops.aten.gelu_backward(grad_y, before, approximate="tanh"))
        grad_x = product(grad, weight).view(x.shape)
        grad_weight = product(grad.t(), rows_of(x))
        return grad_x, grad_weight, grad.sum(0)

    return backward


def setup_context(ctx, inputs, output):  # PyTorch passes them by these names
    ctx.save_for_backward(inputs[0], inputs[1], output[1])


linear_gelu_with_input.register_autograd(backward_by(matmul), setup_context=setup_context)


def linear_gelu(x, weight, bias):
    """x: ... x k, weight: n x k, bias: n; all of one type, f16 or bf16, on one CUDA device."""
    return linear_gelu_with_input(x, weight, bias)[0]
