"""scripts/sass_diff: compares the machine code of two builds of the same kernels."""

import difflib
import json
from collections import Counter
from dataclasses import dataclass
from typing import Dict, List, Tuple

from .command import argument_parser, command
from .demangle import demangle
from .disassemble import find_tool
from .errors import FAILED, OK, BadInput
from .expect import Selection
from .load import evaluate_kernels
from .normalise import canonical, stable_name, without_registers

EXAMPLES = """\
examples:
  sass_diff old/libmine.a new/libmine.a                        a line for each kernel that is not identical, and a summary
  sass_diff old.o new.o --kernel 'fused_.*' --full             with a unified diff of the normalised code
  sass_diff old.o new.o --order                                instructions may move and use other registers
  sass_diff a.o b.o --json

Normalised: addresses, labels, encodings, padding, .reuse hints, and registers that were renamed consistently. A kernel is
  identical   the normalised code is the same, instruction by instruction
  reordered   the same opcodes with the same counts, in another order or with other registers or constants
  different   other opcodes: the change of each opcode's count is printed
  only old, only new
With --order a kernel is also identical if it has the same instructions with the same counts, registers ignored: this
removes the scheduler's and the register allocator's choices and keeps opcodes, constants and constant-bank addresses.

exit status: 0 all identical, 1 not all, 2 bad usage or an unreadable file, 3 no disassembler
"""


def parse_arguments(arguments):
    parser = argument_parser(
        "sass_diff",
        "OLD NEW [options]",
        "Compares the machine code of the kernels of two builds, kernel by kernel.",
        EXAMPLES,
    )
    parser.add_argument("old", metavar="OLD", help="cubin, fatbin, object, static or shared library, executable")
    parser.add_argument("new", metavar="NEW", help="the same of the other build")
    parser.add_argument("--kernel", metavar="REGEX", default="", help="kernels whose mangled or demangled name holds it")
    parser.add_argument("--arch", nargs="+", action="extend", default=[], metavar="ARCH", help="80, 90a, ...; without it: all in the files")
    parser.add_argument("--order", action="store_true", help="ignore the order of instructions and their registers")
    parser.add_argument("--tool", metavar="PATH", help="nvdisasm or cuobjdump; without it: found")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--full", action="store_true", help="print a unified diff of every kernel that is not identical")
    form.add_argument("--json", action="store_true", help="for scripts")
    return parser.parse_args(arguments)


@dataclass
class Normalised:
    """A kernel in the form that is compared."""

    name: str
    arch: str
    opcodes: Counter
    code: List[str]
    unordered: Counter


@dataclass
class Verdict:
    name: str
    arch: str
    state: str  # "identical", "reordered", "different", "only old", "only new"
    delta: Dict[str, int]  # opcode -> new count - old count, where it is not 0
    codes: Tuple[List[str], List[str]]  # old and new code, for display


def normalised(code):
    strings = {}  # kernels repeat instructions: one string each

    def shared(texts):
        return [strings.setdefault(text, text) for text in texts]

    opcodes = Counter(opcode for opcode in code.listing.opcodes if opcode != "NOP")
    unordered = Counter(shared(without_registers(code.listing)))
    return Normalised(code.name, code.arch, opcodes, shared(canonical(code.listing)), unordered)


def kernels_of(file, options, tool):
    """{(stable name, arch): Normalised}; the first of several instances of a kernel."""
    selection = Selection(options.kernel, options.arch)
    seen = set()

    def wanted(name, arch):
        if (name, arch) in seen or not selection.holds(name, arch):
            return False
        seen.add((name, arch))
        return True

    found, _ = evaluate_kernels([file], tool, wanted, normalised)
    return {(stable_name(kernel.name), kernel.arch): kernel for kernel in found}


def compare(old, new, ignore_order=False):
    """The Verdict for every kernel of the two builds, sorted by name."""
    verdicts = []
    for key in sorted(old.keys() | new.keys()):
        a, b = old.get(key), new.get(key)
        if not a or not b:
            verdicts.append(Verdict((a or b).name, key[1], "only old" if a else "only new", {}, ([], [])))
            continue
        delta = {op: b.opcodes[op] - a.opcodes[op] for op in sorted(a.opcodes | b.opcodes) if b.opcodes[op] != a.opcodes[op]}
        if a.code == b.code or (ignore_order and a.unordered == b.unordered):
            verdicts.append(Verdict(b.name, key[1], "identical", {}, ([], [])))
            continue
        verdicts.append(Verdict(b.name, key[1], "different" if delta else "reordered", delta, (a.code, b.code)))
    return verdicts


def table(verdicts, full=False):
    lines = []
    for v in verdicts:
        if v.state == "identical":
            continue
        lines.append(f"{v.state:<10} sm_{v.arch:<4} {demangle(v.name)}")
        if v.delta:
            lines.append("           " + ", ".join(f"{n:+d} {op}" for op, n in sorted(v.delta.items(), key=lambda d: -abs(d[1]))))
        if full:
            lines += difflib.unified_diff(*v.codes, "old", "new", lineterm="")
    counts = Counter(v.state for v in verdicts)
    states = ("identical", "reordered", "different", "only old", "only new")
    lines.append(", ".join(f"{counts[state]} {state}" for state in states if counts[state] or state == "identical"))
    return "\n".join(lines)


def as_json(verdicts, ok):
    kernels = [
        {"kernel": v.name, "demangled": demangle(v.name), "arch": v.arch, "state": v.state, "opcodes": v.delta}
        for v in verdicts
    ]
    return json.dumps({"identical": ok, "kernels": kernels}, indent=2)


@command("sass_diff")
def main(arguments=None):
    options = parse_arguments(arguments)
    tool = find_tool(options.tool)
    verdicts = compare(kernels_of(options.old, options, tool), kernels_of(options.new, options, tool), options.order)
    if not verdicts:
        raise BadInput(f"no kernel of {options.old} or {options.new} matches: nothing was compared")
    ok = all(v.state == "identical" for v in verdicts)
    print(as_json(verdicts, ok) if options.json else table(verdicts, options.full))
    return OK if ok else FAILED
