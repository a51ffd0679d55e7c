"""Compiles every wrapped form for one architecture through its C++ function, and checks the SASS that comes out.

  compile_forms.py compile <nvcc> <target> <folder>    one kernel a form, called by its exact signature -> cubin
  compile_forms.py sass <nvdisasm> <target> <folder>   each kernel holds the table's opcodes of tensor cores, matrix moves,
                                                       asynchronous copies and conversions, in number

<target> as in sm_<target>: 75, 80, ..., 121a. Exit status 77: skipped, for want of a disassembler. What the table says of
the PTX text itself, all opcodes of all rows, is the test ptx.table.
"""
import collections
import os
import pathlib
import re
import subprocess
import sys

from catalogue import INCLUDE, ROOT, kernel_name, load, source
from tenon_sass.disassemble import find_tool, opcodes_of_listing
from tenon_sass.errors import NoTool

# The opcodes compared: what else a kernel has may belong to its operands. Loads and stores of local memory would mean a
# spill.
WATCHED = re.compile(r"^(HMMA|IMMA|BMMA|DMMA|QMMA|OMMA|QGMMA|HGMMA|LDSM|STSM|MOVM|LDGSTS|LDGDEPBAR|USETMAXREG|F2FP|F2IP|"
                     r"I2IP|SHFL|CALL|LDL|STL|STS|ST|BAR|UTMASTG|UTMAPF|UTMACCTL|CCTL)\b")


def forms_of(target):
    catalogue = load()
    return catalogue, [f for f in catalogue if f.exists_on(target)]


def compile_forms(nvcc, target, folder):
    catalogue, forms = forms_of(target)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"forms_sm_{target}.cu"
    path.write_text(source(forms, catalogue))
    subprocess.run([nvcc, "-std=c++17", "--Werror=all-warnings", "-Xcompiler=-Wall,-Wextra,-Werror", "-cubin",
                    "-Xptxas=-suppress-sparse-mma-advisory-info",  # its advice to prefer mma.sp::ordered_metadata, once for every form without
                    f"-arch=sm_{target}", f"-I{INCLUDE}", path, "-o", path.with_suffix(".cubin")], check=True)
    print(f"sm_{target}: {len(forms)} forms compiled")


def check_sass(nvdisasm, target, folder):
    try:
        tool = find_tool(nvdisasm or os.environ.get("TENON_NVDISASM"))
    except NoTool as why:
        print(f"skipped: {why}")
        sys.exit(1 if (ROOT / ".tools").exists() else 77)  # where the set-up ran, its absence is a failure
    catalogue, forms = forms_of(target)
    listing = subprocess.run([tool, folder / f"forms_sm_{target}.cubin"], check=True, text=True,
                             stdout=subprocess.PIPE).stdout
    kernels = {name: collections.Counter(opcodes) for name, opcodes in opcodes_of_listing(listing).items()}
    place = {f.form: i for i, f in enumerate(catalogue)}
    wrong = []
    for form in forms:
        expected = {op: n for op, n in form.row.sass[target].opcodes if WATCHED.match(op)}
        found = kernels[kernel_name(place[form.form], form)]
        relevant = {op: n for op, n in found.items() if WATCHED.match(op)}
        if relevant != expected:
            wrong.append(f"{form.form}\n  expected {expected}\n  found    {relevant}")
    print("\n".join(wrong) or f"sm_{target}: the SASS of {len(forms)} forms is as the catalogue says")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    action, program, target, folder = sys.argv[1:]
    {"compile": compile_forms, "sass": check_sass}[action](program, target, pathlib.Path(folder))
