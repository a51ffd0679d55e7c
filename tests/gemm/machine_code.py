"""The machine code of the GEMM kernels, disassembled once for the two tests of it: that takes most of their time.

  machine_code.py read READ FILE... --expectations JSON --arch ARCH...
    writes to READ what the tests need of the kernels
  machine_code.py check READ --expectations JSON
    what `scripts/sass_check FILE... --expectations JSON --brief` does
  machine_code.py report READ --arch ARCH... --baseline JSON
    what `scripts/kernel_report FILE... --arch ARCH... --baseline JSON` does
"""

import argparse
import pickle
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
sys.dont_write_bytecode = True
from tenon_sass import check, report  # noqa: E402  (the lines above make it importable)
from tenon_sass.analyse import analyse  # noqa: E402
from tenon_sass.baseline import read_baseline  # noqa: E402
from tenon_sass.command import command  # noqa: E402
from tenon_sass.disassemble import find_tool  # noqa: E402
from tenon_sass.errors import FAILED, OK  # noqa: E402
from tenon_sass.expect import Kernel, Selection, read_expectations  # noqa: E402
from tenon_sass.load import evaluate_kernels  # noqa: E402


def read(options):
    expectations, selection = read_expectations(options.expectations), Selection(archs=options.arch)

    def wanted(name, arch):
        return selection.holds(name, arch) or any(e.covers(arch) and e.matches(name) for e in expectations)

    def look(code):
        kernel = Kernel(code.name, code.arch, code.origin, code.resources, Counter(code.listing.opcodes))
        return kernel, analyse(code) if selection.holds(code.name, code.arch) else None

    seen, present = evaluate_kernels(options.files, find_tool(), wanted, look)
    kernels, analyses = [kernel for kernel, _ in seen], [analysis for _, analysis in seen if analysis]
    options.read.write_bytes(pickle.dumps((kernels, analyses, present)))
    print(f"{len(kernels)} of {len(present)} kernels disassembled, {len(analyses)} of them analysed")
    return OK


def judge_expectations(options):
    kernels, _, present = pickle.loads(options.read.read_bytes())
    results, unanswered = check.judge(read_expectations(options.expectations), kernels, present)
    print(check.table(results, unanswered, brief=True))
    return FAILED if unanswered or not all(c.ok for _, checks in results for c in checks) else OK


def judge_baseline(options):
    _, analyses, _ = pickle.loads(options.read.read_bytes())
    return report.judge_baseline(options, Selection(archs=options.arch), read_baseline(options.baseline), analyses)


@command("machine_code")
def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    steps = parser.add_subparsers(required=True)
    for name, step in (("read", read), ("check", judge_expectations), ("report", judge_baseline)):
        one = steps.add_parser(name)
        one.set_defaults(step=step, json=False)
        one.add_argument("read", type=Path)
        if step is read:
            one.add_argument("files", nargs="+")
        if step is not judge_baseline:
            one.add_argument("--expectations", required=True)
        else:
            one.add_argument("--baseline", required=True)
        if step is not judge_expectations:
            one.add_argument("--arch", nargs="+", required=True)
    options = parser.parse_args()
    return options.step(options)


if __name__ == "__main__":
    sys.exit(main())
