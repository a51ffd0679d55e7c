"""wgmma, dense and sparse, A from shared memory (SS) and from registers (RS).

The operands are tiles of 128-byte rows, K-major, with the 128-byte swizzle, as in a GEMM; one instruction takes 32 bytes
of every row of A, the next one the next 32. A alternates with a copy of opposite sign. The loop contains groups: a fence,
`group` instructions into one accumulator, a commit, and a wait that leaves `outstanding` groups in flight. 1 and 0 give
the time from issue to result; 4 and 1 keep the tensor core busy.
"""

from .frame import DATA_BYTES, Kernel, load_registers, vector
from .tensor import METADATA, SIGNS

ROW = 128  # bytes
TILE_A = 64 * ROW
FLOAT_N = tuple(range(8, 257, 8))
INTEGER_N = (8, 16, 24, *range(32, 257, 16))
SAMPLED_N = (64, 128, 256)
# types of d, a, b -> K of the dense instruction, SASS suffix
TYPES = {
    ("f32", "f16", "f16"): (16, "HGMMA", "F32"),
    ("f16", "f16", "f16"): (16, "HGMMA", "F16"),
    ("f32", "bf16", "bf16"): (16, "HGMMA", "F32.BF16"),
    ("f32", "tf32", "tf32"): (8, "HGMMA", "F32.TF32"),
    **{(d, a, b): (32, "QGMMA", f"{d}.{a}.{b}".upper()) for d in ("f32", "f16") for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")},
    **{("s32", a, b): (32, "IGMMA", f"{a}.{b}".upper()) for a in ("s8", "u8") for b in ("s8", "u8")},
    **{("s32", a, f"{a}.satfinite"): (32, "IGMMA", f"{a}.{a}.SAT".upper()) for a in ("s8", "u8")},
    ("s32", "b1", "b1"): (256, "BGMMA", "AND.POPC"),
}  # fmt: skip
EVERY_N = (("f32", "f16", "f16"), ("f32", "tf32", "tf32"), ("f32", "e4m3", "e4m3"), ("s32", "s8", "s8"))
SETUP = """\
    mov.u32 %tile, dynamic_shared;
    shl.b32 %x1, %thread, 2;
copy_a:
    cvt.u64.u32 %y0, %x1;
    add.u64 %y0, %y0, %data;
    ld.global.b32 %x2, [%y0];
    add.u32 %x3, %tile, %x1;
    st.shared.b32 [%x3], %x2;
    xor.b32 %x2, %x2, {sign:#x};
    st.shared.b32 [%x3+{tile_a}], %x2;
    shl.b32 %x4, %threads, 2;
    add.u32 %x1, %x1, %x4;
    setp.lt.u32 %more, %x1, {tile_a};
    @%more bra copy_a;
    shl.b32 %x1, %thread, 2;
copy_b:
    cvt.u64.u32 %y0, %x1;
    add.u64 %y0, %y0, %data;
    ld.global.b32 %x2, [%y0+{half}];
    add.u32 %x3, %tile, %x1;
    st.shared.b32 [%x3+{twice_a}], %x2;
    add.u32 %x1, %x1, %x4;
    setp.lt.u32 %more, %x1, {tile_b};
    @%more bra copy_b;
    fence.proxy.async;
    // Matrix descriptors: address / 16, 8 rows are 1024 bytes apart, 128-byte swizzle.
    cvt.u64.u32 %descriptor_a, %tile;
    shr.u64 %descriptor_a, %descriptor_a, 4;
    or.b64 %descriptor_a, %descriptor_a, {layout:#x};
    add.u64 %descriptor_m, %descriptor_a, {tile_a_16};
    add.u64 %descriptor_b, %descriptor_a, {twice_a_16};
"""
LAYOUT = (1 << 62) | ((8 * ROW) >> 4) << 32 | 1 << 16


def mnemonic(types, n, sparse):
    d, a, b = types
    k = TYPES[types][0] * (2 if sparse else 1)
    return f"wgmma.mma_async{'.sp' if sparse else ''}.sync.aligned.m64n{n}k{k}.{d}.{a}.{b}{'.and.popc' if a == 'b1' else ''}"


def kernel(types, n, from_registers, sparse=False, group=4, outstanding=1):
    d, a, b = types
    depth, opcode, suffix = TYPES[types]
    k = depth * (2 if sparse else 1)
    registers_d = n // 4 if d == "f16" else n // 2
    form = mnemonic(types, n, sparse)
    flags = ["%scale"]
    if d != "s32":
        flags += ["1", "1"]
    if a in ("f16", "bf16"):
        flags += ["0"] if from_registers else ["0", "0"]
    metadata = "%metadata, 0, " if sparse else ""

    registers = [
        "    .reg .b32 %tile, %metadata;",
        "    .reg .b64 %descriptor_a, %descriptor_m, %descriptor_b, %now_a, %now_b;",
        "    .reg .pred %scale;",
        f"    .reg .b32 %d<{registers_d}>, %a<4>, %m<4>;",
    ]
    setup = [
        SETUP.format(sign=SIGNS.get(a, 0), tile_a=TILE_A, twice_a=2 * TILE_A, tile_b=n * ROW, half=DATA_BYTES // 2,
                     layout=LAYOUT, tile_a_16=TILE_A // 16, twice_a_16=2 * TILE_A // 16),
        "    setp.eq.u32 %scale, 0, 0;",
        f"    mov.b32 %metadata, {METADATA:#x};",
    ]  # fmt: skip
    if from_registers:
        setup.append(load_registers("a", 4, 0))
        setup += [f"    xor.b32 %m{i}, %a{i}, {SIGNS.get(a, 0):#x};" for i in range(4)]
    setup += [f"    mov.b32 %d{i}, 0;" for i in range(registers_d)]

    # A sparse instruction takes 32 bytes of a row of A and 64 of a row of B.
    loop = []
    groups = max(2, 4 // group)
    step_b = 64 if sparse else 32
    for index in range(groups * group):
        if index % group == 0:
            loop.append("    wgmma.fence.sync.aligned;")
        negated = index % 2
        chunk = index // 2 % 4
        source = vector("m" if negated else "a", 4)
        if not from_registers:
            loop.append(f"    add.u64 %now_a, %descriptor_{'m' if negated else 'a'}, {chunk * 32 // 16};")
            source = "%now_a"
        loop.append(f"    add.u64 %now_b, %descriptor_b, {chunk * step_b % ROW // 16};")
        loop.append(f"    {form} {vector('d', registers_d)}, {source}, %now_b, {metadata}{', '.join(flags)};")
        if index % group == group - 1:
            loop.append("    wgmma.commit_group.sync.aligned;")
            loop.append(f"    wgmma.wait_group.sync.aligned {outstanding};")
    operations = groups * group
    stem = form.replace(".sync.aligned", "").replace(".", "_")
    return Kernel(
        name=f"{stem}_{'rs' if from_registers else 'ss'}_g{group}w{outstanding}",
        family="wgmma_sp" if sparse else "wgmma",
        instruction=form,
        # One arrival and one wait a group; there would be more if ptxas had serialised the instructions.
        claim={
            f"{opcode}{'.SP' if sparse else ''}.64x{n}x{k}.{suffix}": operations,
            "WARPGROUP.ARRIVE": groups,
            "WARPGROUP.DEPBAR.LE": groups,
        },
        operations=operations,
        issuer="warpgroup",
        flop=2 * 64 * n * k,
        threads=256,
        data=a,
        registers="\n".join(registers),
        setup="\n".join(setup),
        loop="\n".join(loop),
        finish="    wgmma.wait_group.sync.aligned 0;",
        results=["%d0", f"%d{registers_d - 1}"],
    )


def shared_bytes(n):
    return 2 * TILE_A + n * ROW
