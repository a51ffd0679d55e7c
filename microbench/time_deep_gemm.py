#!/usr/bin/env python3
"""Times DeepGEMM (the wheel sgl-deep-gemm) at the products of tenon_scaled_benchmark and tenon_grouped_benchmark.

The protocol is that of measure.hpp: each contender alone; a burst is 30 ms idle, then about 3 ms of launches, the median
of five; sustained is 300 ms idle, then 0.5 s back to back (the second half counts); launches are replayed
from a CUDA graph; cold operands rotate over more than twice the L2. Operands are N(0,1). The scales of A are
given as DeepGEMM's kernels read them, so that no call transposes them. 64 rows of every result are compared with the
product in f32. The records have the fields of the benchmarks' JSON (microbench/README.md).
"""

import argparse
import datetime
import sys

from peer_timer import Timer
from store_records import file_of_records, store

COLD_BYTES = 240 << 20
OPERATIONS = ("fp8-dense", "fp8-contiguous", "fp8-masked", "bf16-contiguous", "bf16-masked")
EXAMPLES = """examples:
  python3 time_deep_gemm.py --sustained --json deep_gemm.json --commit "$(git rev-parse --short HEAD)"
  python3 time_deep_gemm.py --operations fp8-contiguous,fp8-masked
  for i in 0 1 2 3; do python3 time_deep_gemm.py --compile-only --part $i/4 & done; wait    # fills DeepGEMM's cache
exit status: 0 done and correct, 1 wrong result, 2 bad usage, 3 no GPU or no DeepGEMM
"""

DENSE = [(4096, n, k, False) for n, k in ((2112, 7168), (24576, 1536), (7168, 16384), (4096, 7168), (7168, 2048))]
DENSE += [(8192, 8192, 8192, False)]
DENSE += [(m, n, k, True) for m in (64, 128)
          for n, k in ((2112, 7168), (24576, 1536), (7168, 16384), (4096, 7168), (7168, 2048))]
CONTIGUOUS = [(4, 8192, 4096, 7168), (4, 8192, 7168, 2048), (8, 4096, 4096, 7168), (32, 256, 4096, 7168),
              (32, 256, 7168, 2048)]
MASKED = [(groups, 1024 // groups, n, k) for groups in (1, 2, 4) for n, k in ((4096, 7168), (7168, 2048))]


def cases(operations):
    """(operation, groups, rows of each, n, k, cold) of every product."""
    for operation in operations:
        if operation == "fp8-dense":
            yield from ((operation, 1, m, n, k, cold) for m, n, k, cold in DENSE)
        elif operation.endswith("contiguous"):
            yield from ((operation, groups, m, n, k, False) for groups, m, n, k in CONTIGUOUS)
        else:
            yield from ((operation, groups, m, n, k, True) for groups, m, n, k in MASKED)


class Product:
    """Operands of one case, and its call."""

    def __init__(self, case, torch, deep_gemm):
        self.operation, self.groups, self.m, self.n, self.k, self.cold = case
        self.torch, self.deep_gemm = torch, deep_gemm
        self.fp8 = self.operation.startswith("fp8")
        rows = self.groups * self.m
        self.flop = 2.0 * rows * self.n * self.k
        set_bytes = (rows + self.groups * self.n) * self.k * (1 if self.fp8 else 2)
        self.sets = COLD_BYTES // set_bytes + 2 if self.cold else 1
        torch.manual_seed(1)
        self.a = [self.operand(rows, 1) for _ in range(self.sets)]
        self.b = [self.operand(self.groups * self.n, 128) for _ in range(self.sets)]
        self.d = torch.empty((rows, self.n), dtype=torch.bfloat16, device="cuda")
        self.group_of_row = torch.arange(self.groups, dtype=torch.int32, device="cuda").repeat_interleave(self.m)
        self.rows = torch.full((self.groups,), self.m, dtype=torch.int32, device="cuda")

    def operand(self, rows, scale_rows):
        """bf16, or e4m3 with scales of scale_rows x 128."""
        torch = self.torch
        elements = torch.empty((rows, self.k), dtype=torch.bfloat16, device="cuda")
        for part in elements.split(8192):
            part.copy_(torch.randn(part.shape, device="cuda"))
        if not self.fp8:
            return elements
        scales = 0.5 + torch.rand(((rows + scale_rows - 1) // scale_rows, (self.k + 127) // 128), device="cuda")
        if scale_rows > 1:  # of each group
            blocks = (self.n + 127) // 128
            scales = 0.5 + torch.rand((self.groups * blocks, (self.k + 127) // 128), device="cuda")
        return elements.to(torch.float8_e4m3fn), scales

    def arguments(self, which):
        """What the call takes: shapes and layouts of DeepGEMM."""
        a, b, d = self.a[which], self.b[which], self.d
        by_group = self.operation != "fp8-dense"
        masked = self.operation.endswith("masked")

        def shaped(x, count):
            return x.view(self.groups, count, x.shape[-1]) if count else x

        rows_a = self.m if masked else 0
        rows_b = self.n if by_group else 0
        d = shaped(d, rows_a)
        if not self.fp8:
            return shaped(a, rows_a), shaped(b, rows_b), d
        scale_a = self.deep_gemm.utils.layout.get_mn_major_tma_aligned_tensor(shaped(a[1], rows_a))
        scale_b = shaped(b[1], (self.n + 127) // 128 if by_group else 0)
        return (shaped(a[0], rows_a), scale_a), (shaped(b[0], rows_b), scale_b), d

    def function(self):
        names = {"fp8-dense": "fp8_gemm_nt", "fp8-contiguous": "m_grouped_fp8_gemm_nt_contiguous",
                 "fp8-masked": "fp8_m_grouped_gemm_nt_masked", "bf16-contiguous": "m_grouped_bf16_gemm_nt_contiguous",
                 "bf16-masked": "bf16_m_grouped_gemm_nt_masked"}
        return names[self.operation]

    def calls(self):
        """One call for each set of operands."""
        function = getattr(self.deep_gemm, self.function())

        def call(a, b, d):
            if self.operation == "fp8-dense":
                return lambda: function(a, b, d)
            if self.operation.endswith("contiguous"):
                return lambda: function(a, b, d, self.group_of_row)
            return lambda: function(a, b, d, self.rows, self.m)

        return [call(*self.arguments(which)) for which in range(self.sets)]

    def error(self):
        """Frobenius norm of the error of 64 rows of the last group over that of the product, operands of set 0."""
        torch = self.torch
        last = slice((self.groups - 1) * self.n, self.groups * self.n)
        if self.fp8:
            (a, scale_a), (b, scale_b) = self.a[0], self.b[0]
            blocks = scale_b.shape[0] // self.groups
            a = a[-64:].float() * scale_a[-64:].repeat_interleave(128, 1)[:, :self.k]
            of_b = scale_b[(self.groups - 1) * blocks:].repeat_interleave(128, 0)[:self.n].repeat_interleave(128, 1)
            b = b[last].float() * of_b[:, :self.k]
        else:
            a, b = self.a[0][-64:].float(), self.b[0][last].float()
        expected = (a.double() @ b.double().T)
        return float((self.d[-64:].double() - expected).norm() / expected.norm())


def record(product, burst, sustained, error, arguments, torch):
    def tflops(microseconds):
        return round(product.flop / microseconds * 1e-6, 2) if microseconds else None

    if product.operation == "fp8-dense":
        name = "dense"
    elif product.operation.endswith("masked"):
        name = "masked" if product.fp8 else "masked, cold"
    else:
        name = f"{product.groups} x {product.m}"
    benchmark = ("block_scaled_cold" if product.cold else "block_scaled") if product.fp8 else "grouped"
    return {"benchmark": benchmark, "m": product.groups * product.m, "n": product.n, "k": product.k,
            "batch": product.groups, "types": "e4m3_f32_bf16" if product.fp8 else "bf16_f32_bf16",
            "layout": "tn " + name, "kernel": "deep_gemm." + product.function(), "tflops_burst": tflops(burst),
            "tflops_sustained": tflops(sustained), "microseconds_burst": round(burst, 3), "relative_error": error,
            "commit": arguments.commit, "machine": torch.cuda.get_device_name(),
            "toolkit": f"sgl-deep-gemm, torch {torch.__version__}",
            "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat()}


def part(text):
    """'1/4' as (1, 4)."""
    which, count = (int(x) for x in text.split("/"))
    if not 0 <= which < count:
        raise ValueError(text)
    return which, count


def operations(text):
    names = text.split(",")
    unknown = [name for name in names if name not in OPERATIONS]
    if unknown:
        raise argparse.ArgumentTypeError(f"'{unknown[0]}' is none of {', '.join(OPERATIONS)}")
    return names


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLES,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--operations", type=operations, default=list(OPERATIONS),
                        help="separated by commas: " + ", ".join(OPERATIONS))
    parser.add_argument("--sustained", action="store_true", help="sustained runs too")
    parser.add_argument("--json", type=file_of_records, metavar="FILE", help="file for the records")
    parser.add_argument("--commit", default="", help="commit to store with them")
    parser.add_argument("--compile-only", action="store_true", help="run each product once, so that DeepGEMM compiles it")
    parser.add_argument("--part", type=part, default=(0, 1), metavar="I/N", help="every N-th product, from number I on")
    arguments = parser.parse_args()
    try:
        import torch
        import deep_gemm.utils.layout
        torch.cuda.init()
    except Exception as error:  # noqa: BLE001  (whatever a missing GPU or library raises)
        print(f"time_deep_gemm.py: {type(error).__name__}: {error}", file=sys.stderr)
        return 3
    which, count = arguments.part
    timer, records, wrong = Timer(torch), [], 0
    for case in list(cases(arguments.operations))[which::count]:
        try:
            product = Product(case, torch, deep_gemm)
            calls = product.calls()
            calls[0]()
            torch.cuda.synchronize()
        except Exception as error:  # noqa: BLE001  (one product must not end the run)
            print(f"{case}: {type(error).__name__}: {error}", file=sys.stderr)
            wrong += 1
            continue
        if arguments.compile_only:
            continue
        error = product.error()
        prepared = timer.prepared(calls)
        burst = timer.burst(prepared)
        sustained = timer.sustained(prepared) if arguments.sustained else 0
        # Of rounding to bf16: a missing k-tile of 128 would be sqrt(128 / k), 0.09 at least.
        wrong += error > 0.01
        row = record(product, burst, sustained, error, arguments, torch)
        records.append(row)
        print(f"{product.operation:16} {product.groups:2} x {product.m:5}, {product.n:5}, {product.k:5}"
              f" {'cold' if product.cold else '':4} {burst:8.2f} us  {row['tflops_burst']:7.1f} /"
              f" {row['tflops_sustained'] or 0:7.1f}  error {error:.4f}", flush=True)
        if arguments.json:
            store(arguments.json, records)  # after each row, since a later one may end the program
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
