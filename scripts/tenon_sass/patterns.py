"""Patterns in machine code that leave tensor cores idle; one function finds each, and one sentence reports it.

A finding `against` slows the kernel down at any size; a `note` is for the reader to weigh. The rates in the sentences were
measured on an H200 with nothing but the instruction in the loop (enough warps, independent accumulators).
"""

import re
from collections import Counter
from dataclasses import asdict, dataclass
from typing import List

from .flow import busiest_loop
from .listing import Instruction

WARP_TENSOR = ("HMMA", "IMMA", "DMMA", "BMMA", "QMMA", "OMMA")  # mma.sync; their operands are registers
WARPGROUP_TENSOR = ("HGMMA", "IGMMA", "QGMMA", "BGMMA")  # wgmma, asynchronous
_TENSOR = WARP_TENSOR + WARPGROUP_TENSOR + ("UTCHMMA", "UTCIMMA", "UTCQMMA", "UTCOMMA")  # the last: tcgen05.mma

_REGISTER = re.compile(r"\bR(\d+)\b")
_NARROW = re.compile(r"\.(U8|S8|U16|S16)\b")
_EMULATION_CALL = re.compile(r"__cuda_sm_\w*mma\w*")


def is_tensor(opcode):
    return opcode.split(".", 1)[0] in _TENSOR


@dataclass
class Finding:
    kind: str  # stable, for scripts
    severity: str  # "against" or "note"
    count: int
    message: str

    def as_dict(self):
        return asdict(self)


@dataclass
class Region:
    """The code with the tensor instructions: the busiest loop, or all of a kernel without loops."""

    where: str  # "in the tensor loop", "in the kernel"
    code: List[Instruction]
    every_trip: List[Instruction]
    repeats: bool  # the first instruction follows the last one

    @staticmethod
    def of(listing, loop):
        """Leaves out NOP, which pads or covers a latency."""
        every = [i for i in listing.instructions if i.opcode != "NOP"]
        if loop is None:
            return Region("in the kernel", every, every, False)
        code = [i for i in loop.code(listing) if i.opcode != "NOP"]
        always = {listing.instructions[p] for p in loop.every_trip}
        return Region("in the tensor loop", code, [i for i in code if i in always], True)

    def tensor(self, *opcodes):
        return [i for i in self.code if i.is_a(*(opcodes or _TENSOR))]


def findings_of(code, opcodes, region):
    """Every Finding for a load.Code with these opcode counts and tensor instructions in the region."""
    if not any(map(is_tensor, opcodes)):
        found = [_no_tensor_cores(code, opcodes), _emulated(code, region), _spills(code, opcodes)]
    else:
        found = [
            _spills(code, opcodes),
            _emulated(code, region),
            _serialised_wgmma(region),
            _dependent(region),
            _narrow_loads(region),
            _register_copies(region),
            _barriers(region),
            _older_instruction(code, region),
        ]
    return [finding for finding in found if finding]


def _count(opcodes, *names):
    return sum(n for opcode, n in opcodes.items() if any(opcode == o or opcode.startswith(o + ".") for o in names))


def _times(count, noun):
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _list(instructions):
    counts = Counter(i.opcode for i in instructions).most_common(3)
    return ", ".join(f"{n} {opcode}" for opcode, n in counts)


# Multiply-adds on CUDA cores, and how tensor cores could execute them.
_MULTIPLY_ADDS = {
    "FFMA": "FP32 operands run on CUDA cores; rounded to f16, bf16 or tf32 they could run on tensor cores",
    "HFMA2": "f16 arithmetic without mma.sync, wmma or wgmma runs on CUDA cores",
    "DFMA": "f64 runs on tensor cores (DMMA) only through mma.sync or wmma, from sm_80 on",
    "IDP": "dp4a runs on CUDA cores; mma.sync on s8 or u8 runs on tensor cores (IMMA)",
}


def _no_tensor_cores(code, opcodes):
    loop = busiest_loop(code.listing, lambda i: i.is_a(*_MULTIPLY_ADDS))
    inside = Counter(i.opcode for i in loop.code(code.listing)) if loop else {}
    for name, words in _MULTIPLY_ADDS.items():
        count = _count(inside, name)
        if count:
            sentence = f"no tensor instruction, but {count} {name} in a loop: {words}"
            return Finding("no_tensor_cores", "against", count, sentence)
    count = _count(opcodes, *_MULTIPLY_ADDS)
    sentence = "no tensor instruction, and no multiply-add in a loop that one could replace"
    return Finding("no_tensor_cores", "note", count, sentence)


def _spills(code, opcodes):
    accesses, local = _count(opcodes, "LDL", "STL"), code.resources.local_bytes
    if not accesses and not local:
        return None
    return Finding(
        "local_memory",
        "against",
        accesses,
        f"{local} bytes of local memory a thread, {accesses} LDL/STL: registers were spilled, or an array is indexed "
        "at run time",
    )


def _emulated(code, region):
    """Instructions that the chip lacks: PTX accepts them, and ptxas emits a longer sequence."""
    calls = [i for i in code.listing.instructions if i.is_a("CALL") and _EMULATION_CALL.search(i.operands)]
    if calls:
        return Finding(
            "emulated",
            "against",
            len(calls),
            f"{_times(len(calls), 'call')} of {_EMULATION_CALL.search(calls[0].operands).group()}: this architecture has "
            "no such mma and does it in software",
        )
    unpacks = [i for i in region.code if re.match(r"F2FP\.F16\.E[45]M[23]\.UNPACK", i.opcode)]
    if unpacks and region.tensor("HMMA"):
        return Finding(
            "emulated",
            "against",
            len(unpacks),
            f"{_list(unpacks)} beside HMMA {region.where}: fp8 is widened to f16 and multiplied as f16. sm_89 has fp8 "
            "mma.sync, sm_90a has fp8 wgmma (QGMMA)",
        )
    return None


def _serialised_wgmma(region):
    """Whether the code waits for every wgmma before it issues the next one."""
    steps = [
        "wait" if i.is_a("WARPGROUP.DEPBAR") else "wgmma"
        for i in region.code
        if i.is_a(*WARPGROUP_TENSOR) or (i.is_a("WARPGROUP.DEPBAR") and i.operands.endswith(" 0x0"))
    ]
    issued, waits = steps.count("wgmma"), steps.count("wait")
    if not issued or not waits:
        return None
    following = steps[1:] + (steps[:1] if region.repeats else ["wait"])
    alone = sum(now == "wgmma" and after == "wait" for now, after in zip(steps, following))
    if alone == issued:
        return Finding(
            "serialised_wgmma",
            "against",
            alone,
            f"each of the {issued} wgmma {region.where} is waited for (WARPGROUP.DEPBAR 0) before the next: commit several "
            "as one group, wait for the group before it, and look for ptxas notes C7510 and C7515",
        )
    return Finding(
        "drained_wgmma",
        "note",
        waits,
        f"{_times(waits, 'wait')} for all wgmma in flight (WARPGROUP.DEPBAR 0) {region.where}, which issues {issued}: "
        "after each the tensor cores idle until the next wgmma, unless another warpgroup has work",
    )


def _dependent(region):
    """Tensor instructions that read the result of the previous tensor instruction."""
    code = region.tensor(*WARP_TENSOR)
    pairs = list(zip(code, code[1:])) + ([(code[-1], code[0])] if region.repeats and code else [])
    dependent = 0
    for first, second in pairs:
        result, reads = _REGISTER.findall(first.operands)[:1], _REGISTER.findall(second.operands)[1:]
        dependent += bool(result) and result[0] in reads
    if not dependent:
        return None
    return Finding(
        "dependent",
        "against",
        dependent,
        f"{dependent} of {_times(len(code), 'tensor instruction')} {region.where} must wait for the result of the one "
        "before: interleave independent accumulators",
    )


def _narrow_loads(region):
    loads = [i for i in region.code if i.is_a("LDG", "LD", "LDS") and _NARROW.search(i.opcode)]
    if not loads:
        return None
    always = any(i in loads for i in region.every_trip)
    return Finding(
        "narrow_loads",
        "against" if always else "note",
        len(loads),
        f"{_list(loads)} {region.where}{'' if always else ', in a branch of it'}: operands come element by element. "
        "16-byte copies need a base and a leading dimension that are multiples of 16 bytes",
    )


def _register_copies(region):
    """Operands that pass through registers to shared memory where an asynchronous copy would be possible."""
    loads = [i for i in region.every_trip if i.is_a("LDG", "LD") and not _NARROW.search(i.opcode)]
    if not loads:
        return None
    asynchronous = [i for i in region.code if i.is_a("LDGSTS", "UTMALDG", "UBLKCP")]
    if asynchronous:
        return None
    return Finding(
        "register_copies",
        "note",
        len(loads),
        f"{_list(loads)} on every trip and no asynchronous copy {region.where} (LDGSTS: cp.async, UTMALDG: TMA): "
        "the latency of global memory is hidden only by other warps",
    )


def _barriers(region):
    barriers = [i for i in region.every_trip if i.is_a("BAR.SYNC", "BAR.RED")]
    if not barriers or not region.repeats:
        return None
    tensor = len(region.tensor())
    return Finding(
        "barriers",
        "note",
        len(barriers),
        f"{len(barriers)} BAR on every trip of the tensor loop, {tensor / len(barriers):.3g} tensor "
        "instructions for each: a barrier makes all warps wait for the slowest",
    )


def _older_instruction(code, region):
    """mma.sync on a chip with a faster instruction for the same types."""
    if code.arch not in ("90", "90a") or not region.tensor(*WARP_TENSOR) or region.tensor(*WARPGROUP_TENSOR):
        return None
    warp = [i for i in region.tensor("HMMA", "IMMA", "QMMA")]
    if not warp:
        return None
    return Finding(
        "mma_sync_on_sm_90",
        "note",
        len(warp),
        f"{_list(warp)} {region.where}: mma.sync issues at most 2/3 of the FLOP that wgmma does on sm_90a (m16n8k8 on "
        "f16: 1/2)",
    )
