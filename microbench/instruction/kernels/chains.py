"""Instructions whose result can be their next operand: moves between lanes, conversions, loads from shared memory.

Each chain feeds a result back as the next operand. In a chain of loads the word that a lane loads is the address that it
loads from next, so the chain contains nothing but the load.
"""

from .frame import SHARED_SLOT, Kernel, vector

LANE = "shfl.sync.{}.b32 %v{{c}}, %v{{c}}, {}, {}, -1;"
# name: (PTX of one link, where {c} is the chain, SASS opcodes of one link)
REGISTER = {
    "shfl_idx": (LANE.format("idx", "%i", 31), {"SHFL.IDX": 1}),
    "shfl_up": (LANE.format("up", 1, 0), {"SHFL.UP": 1}),
    "shfl_down": (LANE.format("down", 1, 31), {"SHFL.DOWN": 1}),
    "shfl_bfly": (LANE.format("bfly", 1, 31), {"SHFL.BFLY": 1}),
    "movmatrix": ("movmatrix.sync.aligned.m8n8.trans.b16 %v{c}, %v{c};", {"MOVM.16.MT88": 1}),
    "redux_add": ("redux.sync.add.s32 %v{c}, %v{c}, -1;", {"REDUX.SUM.S32": 1}),
    "vote_ballot": ("setp.ne.u32 %p{c}, %v{c}, 0; vote.sync.ballot.b32 %v{c}, %p{c}, -1;", {"VOTE.ANY": 1}),
    "match_any": ("match.any.sync.b32 %v{c}, %v{c}, -1;", {"MATCH.ANY": 1}),
    "cvt_f16x2_f32": ("cvt.rn.f16x2.f32 %v{c}, %v{c}, %e;", {"F2FP.F16.F32.PACK_AB": 1}),
    "cvt_bf16x2_f32": ("cvt.rn.bf16x2.f32 %v{c}, %v{c}, %e;", {"F2FP.BF16.F32.PACK_AB": 1}),
    "cvt_rn_tf32_f32": ("cvt.rn.tf32.f32 %v{c}, %v{c};", {"F2FP.TF32.F32": 1}),
    "cvt_e4m3x2_f32": (
        "cvt.rn.satfinite.e4m3x2.f32 %h{c}, %v{c}, %e; mov.b32 %v{c}, {{%h{c}, %h{c}}};",
        {"F2FP.SATFINITE.E4M3.F32.PACK_AB_MERGE_C": 1},
    ),
    "cvt_e5m2x2_f32": (
        "cvt.rn.satfinite.e5m2x2.f32 %h{c}, %v{c}, %e; mov.b32 %v{c}, {{%h{c}, %h{c}}};",
        {"F2FP.SATFINITE.E5M2.F32.PACK_AB_MERGE_C": 1},
    ),
    "cvt_f16x2_e4m3x2": (
        "mov.b32 {{%h{c}, _}}, %v{c}; cvt.rn.f16x2.e4m3x2 %v{c}, %h{c};",
        {"F2FP.F16.E4M3.UNPACK_B": 1},
    ),
    "cvt_f16x2_e5m2x2": (
        "mov.b32 {{%h{c}, _}}, %v{c}; cvt.rn.f16x2.e5m2x2 %v{c}, %h{c};",
        {"F2FP.F16.E5M2.UNPACK_B": 1},
    ),
    "cvt_e4m3x2_f16x2": (
        "cvt.rn.satfinite.e4m3x2.f16x2 %h{c}, %v{c}; mov.b32 %v{c}, {{%h{c}, %h{c}}};",
        {"F2FP.SATFINITE.E4M3.F16.UNPACK_B_MERGE_C": 1},
    ),
    "cvt_rz_f16x2_f32": ("cvt.rz.f16x2.f32 %v{c}, %v{c}, %e;", {"F2FP.F16.F32.PACK_AB.RZ": 1}),
    "cvt_relu_f16x2_f32": ("cvt.rn.relu.f16x2.f32 %v{c}, %v{c}, %e;", {"F2FP.RELU.F16.F32.PACK_AB": 1}),
    "cvt_rz_tf32_f32": ("cvt.rz.tf32.f32 %v{c}, %v{c};", {"F2FP.TF32.F32.PACK_B.RZ": 1}),
    # Not one machine instruction: an addition, a comparison for infinity and NaN, a selection, a mask.
    "cvt_rna_tf32_f32": ("cvt.rna.tf32.f32 %v{c}, %v{c};", {"FSETP.GEU.AND": 1}),
    "cvt_s8_f32": ("cvt.rni.sat.s8.f32 %v{c}, %v{c};", {"F2I.S8.NTZ": 1}),
    "cvt_f32_f16": ("mov.b32 {{%h{c}, _}}, %v{c}; cvt.f32.f16 %v{c}, %h{c};", {"HADD2.F32": 1}),
    "cvt_f32_s32": ("cvt.rn.f32.s32 %v{c}, %v{c};", {"I2FP.F32.S32": 1}),
    "cvt_s32_f32": ("cvt.rni.s32.f32 %v{c}, %v{c};", {"F2I.NTZ": 1}),
    "cvt_pack_s8": ("cvt.pack.sat.s8.s32.b32 %v{c}, %v{c}, %e, %v{c};", {"I2IP.S8.S32.SAT": 1}),
    "prmt": ("prmt.b32 %v{c}, %v{c}, %e, %e;", {"PRMT": 1}),
    "lop3": ("lop3.b32 %v{c}, %v{c}, %e, %f, 0x96;", {"LOP3.LUT": 1}),
    "fma_f32": ("fma.rn.f32 %v{c}, %v{c}, %e, %f;", {"FFMA": 1}),
    "fma_f16x2": ("fma.rn.f16x2 %v{c}, %v{c}, %e, %f;", {"HFMA2": 1}),
    "fma_f64": ("fma.rn.f64 %w{c}, %w{c}, %g, %g;", {"DFMA": 1}),
    "ex2_f32": ("ex2.approx.ftz.f32 %v{c}, %v{c};", {"MUFU.EX2": 1}),
}
REGISTER_LINKS = 128  # links in a trip: many, because a branch costs as much as a few short instructions
REGISTER_CHAINS = (1, 4, 8)

# A load of `registers` words a lane; the first is the next address. Volatile, or ptxas would load only that one.
LOAD = {
    "ld_shared_b32": ("ld.volatile.shared.b32", 1, 4, {"LDS": 1}),
    "ld_shared_v2_b32": ("ld.volatile.shared.v2.b32", 2, 8, {"LDS.64": 1}),
    "ld_shared_v4_b32": ("ld.volatile.shared.v4.b32", 4, 16, {"LDS.128": 1}),
    "ldmatrix_x1": ("ldmatrix.sync.aligned.m8n8.x1.shared.b16", 1, 16, {"LDSM.16.M88": 1}),
    "ldmatrix_x2": ("ldmatrix.sync.aligned.m8n8.x2.shared.b16", 2, 16, {"LDSM.16.M88.2": 1}),
    "ldmatrix_x4": ("ldmatrix.sync.aligned.m8n8.x4.shared.b16", 4, 16, {"LDSM.16.M88.4": 1}),
    "ldmatrix_x1_trans": ("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16", 1, 16, {"LDSM.16.MT88": 1}),
    "ldmatrix_x2_trans": ("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16", 2, 16, {"LDSM.16.MT88.2": 1}),
    "ldmatrix_x4_trans": ("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", 4, 16, {"LDSM.16.MT88.4": 1}),
}
STORE = {
    "st_shared_b32": ("st.volatile.shared.b32", 1, 4, {"STS": 1}),
    "st_shared_v2_b32": ("st.volatile.shared.v2.b32", 2, 8, {"STS.64": 1}),
    "st_shared_v4_b32": ("st.volatile.shared.v4.b32", 4, 16, {"STS.128": 1}),
    "stmatrix_x1": ("stmatrix.sync.aligned.m8n8.x1.shared.b16", 1, 16, {"STSM.16.M88": 1}),
    "stmatrix_x2": ("stmatrix.sync.aligned.m8n8.x2.shared.b16", 2, 16, {"STSM.16.M88.2": 1}),
    "stmatrix_x4": ("stmatrix.sync.aligned.m8n8.x4.shared.b16", 4, 16, {"STSM.16.M88.4": 1}),
    "stmatrix_x4_trans": ("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16", 4, 16, {"STSM.16.MT88.4": 1}),
}
LOAD_LINKS = 32
LOAD_CHAINS = (1, 4)

# Each warp has its own slot, zeroed first; %home is the lane's address in it.
HOME = f"""\
    mov.u32 %home, dynamic_shared;
    mad.lo.u32 %home, %warp, {SHARED_SLOT}, %home;
    mad.lo.u32 %x1, %lane, 4, %home;
    mov.b32 %x2, 0;
zero:
    st.shared.b32 [%x1], 0;
    add.u32 %x1, %x1, 128;
    add.u32 %x2, %x2, 128;
    setp.lt.u32 %more, %x2, {SHARED_SLOT};
    @%more bra zero;
    ld.param.u32 %x3, [stride];
    mov.u32 %x4, %home;
    mad.lo.u32 %home, %lane, %x3, %home;
    bar.warp.sync -1;
"""
# The first matrix must make lane 4 g + t load its own address: it is word t of row g or, transposed, the two halves in
# rows 2 t and 2 t + 1 of column g.
OWN_WORD = "    st.shared.b32 [%home], %home;\n"
OWN_MATRIX = """\
    shr.u32 %x5, %lane, 2;
    and.b32 %x6, %lane, 3;
    mad.lo.u32 %x7, %x5, %x3, %x4;
    mad.lo.u32 %x7, %x6, 4, %x7;
    st.shared.b32 [%x7], %home;
"""
OWN_TRANSPOSED = """\
    shr.u32 %x5, %lane, 2;
    and.b32 %x6, %lane, 3;
    shl.b32 %x6, %x6, 1;
    mad.lo.u32 %x7, %x6, %x3, %x4;
    mad.lo.u32 %x7, %x5, 2, %x7;
    mov.b32 {%low, %high}, %home;
    st.shared.b16 [%x7], %low;
    add.u32 %x7, %x7, %x3;
    st.shared.b16 [%x7], %high;
"""
STORED = "    bar.warp.sync -1;\n"


def register_kernel(name, chains):
    link, opcodes = REGISTER[name]
    repeats = REGISTER_LINKS // chains
    setup = ["    mad.lo.u32 %x0, %thread, 64, 0;", "    cvt.u64.u32 %y0, %x0;", "    add.u64 %y0, %y0, %data;"]
    setup += [f"    ld.global.b32 %v{c}, [%y0+{4 * c}];" for c in range(chains)]
    setup += ["    ld.global.b32 %e, [%y0+48];", "    ld.global.b32 %f, [%y0+52];", "    mov.b64 %g, {%e, %f};"]
    setup.append("    and.b32 %i, %e, 31;")
    setup += [f"    mov.b64 %w{c}, {{%v{c}, %e}};" for c in range(chains)]
    finish = [f"    mov.b64 {{%l{c}, %u{c}}}, %w{c};" for c in range(chains)]
    width = {"f16x2": 2}.get(name.rsplit("_", 1)[-1], 1)
    operations = repeats * chains
    return Kernel(
        name=f"{name}_x{chains}", family="register", instruction=link.split(";")[0].split(" ")[0],
        claim={opcode: n * operations for opcode, n in opcodes.items()}, operations=operations,
        flop=64 * width if name.startswith("fma") else 0, threads=1024, data="f32", native=bool(opcodes),
        registers=f"    .reg .pred %p<{chains}>;\n    .reg .b16 %h<{chains}>;\n    .reg .b32 %v<{chains}>, %e, %f, %i, %l<{chains}>, "
        f"%u<{chains}>;\n    .reg .b64 %g, %w<{chains}>;",
        setup="\n".join(setup), loop="\n".join("    " + link.format(c=c) for _ in range(repeats) for c in range(chains)),
        finish="\n".join(finish), results=[f"%{r}{c}" for c in range(chains) for r in "vlu"],
    )  # fmt: skip


def load_kernel(name, chains):
    instruction, registers, _, opcodes = LOAD[name]
    own = OWN_WORD if name.startswith("ld_") else OWN_TRANSPOSED if name.endswith("trans") else OWN_MATRIX
    repeats = LOAD_LINKS // chains
    setup = HOME + own + STORED + "\n".join(f"    mov.u32 %v{c * registers}, %home;" for c in range(chains))
    lines = []
    for _ in range(repeats):
        for c in range(chains):
            first = c * registers
            to = f"%v{first}" if registers == 1 and name.startswith("ld_") else vector("v", registers, first)
            lines.append(f"    {instruction} {to}, [%v{first}];")
    operations = repeats * chains
    used = [f"%v{i}" for i in range(chains * registers)]
    matrices = {"x1": 128, "x2": 256, "x4": 512}
    moved = next((n for key, n in matrices.items() if f"matrix_{key}" in name), 128 * registers)
    return Kernel(
        name=f"{name}_x{chains}", family="shared", instruction=instruction,
        claim={opcode: n * operations for opcode, n in opcodes.items()}, operations=operations, bytes=moved, threads=512,
        registers=f"    .reg .b16 %low, %high;\n    .reg .b32 %home, %v<{chains * registers}>;",
        setup=setup, loop="\n".join(lines), results=used,
    )  # fmt: skip


def store_kernel(name):
    """Stores have no result to feed back: they follow each other, with two alternating sources."""
    instruction, registers, _, opcodes = STORE[name]
    setup = HOME + "\n".join(f"    add.u32 %v{i}, %lane, {i};" for i in range(2 * registers))
    source = lambda i: f"%v{i}" if registers == 1 and name.startswith("st_") else vector("v", registers, registers * i)  # noqa: E731
    lines = [f"    {instruction} [%home], {source(i % 2)};" for i in range(LOAD_LINKS)]
    return Kernel(
        name=name, family="shared", instruction=instruction, claim={o: n * LOAD_LINKS for o, n in opcodes.items()},
        operations=LOAD_LINKS, bytes=128 * registers, threads=512,
        registers=f"    .reg .b32 %home, %v<{2 * registers}>;", setup=setup, loop="\n".join(lines),
    )  # fmt: skip


def round_trip_kernel(name):
    """A store and the load of the same bytes: the latency of a transposition through shared memory."""
    matrix = name == "stmatrix_ldmatrix"
    store = STORE["stmatrix_x1" if matrix else "st_shared_b32"][0]
    load = LOAD["ldmatrix_x1" if matrix else "ld_shared_b32"][0]
    value = "{%v0}" if matrix else "%v0"
    link = f"    {store} [%home], {value};\n    bar.warp.sync -1;\n    {load} {value}, [%home];\n    bar.warp.sync -1;"
    return Kernel(
        name=f"{name}_round_trip", family="shared", instruction=f"{store}; {load}",
        claim={"STSM.16.M88" if matrix else "STS": LOAD_LINKS, "LDSM.16.M88" if matrix else "LDS": LOAD_LINKS},
        operations=LOAD_LINKS, threads=512, registers="    .reg .b32 %home, %v<1>;",
        setup=HOME + "    mov.u32 %v0, %lane;", loop="\n".join([link] * LOAD_LINKS), results=["%v0"],
    )  # fmt: skip
