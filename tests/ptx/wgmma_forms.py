"""Every wgmma row of ptx/instructions.csv through its C++ function, called by exact signature.

  wgmma_forms.py rows                        the rows are all the forms that PTX ISA 9.0 lists, each once
  wgmma_forms.py compile <nvcc> <folder>     one kernel a row -> PTX, whose instruction is the row's text, operands counted

What ptxas makes of these texts is the test ptx.table.sm_90a, which assembles each of them; that their operands are in
the right places, wgmma_test, which executes them.
"""
import itertools
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts"))

from tenon_ptx import table  # noqa: E402  (the line above makes it importable)

CPP = {"f32": "float", "b32": "uint32_t", "s32": "int32_t", "b64": "uint64_t", "pred": "int32_t"}


def rows():
    return [f for f in table.load() if f.family == "wgmma"]


def mnemonics():
    """What the PTX ISA says that there is (9.7.15.5.2 and 9.7.15.6.3), as {mnemonic}."""
    bits = {"f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8, "b1": 1}
    fp8 = list(itertools.product(("e4m3", "e5m2"), repeat=2))
    types = [("f16", "f16", "f16"), ("f32", "f16", "f16"), ("f32", "bf16", "bf16"), ("f32", "tf32", "tf32")]
    types += [(d, a, b) for d in ("f16", "f32") for a, b in fp8]
    types += [("s32", a, b) for a, b in itertools.product(("s8", "u8"), repeat=2)] + [("s32", "b1", "b1")]
    found = {"wgmma.fence.sync.aligned", "wgmma.commit_group.sync.aligned", "wgmma.wait_group.sync.aligned"}
    for (d, a, b), sparse in itertools.product(types, ("", ".sp")):
        if a == "b1" and sparse:
            continue
        tails = [".and.popc"] if a == "b1" else ["", ".satfinite"] if d == "s32" else [""]
        for n, tail in itertools.product(range(8, 257, 8), tails):
            if d == "s32" and n > 24 and n % 16 != 0:
                continue
            k = 256 // bits[a] * (2 if sparse else 1)
            found.add(f"wgmma.mma_async{sparse}.sync.aligned.m64n{n}k{k}.{d}.{a}.{b}{tail}")
    return found


def check_rows():
    forms = rows()
    texts = [f.form for f in forms]
    assert len(set(texts)) == len(texts), "a form stands in the table twice"
    expected = mnemonics()
    assert {f.mnemonic for f in forms} == expected, sorted({f.mnemonic for f in forms} ^ expected)[:20]
    for mnemonic in expected:
        sources = sorted(f.operands[0].name for f in forms if f.mnemonic == mnemonic and f.mnemonic.startswith("wgmma.mma"))
        assert sources in ([], ["a", "a_desc"]), f"{mnemonic}: A comes from {sources}"
    for form in forms:
        assert form.provider == "tenon" and form.targets == ("90a",), form.form
    print(f"{len(forms)} forms of wgmma")


def kernel(index, form):
    inputs = [o for o in form.operands if o.kind != "imm"]

    def parameter(operand, constant):
        kind = CPP[operand.kind]
        return f"{'const ' if constant else ''}{kind} (&)[{operand.count}]" if operand.count else kind

    types = [parameter(o, False) for o in form.results] + [parameter(o, True) for o in inputs]
    declared, arguments, parameters = [], [], []
    for operand in form.results + tuple(inputs):
        if operand.count:
            declared.append(f"{CPP[operand.kind]} {operand.name}[{operand.count}];")
        else:
            parameters.append(f"{CPP[operand.kind]} {operand.name}")
        arguments.append(operand.name)
    name = re.sub(r"\btype_", "tenon::ptx::type_", form.name)
    if form.mnemonic == "wgmma.wait_group.sync.aligned":
        name += f"<{form.operands[0].value}>"
    elif "<" not in name:
        name += "<>"
    return (f'extern "C" __global__ void form{index}({", ".join(parameters)}) {{\n  {" ".join(declared)}\n'
            f"  void (*const function)({', '.join(types)}) = tenon::ptx::{name};\n  function({', '.join(arguments)});\n}}\n")


def operands_of(text):
    """The number of operands behind the mnemonic, a list in braces counted by its registers."""
    return sum(1 for each in re.split(r"[,{}]", text) if each.strip())


def compile_rows(nvcc, folder):
    forms = rows()
    folder.mkdir(parents=True, exist_ok=True)
    source, ptx = folder / "wgmma_forms.cu", folder / "wgmma_forms.ptx"
    source.write_text('#include "tenon/ptx/wgmma.hpp"\nusing namespace tenon::ptx;\n' +
                      "".join(kernel(i, f) for i, f in enumerate(forms)))
    # The accumulators have no value: what is compiled is the call, and nothing runs it.
    subprocess.run([nvcc, "-std=c++17", "-ptx", "-gencode", "arch=compute_90a,code=sm_90a", "-diag-suppress=549",
                    f"-I{ROOT}/include", source, "-o", ptx], check=True)
    found = {int(i): re.findall(r"^\s*(wgmma\.[^;]*);", body, re.M)
             for i, body in re.findall(r"\.entry form(\d+)\(([\s\S]*?)^}$", ptx.read_text(), re.M)}
    wrong = []
    for i, form in enumerate(forms):
        instructions = found.get(i, [])
        expected = sum(o.count or 1 for o in form.results + form.operands)
        if len(instructions) != 1 or instructions[0].split()[0] != form.mnemonic or \
                operands_of(instructions[0][len(form.mnemonic):]) != expected:
            wrong.append(f"{form.form}: {[t[:90] for t in instructions]}")
    sys.exit("\n".join(wrong) if wrong else print(f"{len(forms)} forms compiled by exact signature"))


if __name__ == "__main__":
    {"rows": check_rows, "compile": lambda nvcc, folder: compile_rows(nvcc, pathlib.Path(folder))}[sys.argv[1]](*sys.argv[2:])
