"""The catalogue (ptx/instructions.csv) and the headers it describes, as Python objects.

What the tests of this folder share: Form is a row of the catalogue, Wrapper a function of a header, and
call_kernel() writes the CUDA kernel that calls a form's function by its exact signature.
"""
import csv
import pathlib
import re
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "include"
CSV = ROOT / "ptx" / "instructions.csv"
CHIPS = ("75", "80", "86", "89", "90", "90a")  # sm_<chip>: the columns of the catalogue

# The immediate operands, by the name that the PTX text gives them: template arguments of the wrapper, and the value
# with which the tests call it.
IMMEDIATES = {"pending": 1, "registers": 64}

# Operand as the catalogue writes it (without its count) -> C++ type.
CPP = {"b16": "uint16_t", "b32": "uint32_t", "s32": "int32_t", "f32": "float", "f64": "double", "b64": "const void*"}


@dataclass(frozen=True)
class Form:
    form: str      # PTX text: "mma.sync... d, a, b, c;"
    function: str  # in namespace tenon::ptx
    header: str    # below include/tenon/ptx
    d: str         # "4xf32" an array of registers, "f32" a scalar, "" none
    a: str
    b: str
    c: str
    ptx_isa: tuple
    min_sm: str    # as in sm_<min_sm>; with a letter, that chip alone
    status: dict   # chip -> native | emulated | absent
    sass: dict     # chip -> {opcode: count}, empty when absent

    @property
    def mnemonic(self):
        return self.form.split()[0].rstrip(";")

    @property
    def only(self):
        """Whether the form belongs to one architecture-specific target alone."""
        return not self.min_sm.isdigit()

    def exists_on(self, chip):
        return chip == self.min_sm if self.only else int(chip.rstrip("a")) >= int(self.min_sm)

    @property
    def sentence(self):
        """What the compiler says where the form does not exist."""
        sm = f"sm_{self.min_sm}"
        needs, how = (sm, f"-gencode arch=compute_{self.min_sm},code={sm}") if self.only else (
            f"{sm} or newer", f"-arch={sm} or above")
        return f"tenon::ptx::{self.function} needs {needs}: compile with {how}"

    @property
    def immediates(self):
        return [value for name, value in IMMEDIATES.items() if f" {name};" in self.form]

    def signature(self):
        """(return type, [parameter types]): arrays by reference; a scalar result is returned."""
        def parameter(operand, constant):
            count, _, kind = operand.rpartition("x")
            return f"{'const ' if constant else ''}{CPP[kind]} (&)[{count}]" if count else CPP[kind]

        inputs = [parameter(x, True) for x in (self.a, self.b, self.c) if x]
        if "x" in self.d:
            return "void", [parameter(self.d, False)] + inputs
        return (CPP[self.d] if self.d else "void"), inputs

    def callee(self):
        return f"tenon::ptx::{self.function}<{', '.join(map(str, self.immediates))}>"


def counts(cell):
    """"2*HMMA.16816.F32 4*FADD" -> {"HMMA.16816.F32": 2, "FADD": 4}"""
    return {op: int(n) for n, op in (item.split("*") for item in cell.split())}


def load(path=CSV):
    with open(path, newline="") as file:
        return [Form(r["form"], r["function"], r["header"], r["d"], r["a"], r["b"], r["c"],
                     tuple(int(x) for x in r["ptx_isa"].split(".")), r["min_sm"],
                     {chip: r[f"sm{chip}"] for chip in CHIPS},
                     {chip: counts(r[f"sass_sm{chip}"]) for chip in CHIPS}) for r in csv.DictReader(file)]


@dataclass(frozen=True)
class Wrapper:
    header: str
    comment: str     # the lines above the function, joined by blanks
    function: str
    result: str
    parameters: list  # types, names removed
    body: str
    asm: str         # the instruction text, string literals joined

    @property
    def clobbers_memory(self):
        return '"memory"' in self.body


WRAPPER = re.compile(
    r"((?:^//.*\n)+)^template <([^>]*)>\n__device__ __forceinline__ (\w+) (\w+)\(([^{]*)\) \{\n([\s\S]*?)^\}$", re.M)
ASM = re.compile(r'asm(?: volatile)?\(\s*((?:"[^"]*"\s*)+)')
PARAMETER = re.compile(r"^(.*?)\s*(?:\(&\w+\)(\[\d+\])|\b\w+)$", re.S)


def wrappers(header):
    text = (INCLUDE / "tenon/ptx" / header).read_text()
    result = []
    for comment, _, returns, function, parameters, body in WRAPPER.findall(text):
        types = []
        for parameter in (p.strip() for p in parameters.split(",") if p.strip()):
            kind, extent = PARAMETER.match(parameter).groups()
            types.append(f"{kind} (&){extent}" if extent else kind)
        asm = "".join(re.findall(r'"([^"]*)"', ASM.search(body).group(1)))
        comment = " ".join(line.lstrip("/ ") for line in comment.splitlines())
        result.append(Wrapper(header, comment, function, returns, types, body, asm))
    return result


def headers():
    """The headers that hold wrappers: all but the guard and the address."""
    names = {p.name for p in (INCLUDE / "tenon/ptx").glob("*.hpp")}
    return sorted(names - {"arch.hpp", "shared_address.hpp"})


def call_kernel(form, name):
    """A kernel that calls the form's function through a pointer of exactly the catalogue's signature, with operands
    from memory. The pointer is a constant, so the compiler inlines the call and the kernel holds the one form."""
    returns, types = form.signature()
    operands = [("d", form.d)] if "x" in form.d else []
    operands += [(n, o) for n, o in zip("abc", (form.a, form.b, form.c)) if o]
    parameters, arguments, loads, stores = [], [], [], []
    for operand, (letter, spec) in zip(types, operands):
        count, _, kind = spec.rpartition("x")
        if not count:
            parameters.append(f"{operand} {letter}")
            arguments.append(letter)
            continue
        parameters.append(f"{'' if letter == 'd' else 'const '}{CPP[kind]}* {letter}")
        arguments.append(f"{letter}_registers")
        loads.append(f"  {CPP[kind]} {letter}_registers[{count}];\n")
        copy = f"{letter}_registers[i] = {letter}[32 * i + threadIdx.x]"
        if letter == "d":
            copy = f"d[32 * i + threadIdx.x] = d_registers[i]"
        (stores if letter == "d" else loads).append(f"  for (int i = 0; i < {count}; ++i) {copy};\n")
    call = f"function({', '.join(arguments)})"
    if form.d and "x" not in form.d:
        parameters.insert(0, f"{CPP[form.d]}* d")
        call = f"d[threadIdx.x] = {call}"
    # ptxas drops setmaxnreg from a kernel without both launch bounds.
    return (f'extern "C" __global__ void __launch_bounds__(128, 1) {name}({", ".join(parameters)}) {{\n'
            f"  {returns} (*const function)({', '.join(types)}) = {form.callee()};\n"
            f"{''.join(loads)}  {call};\n{''.join(stores)}}}\n")


def kernel_name(index, form):
    return f"form{index:03d}_{form.function}"


def source(forms, catalogue):
    """A translation unit with a kernel for each of `forms`; names are numbered by the place in the catalogue."""
    text = "#include <cstdint>\n" + "".join(f'#include "tenon/ptx/{h}"\n' for h in sorted({f.header for f in forms}))
    return text + "".join(call_kernel(f, kernel_name(catalogue.index(f), f)) for f in forms)
