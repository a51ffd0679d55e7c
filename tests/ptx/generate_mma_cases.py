"""Writes the mma forms of one minimum architecture as kernels and a list of MmaCase (mma_case.hpp), from the table.

  generate_mma_cases.py <80|89|90> <file.cu>      80 stands for every form that sm_80 has

A form of mma.sp is a case for each of its sparsity selectors; without ::ordered_metadata, where the metadata means the
same, for the highest alone.
"""
import dataclasses
import pathlib
import re
import sys

from catalogue import headers, load, wrappers


def highest_selector(form):
    """From the wrapper's own check, which ptxas confirms: beyond it the form does not assemble."""
    for wrapper in wrappers(form.header):
        if (wrapper.function, wrapper.parameters) == (form.function, form.signature()[1]):
            return int(re.search(r"selector (?:>= 0 && selector <=|==) (\d)", wrapper.body)[1])
    raise LookupError(form.form)


def selectors(form):
    if not form.mnemonic.startswith("mma.sp"):
        return [0]
    highest = highest_selector(form)
    return list(range(highest + 1)) if "ordered" in form.mnemonic else [highest]


def callee(form, selector):
    operands = tuple(dataclasses.replace(o, value=str(selector)) if o.name == "selector" else o
                     for o in form.row.operands)
    chosen = dataclasses.replace(form, row=dataclasses.replace(form.row, operands=operands))
    # The cast tells functions of one name apart that differ in the registers they take.
    return f"static_cast<void (*)({', '.join(form.signature()[1])})>({chosen.callee()})"


def main(minimum_sm, path):
    forms = [f for f in load() if f.mnemonic.startswith("mma.") and f.row.targets[0].isdigit()
             and max(int(f.row.targets[0]), 80) == int(minimum_sm)]
    assert forms, f"no mma form has the minimum sm_{minimum_sm}"
    lines = ["// Generated from ptx/instructions.csv by generate_mma_cases.py.", '#include "ptx/mma_case.cuh"']
    lines += [f'#include "tenon/ptx/{header}"' for header in headers() if header in {f.header for f in forms}]
    kernels, cases = [], []
    for form in forms:
        for selector in selectors(form):
            name = f"mma_case_{len(cases)}"
            kernels.append(f'extern "C" __global__ void {name}(const void* a, const void* b, const void* c, const uint32_t* e, '
                           f"void* d) {{\n  tenon::test::multiply<{callee(form, selector)}>(a, b, c, e, d);\n}}")
            cases.append(f'      {{"{form.mnemonic}", "{form.header.removesuffix(".hpp")}", {minimum_sm}, {selector}, '
                         f'"{name}", launch_mma<{name}>}},')
    lines += ["", *kernels, "", "namespace tenon::test {", "", "const std::vector<MmaCase>& mma_cases() {",
              "  static const std::vector<MmaCase> cases = {", *cases, "  };", "  return cases;", "}", "",
              "}  // namespace tenon::test", ""]
    pathlib.Path(path).write_text("\n".join(lines))


if __name__ == "__main__":
    main(*sys.argv[1:])
