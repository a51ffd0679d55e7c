"""scripts/kernel_report: resources and opcodes of each kernel's machine code, optionally against a committed baseline."""

import json
import os

from .analyse import analyse, as_dict
from .baseline import compare, read_baseline, row_of, write_baseline
from .command import argument_parser, command
from .demangle import demangle
from .disassemble import find_tool
from .errors import FAILED, OK, BadInput
from .expect import Selection
from .files import write_file
from .load import evaluate_kernels
from .resources import as_cpp, host_stubs_of, rows_of

EXAMPLES = """\
examples:
  kernel_report build/lib/libmine.a                            a line for each kernel, and the findings
  kernel_report program --kernel 'fused_.*' --opcodes          with the opcodes, most frequent first
  kernel_report a.o b.o --arch 90a --json                      a list of objects
  kernel_report libmine.a --baseline kernels.json              compare; --update-baseline writes the file, with --kernel
                                                               or --arch only the rows of these kernels
  kernel_report a.o b.o --cpp kernel_resources.cpp             tenon's build: the table of src/gemm/kernel_resources.hpp

columns: registers and bytes of local memory of a thread, static shared bytes and named barriers of a CTA; instructions,
tensor instructions and their share; the same for the instructions that every trip of the innermost loop with the most
tensor instructions executes.

A finding 'against' a kernel costs speed at any size; weigh a 'note' yourself. Machine code does not show coalescing, bank
conflicts and how often a branch is taken, so these are not judged.

A kernel must equal the baseline in local memory, static shared memory, barriers and the tensor instructions of the loop;
registers may differ by 4, instructions by 10 % (those of the loop by 5 %, or 4); it may have no new kind of finding. A
kernel that only one side has is a failure too.

exit status: 0 done (and equal to the baseline), 1 different from the baseline, 2 bad usage or an unreadable file,
3 no disassembler, or a decompression library is missing
"""


def parse_arguments(arguments):
    parser = argument_parser(
        "kernel_report",
        "FILE [FILE ...] [options]",
        "Resources, opcodes and stall-prone patterns of every kernel in the files.",
        EXAMPLES,
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="cubin, fatbin, object, static or shared library, executable")
    parser.add_argument("--kernel", metavar="REGEX", default="", help="kernels whose mangled or demangled name holds it")
    parser.add_argument("--arch", nargs="+", action="extend", default=[], metavar="ARCH", help="80, 90a, ...; without it: all in the files")
    parser.add_argument("--opcodes", action="store_true", help="print each kernel's opcodes with their counts")
    parser.add_argument("--baseline", metavar="FILE", help="compare with this file")
    parser.add_argument("--update-baseline", action="store_true", help="write the --baseline file instead")
    parser.add_argument("--tool", metavar="PATH", help="nvdisasm or cuobjdump; without it: found")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="for scripts")
    form.add_argument("--cpp", metavar="FILE", help="for tenon's build: write the C++ source of a table (needs no disassembler)")
    options = parser.parse_args(arguments)
    if options.update_baseline and not options.baseline:
        parser.error("--update-baseline needs --baseline FILE, the file to write")
    if options.cpp and (options.kernel or options.arch or options.baseline):
        parser.error("--cpp writes the table of every kernel: --kernel, --arch and --baseline do not go with it")
    return options


def analyses_of(files, selection=Selection(), tool=None):
    """One Analysis for each kernel and architecture, sorted; several instances of a kernel appear once."""
    seen = set()

    def wanted(name, arch):
        if (name, arch) in seen or not selection.holds(name, arch):
            return False
        seen.add((name, arch))
        return True

    found, present = evaluate_kernels(files, find_tool(tool), wanted, analyse)
    if not found:
        held = ", ".join(sorted({"sm_" + arch for arch, _ in present})) or "no kernel"
        asked = f" matches '{selection.kernel}'" if selection.kernel else ""
        asked += f" for {', '.join('sm_' + arch for arch in selection.archs)}" if selection.archs else ""
        raise BadInput(f"no kernel{asked}: the files hold {held}" + (f", {len(present)} kernel{'s' if len(present) > 1 else ''}" if present else ""))
    return sorted(found, key=lambda a: (a.name, a.arch))


def table(analyses, opcodes=False):
    head = (
        f"{'arch':<7}{'regs':>5}{'local':>6}{'shared':>7}{'bars':>5}{'instr':>7}{'tensor':>7}{'%':>6}"
        f"{'loop':>6}{'tensor':>7}{'%':>6}  kernel"
    )
    lines = [head]
    for a in analyses:
        r = a.resources
        loop = f"{a.loop.every_trip:>6}{a.loop.tensor:>7}{100 * a.loop_density:>6.1f}" if a.loop else f"{'-':>6}{'-':>7}{'-':>6}"
        barriers = "?" if r.barriers is None else r.barriers
        lines.append(
            f"sm_{a.arch:<4}{r.registers:>5}{r.local_bytes:>6}{r.static_shared_bytes:>7}{barriers:>5}{a.instructions:>7}"
            f"{sum(a.tensor.values()):>7}{100 * a.density:>6.1f}{loop}  {demangle(a.name)}"
        )
        lines += [f"       {finding.severity}: {finding.message}" for finding in a.findings]
        if opcodes:
            lines += [f"       {count:>6} {opcode}" for opcode, count in a.opcodes.most_common()]
    return "\n".join(lines)


def write_cpp(options):
    rows = rows_of(options.files)
    if not rows:
        raise BadInput(f"no kernel in {', '.join(options.files)}")
    write_file(options.cpp, as_cpp(rows, host_stubs_of(options.files)))
    return OK


def update_baseline(options, selection, analyses):
    """Keeps the rows of kernels outside the selection."""
    kept = []
    if (options.kernel or options.arch) and os.path.exists(options.baseline):
        kept = [row for row in read_baseline(options.baseline) if not selection.holds(row["kernel"], row["arch"])]
    write_file(options.baseline, write_baseline([*kept, *map(row_of, analyses)]))
    if options.json:
        print(json.dumps({"baseline": options.baseline, "kernels": len(analyses), "kept": len(kept)}, indent=2))
    else:
        others = f", {len(kept)} others kept" if kept else ""
        print(f"{options.baseline}: {len(analyses)} kernels written{others}")
    return OK


def judge_baseline(options, selection, rows, analyses):
    differences = compare(rows, analyses, selection)
    if options.json:
        print(json.dumps({"ok": not differences, "kernels": len(analyses), "differences": differences}, indent=2))
    else:
        lines = [f"FAIL  {difference}" for difference in differences]
        print("\n".join([*lines, f"{len(analyses)} kernels compared with {options.baseline}: {len(differences)} differences"]))
        if differences:
            print("If they are wanted: kernel_report --update-baseline, and commit the file.")
    return FAILED if differences else OK


@command("kernel_report")
def main(arguments=None):
    options = parse_arguments(arguments)
    if options.cpp:
        return write_cpp(options)
    selection = Selection(options.kernel, options.arch)
    # Before the disassembler works, which takes minutes for a large library: the file may be none.
    rows = read_baseline(options.baseline) if options.baseline and not options.update_baseline else None
    analyses = analyses_of(options.files, selection, options.tool)
    if options.update_baseline:
        return update_baseline(options, selection, analyses)
    if options.baseline:
        return judge_baseline(options, selection, rows, analyses)
    if options.json:
        rows = [{**as_dict(a, demangle(a.name)), "opcodes": dict(a.opcodes.most_common())} for a in analyses]
        print(json.dumps(rows, indent=2))
    else:
        print(table(analyses, options.opcodes))
    return OK
