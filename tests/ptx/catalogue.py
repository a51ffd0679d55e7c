"""The wrapped forms of ptx/instructions.csv and the headers that wrap them, as Python objects.

What the tests of this folder share: Wrapped is a row that a function of include/tenon/ptx implements, Wrapper such a
function, and call_kernel() writes the CUDA kernel that calls a form's function by its exact signature. The rows of
wgmma and tcgen05, whose functions are templates over much more than a type, have tests of their own.
"""
import pathlib
import re
import sys
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "include"
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts"))

from tenon_ptx import table  # noqa: E402  (the line above makes it importable)

# Register class -> C++ type.
CPP = {"b8": "uint8_t", "b16": "uint16_t", "b32": "uint32_t", "s32": "int32_t", "f32": "float", "f64": "double",
       "b64": "const void*", "pred": "bool"}


@dataclass(frozen=True)
class Wrapped:
    """A row of the table that tenon wraps."""
    row: table.Form

    @property
    def form(self):
        return self.row.form

    @property
    def mnemonic(self):
        return self.row.mnemonic

    @property
    def header(self):
        return self.row.header

    @property
    def function(self):
        return self.row.name.split("<")[0]

    @property
    def types(self):
        """The template arguments that choose the form: ["type_s8", "type_u8"]."""
        return re.findall(r"type_\w+", self.row.name)

    @property
    def immediates(self):
        return [o for o in self.row.operands if o.kind == "imm"]

    def exists_on(self, arch):
        return arch in self.row.sass

    def signature(self):
        """(return type, [parameter types]): arrays by reference; a scalar result is returned."""
        def parameter(operand, constant):
            kind = CPP[operand.kind]
            if operand.name == self.row.predicate:
                kind = "uint32_t"  # a bit field's mask, or a bool
            elif operand.kind == "b64" and operand.name == "address" and self.mnemonic.startswith("st."):
                kind = "void*"
            elif operand.kind == "b64" and operand.name == "policy":
                kind = "uint64_t"
            return f"{'const ' if constant else ''}{kind} (&)[{operand.count}]" if operand.count else kind

        inputs = [parameter(o, True) for o in self.row.operands if o.kind != "imm"]
        if any(o.count for o in self.row.results):
            return "void", [parameter(self.row.results[0], False)] + inputs
        if self.row.results and self.row.predicate:  # keeps its value where the instruction does not run
            return "void", [f"{CPP[self.row.results[0].kind]}&", *inputs]
        kinds = {**CPP, "b64": "uint64_t"}  # as a result it is not an address
        return (kinds[self.row.results[0].kind] if self.row.results else "void"), inputs

    def callee(self):
        arguments = [f"tenon::ptx::{t}" for t in self.types] + [o.value for o in self.immediates]
        return f"tenon::ptx::{self.function}<{', '.join(arguments)}>"


def load():
    return [Wrapped(f) for f in table.load() if f.provider == "tenon" and f.family not in ("wgmma", "tcgen05")]


@dataclass(frozen=True)
class Wrapper:
    header: str
    comment: str     # the lines above the function, joined by blanks
    template: list   # its template parameters: ["class A", "int selector", "class Dependent = void"]
    function: str
    result: str
    parameters: list  # types, names removed
    body: str
    asm: str         # the instruction text, string literals joined

    @property
    def clobbers_memory(self):
        return '"memory"' in self.body

    @property
    def sentence(self):
        """What the compiler says where the form does not exist."""
        return "".join(re.findall(r'"([^"]*)"', self.body.split("static_assert(")[1].split(");")[0]))


WRAPPER = re.compile(
    r"((?:^//.*\n)+)^template <([^>]*)>\n__device__ __forceinline__ (\w+)\s+(\w+)\(([^{]*)\) \{\n([\s\S]*?)^\}$", re.M)
ASM = re.compile(r'asm(?: volatile)?\(\s*((?:"[^"]*"\s*)+)')
PARAMETER = re.compile(r"^(.*?)\s*(?:\(&\w+\)(\[\d+\])|\b\w+)$", re.S)


def wrappers(header):
    text = (INCLUDE / "tenon/ptx" / header).read_text()
    result = []
    for comment, template, returns, function, parameters, body in WRAPPER.findall(text):
        types = []
        for parameter in (p.strip() for p in parameters.split(",") if p.strip()):
            kind, extent = PARAMETER.match(parameter).groups()
            types.append(f"{kind} (&){extent}" if extent else kind)
        asm = "".join(re.findall(r'"([^"]*)"', ASM.search(body).group(1)))
        comment = " ".join(line.lstrip("/ ") for line in comment.splitlines())
        result.append(Wrapper(header, comment, [t.strip() for t in template.split(",")], function, returns, types, body,
                              asm))
    return result


def headers():
    """The headers that hold wrappers of one function a form; opaque.hpp holds no instruction."""
    names = {p.name for p in (INCLUDE / "tenon/ptx").glob("*.hpp") if not p.name.startswith(("wgmma", "tcgen05"))}
    return sorted(names - {"arch.hpp", "opaque.hpp", "operand_types.hpp", "shared_address.hpp"})


def key(header, function, returns, parameters):
    return header, function, returns, tuple(parameters)


def pairs():
    """[(Wrapped, its Wrapper or None)]"""
    by_signature = {key(w.header, w.function, w.result, w.parameters): w for h in headers() for w in wrappers(h)}
    return [(f, by_signature.get(key(f.header, f.function, *f.signature()))) for f in load()]


def call_kernel(form, name):
    """A kernel that calls the form's function through a pointer of exactly the table's signature, with operands from
    memory. The pointer is a constant, so the compiler inlines the call and the kernel holds the one form."""
    returns, types = form.signature()
    operands = [o for o in form.row.results if o.count or form.row.predicate]
    operands += [o for o in form.row.operands if o.kind != "imm"]
    parameters, arguments, loads, stores = [], [], [], []
    for kind, operand in zip(types, operands):
        letter, is_result = operand.name, operand in form.row.results
        if not operand.count and form.mnemonic.startswith("mma"):  # metadata and scales are each lane's own
            parameters.append(f"const {kind}* {letter}")
            arguments.append(f"{letter}[threadIdx.x]")
            continue
        if kind.endswith("&"):
            parameters.append(f"{kind[:-1]}* {letter}")
            arguments.append(f"{letter}[threadIdx.x]")
            continue
        if not operand.count:
            parameters.append(f"{kind} {letter}")
            arguments.append(letter)
            continue
        parameters.append(f"{'' if is_result else 'const '}{CPP[operand.kind]}* {letter}")
        arguments.append(f"{letter}_registers")
        loads.append(f"  {CPP[operand.kind]} {letter}_registers[{operand.count}];\n")
        copy = f"{letter}_registers[i] = {letter}[32 * i + threadIdx.x]"
        if is_result:
            copy = f"{letter}[32 * i + threadIdx.x] = {letter}_registers[i]"
        (stores if is_result else loads).append(f"  for (int i = 0; i < {operand.count}; ++i) {copy};\n")
    call = f"function({', '.join(arguments)})"
    if returns != "void":
        parameters.insert(0, f"{returns}* d")
        call = f"d[threadIdx.x] = {call}"
    # ptxas drops setmaxnreg from a kernel without both launch bounds.
    return (f'extern "C" __global__ void __launch_bounds__(128, 1) {name}({", ".join(parameters)}) {{\n'
            f"  {returns} (*const function)({', '.join(types)}) = {form.callee()};\n"
            f"{''.join(loads)}  {call};\n{''.join(stores)}}}\n")


def kernel_name(index, form):
    return f"form{index:03d}_{form.function}"


def source(forms, catalogue):
    """A translation unit with a kernel for each of `forms`; names are numbered by the place in the catalogue."""
    place = {f.form: i for i, f in enumerate(catalogue)}
    text = "#include <cstdint>\n" + "".join(f'#include "tenon/ptx/{h}"\n' for h in sorted({f.header for f in forms}))
    return text + "".join(call_kernel(f, kernel_name(place[f.form], f)) for f in forms)
