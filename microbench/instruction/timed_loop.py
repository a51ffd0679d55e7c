"""Finds the timed loop of a kernel in its machine code and counts the opcodes in it.

The timed loop is the outermost loop with the claimed opcodes between the two reads of the cycle counter; it may contain
inner loops, which wait. A backward branch closes a loop. The opcodes of a subroutine called in the loop count as well,
because ptxas implements instructions that the chip lacks as subroutines.
"""

import re
from collections import Counter
from dataclasses import dataclass

_ADDRESS = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;")
_INSTRUCTION = re.compile(r"^\{?\s*(?:@!?U?P[0-9T]+\s+)?([A-Z][A-Z0-9_]*(?:\.[A-Za-z0-9_]+)*)\s*(.*)$")
_LABEL = re.compile(r"^([.$\w]+):\s*$")
_SECTION = re.compile(r'^\s*\.section\s+"?\.text\.([^",\s]+)"?')
_TARGET = re.compile(r"`\(([^)]+)\)")


class Unproven(Exception):
    """The machine code does not show what the kernel claims."""


@dataclass
class Instruction:
    address: int
    opcode: str
    operands: str


@dataclass
class Code:
    """One kernel: its instructions in order, and where its labels stand."""

    instructions: list
    labels: dict


def parse(listing):
    """{kernel: Code} of the output of `nvdisasm -c`."""
    kernels, code = {}, None
    waiting = []  # labels before the next instruction
    for line in listing.splitlines():
        section = _SECTION.match(line)
        if section:
            code = kernels.setdefault(section.group(1), Code([], {}))
            waiting = []
            continue
        if code is None:
            continue
        label = _LABEL.match(line)
        if label:
            waiting.append(label.group(1))
            continue
        found = _ADDRESS.match(line)
        instruction = _INSTRUCTION.match(found.group(2)) if found else None
        if instruction:
            address = int(found.group(1), 16)
            for name in waiting:
                code.labels[name] = address
            waiting = []
            code.instructions.append(Instruction(address, *instruction.groups()))
    return kernels


def matches(opcode, claimed):
    """Whether the claim covers the opcode: HMMA.16816 and HMMA.16816.F32 both cover HMMA.16816.F32."""
    return opcode == claimed or opcode.startswith(claimed + ".")


def target_of(code, instruction):
    found = _TARGET.search(instruction.operands)
    return code.labels.get(found.group(1)) if found else None


def _called(code, start):
    """The opcodes from a subroutine's address to its first return, without those of nested calls."""
    counts = Counter()
    for instruction in code.instructions:
        if instruction.address >= start:
            if not instruction.opcode.startswith("CALL"):
                counts[instruction.opcode] += 1
            if instruction.opcode.startswith("RET"):
                return counts
    raise Unproven(f"the subroutine at {start:#x} does not return")


def loop_counts(code, claim):
    """Counts the opcodes in one trip of the timed loop. Raises Unproven without one, or with claimed opcodes outside."""
    clocks = [i for i in code.instructions if i.opcode.startswith("CS2R") and "SR_CLOCKLO" in i.operands]
    if len(clocks) < 2:
        raise Unproven(f"{len(clocks)} reads of the cycle counter, but 2 are needed")
    begin = clocks[0].address
    loops = []
    for instruction in code.instructions:
        if instruction.opcode.startswith("BRA"):
            target = target_of(code, instruction)
            if target is not None and begin < target <= instruction.address:
                loops.append((instruction.address - target, target, instruction.address))
    # A wait with a deadline reads the clock inside the loop: the timed loop ends before a later read.
    last_clock = clocks[-1].address
    loops = sorted((loop for loop in loops if loop[2] < last_clock), reverse=True)
    if not loops:
        raise Unproven("no loop between the two reads of the cycle counter")

    def holds(instruction):
        callee = target_of(code, instruction) if instruction.opcode.startswith("CALL") else None
        names = [instruction.opcode, *(_called(code, callee) if callee is not None else ())]
        return any(matches(name, claimed) for name in names for claimed in claim)

    claimed_at = [i.address for i in code.instructions if begin < i.address < last_clock and holds(i)]
    if not claimed_at:
        raise Unproven(f"none of {', '.join(claim)} between the two reads of the cycle counter")
    for _, first, last in loops:
        if first <= claimed_at[0] and claimed_at[-1] <= last:
            break
    else:
        raise Unproven(f"{', '.join(claim)} also outside of the loop")
    counts = Counter()
    for instruction in code.instructions:
        if first <= instruction.address <= last:
            counts[instruction.opcode] += 1
            callee = target_of(code, instruction) if instruction.opcode.startswith("CALL") else None
            if callee is not None:
                counts.update(_called(code, callee))
    return counts


def prove(code, claim, may_spill=False):
    """The opcodes of the timed loop, after checking that it contains each claimed one exactly as often as claimed.

    The loop must not spill registers, unless ptxas emulates the instruction in local memory.
    """
    counts = loop_counts(code, claim)
    for claimed, needed in claim.items():
        found = sum(n for opcode, n in counts.items() if matches(opcode, claimed))
        if found != needed:
            raise Unproven(f"the timed loop has {found} {claimed} but the claim is {needed}")
    spilled = sum(n for opcode, n in counts.items() if opcode.startswith(("LDL", "STL")))
    if spilled and not may_spill:
        raise Unproven(f"the timed loop spills: {spilled} accesses to local memory")
    return dict(sorted(counts.items()))
