"""Assembles each form in its own PTX kernel, through ptxas and nvdisasm, and finds its opcodes.

The kernel loads the operands by ld.relaxed.sys and stores the results by st.relaxed.sys. No form has their opcodes
(LDG.E.STRONG.SYS), so everything else in the kernel, except moves and a kernel's frame, is the form. ptxas's error lines
identify the forms that a target lacks, which proves their absence.
"""

import collections
import os
import re
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tenon_sass.disassemble import opcodes_of_listing
from tenon_sass.errors import BadInput

from .table import ARCHITECTURES, Lowering

CUDA_VERSION = "13.0"  # whose ptxas filled the column sass: others make other machine code of some forms
PTX_VERSION = "9.0"  # the newest of that version
BATCH = 400  # kernels a run: ptxas's time grows faster than their number, and two runs use two cores

# The opcodes around a form: the frame of a kernel, its operands and results, and moves between registers.
FRAME = re.compile(
    r"^(LDG|STG)\.E\b.*STRONG\.SYS|^(MOV|UMOV|IMAD\.MOV|CS2R|S2R|S2UR|R2UR|LDC|ULDC|LDCU|NOP|EXIT|BRA|RET|BSSY|BSYNC"
    r"|WARPSYNC|UCS2R)\b")
# Integer and logic operations, counted together where a form has other opcodes too: only their number matters.
ALU = re.compile(
    r"^U?(IADD3?|IADD\.64|VIADD|IMAD|LEA|LOP3|LOP|PLOP3|SHF|SHL|SHR|PRMT|SEL|ISETP|SGXT|BMSK|P2R|R2P|IABS|I2I|IMNMX|VIMNMX|"
    r"POPC|FLO|FSEL|BREV|VOTE|VOTEU|P2UR|MUFU|CREDUX)\b")
# ptxas 12.8 to 13.0 accept these for older targets, with opcodes that have no name. The PTX ISA, and ptxas since 13.1, do not.
SINCE_SM_90 = re.compile(r"fence\.(acquire|release)\.")
TENSOR = re.compile(r"^(HMMA|IMMA|BMMA|DMMA|QMMA|OMMA|[HIBQ]GMMA|UTC\w*MMA)\b")
# Opcodes that, beside a tensor opcode, mean that the chip lacks the instruction.
REPAIR = re.compile(r"^(CALL|SHFL|F2FP|HADD2|FADD|FMUL|FFMA|DFMA)\b")


def parts(names, kind):
    """(".v4", "{a0, a1, a2, a3}", index of a0) of each access of at most 16 bytes: ptxas takes a third longer for a wgmma whose
    128 registers come one by one. Few registers do: from pairs ptxas makes other code of some forms."""
    most, at = {"32": 4, "64": 2}.get(kind[-2:], 1) if len(names) >= 8 else 1, 0
    while at < len(names):
        size = next(n for n in (4, 2, 1) if n <= min(most, len(names) - at))
        chosen = ", ".join(names[at : at + size])
        yield (f".v{size}", f"{{{chosen}}}", at) if size > 1 else ("", chosen, at)
        at += size


def declare(operand, place, store):
    """(PTX lines that declare and load the operand or store it, its text in the instruction)."""
    kind = operand.kind
    if kind == "imm":
        return [], operand.value
    if kind == "param":
        return [], "map_parameter"
    names = [f"{operand.name}{i}" for i in range(operand.count)] if operand.count else [operand.name]
    lines, memory = [f".reg .{kind} {', '.join(names)};"], f"[memory+{512 * place}]"
    if kind == "pred":
        for name in names:
            lines += [f"@{name} st.relaxed.sys.global.b32 {memory}, one;"] if store else [
                f".reg .b32 {name}_word;", f"ld.relaxed.sys.global.b32 {name}_word, {memory};",
                f"setp.ne.u32 {name}, {name}_word, 0;"]
    elif kind == "b128":
        for name in names:
            lines += [f".reg .b64 {name}_low, {name}_high;", f"ld.relaxed.sys.global.b64 {name}_low, {memory};",
                      f"ld.relaxed.sys.global.b64 {name}_high, {memory};",
                      f"mov.b128 {name}, {{{name}_low, {name}_high}};"]
    else:
        for vector, registers, i in parts(names, kind):
            memory = f"[memory+{512 * place + 16 * i}]"
            lines.append(f"st.relaxed.sys.global{vector}.{kind} {memory}, {registers};" if store else
                         f"ld.relaxed.sys.global{vector}.{kind} {registers}, {memory};")
    return lines, f"{{{', '.join(names)}}}" if operand.count else names[0]


def kernel(form, name):
    """The PTX text of an entry that executes the form once."""
    # Registers of any class can hold signed numbers.
    head, tail, text = [], [], {}
    for place, operand in enumerate(form.results + form.operands):
        store = operand in form.results
        lines, text[operand.name] = declare(operand, place, store)
        if store:
            head += [line for line in lines if line.startswith(".reg")]
            tail += [line for line in lines if not line.startswith(".reg")]
        else:
            head += lines
    mnemonic, _, rest = form.instruction.partition(" ")
    guard = f"@{text[form.predicate]} " if form.predicate else ""
    names = sorted(text, key=len, reverse=True)
    if names and rest:
        rest = re.sub(r"\b(" + "|".join(map(re.escape, names)) + r")\b", lambda m: text[m[1]], rest)
    body = "\n  ".join([*head, f"{guard}{mnemonic} {rest}".strip(), *tail])
    one = "mov.b32 one, 1;" if any(r.kind == "pred" for r in form.results) else ""
    return frame(name, per_lane(form), f"  .reg .b32 one;\n  {one}\n  {body}\n")


def per_lane(form):
    """Whether the operands must differ between lanes, so that ptxas cannot remove shuffles: matrix products.
    Descriptors, barriers and sizes are the same for a warp in real code, too."""
    return form.family in ("mma", "mma.sp")


def frame(name, lanes, body):
    lane = "  .reg .b32 thread;\n  mov.u32 thread, %tid.x;\n  mad.wide.u32 memory, thread, 8192, memory;\n"
    # ptxas drops setmaxnreg from a kernel without both launch bounds.
    return (f".visible .entry {name}(.param .u64 parameter, .param .align 64 .b8 map_parameter[128])\n"
            f".maxntid 128, 1, 1 .minnctapersm 1\n{{\n  .reg .b64 memory;\n"
            f"  ld.param.u64 memory, [parameter];\n{lane if lanes else ''}{body}  ret;\n}}\n")


def ptxas(text, arch, program, folder, version):
    """(cubin or None, {line: message})"""
    source, cubin = Path(folder, "forms.ptx"), Path(folder, "forms.cubin")
    source.write_text(f".version {version}\n.target sm_{arch}\n.address_size 64\n{text}")
    done = subprocess.run([program, f"-arch=sm_{arch}", "-w", str(source), "-o", str(cubin)], capture_output=True,
                          text=True, check=False)
    if done.returncode == 0:
        return cubin, {}
    errors = {int(line): message for line, message in
              re.findall(r"forms\.ptx, line (\d+); error\s*: (.*)", done.stderr)}
    if not errors:
        raise BadInput(f"ptxas fails for sm_{arch} without naming a line: {done.stderr.strip()[:500]}")
    return None, errors


def batches(indices):
    return [indices[i : i + BATCH] for i in range(0, len(indices), BATCH)]


def compiled(forms, arch, program, folder, version):
    """(cubin, [index of each form in it]) of the forms that ptxas accepts for sm_<arch>; (None, []): it accepts none of them."""
    kernels = {i: kernel(form, f"form{i}") for i, form in enumerate(forms)}
    while kernels:
        text = "".join(frame(f"empty{n}", n, "  st.relaxed.sys.global.b32 [memory], 0;\n") for n in (0, 1))
        first, at = 4 + text.count("\n"), []
        for i, code in kernels.items():
            at.append((first, i))
            first += code.count("\n")
            text += code
        cubin, errors = ptxas(text, arch, program, folder, version)
        if cubin:
            return cubin, sorted(kernels)
        if min(errors) < at[0][0]:  # this PTX version lacks the target
            break
        for i in {max((start, i) for start, i in at if start <= line)[1] for line in errors}:
            del kernels[i]
    return None, []


def accepted(forms, arch, program, version):
    """{index of a form} of the forms that ptxas accepts for sm_<arch>. A form for which it dies without a message is none."""
    try:
        with tempfile.TemporaryDirectory(prefix="tenon-ptx-") as folder:
            return set(compiled(forms, arch, program, folder, version)[1])
    except BadInput:
        if len(forms) == 1:
            return set()
    half = len(forms) // 2
    return accepted(forms[:half], arch, program, version) | {
        half + i for i in accepted(forms[half:], arch, program, version)}


def assemble(forms, arch, tools, version=PTX_VERSION):
    """{index of a form: Counter of opcodes} for the forms that sm_<arch> has."""
    with tempfile.TemporaryDirectory(prefix="tenon-ptx-") as folder:
        cubin, indices = compiled(forms, arch, tools["ptxas"], folder, version)
        if not cubin:
            return {}
        done = subprocess.run([tools["nvdisasm"], "--print-code", "--no-dataflow", str(cubin)], check=False, text=True,
                              capture_output=True)
    if done.returncode != 0:
        raise BadInput(f"nvdisasm cannot read what ptxas made for sm_{arch}: {done.stderr.strip()[:500]}")
    found = opcodes_of_listing(done.stdout)
    # Subtracts the code for the lane's address; sm_87 also clears its barrier registers at the start of every kernel.
    empty = [collections.Counter(found["empty0"]), collections.Counter(found["empty1"])]
    return {i: collections.Counter(found[f"form{i}"]) - empty[per_lane(forms[i])] for i in indices}


def lowering(form, counter):
    """The opcodes of the form among those of its kernel."""
    counter = collections.Counter({op: n for op, n in counter.items() if not FRAME.match(op)})
    for _ in [o for o in form.operands if o.kind == "pred"]:
        comparison = next((op for op in counter if re.match(r"U?ISETP", op)), None)
        if comparison:
            counter[comparison] -= 1
    counter = +counter
    if form.family != "packed arithmetic":  # in other families ptxas uses it to write a constant into a register
        counter = collections.Counter({op: n for op, n in counter.items() if not op.startswith(("HFMA2.MMA", "HFMA2 "))
                                       and op != "HFMA2"})
    named = {op: n for op, n in counter.items() if not ALU.match(op)}
    # UIADD3 beside other opcodes computes the address of an operand.
    alu = sum(n for op, n in counter.items() if ALU.match(op) and not op.startswith("UIADD3"))
    if named and alu:
        named["ALU"] = alu
    opcodes = named or dict(counter)
    order = sorted(opcodes, key=lambda op: (not TENSOR.match(op), op == "ALU", op))
    return Lowering(is_emulated(form, opcodes), tuple((op, opcodes[op]) for op in order))


def is_emulated(form, opcodes):
    """Whether the chip has no instruction for the form: ptx/README.md, "native and emulated"."""
    if form.family in ("mma", "mma.sp"):
        issued = {re.sub(r"\.STEP\d", "", op): n for op, n in opcodes.items() if TENSOR.match(op)}
        return sum(issued.values()) != 1 or any(REPAIR.match(op) for op in opcodes)
    if form.mnemonic.startswith("wmma.mma"):
        return any(op.startswith("CALL") for op in opcodes) or not any(TENSOR.match(op) for op in opcodes)
    if form.family == "conversion":
        return all(op == "ALU" or ALU.match(op) or op.startswith("FSETP") for op in opcodes) and sum(opcodes.values()) > 1
    return False


def lowerings(forms, arch, tools):
    """[Lowering or None for each form]: the complete table on one architecture."""
    older = ARCHITECTURES.index(arch) < ARCHITECTURES.index("90")
    chosen = [i for i, form in enumerate(forms) if not (older and SINCE_SM_90.match(form.form))]
    # Forms that the table has for sm_<arch> come first: a batch of the others ends with ptxas's errors, and nvdisasm, which
    # takes half a second to start, reads fewer cubins.
    chosen.sort(key=lambda i: arch not in forms[i].sass)
    result = [None] * len(forms)

    def run(batch):
        for k, counter in assemble([forms[i] for i in batch], arch, tools).items():
            result[batch[k]] = lowering(forms[batch[k]], counter)

    with ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        list(pool.map(run, batches(chosen)))
    return result
