"""What the ptxas of a Toolkit makes of wgmma: NVRTC compiles kernels with it, and passes on the notes of ptxas."""

import re

from .headers import INCLUDE
from .nvrtc import Program, load

GEMM = """#include <cuda_fp16.h>
#include "tenon/gemm/config_sm90.hpp"
#include "tenon/gemm/kernel_wgmma.hpp"
struct Twice { __device__ float operator()(float x, int, int) const { return 2 * x; } };
"""
ATTENTION = """#include <cuda_fp16.h>
#include "tenon/attention/kernel_wgmma.hpp"
#include "tenon/attention/tiles_sm90.hpp"
using Config = tenon::sm90::AttentionConfigFor<half, 128, tenon::CausalMask, tenon::PlainScore>;
"""
KERNELS = {
    "ping-pong GEMM": (GEMM, "tenon::gemm_wgmma<tenon::sm90::PingpongConfig<half, float, 128, 192>, Twice>"),
    "cooperative GEMM": (GEMM, "tenon::gemm_wgmma<tenon::sm90::Config<half, float, 128, 256>, Twice>"),
    "attention": (ATTENTION, "tenon::attention_wgmma<Config, tenon::CausalMask, tenon::PlainScore>"),
}


def notes(toolkit):
    """{kernel: the notes of ptxas about lost performance, or the first error}"""
    library, found = load(toolkit.libraries), {}
    for what, (source, name) in KERNELS.items():
        with Program(library, [INCLUDE, *toolkit.includes], "sm_90a", source, [name]) as program:
            if program.error:
                found[what] = [next(line for line in program.log.splitlines() if "error" in line)]
            else:
                found[what] = re.findall(r"\(C75\d\d\) .*?(?= in (?:the )?function |$)", program.log, re.M)
    return found
