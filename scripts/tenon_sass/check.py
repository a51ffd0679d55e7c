"""scripts/sass_check: checks that the kernels of a file contain the required instructions."""

import argparse
import json
from collections import Counter

from .command import argument_parser, command
from .demangle import demangle
from .disassemble import find_tool
from .errors import FAILED, OK, BadInput
from .expect import Expectation, Kernel, read_expectations
from .load import evaluate_kernels

EXAMPLES = """\
examples:
  sass_check build/lib/libmine.a --kernel 'fused_.*' --arch 80 90a \\
      --expect 'HMMA.16816.F32>=64' LDSM LDGSTS --forbid LDL STL --max-registers 168 --spill-free
  sass_check kernel.cubin --kernel sgemm --expect FFMA --forbid HMMA
  sass_check my_program --expectations sass.json --json

An opcode matches by prefix at a dot: HMMA counts HMMA.16816.F32. Quote an opcode with a count: the shell takes a bare > for
a redirection. The pattern is searched in the mangled and in the demangled name. A file of expectations is a JSON list of
objects:
  [{"kernel": "fused_.*", "arch": ["80"], "expect": ["LDSM"], "forbid": ["LDL"], "max_registers": 168, "spill_free": true}]

exit status: 0 every requirement holds, 1 one does not, 2 bad usage or an unreadable file, 3 no disassembler
"""


class Once(argparse.Action):
    """Rejects a second value of an option, which would silently replace the first, and with it a requirement."""

    def __call__(self, parser, namespace, values, option_string=None):
        if getattr(namespace, self.dest) is not None:
            parser.error(f"{option_string} is given twice")
        setattr(namespace, self.dest, values)


def parse_arguments(arguments):
    parser = argument_parser(
        "sass_check",
        "FILE [FILE ...] (--kernel REGEX REQUIREMENTS | --expectations FILE) [options]",
        "Checks the machine code of CUDA kernels in cubins, objects, static libraries and executables.",
        EXAMPLES,
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="cubin, fatbin, object, static or shared library, executable")
    parser.add_argument("--kernel", action=Once, metavar="REGEX", help="the kernels for the requirements below")
    parser.add_argument("--arch", nargs="+", action="extend", default=[], metavar="ARCH", help="80, 90a, ...; without it: all in the files")
    parser.add_argument("--expect", nargs="+", action="extend", default=[], metavar="OPCODE[>=N]", help="required opcodes, with a count")
    parser.add_argument("--forbid", nargs="+", action="extend", default=[], metavar="OPCODE", help="opcodes that must not occur")
    parser.add_argument("--max-registers", action=Once, type=int, metavar="N", help="registers a thread may use")
    parser.add_argument("--spill-free", action="store_true", help="no local memory, no LDL, no STL")
    parser.add_argument("--expectations", action=Once, metavar="FILE", help="JSON list of requirements, instead of or besides --kernel")
    parser.add_argument("--tool", metavar="PATH", help="nvdisasm or cuobjdump; without it: found")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--brief", action="store_true", help="print only failures and the summary")
    form.add_argument("--json", action="store_true", help="for scripts")
    return parser.parse_args(arguments)


def expectations_of(options):
    expectations = read_expectations(options.expectations) if options.expectations else []
    about_kernels = options.arch or options.expect or options.forbid or options.max_registers or options.spill_free
    if options.kernel is not None:
        expectations.append(
            Expectation(
                options.kernel, options.arch, options.expect, options.forbid, options.max_registers, options.spill_free
            )
        )
    elif about_kernels:
        raise BadInput("requirements without a kernel: give --kernel REGEX ('.*' for all)")
    if not expectations:
        raise BadInput("nothing to check: give --kernel with requirements, or --expectations FILE")
    return expectations


def load_kernels(files, expectations, tool):
    """(the kernels that match an expectation, disassembled; (arch, name) of every kernel in the files)."""

    def wanted(name, arch):
        return any(e.covers(arch) and e.matches(name) for e in expectations)

    def counted(code):
        return Kernel(code.name, code.arch, code.origin, code.resources, Counter(code.listing.opcodes))

    return evaluate_kernels(files, tool, wanted, counted)


def judge(expectations, kernels, present):
    """(results [(kernel, [Check])], sentences about expectations that match no kernel)."""
    results, unanswered = [], []
    for expectation in expectations:
        about = [k for k in kernels if expectation.covers(k.arch) and expectation.matches(k.name)]
        results += [(kernel, expectation.judge(kernel)) for kernel in about]
        for arch in expectation.archs or ([] if about else [None]):
            if not any(k.arch == arch for k in about):
                unanswered.append(_unanswered(expectation.kernel, arch, present))
    return results, unanswered


def _unanswered(pattern, arch, present):
    names = sorted({demangle(name) for a, name in present if arch in (None, a)})
    where = f" for sm_{arch}" if arch else ""
    if not names:
        archs = ", ".join(sorted({"sm_" + a for a, _ in present})) or "no architecture"
        return f"no kernel matches '{pattern}'{where}: the files hold code for {archs}"
    shown = "; ".join(names[:8]) + ("; ..." if len(names) > 8 else "")
    return f"no kernel matches '{pattern}'{where}: the files hold {shown}"


def table(results, unanswered, brief=False):
    lines = []
    for kernel, checks in results:
        if brief and all(c.ok for c in checks):
            continue
        verdict = "ok  " if all(c.ok for c in checks) else "FAIL"
        lines.append(f"{verdict}  sm_{kernel.arch:<4} {demangle(kernel.name)}")
        width = max(len(c.requirement) for c in checks)
        lines += [f"      {'ok  ' if c.ok else 'FAIL'}  {c.requirement:<{width}}   found {c.found}" for c in checks]
    lines += [f"FAIL  {sentence}" for sentence in unanswered]
    failed = sum(not all(c.ok for c in checks) for _, checks in results)
    lines.append(f"{len(results) - failed} kernels as expected, {failed} not, {len(unanswered)} expectations unanswered")
    return "\n".join(lines)


def as_json(results, unanswered, ok):
    kernels = [
        {
            "kernel": kernel.name,
            "demangled": demangle(kernel.name),
            "arch": kernel.arch,
            "file": kernel.origin,
            "ok": all(c.ok for c in checks),
            "registers": kernel.resources.registers,
            "local_bytes": kernel.resources.local_bytes,
            "static_shared_bytes": kernel.resources.static_shared_bytes,
            "checks": [{"requirement": c.requirement, "found": c.found, "ok": c.ok} for c in checks],
        }
        for kernel, checks in results
    ]
    return json.dumps({"ok": ok, "kernels": kernels, "unanswered": unanswered}, indent=2)


@command("sass_check")
def main(arguments=None):
    options = parse_arguments(arguments)
    expectations = expectations_of(options)
    tool = find_tool(options.tool)
    results, unanswered = judge(expectations, *load_kernels(options.files, expectations, tool))
    ok = not unanswered and all(c.ok for _, checks in results for c in checks)
    print(as_json(results, unanswered, ok) if options.json else table(results, unanswered, options.brief))
    return OK if ok else FAILED
