"""Writes the mma forms of one minimum architecture as a list of MmaCase (mma_case.hpp), from the catalogue.

  generate_mma_cases.py <80|89|90> <file.cu>      80 stands for every form that sm_80 has
"""
import pathlib
import sys

from catalogue import load


def main(minimum_sm, path):
    forms = [f for f in load() if f.mnemonic.startswith("mma.") and max(int(f.min_sm), 80) == int(minimum_sm)]
    assert forms, f"no mma form has the minimum sm_{minimum_sm}"
    lines = ["// Generated from ptx/instructions.csv by generate_mma_cases.py.", '#include "ptx/mma_case.cuh"']
    lines += [f'#include "tenon/ptx/{header}"' for header in sorted({f.header for f in forms})]
    lines += ["", "namespace tenon::test {", "", "const std::vector<MmaCase>& mma_cases() {",
              "  static const std::vector<MmaCase> cases = {"]
    lines += [f'      {{"{f.mnemonic}", "{f.header.removesuffix(".hpp")}", {minimum_sm}, run_mma<{f.callee()}>}},'
              for f in forms]
    lines += ["  };", "  return cases;", "}", "", "}  // namespace tenon::test", ""]
    pathlib.Path(path).write_text("\n".join(lines))


if __name__ == "__main__":
    main(*sys.argv[1:])
