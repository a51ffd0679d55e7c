"""scripts/binary_doctor, also `tenon doctor --binary`: which kernels of a program use tensor cores, and how well.

`tenon doctor` diagnoses problems too and tells the two by --binary; the installed tenon-binary-doctor takes the file alone.
"""

import json
from collections import Counter

from .analyse import as_dict
from .command import argument_parser, command, started_as
from .demangle import demangle
from .errors import OK
from .expect import Selection
from .name_pattern import SYNTAX, NamePattern
from .report import analyses_of

NAME = "tenon doctor"
EXAMPLES = """\
examples:
  tenon doctor --binary my_program
  tenon doctor --binary libmine.so --kernel '*gemm*|*attention*' --arch 90a
  tenon doctor --binary my_program --json

Takes any program: cubin, fatbin, object, static or shared library, executable. PTX that the driver compiles at run time
is not machine code yet and is not analysed. --json prints an array of {kernel, demangled, arch, file, tensor_cores,
tensor_opcodes, registers, local_bytes, static_shared_bytes, barriers, instructions, tensor_density, loop, findings};
a finding is {kind, severity, count, message}.

exit status: 0 a diagnosis was made, good or bad, 2 bad usage or an unreadable file, 3 no disassembler
"""


def parse_arguments(arguments):
    binary = "--binary " if started_as(NAME) == NAME else ""
    parser = argument_parser(
        NAME,
        f"{binary}FILE [options]",
        "For each kernel of a binary: does it use tensor cores, with which opcodes, and what slows it down.",
        EXAMPLES.replace("--binary ", binary),
    )
    subject = parser.add_mutually_exclusive_group(required=True)
    subject.add_argument("file", nargs="?", metavar="FILE", help="the file to analyse")
    subject.add_argument("--binary", metavar="FILE", help="the same")
    parser.add_argument("--kernel", metavar="PATTERN", default="", help=f"kernels with such a name, mangled or demangled: {SYNTAX}")
    parser.add_argument("--arch", nargs="+", action="extend", default=[], metavar="ARCH", help="80, 90a, ...; without it: all in the file")
    parser.add_argument("--tool", metavar="PATH", help="nvdisasm or cuobjdump; without it: found")
    parser.add_argument("--json", action="store_true", help="for scripts")
    return parser.parse_args(arguments)


def verdict(analysis):
    """One line: tensor cores or not, and the opcodes."""
    if not analysis.uses_tensor_cores:
        return "no tensor cores"
    opcodes = ", ".join(f"{count} {opcode}" for opcode, count in analysis.tensor.most_common(4))
    more = len(analysis.tensor) - 4
    text = f"tensor cores: {opcodes}{f' and {more} more opcodes' if more > 0 else ''}"
    if analysis.loop:
        text += f"; {analysis.loop.every_trip_tensor} of {analysis.loop.every_trip} instructions of a trip through the loop"
    return text


def table(analyses):
    lines = []
    for a in analyses:
        lines += [f"sm_{a.arch:<4} {demangle(a.name)}", f"        {verdict(a)}"]
        lines += [f"        {finding.severity}: {finding.message}" for finding in a.findings]
    using = [a for a in analyses if a.uses_tensor_cores]
    against = Counter(f.kind for a in analyses for f in a.findings if f.severity == "against")
    lines.append(f"{len(using)} of {len(analyses)} kernels use tensor cores")
    if against:
        lines.append("against them: " + ", ".join(f"{kind} ({count} kernels)" for kind, count in against.most_common()))
    return "\n".join(lines)


@command(NAME)
def main(arguments=None):
    options = parse_arguments(arguments)
    selection = Selection(options.kernel, options.arch, NamePattern(options.kernel or "*").matches)
    analyses = analyses_of([options.file or options.binary], selection, options.tool)
    print(json.dumps([as_dict(a, demangle(a.name)) for a in analyses], indent=2) if options.json else table(analyses))
    return OK
