"""A kernel's code without what two builds differ in for no reason: addresses, label numbers, names of registers.

Registers are renamed in order of appearance, as blocks: four R that begin at a multiple of four, eight UR, all that a
wgmma accumulates in. A vector lies within its block, so two listings that agree compute the same, whatever registers
they take; single registers that moved alone are not recognised as renamed, and count as different registers.
"""

import re

from .patterns import WARPGROUP_TENSOR

_OPERAND = re.compile(r"`\(([^)]+)\)|(?<![.\w])(UR|UP|R|P|B|SB)(\d+)\b")  # not the .B1 of "R4.B1"
_BLOCK = {"R": 4, "UR": 8, "P": 1, "UP": 1, "B": 1, "SB": 1}
_WGMMA_COLUMNS = re.compile(r"\.64x(\d+)x\d+\.(\w+)")
_REUSE = re.compile(r"\.reuse\b")
# nvcc hashes the file's path into the names of what has internal linkage: _GLOBAL__N__2b85d55a_4_x_cu_<hash>, where the
# 4 is the length of "x_cu", and some versions put a second hash or a number behind.
_FILE_HASH = re.compile(r"(_GLOBAL__N__|_INTERNAL_)[0-9a-f]{8}(_\d+_\w+?_cu_)(?:[0-9a-f]{8})?")


def stable_name(name):
    """A mangled name without the hash of a file's path. (No name any more: the hash's length counts in the mangling.)"""
    return _FILE_HASH.sub(r"\1\2", name)


def canonical(listing):
    """The instructions as strings: registers and labels numbered by appearance, padding and .reuse hints left out."""
    rename = _Renaming(listing)
    return [rename.text(i) for i in listing.instructions if i.opcode != "NOP"]


def without_registers(listing):
    """The instructions as strings in which a register is only its kind: what stays when the order changes."""
    labels = set(listing.labels)

    def kind(match):
        if match.group(1):
            return "label" if match.group(1) in labels else stable_name(match.group(1))
        return match.group(2)

    return [_OPERAND.sub(kind, _REUSE.sub("", _target(i, listing))) for i in listing.instructions if i.opcode != "NOP"]


def _target(instruction, listing):
    """The instruction's text; of a branch to an address (cuobjdump prints no labels), with a label instead."""
    text = str(instruction)
    targets = listing.targets(instruction)
    if targets and not listing.named(instruction):
        text = re.sub(r"0x[0-9a-f]+\s*$", f"`(.L_at_{targets[0]})", text)
    return text


class _Renaming:
    """Names given so far."""

    def __init__(self, listing):
        self._listing = listing
        self._blocks = {kind: {} for kind in _BLOCK}
        self._labels = {}

    def text(self, instruction):
        accumulates = instruction.is_a(*WARPGROUP_TENSOR) and _WGMMA_COLUMNS.search(instruction.opcode)
        if accumulates:
            self._name_accumulator(instruction, *accumulates.groups())
        text = _REUSE.sub("", _target(instruction, self._listing))
        return _OPERAND.sub(self._renamed, text)

    def _name_accumulator(self, instruction, columns, kind):
        first = re.match(r"R(\d+)\b", instruction.operands)
        if first:
            registers = int(columns) // (4 if kind == "F16" else 2)
            for register in range(int(first.group(1)), int(first.group(1)) + registers):
                self._register("R", register)

    def _renamed(self, match):
        label, kind, number = match.groups()
        if label:
            position = self._listing.labels.get(label)
            if position is None:
                at = re.match(r"\.L_at_(\d+)$", label)
                position = int(at.group(1)) if at else None
            return stable_name(label) if position is None else f"L{self._labels.setdefault(position, len(self._labels))}"
        return self._register(kind, int(number))

    def _register(self, kind, number):
        size = _BLOCK[kind]
        block = self._blocks[kind].setdefault(number // size, len(self._blocks[kind]))
        return f"{kind}{block}" if size == 1 else f"{kind}{block}.{number % size}"
