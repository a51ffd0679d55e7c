"""scripts/tensor_utilisation: how busy a command keeps the tensor cores, beside the analysis of its machine code."""

import json
import re
import shutil

from .command import argument_parser, command
from .demangle import demangle
from .doctor import verdict
from .errors import OK, BadInput
from .expect import Selection
from .profile import profile
from .report import analyses_of

BUSY = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"
EXECUTED = "sm__inst_executed_pipe_tensor.sum"
TIME = "gpu__time_duration.sum"

EXAMPLES = f"""\
examples:
  tensor_utilisation -- build/bin/tenon gemm --m 4096 --n 4096 --k 4096
  tensor_utilisation --kernel 'gemm|attention' --launches 50 -- ./my_program
  tensor_utilisation --binary libmine.so --json -- python3 train.py

Runs the command under ncu and prints for each kernel: the number of measured launches, their mean time (at ncu's clocks,
each launch alone), the share of active cycles in which the tensor pipe was busy, the executed tensor instructions, and the
verdict on the kernel's machine code, which is in the command's program or in --binary.
The counters are {BUSY},
{EXECUTED} and {TIME}; '-' stands for a counter that the GPU lacks.

How to read it: if the code has tensor instructions and none was executed, another branch ran. If the code has none, check
the types first. If they were executed and the share is far below that of a good kernel, the tensor cores wait for operands.

exit status: 0 measured, 2 bad usage, 3 no ncu, no GPU, or no permission to read counters (ncu's own sentence)
"""


def parse_arguments(arguments):
    parser = argument_parser(
        "tensor_utilisation",
        "[options] -- COMMAND [ARGUMENT ...]",
        "Measures how busy the kernels of a command keep the tensor cores.",
        EXAMPLES,
    )
    parser.add_argument("--kernel", default=".", metavar="REGEX", help="kernels whose demangled name holds it")
    parser.add_argument("--launches", type=int, default=10, metavar="N", help="measure the first N that match (%(default)s)")
    parser.add_argument("--binary", metavar="FILE", help="the file with the kernels; default: the command's program")
    parser.add_argument("--ncu", default=shutil.which("ncu") or "ncu", help="the profiler (%(default)s)")
    parser.add_argument("--json", action="store_true", help="for scripts")
    parser.add_argument("command", nargs="+", metavar="-- COMMAND", help="the command to run")
    options = parser.parse_args(arguments)
    if options.launches < 1:
        parser.error(f"--launches is {options.launches} but must be >= 1")
    return options


def measured(options):
    """One dict for each kernel, in order of first launch."""
    names = ("--kernel-name-base", "demangled", "--print-kernel-base", "mangled", "--print-units", "base")
    limit = ("--launch-count", options.launches)
    kernels = {}
    for launch in profile(options.command, (BUSY, EXECUTED, TIME), options.kernel, (*names, *limit), options.ncu):
        kernels.setdefault((launch.kernel, launch.capability), []).append(launch.counters)
    return [
        {
            "kernel": name,
            "demangled": demangle(name),
            "capability": capability,
            "launches": len(counters),
            "mean_us": _mean(counters, TIME, 1e-3),
            "tensor_pipe_percent": _mean(counters, BUSY),
            "tensor_instructions": _mean(counters, EXECUTED),
        }
        for (name, capability), counters in kernels.items()
    ]


def _mean(counters, metric, scale=1.0):
    values = [row.get(metric) for row in counters]
    return None if None in values else scale * sum(values) / len(values)


def verdicts(options, rows):
    """Adds to each row the analysis of the machine code that a device of that capability runs."""
    file = options.binary or shutil.which(options.command[0])
    if not file:
        raise BadInput(f"{options.command[0]} is not a program file that can be analysed: give --binary the file with the kernels")
    pattern = "^(" + "|".join(re.escape(row["kernel"]) for row in rows) + ")$"
    try:
        analyses = analyses_of([file], Selection(pattern))
    except BadInput as error:
        if options.binary:
            raise
        analyses, why = [], str(error)
    else:
        why = f"not in {file}"
    for row in rows:
        code = _code_for(row["capability"], [a for a in analyses if a.name == row["kernel"]])
        row["verdict"] = verdict(code) if code else f"unknown: {why}"
        row["findings"] = [finding.as_dict() for finding in code.findings] if code else []


def _code_for(capability, analyses):
    """The newest architecture that the device runs: sm_xy on x.z with z >= y, sm_xya on x.y alone."""
    device = capability.replace(".", "")

    def runs(arch):
        number = arch.rstrip("af")
        return number == device if arch[-1] == "a" else number[:-1] == device[:-1] and number <= device

    fitting = [a for a in analyses if not device or runs(a.arch)]
    return max(fitting, key=lambda a: (a.arch.rstrip("af"), a.arch), default=None)


def table(rows):
    def text(value, form):
        return "-" if value is None else format(value, form)

    lines = [f"{'launches':>8}{'mean us':>11}{'tensor pipe':>13}{'instructions':>14}  kernel"]
    for row in rows:
        share = "-" if row["tensor_pipe_percent"] is None else f"{row['tensor_pipe_percent']:.1f} %"
        lines.append(
            f"{row['launches']:>8}{text(row['mean_us'], '.1f'):>11}{share:>13}{text(row['tensor_instructions'], '.0f'):>14}"
            f"  {row['demangled']}"
        )
        lines.append(f"{'':>48}{row['verdict']}")
        lines += [f"{'':>48}{finding['severity']}: {finding['message']}" for finding in row["findings"]]
    return "\n".join(lines)


@command("tensor_utilisation")
def main(arguments=None):
    options = parse_arguments(arguments)
    rows = measured(options)
    verdicts(options, rows)
    print(json.dumps(rows, indent=2) if options.json else table(rows))
    return OK
