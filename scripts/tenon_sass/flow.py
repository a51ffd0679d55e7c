"""Finds a kernel's loops: its basic blocks, their dominators, its natural loops and their callees.

A backward branch alone is not a loop: compilers move rare code to the end of a kernel, from where it jumps back. A loop is a
branch to a block on every path to the branch (Aho, Lam, Sethi, Ullman: Compilers, section 9.6).
"""

import re
from dataclasses import dataclass
from typing import FrozenSet

_ENDS = ("EXIT", "RET", "BPT")  # no successor, unless a guard skips them
# The opcodes that can change the control flow; all others are skipped quickly (kernels have 10,000 instructions).
_LEAVES = {*_ENDS, "BRA", "JMP", "BRX", "JMX", "BSYNC", "CALL", "WARPSYNC", "BREAK"}
_CONVERGENCE = re.compile(r"\bB\d+\b")


@dataclass(frozen=True)
class Loop:
    """A natural loop: positions of its instructions in the listing, in order."""

    header: int
    positions: FrozenSet[int]
    every_trip: FrozenSet[int]  # instructions on every path through the loop

    def code(self, listing):
        return [listing.instructions[p] for p in sorted(self.positions)]


def loops(listing):
    """Every natural loop of a listing.Listing; loops with the same header are one."""
    starts, successors = _blocks(listing)
    if not starts:
        return []
    predecessors = {b: [] for b in range(len(starts))}
    for block, nexts in enumerate(successors):
        for following in nexts:
            predecessors[following].append(block)
    order, dominator = _dominators(successors, predecessors)
    bodies, latches = {}, {}  # a latch is a block that branches to the header
    for block in order:
        for header in successors[block]:
            if _dominates(header, block, dominator):
                bodies.setdefault(header, {header}).update(_reaching(block, header, predecessors, dominator))
                latches.setdefault(header, []).append(block)
    ends = starts[1:] + [len(listing.instructions)]

    functions = listing.functions()

    def positions(blocks):
        own = {p for b in blocks for p in range(starts[b], ends[b])}
        called = {n for p in own if listing.instructions[p].is_a("CALL") for n in listing.named(listing.instructions[p])}
        return frozenset(own.union(*(functions[n] for n in called if n in functions)))

    def every_trip(header):
        return [b for b in bodies[header] if all(_dominates(b, latch, dominator) for latch in latches[header])]

    return [Loop(starts[h], positions(bodies[h]), positions(every_trip(h))) for h in sorted(bodies)]


def busiest_loop(listing, wanted):
    """The innermost loop with the most instructions for which wanted(instruction) is true; None if no loop has one.

    In nested loops only the innermost counts an instruction, so the result is the loop that does the work.
    """
    found = sorted(loops(listing), key=lambda loop: len(loop.positions))
    counts = [0] * len(found)
    for position, instruction in enumerate(listing.instructions):
        if wanted(instruction):
            innermost = next((i for i, loop in enumerate(found) if position in loop.positions), None)
            if innermost is not None:
                counts[innermost] += 1
    best = max(range(len(found)), key=lambda i: counts[i], default=None)
    return found[best] if best is not None and counts[best] else None


def _blocks(listing):
    """(first position of each block, successors of each block by number)."""
    code = listing.instructions
    exits = _convergence_targets(listing)
    functions = listing.functions().keys()
    leads, leaves = {0} if code else set(), {}
    for position, instruction in enumerate(code):
        if instruction.opcode.split(".", 1)[0] not in _LEAVES:
            continue
        targets = exits[position] if position in exits else listing.targets(instruction)
        if instruction.is_a("RET") or (instruction.is_a("CALL") and not functions.isdisjoint(listing.named(instruction))):
            targets = ()  # a callee returns to the next instruction
        falls = _falls_through(instruction, targets)
        if targets or not falls:
            nexts = list(targets) + ([position + 1] if falls and position + 1 < len(code) else [])
            leaves[position] = nexts
            leads.update(nexts)
            if position + 1 < len(code):
                leads.add(position + 1)
    starts = sorted(leads)
    number = {start: i for i, start in enumerate(starts)}
    successors = []
    for start, end in zip(starts, starts[1:] + [len(code)]):
        nexts = leaves.get(end - 1, [end] if end < len(code) else [])
        successors.append(sorted({number[p] for p in nexts}))
    return starts, successors


def _convergence_targets(listing):
    """The targets of BSYNC Bn, which earlier BSSY Bn name; the next instruction if it is among them."""
    named, exits = {}, {}
    for position, instruction in enumerate(listing.instructions):
        if not instruction.opcode.startswith(("BSSY", "BSYNC")):
            continue
        register = _CONVERGENCE.search(instruction.operands)
        if register and instruction.is_a("BSSY"):
            named.setdefault(register.group(), set()).update(listing.targets(instruction))
        elif register and instruction.is_a("BSYNC"):
            targets = named.get(register.group(), set())
            exits[position] = () if position + 1 in targets else tuple(sorted(targets))
    return exits


def _falls_through(instruction, targets):
    if instruction.guard and instruction.guard not in ("PT", "UPT"):
        return True
    if instruction.is_a(*_ENDS):
        return False
    if instruction.is_a("BSYNC"):
        return not targets
    if instruction.is_a("BRA", "JMP", "BRX", "JMX"):
        # "BRA.DIV UR4, `(.L)" and "BRA P0, `(.L)" have a condition among the operands. A BRX takes its target from a table.
        return "," in instruction.operands.split("`")[0]
    return True


def _dominators(successors, predecessors):
    """(reachable blocks in reverse postorder, immediate dominators), after Cooper, Harvey and Kennedy (2001)."""
    order, seen, stack = [], {0}, [(0, iter(successors[0]))]
    while stack:
        block, rest = stack[-1]
        following = next((s for s in rest if s not in seen), None)
        if following is None:
            order.append(block)
            stack.pop()
        else:
            seen.add(following)
            stack.append((following, iter(successors[following])))
    order.reverse()
    rank = {block: i for i, block in enumerate(order)}
    dominator = {0: 0}

    def meet(a, b):
        while a != b:
            while rank[a] > rank[b]:
                a = dominator[a]
            while rank[b] > rank[a]:
                b = dominator[b]
        return a

    changed = True
    while changed:
        changed = False
        for block in order[1:]:
            known = [p for p in predecessors[block] if p in dominator]
            new = known[0]
            for other in known[1:]:
                new = meet(new, other)
            if dominator.get(block) != new:
                dominator[block] = new
                changed = True
    return order, dominator


def _dominates(header, block, dominator):
    while block != header and dominator[block] != block:
        block = dominator[block]
    return block == header


def _reaching(block, header, predecessors, dominator):
    """The reachable blocks with a path to `block` that avoids the header; with both of them."""
    body, stack = {header, block}, [block] if block != header else []
    while stack:
        for previous in predecessors[stack.pop()]:
            if previous in dominator and previous not in body:
                body.add(previous)
                stack.append(previous)
    return body
