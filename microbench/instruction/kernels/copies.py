"""Copies from global to shared memory: cp.async, bulk copies, TMA tiles; and plain loads for comparison.

A ring of `stages` copies stays in flight. Every CTA reads its own window repeatedly: a small one stays in the L2; a large
one, where each launch continues where the last one stopped, comes from DRAM.
"""

from .frame import Kernel, wait_for

# %source: the CTA's window; %at: the offset in it, which every copy advances.
WINDOW = """\
    ld.param.u64 %window, [window];
    ld.param.u64 %source, [source];
    cvta.to.global.u64 %source, %source;
    cvt.u64.u32 %y0, %block;
    mad.lo.u64 %source, %y0, %window, %source;
    sub.u64 %mask, %window, 1;
    ld.param.u64 %at, [start];
"""
WINDOW_REGISTERS = "    .reg .b64 %window, %source, %mask, %at, %address;"


def cp_async_kernel(size, cache, outstanding):
    """All threads copy `size` bytes each, four copies a group; `outstanding` groups stay in flight."""
    copies = 4
    setup = WINDOW + f"""\
    mov.u32 %to, dynamic_shared;
    mad.lo.u32 %to, %thread, {size}, %to;
    mul.wide.u32 %y1, %thread, {size};
    mul.wide.u32 %row, %threads, {size};
    mul.lo.u32 %step, %threads, {size};
    mul.lo.u32 %group, %step, {copies};
    mov.b32 %slot, 0;
"""  # fmt: skip
    lines = []
    for copy in range(copies):
        lines += [
            "    add.u64 %address, %at, %y1;",
            "    and.b64 %address, %address, %mask;",
            "    add.u64 %address, %address, %source;",
            "    add.u32 %x1, %slot, %to;",
            *(["    add.u32 %x1, %x1, %step;"] * copy),
            f"    cp.async.{cache}.shared.global [%x1], [%address], {size};",
            "    add.u64 %at, %at, %row;",
        ]
    lines += [
        "    cp.async.commit_group;",
        f"    cp.async.wait_group {outstanding};",
        "    add.u32 %slot, %slot, %group;",
        f"    mad.lo.u32 %x2, %group, {outstanding + 1}, 0;",
        "    setp.ge.u32 %more, %slot, %x2;",
        "    selp.b32 %slot, 0, %slot, %more;",
    ]
    return Kernel(
        name=f"cp_async_{cache}_{size}_w{outstanding}", family="cp_async",
        instruction=f"cp.async.{cache}.shared.global [{size} bytes]",
        claim={"LDGSTS.E" + {4: "", 8: ".64", 16: ".BYPASS.128" if cache == "cg" else ".128"}[size]: copies},
        operations=copies, bytes=32 * size, threads=1024,
        registers=WINDOW_REGISTERS + "\n    .reg .b32 %to, %step, %group, %slot;\n    .reg .b64 %row;",
        setup=setup, loop="\n".join(lines), finish="    cp.async.wait_all;",
    )  # fmt: skip


def cp_async_shared_bytes(size, outstanding, threads):
    return size * threads * 4 * (outstanding + 1)


def load_kernel(instruction, opcode):
    """One thread; each load's address depends on the previous value, which is zero."""
    setup = WINDOW + "    ld.param.u32 %x1, [stride];\n    cvt.u64.u32 %step, %x1;\n    mov.b64 %value, 0;"
    link = [
        "    add.u64 %at, %at, %step;",
        "    add.u64 %at, %at, %value;",
        "    and.b64 %at, %at, %mask;",
        "    add.u64 %address, %at, %source;",
        f"    {instruction} %value, [%address];",
    ]
    return Kernel(
        name=instruction.replace(".", "_"), family="global", instruction=instruction, claim={opcode: 8}, operations=8,
        threads=32, registers=WINDOW_REGISTERS + "\n    .reg .b64 %step, %value;\n    .reg .b32 %value_low, %value_high;",
        setup=setup, loop="\n".join(link * 8), finish="    mov.b64 {%value_low, %value_high}, %value;",
        results=["%value_low"],
    )  # fmt: skip


def ring_kernel(name, copy, opcode, instruction):
    """One thread keeps `stages` copies of `bytes` bytes in flight. `copy` takes %to, %full and %at."""
    issue = f"""\
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%full], %bytes;
    and.b64 %at, %at, %mask;
    add.u64 %address, %at, %source;
{copy}
    add.u64 %at, %at, %wide_bytes;
"""
    place = """\
    mad.lo.u32 %full, %stage, 8, %barriers;
    mad.lo.u32 %to, %stage, %bytes, %ring;
"""
    step = """\
    add.u32 %stage, %stage, 1;
    setp.eq.u32 %wrapped, %stage, %stages;
    selp.b32 %stage, 0, %stage, %wrapped;
"""
    setup = WINDOW + f"""\
    ld.param.u32 %bytes, [bytes];
    ld.param.u32 %stages, [stages];
    cvt.u64.u32 %wide_bytes, %bytes;
    mov.u64 %map, map;
    cvta.param.u64 %map, %map;
    // Stages begin at a multiple of 1024 bytes, as the 128-byte swizzle requires; the barriers precede them.
    mov.u32 %barriers, dynamic_shared;
    add.u32 %ring, %barriers, 1024;
    mov.b32 %stage, 0;
    mov.b32 %parity, 0;
    setp.ne.u32 %idle, %thread, 0;
    @%idle bra ready;
initialise:
    mad.lo.u32 %full, %stage, 8, %barriers;
    mbarrier.init.shared::cta.b64 [%full], 1;
    add.u32 %stage, %stage, 1;
    setp.lt.u32 %more, %stage, %stages;
    @%more bra initialise;
    fence.mbarrier_init.release.cluster;
    fence.proxy.async;
    mov.b32 %stage, 0;
prime:
{place}{issue}
    add.u32 %stage, %stage, 1;
    setp.lt.u32 %more, %stage, %stages;
    @%more bra prime;
    mov.b32 %stage, 0;
ready:
"""  # fmt: skip
    loop = f"""\
    @%idle bra next;
{place}{wait_for("%full", "%parity", "loop")}
{issue}{step}    @%wrapped xor.b32 %parity, %parity, 1;
next:
"""
    finish = f"""\
    @%idle bra timed_out;
    mov.b32 %count, %stages;
drain:
{place}{wait_for("%full", "%parity", "drain")}
{step}    @%wrapped xor.b32 %parity, %parity, 1;
    sub.u32 %count, %count, 1;
    setp.ne.u32 %more, %count, 0;
    @%more bra drain;
timed_out:
"""
    return Kernel(
        name=name, family="tma", instruction=instruction, claim={opcode: 1}, operations=1, issuer="block", threads=32,
        registers=WINDOW_REGISTERS + "\n    .reg .pred %idle, %wrapped, %done;\n    .reg .b32 %bytes, %stages, %barriers, %ring, "
        "%stage, %parity, %full, %to, %count, %row, %zero;\n    .reg .b64 %map, %wide_bytes, %wide_row;",
        setup=setup + "    mov.b32 %zero, 0;", loop=loop, finish=finish,
    )  # fmt: skip


def tma_kernels():
    yield ring_kernel(
        "cp_async_bulk",
        "    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%to], [%address], %bytes, [%full];",
        "UBLKCP",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes",
    )
    # Rows of 128 bytes; a CTA's window begins at its own row.
    yield ring_kernel(
        "cp_async_bulk_tensor_2d",
        """\
    mad.lo.u64 %wide_row, %y0, %window, %at;
    shr.u64 %wide_row, %wide_row, 7;
    cvt.u32.u64 %row, %wide_row;
    cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%to], [%map, {%zero, %row}], [%full];""",
        "UTMALDG.2D",
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes",
    )


def store_kernel(outstanding, read):
    """One thread writes `bytes` bytes to global memory, a group each, from a ring of `outstanding` + 1 stages.

    It waits for the oldest group: until its bytes are read from shared memory (`read`), or until they are written.
    """
    stages = outstanding + 1
    wait = f"cp.async.bulk.wait_group{'.read' if read else ''} {outstanding};"
    # The stores write zeros, because chains of loads rely on reading zeros.
    setup = WINDOW + f"""\
    ld.param.u32 %bytes, [bytes];
    cvt.u64.u32 %wide_bytes, %bytes;
    mov.u32 %ring, dynamic_shared;
    mad.lo.u32 %x1, %thread, 4, %ring;
    mad.lo.u32 %x2, %bytes, {stages}, %ring;
clear:
    st.shared.b32 [%x1], 0;
    add.u32 %x1, %x1, 128;
    setp.lt.u32 %more, %x1, %x2;
    @%more bra clear;
    fence.proxy.async.shared::cta;
    bar.warp.sync -1;
    setp.ne.u32 %idle, %thread, 0;
"""
    lines = ["    @%idle bra next;"]
    for stage in range(stages):
        lines += [
            f"    mad.lo.u32 %x1, %bytes, {stage}, %ring;",
            "    and.b64 %at, %at, %mask;",
            "    add.u64 %address, %at, %source;",
            "    cp.async.bulk.global.shared::cta.bulk_group [%address], [%x1], %bytes;",
            "    cp.async.bulk.commit_group;",
            f"    {wait}",
            "    add.u64 %at, %at, %wide_bytes;",
        ]
    return Kernel(
        name=f"cp_async_bulk_store_w{outstanding}{'_read' if read else ''}", family="tma",
        instruction=f"cp.async.bulk.global.shared::cta.bulk_group; {wait[:-1]}", claim={"UBLKCP.G.S": stages}, operations=stages,
        issuer="block", threads=32,
        registers=WINDOW_REGISTERS + "\n    .reg .pred %idle;\n    .reg .b32 %bytes, %ring;\n    .reg .b64 %wide_bytes;",
        setup=setup, loop="\n".join(lines) + "\nnext:\n", finish="    cp.async.bulk.wait_group 0;",
    )  # fmt: skip


def ring_shared_bytes(size, stages):
    return 1024 + size * stages
