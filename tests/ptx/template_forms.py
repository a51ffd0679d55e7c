"""Every row of wgmma and tcgen05 that tenon wraps, through its C++ function, called by exact signature.

  template_forms.py rows                               the rows of wgmma are all the forms that PTX ISA 9.0 lists, each once
  template_forms.py compile <nvcc> <family> <folder>   one kernel a row of wgmma or tcgen05 -> PTX, whose instruction is the
                                                       row's text, operands counted

Their functions are templates over more than types, so that these rows are many; nvcc writes PTX and ptxas does not run:
what it makes of these texts is the test ptx.table, which assembles each of them. That the operands of wgmma are in the
right places is shown by wgmma_test, which executes them.
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

CPP = {"f32": "float", "b32": "uint32_t", "s32": "int32_t", "b64": "uint64_t"}
PREDICATE = {"wgmma": "int32_t", "tcgen05": "bool"}
TARGET = {"wgmma": "90a", "tcgen05": "100a"}


def rows(family="wgmma"):
    return [f for f in table.load() if f.family == family and f.provider == "tenon"]


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
        if operand.name == "a_tmem":
            return "tenon::ptx::TensorMemory"
        kind = PREDICATE[form.family] if operand.kind == "pred" else CPP[operand.kind]
        return f"{'const ' if constant else ''}{kind} (&)[{operand.count}]" if operand.count else kind

    types = [parameter(o, False) for o in form.results] + [parameter(o, True) for o in inputs]
    declared, parameters = [], []
    for operand, kind in zip(form.results + tuple(inputs), types):
        if operand.count:
            declared.append(f"{CPP[operand.kind]} {operand.name}[{operand.count}]{'' if operand in form.results else ' = {}'};")
        else:
            parameters.append(f"{kind} {operand.name}")
    arguments = [o.name for o in form.results + tuple(inputs)]
    name = form.name
    for immediate in (o for o in form.operands if o.name in ("pending", "scale_d") and o.kind == "imm"):
        name = name[:-1] + f", {immediate.value}>" if name.endswith(">") else f"{name}<{immediate.value}>"
    if "<" not in name:
        name += "<>"
    return (f'extern "C" __global__ void form{index}({", ".join(parameters)}) {{\n  {" ".join(declared)}\n'
            f"  void (*const function)({', '.join(types)}) = {name};\n  function({', '.join(arguments)});\n}}\n")


def operands_of(text):
    """The number of operands after the mnemonic, a list in braces counted by its registers."""
    return sum(1 for each in re.split(r"[][,{}]", text) if each.strip())


def compile_rows(nvcc, family, folder):
    forms = rows(family)
    folder.mkdir(parents=True, exist_ok=True)
    source, ptx = folder / f"{family}_forms.cu", folder / f"{family}_forms.ptx"
    source.write_text("".join(f'#include "tenon/ptx/{header}"\n' for header in sorted({f.header for f in forms})) +
                      "using namespace tenon::ptx;\n" + "".join(kernel(i, f) for i, f in enumerate(forms)))
    # 549: the accumulators have no value. What is compiled is the call, and nothing runs it.
    subprocess.run([nvcc, "-std=c++17", "-ptx", "--Werror=all-warnings", "-diag-suppress=549", f"-I{ROOT}/include",
                    f"-gencode=arch=compute_{TARGET[family]},code=sm_{TARGET[family]}", source, "-o", ptx], check=True)
    found = {int(i): re.findall(rf"^\s*({family}\.[^;]*);", body, re.M)
             for i, body in re.findall(r"\.entry form(\d+)\(([\s\S]*?)^}$", ptx.read_text(), re.M)}
    wrong = []
    for i, form in enumerate(forms):
        instructions = found.get(i, [])
        expected = sum(o.count or 1 for o in form.results + form.operands)
        if len(instructions) != 1 or instructions[0].split()[0] != form.mnemonic or \
                operands_of(instructions[0][len(form.mnemonic):]) != expected:
            wrong.append(f"{form.form}: {[t[:120] for t in instructions]}")
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{len(forms)} forms of {family} compiled by exact signature")


if __name__ == "__main__":
    if sys.argv[1:] == ["rows"]:
        check_rows()
    else:
        compile_rows(sys.argv[2], sys.argv[3], pathlib.Path(sys.argv[4]))
