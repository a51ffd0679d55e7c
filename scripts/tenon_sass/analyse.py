"""A kernel's use of tensor cores, from its machine code: how many tensor instructions, where, and what slows them down.

The analysis sees the code alone. It does not know whether the loads of a warp are coalesced, how often a branch is taken
and how many CTAs share an SM; scripts/tensor_utilisation asks the hardware.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import List, Optional

from .elf import Resources
from .flow import busiest_loop
from .patterns import Finding, Region, findings_of, is_tensor


@dataclass
class LoopCount:
    """The innermost loop with the most tensor instructions; static counts: an unrolled trip is one trip."""

    instructions: int
    every_trip: int  # without instructions in branches that a trip may skip
    tensor: int
    every_trip_tensor: int


@dataclass
class Analysis:
    """The results for one kernel."""

    name: str  # mangled
    arch: str
    origin: str
    resources: Resources
    opcodes: Counter
    tensor: Counter  # the tensor opcodes among them
    loop: Optional[LoopCount]
    findings: List[Finding] = field(default_factory=list)

    @property
    def instructions(self):
        return sum(self.opcodes.values())

    @property
    def uses_tensor_cores(self):
        return bool(self.tensor)

    @property
    def density(self):
        """Tensor instructions per instruction of the kernel."""
        return sum(self.tensor.values()) / max(self.instructions, 1)

    @property
    def loop_density(self):
        """The same for the instructions that every trip through the loop executes; None without a loop."""
        return self.loop.every_trip_tensor / max(self.loop.every_trip, 1) if self.loop else None


def analyse(code):
    """The Analysis of a load.Code."""
    listing = code.listing
    opcodes = Counter(opcode for opcode in listing.opcodes if opcode != "NOP")
    tensor = Counter({opcode: n for opcode, n in opcodes.items() if is_tensor(opcode)})
    loop = busiest_loop(listing, lambda i: is_tensor(i.opcode)) if tensor else None
    region = Region.of(listing, loop)
    count = None
    if loop:
        sizes = (len(region.code), len(region.every_trip))
        count = LoopCount(*sizes, *(sum(is_tensor(i.opcode) for i in part) for part in (region.code, region.every_trip)))
    return Analysis(
        code.name, code.arch, code.origin, code.resources, opcodes, tensor, count, findings_of(code, opcodes, region)
    )


def as_dict(analysis, demangled):
    """The stable JSON form for kernel_report and `tenon doctor --binary`."""
    loop = analysis.loop
    return {
        "kernel": analysis.name,
        "demangled": demangled,
        "arch": analysis.arch,
        "file": analysis.origin,
        "tensor_cores": analysis.uses_tensor_cores,
        "tensor_opcodes": dict(analysis.tensor.most_common()),
        "registers": analysis.resources.registers,
        "local_bytes": analysis.resources.local_bytes,
        "static_shared_bytes": analysis.resources.static_shared_bytes,
        "barriers": analysis.resources.barriers,
        "instructions": analysis.instructions,
        "tensor_density": round(analysis.density, 4),
        "loop": {
            "instructions": loop.instructions,
            "every_trip": loop.every_trip,
            "tensor": loop.tensor,
            "every_trip_tensor": loop.every_trip_tensor,
            "tensor_density": round(analysis.loop_density, 4),
        }
        if loop
        else None,
        "findings": [finding.as_dict() for finding in analysis.findings],
    }
