"""A disassembler's text as data: the instructions of each kernel, with labels resolved.

Reads the output of `nvdisasm -c` and `cuobjdump -sass`. They differ in how a kernel begins and in branch targets (labels
or addresses), and both become positions here. Encodings are not read.
"""

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Dict, List, NamedTuple, Tuple

# "        /*0040*/              @!P0 LDG.E.128 R4, [R2.64] ;": offset, predicate, opcode, operands. Encodings are /* 0x... */.
_INSTRUCTION = re.compile(
    r"^\s*/\*([0-9a-f]{4,})\*/\s+\{?\s*(?:@(!?U?P[0-9T]+)\s+)?([A-Z][A-Z0-9_]*(?:\.[A-Za-z0-9_]+)*)\s*([^;]*)"
)
_LABEL = re.compile(r"^([.$\w][^:\s]*):\s*$")
_SECTION = re.compile(r'^\s*\.section\s+"?\.text\.([^",\s]+)"?')  # nvdisasm
_FUNCTION = re.compile(r"^\s*Function\s*:\s*(\S+)")  # cuobjdump
_LABEL_OPERAND = re.compile(r"`\(([^)]+)\)")
_ADDRESS_OPERAND = re.compile(r"(?:^|[\s,])0x([0-9a-f]+)\s*$")
# The opcodes whose target is an address instead of a label in cuobjdump's listing.
_JUMPS = ("BRA", "BSSY", "JMP", "WARPSYNC.COLLECTIVE", "CALL.REL", "BRX")


@lru_cache(maxsize=None)  # a kernel has thousands of instructions and some dozens of opcodes
def _is_one_of(opcode, opcodes):
    return any(opcode == o or opcode.startswith(o + ".") for o in opcodes)


class Instruction(NamedTuple):
    address: int
    guard: str  # "P0", "!UP1" or ""
    opcode: str  # "HMMA.16816.F32"
    operands: str  # "R4, R4, R8, RZ"

    def is_a(self, *opcodes):
        """Whether the opcode is one of these or continues one at a dot: HMMA.16816.F32 is an HMMA."""
        return _is_one_of(self.opcode, opcodes)

    def __str__(self):
        return f"{'@' + self.guard + ' ' if self.guard else ''}{self.opcode} {self.operands}".rstrip()


@dataclass
class Listing:
    """The code of one kernel."""

    instructions: List[Instruction] = field(default_factory=list)
    labels: Dict[str, int] = field(default_factory=dict)  # label -> position of the next instruction

    @property
    def opcodes(self):
        return [i.opcode for i in self.instructions]

    def named(self, instruction):
        """The labels among the operands: ".L_x_3" of a branch, "$__internal_0_$..." of a call."""
        return _LABEL_OPERAND.findall(instruction.operands)

    def targets(self, instruction) -> Tuple[int, ...]:
        """Positions of the targets of a branch or call; code of another section has none."""
        named = [self.labels[n] for n in self.named(instruction) if n in self.labels]
        if not named and instruction.is_a(*_JUMPS):
            address = _ADDRESS_OPERAND.search(instruction.operands)
            at = self._positions().get(int(address.group(1), 16)) if address else None
            named = [] if at is None else [at]
        return tuple(p for p in named if p < len(self.instructions))

    def functions(self):
        """{label: range of positions} of the functions that ptxas appended to the kernel."""
        starts = sorted((p, n) for n, p in self.labels.items() if p > 0 and not n.startswith("."))
        ends = [p for p, _ in starts[1:]] + [len(self.instructions)]
        return {name: range(start, end) for (start, name), end in zip(starts, ends)}

    def _positions(self):
        if not hasattr(self, "_by_address"):
            self._by_address = {i.address: p for p, i in enumerate(self.instructions)}
        return self._by_address


def read_listings(text):
    """{kernel: Listing} of the output of `nvdisasm -c` or `cuobjdump -sass`."""
    kernels, current = {}, None
    for line in text.splitlines():
        found = _INSTRUCTION.match(line)
        if found:
            if current is not None:
                address, guard, opcode, operands = found.groups()
                current.instructions.append(Instruction(int(address, 16), guard or "", opcode, operands.rstrip()))
            continue
        label = _LABEL.match(line)
        if label:
            if current is not None:
                current.labels[label.group(1)] = len(current.instructions)
            continue
        start = _SECTION.match(line) or _FUNCTION.match(line)
        if start:
            current = kernels.setdefault(start.group(1), Listing())
    return kernels
