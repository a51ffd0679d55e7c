"""A fused linear layer for PyTorch by operators in C++ (torch_extension.cpp), with their gradients.

  import torch_extension
  torch_extension.load("libtenon_torch.so")
  y = torch_extension.linear_gelu(x, weight, bias)

torch_linear.py has the same layer without a compiler.
"""

import torch

import torch_linear


def load(library):
    torch.ops.load_library(library)
    torch.library.register_autograd(
        "tenon_cpp::linear_gelu", torch_linear.backward_by(torch.ops.tenon_cpp.matmul), setup_context=torch_linear.setup_context
    )


def linear_gelu(x, weight, bias):
    """x: ... x k, weight: n x k, bias: n; all of one type, f16 or bf16, on one CUDA device."""
    return torch.ops.tenon_cpp.linear_gelu(x, weight, bias)[0]
