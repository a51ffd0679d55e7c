#!/usr/bin/env python3
"""Times FlashAttention-3 (the wheel fa3-fwd), cuDNN and FlashAttention-2 (both in PyTorch) at the rows of
tenon_attention_benchmark.

The protocol is that of measure.hpp: each contender alone; a burst is 30 ms idle, then about 3 ms of launches, the median
of five; sustained is 300 ms idle, then 0.5 s back to back (the second half counts); launches are replayed
from a CUDA graph, but those of the backward pass, each of milliseconds; in decode K and V rotate over more than twice the
L2. Tensors are N(0,1), batch x rows x heads x head dimension. 64 rows of every O, or of dQ, are compared with float64.
The records have the fields of the benchmarks' JSON (microbench/README.md).
"""

import argparse
import dataclasses
import datetime
import sys

from peer_timer import Timer
from store_records import file_of_records, store

COLD_BYTES = 240 << 20
# The peers of each group of rows: what a user of PyTorch would call instead.
PEERS = {"forward": ("FlashAttention-3", "cuDNN"), "mma": ("FlashAttention-2",), "e4m3": ("FlashAttention-3",),
         "backward": ("cuDNN", "FlashAttention-2"), "decode": ("cuDNN", "FlashAttention-3"),
         "chunk": ("cuDNN", "FlashAttention-3"), "mla": ("FlashAttention-3",)}
EXAMPLES = """examples:
  python3 time_attention.py --sustained --json attention_peers.json --commit "$(git rev-parse --short HEAD)"
  python3 time_attention.py --rows forward,e4m3 --head-dimensions 128
exit status: 0 done and correct, 1 wrong result or a call that failed, 2 bad usage, 3 no GPU or no library
"""


@dataclasses.dataclass
class Row:
    group: str
    batch: int
    heads: int
    key_heads: int
    queries: int
    keys: int
    head_dimension: int
    value_dimension: int
    causal: bool = False

    @property
    def cold(self):
        return self.group in ("decode", "chunk", "mla")

    @property
    def element(self):
        return 1 if self.group == "e4m3" else 2

    def key_bytes(self):
        columns = self.head_dimension + (0 if self.group == "mla" else self.value_dimension)
        return self.batch * self.keys * self.key_heads * columns * self.element

    def flop(self):
        pairs = self.batch * self.heads * self.queries * self.keys * (0.5 if self.causal else 1)
        return 2 * pairs * (self.head_dimension + self.value_dimension) * (2.5 if self.group == "backward" else 1)

    def describe(self):
        text = f"{'causal' if self.causal else 'full'} heads={self.heads}/{self.key_heads} d={self.head_dimension}"
        text += f"/{self.value_dimension}" if self.value_dimension != self.head_dimension else ""
        return text + (" cold" if self.cold else "")

    def line(self):
        return f"{self.group:8} {self.describe():28} {self.batch:3} x {self.queries:5}, {self.keys:5}"


def rows_of(group):
    if group == "decode":
        return [Row(group, batch, 32, 8, 1, keys, 128, 128) for batch in (1, 16, 64) for keys in (4096, 32768)]
    if group == "chunk":
        return [Row(group, 1, 8, 8, queries, keys, 128, 128) for queries in (64, 256) for keys in (4096, 32768)]
    if group == "mla":
        return [Row(group, batch, heads, 1, 1, keys, 576, 512)
                for heads in (16, 128) for batch in (1, 16, 64) for keys in (4096, 32768)]
    backward = group == "backward"
    return [Row(group, 16384 // n, 2048 // d, 2048 // d, n, n, d, d, causal)
            for d in ((64, 128) if backward else (64, 128, 256)) for causal in (True, False)
            for n in ((4096, 16384) if backward else (2048, 4096, 8192, 16384))]


class Attention:
    """Tensors of a row, and the calls of a peer."""

    def __init__(self, row, torch, flash3):
        self.row, self.torch, self.flash3 = row, torch, flash3
        self.scale = row.head_dimension ** -0.5
        self.sets = COLD_BYTES // row.key_bytes() + 2 if row.cold and row.key_bytes() < COLD_BYTES else 1
        torch.manual_seed(1)
        self.q = self.normal(row.queries, row.heads, row.head_dimension)
        self.k = [self.normal(row.keys, row.key_heads, row.head_dimension) for _ in range(self.sets)]
        if row.group == "mla":
            self.v = [k[..., :512] for k in self.k]
        else:
            self.v = [self.normal(row.keys, row.key_heads, row.value_dimension) for _ in range(self.sets)]

    def normal(self, rows, heads, dimension):
        torch = self.torch
        tensor = torch.empty((self.row.batch, rows, heads, dimension), dtype=torch.bfloat16, device="cuda").normal_()
        return tensor.to(torch.float8_e4m3fn) if self.row.group == "e4m3" else tensor

    def sdpa(self, backend, q, k, v):
        with self.torch.nn.attention.sdpa_kernel(backend):
            return self.torch.nn.functional.scaled_dot_product_attention(
                q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), is_causal=self.row.causal,
                enable_gqa=q.shape[2] != k.shape[2]).transpose(1, 2)

    def calls(self, peer):
        """One call for each set of keys; it returns O, or dQ, dK and dV."""
        torch, row = self.torch, self.row
        if peer == "FlashAttention-3":
            return [self.flash3_call(k, v) for k, v in zip(self.k, self.v)]
        backends = torch.nn.attention.SDPBackend
        backend = backends.CUDNN_ATTENTION if peer == "cuDNN" else backends.FLASH_ATTENTION
        if row.group != "backward":
            return [lambda k=k, v=v: self.sdpa(backend, self.q, k, v) for k, v in zip(self.k, self.v)]
        leaves = [x.detach().requires_grad_() for x in (self.q, self.k[0], self.v[0])]
        o = self.sdpa(backend, *leaves)
        self.d_o = torch.empty_like(o).normal_()
        return [lambda: torch.autograd.grad(o, leaves, self.d_o, retain_graph=True)]

    def flash3_call(self, k, v):
        torch, row, flash3 = self.torch, self.row, self.flash3
        if flash3 is None:
            raise ImportError("no fa3_fwd_interface: the wheel fa3-fwd has it")
        if not row.cold:
            more = {}
            if row.group == "e4m3":
                one = torch.ones((row.batch, row.heads), device="cuda")
                more = {"q_descale": one, "k_descale": one, "v_descale": one}
            return lambda: first(flash3.flash_attn_func(self.q, k, v, causal=row.causal, **more))
        lengths = torch.full((row.batch,), row.keys, dtype=torch.int32, device="cuda")
        if row.group != "mla":
            return lambda: first(flash3.flash_attn_with_kvcache(self.q, k, v, cache_seqlens=lengths))
        q, qv = self.q[..., 512:].contiguous(), self.q[..., :512].contiguous()
        return lambda: first(flash3.flash_attn_with_kvcache(q, k[..., 512:], v, qv=qv, cache_seqlens=lengths, causal=True,
                                                            softmax_scale=self.scale))

    def error(self, result):
        """Frobenius norm of the error of the last 64 queries of the last head over that of what is expected."""
        torch, row = self.torch, self.row
        rows = slice(max(0, row.queries - 64), row.queries)
        q, k, v = (x[-1, of, -1].double() for x, of in ((self.q, rows), (self.k[0], slice(None)), (self.v[0], slice(None))))
        score = q @ k.T * self.scale
        if row.causal:
            positions = torch.arange(row.queries, device="cuda")[rows]
            score.masked_fill_(torch.arange(row.keys, device="cuda") > positions[:, None], -torch.inf)
        weight = torch.softmax(score, -1)
        if row.group == "backward":
            of_weight = self.d_o[-1, rows, -1].double() @ v.T
            expected = weight * (of_weight - (weight * of_weight).sum(-1, keepdim=True)) @ k * self.scale
            result = result[0]
        else:
            expected = weight @ v
        return float((result[-1, rows, -1].double() - expected).norm() / expected.norm())


def first(result):
    """O, of a call that may return the log-sum-exp too."""
    return result[0] if isinstance(result, (tuple, list)) else result


def record(row, peer, burst, sustained, error, arguments, torch):
    def tflops(microseconds):
        return round(row.flop() / microseconds * 1e-6, 2) if microseconds else None

    benchmark = "attention_" + ("backward" if row.group == "backward" else "decode" if row.queries == 1 else "forward")
    return {"benchmark": benchmark, "m": row.queries, "n": row.keys, "k": row.head_dimension, "batch": row.batch,
            "types": ("e4m3" if row.group == "e4m3" else "bf16") + "_f32_bf16", "layout": row.describe(), "kernel": peer,
            "tflops_burst": tflops(burst), "tflops_sustained": tflops(sustained), "microseconds_burst": round(burst, 3),
            "relative_error": error, "commit": arguments.commit, "machine": torch.cuda.get_device_name(),
            "toolkit": f"torch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}",
            "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat()}


def groups(text):
    names = text.split(",")
    unknown = [name for name in names if name not in PEERS]
    if unknown:
        raise argparse.ArgumentTypeError(f"'{unknown[0]}' is none of {', '.join(PEERS)}")
    return names


def dimensions(text):
    return [int(x) for x in text.split(",")]


def measure(row, peer, attention, timer, arguments, torch):
    """The record of a peer's row."""
    calls = attention.calls(peer)
    error = attention.error(calls[0]())
    prepared = timer.prepared(calls, graph=row.group != "backward")
    burst = timer.burst(prepared)
    sustained = timer.sustained(prepared) if arguments.sustained else 0
    result = record(row, peer, burst, sustained, error, arguments, torch)
    print(f"{row.line()}  {peer:16} {burst:9.2f} us  {result['tflops_burst']:6.1f} /"
          f" {result['tflops_sustained'] or 0:6.1f} TFLOP/s  {row.key_bytes() / burst * 1e-3:5.0f} GB/s  error {error:.4f}",
          flush=True)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLES,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=groups, default=list(PEERS), help="separated by commas: " + ", ".join(PEERS))
    parser.add_argument("--head-dimensions", type=dimensions, help="only rows of these, separated by commas")
    parser.add_argument("--list", action="store_true", help="print the rows and measure nothing")
    parser.add_argument("--sustained", action="store_true", help="sustained runs too")
    parser.add_argument("--json", type=file_of_records, metavar="FILE", help="file for the records")
    parser.add_argument("--commit", default="", help="commit to store with them")
    arguments = parser.parse_args()
    rows = [row for group in arguments.rows for row in rows_of(group)
            if not arguments.head_dimensions or row.head_dimension in arguments.head_dimensions]
    if arguments.list:
        print("\n".join(row.line() for row in rows))
        return 0
    try:
        import torch
        import torch.nn.attention
        torch.cuda.init()
    except Exception as error:  # noqa: BLE001  (whatever a missing GPU or library raises)
        print(f"time_attention.py: {type(error).__name__}: {error}", file=sys.stderr)
        return 3
    try:
        import fa3_fwd_interface as flash3
    except ImportError:
        flash3 = None
    timer, records, wrong = Timer(torch), [], 0
    for row in rows:
        attention = Attention(row, torch, flash3)
        for peer in PEERS[row.group]:
            try:
                result = measure(row, peer, attention, timer, arguments, torch)
            except Exception as error:  # noqa: BLE001  (one row must not end the run)
                print(f"{row.line()}  {peer}: {type(error).__name__}: {error}", file=sys.stderr)
                wrong += 1
                continue
            # A missing tile of 128 keys would be 0.09 at 16384.
            wrong += not result["relative_error"] < (0.08 if row.group == "e4m3" else 0.02)
            records.append(result)
            if arguments.json:
                store(arguments.json, records)
        del attention
        torch.cuda.empty_cache()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
