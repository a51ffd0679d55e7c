"""mma.sync and mma.sp: chains of mma into one accumulator, one chain for latency, several for throughput.

The forms and their opcodes come from ptx/instructions.csv. A alternates with its negation, so that the accumulators stay
near zero however long the loop runs.
"""

import re
from itertools import product

from tenon_ptx.table import load

from .frame import Kernel, load_registers, vector

BITS = {"f16": 16, "bf16": 16, "tf32": 32, "f64": 64, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1, "e4m3": 8, "e5m2": 8}
# The mask whose XOR negates elements, 32 bits at a time. Integers are not negated: their accumulators wrap around.
SIGNS = {"f16": 0x80008000, "bf16": 0x80008000, "tf32": 0x80000000, "e4m3": 0x80808080, "e5m2": 0x80808080}
METADATA = 0x4E4E4E4E  # 2:4, elements 0, 1 and 2, 3 alternately: the only two that tf32 has, too
FORM = re.compile(
    r"mma(?P<sparse>\.sp(?:::ordered_metadata)?)?\.sync\.aligned\.m(?P<m>\d+)n(?P<n>\d+)k(?P<k>\d+)\.\w+\.\w+"
    r"(?:\.satfinite)?\.(?P<d>\w+)\.(?P<a>\w+)\.(?P<b>\w+)\.(?P<c>\w+)"
)
UNROLLED = 16  # least number of mma in one trip
# The same for the primary forms: a warp alone on an SM sub-partition waits about 18 cycles for the branch, the time of 3 mma.
UNROLLED_PRIMARY = 64

PRIMARY = (
    "m16n8k16.row.col.f32.f16.f16.f32", "m16n8k16.row.col.f16.f16.f16.f16", "m16n8k16.row.col.f32.bf16.bf16.f32",
    "m16n8k8.row.col.f32.f16.f16.f32", "m16n8k8.row.col.f32.tf32.tf32.f32", "m16n8k32.row.col.s32.s8.s8.s32",
    "m16n8k256.row.col.s32.b1.b1.s32.and.popc", "m16n8k16.row.col.f64.f64.f64.f64",
)  # fmt: skip
PRIMARY_SPARSE = ("m16n8k32.row.col.f32.f16.f16.f32", "m16n8k64.row.col.s32.s8.s8.s32", "m16n8k16.row.col.f32.tf32.tf32.f32")


def forms_of(table, family):
    """(PTX without operands, {opcode: count}, native) of the forms of sm_90a of a family of the table: mma, mma.sp."""
    for form in load(table):
        if form.family != family or "90a" not in form.sass:
            continue
        lowering = form.sass["90a"]
        tensor = {opcode: n for opcode, n in lowering.opcodes if opcode.startswith(("HMMA", "IMMA", "BMMA", "DMMA"))}
        # m8n8k4 of f16 is no longer a tensor core instruction but a subroutine of FP32 arithmetic.
        yield form.mnemonic, tensor or {"CALL.REL.NOINC": 1}, not lowering.emulated


def is_primary(form):
    """Whether the form is measured for all numbers of warps and chains, not only for latency and saturation."""
    return form.endswith(PRIMARY_SPARSE if ".sp." in form else PRIMARY) and "ordered" not in form


def kernel(form, opcodes, native, chains):
    """One warp's loop over `chains` accumulators."""
    match = FORM.match(form)
    m, n, k = (int(match[name]) for name in "mnk")
    sparse = bool(match["sparse"])
    a, b, d = match["a"], match["b"], match["d"]
    quads = 4 if (m, n, k, a) == (8, 8, 4, "f16") else 1  # m8n8k4 of f16 is four mma, one for each quad pair
    width = 64 if a == "f64" else 32
    a_registers = m * k * BITS[a] // (2 if sparse else 1) * quads // width // 32
    b_registers = k * n * BITS[b] * quads // width // 32
    d_registers = m * n * {"f16": 16, "f64": 64}.get(d, 32) * quads // width // 32
    c_registers = m * n * {"f16": 16, "f64": 64}.get(match["c"], 32) * quads // width // 32
    unrolled = UNROLLED_PRIMARY if is_primary(form) else UNROLLED
    repeats = max(2, 2 * (-(-unrolled // (2 * chains))))  # of every chain; even, for A and its negation

    lines = [f"    .reg .b{width} %a<{a_registers}>, %m<{a_registers}>, %b<{b_registers}>, %c<{chains * d_registers}>;"]
    setup = [load_registers("a", a_registers, 0, width), load_registers("b", b_registers, 128 * 1024, width)]
    for i in range(a_registers):
        mask = 0x8000000000000000 if width == 64 else SIGNS.get(a, 0)
        setup.append(f"    xor.b{width} %m{i}, %a{i}, {mask:#x};")
    setup += [f"    mov.b{width} %c{i}, 0;" for i in range(chains * d_registers)]
    metadata = ", %e, 0" if sparse else ""
    if sparse:
        lines.append("    .reg .b32 %e;")
        setup.append(f"    mov.b32 %e, {METADATA:#x};")
    loop = []
    # ptxas computes an emulated fp8 mma once and adds the same result repeatedly, unless A appears to change.
    varying = not native and BITS[a] == 8
    if varying:
        lines.append("    .reg .b32 %zero;")
        setup.append("    ld.param.u32 %zero, [hop];")
    for repeat, chain in product(range(repeats), range(chains)):
        first = chain * d_registers
        if varying:
            loop.append(f"    add.u32 %{'am'[repeat % 2]}0, %{'am'[repeat % 2]}0, %zero;")
        loop.append(
            f"    {form} {vector('c', d_registers, first)}, {vector('am'[repeat % 2], a_registers)}, "
            f"{vector('b', b_registers)}, {vector('c', c_registers, first)}{metadata};"
        )
    operations = repeats * chains
    results = []
    finish = []
    for chain in range(chains):
        first = f"%c{chain * d_registers}"
        if width == 64:
            lines.append(f"    .reg .b32 %low{chain}, %high{chain};")
            finish.append(f"    mov.b64 {{%low{chain}, %high{chain}}}, {first};")
            first = f"%high{chain}"
        results.append(first)
    family = "mma_sp" if sparse else "mma"
    stem = re.sub(r"\W+", "_", form.replace(".sync.aligned", "").replace("::ordered_metadata", "_ordered"))
    wide = is_wide(a, chains)
    return Kernel(
        name=f"{stem}_x{chains}", family=family, instruction=form, native=native,
        claim={opcode: count * operations for opcode, count in opcodes.items()},
        operations=operations, flop=2 * m * n * k * quads, threads=256 if wide else 512, data=a,
        registers="\n".join(lines), setup="\n".join(setup), loop="\n".join(loop), finish="\n".join(finish),
        results=results,
    )  # fmt: skip


def is_wide(a, chains):
    """Whether a thread needs more than 128 registers, the limit with 512 threads."""
    return a == "f64" and chains > 4


def kernels(table):
    for form, opcodes, native in [*forms_of(table, "mma"), *forms_of(table, "mma.sp")]:
        for chains in (1, 2, 3, 4, 6, 8) if is_primary(form) else (1, 4):
            yield kernel(form, opcodes, native, chains), chains
