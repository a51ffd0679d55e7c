"""The kernels that the .ptx files of this folder are compiled from: Triton 3.9, `TRITON_DISABLE_LINE_INFO=1 python3
kernels.py` in this folder. No GPU is needed for it, and Triton not to build tenon: the texts are kept."""
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def multiply(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    accumulators = tl.zeros((BM, BN), dtype=tl.float32)
    for at in range(0, k, BK):
        left = tl.load(a + rows[:, None] * k + (at + depth)[None, :], mask=rows[:, None] < m, other=0.0)
        right = tl.load(b + (at + depth)[:, None] * n + columns[None, :], mask=columns[None, :] < n, other=0.0)
        accumulators = tl.dot(left, right, accumulators)
    tl.store(c + rows[:, None] * n + columns[None, :], accumulators, mask=(rows[:, None] < m) & (columns[None, :] < n))


@triton.jit
def softmax(x, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    value = tl.load(x + tl.program_id(0) * n + i, mask=i < n, other=-float("inf"))
    value = tl.exp(value - tl.max(value, 0))
    tl.store(y + tl.program_id(0) * n + i, value / tl.sum(value, 0), mask=i < n)


# Launch: 4 warps; dynamic shared memory as printed; after the parameters two pointers to scratch memory, null here.
def write(kernel, file, signature, constants, architecture, aligned):
    index = kernel.arg_names.index
    source = ASTSource(kernel, signature={**signature, **{name: "constexpr" for name in constants}},
                       constexprs={(index(name),): value for name, value in constants.items()},
                       attrs={(index(name),): [["tt.divisibility", 16]] for name in aligned})
    made = triton.compile(source, target=GPUTarget("cuda", architecture, 32),
                          options={"num_warps": 4, "num_stages": 3})
    with open(file, "w") as out:
        out.write(made.asm["ptx"])
    print(file, "shared", made.metadata.shared)


matrices = {"a": "*fp16", "b": "*fp16", "c": "*fp32", "m": "i32", "n": "i32", "k": "i32"}
for architecture, sizes in ((80, {"BM": 32, "BN": 32, "BK": 32}), (90, {"BM": 64, "BN": 32, "BK": 32})):
    write(multiply, f"multiply_sm_{architecture}.ptx", matrices, sizes, architecture, ("a", "b", "c", "n", "k"))
write(softmax, "softmax_sm_80.ptx", {"x": "*fp32", "y": "*fp32", "n": "i32"}, {"B": 256}, 80, ())
