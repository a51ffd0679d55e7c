"""Normalises a kernel's code: removes addresses, label numbers and register names, which differ between equal builds.

Registers are renamed in order of appearance, in blocks: four R that begin at a multiple of four, eight UR, or all
accumulators of a wgmma. A vector lies within its block, so two equal listings compute the same, whatever registers they
use. A single register that moved alone is not recognised as renamed and counts as a different register.
"""

import re

from .patterns import WARPGROUP_TENSOR

_OPERAND = re.compile(r"`\(([^)]+)\)|(?<![.\w])(UR|UP|R|P|B|SB)(\d+)\b")  # not the .B1 of "R4.B1"
_BLOCK = {"R": 4, "UR": 8, "P": 1, "UP": 1, "B": 1, "SB": 1}
_WGMMA_COLUMNS = re.compile(r"\.64x(\d+)x\d+\.(\w+)")
_REUSE = re.compile(r"\.reuse\b")
# nvcc adds a hash of the file's path to names with internal linkage: _GLOBAL__N__2b85d55a_4_x_cu_<hash>, where the
# 4 is the length of "x_cu", and some versions append a second hash or a number.
_FILE_HASH = re.compile(r"(_GLOBAL__N__|_INTERNAL_)[0-9a-f]{8}(_\d+_\w+?_cu_)(?:[0-9a-f]{8})?")


def stable_name(name):
    """A mangled name without the hash of a file's path. (The result is not a valid name: the mangling counts the hash's length.)"""
    return _FILE_HASH.sub(r"\1\2", name)


def canonical(listing):
    """The instructions as strings: registers and labels numbered by appearance, without padding and .reuse hints."""
    rename = _Renaming(listing)
    return [rename.text(i) for i in listing.instructions if i.opcode != "NOP"]


def without_registers(listing):
    """The instructions as strings in which a register is only its kind, so that they do not depend on the order."""
    labels = set(listing.labels)

    def kind(match):
        if match.group(1):
            return "label" if match.group(1) in labels else stable_name(match.group(1))
        return match.group(2)

    return [_OPERAND.sub(kind, _REUSE.sub("", _target(i, listing))) for i in listing.instructions if i.opcode != "NOP"]


def _target(instruction, listing):
    """The instruction's text, with a label in place of a branch's address (cuobjdump prints no labels)."""
    text = str(instruction)
    targets = listing.targets(instruction)
    if targets and not listing.named(instruction):
        text = re.sub(r"0x[0-9a-f]+\s*$", f"`(.L_at_{targets[0]})", text)
    return text


class _Renaming:
    """The new names so far."""

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
