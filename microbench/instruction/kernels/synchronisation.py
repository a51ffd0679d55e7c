"""Barriers of a CTA and of a cluster, mbarrier signals between warps and between CTAs, distributed shared memory."""

from .frame import Kernel, wait_for

LINKS = 16


def repeated(name, line, opcodes, family="barrier", links=LINKS, issuer="warp", **other):
    """A loop of one instruction without operands."""
    return Kernel(
        name=name, family=family, instruction=line.split(";")[0], claim={opcode: n * links for opcode, n in opcodes.items()},
        operations=links, issuer=issuer, loop="\n".join([f"    {line}"] * links), **other,
    )  # fmt: skip


def barrier_kernels():
    yield repeated("bar_sync", "bar.sync 0;", {"BAR.SYNC": 1}, issuer="block", threads=1024)
    yield repeated("barrier_cluster", "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;",
                   {"UCGABAR_ARV": 1, "UCGABAR_WAIT": 1}, issuer="block", cluster=True, threads=1024)  # fmt: skip
    yield repeated("barrier_cluster_relaxed", "barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;",
                   {"UCGABAR_ARV": 1, "UCGABAR_WAIT": 1}, issuer="block", cluster=True, threads=1024)  # fmt: skip
    yield repeated("fence_proxy_async", "fence.proxy.async.shared::cta;", {"FENCE.VIEW.ASYNC.S": 1})
    yield repeated("fence_cta", "fence.acq_rel.cta;", {"MEMBAR.ALL.CTA": 1})
    yield repeated("fence_gpu", "fence.acq_rel.gpu;", {"MEMBAR.ALL.GPU": 1})


MBARRIER_REGISTERS = "    .reg .pred %idle, %done, %second;\n    .reg .b32 %mine, %theirs, %parity, %peer, %rank, %size, %hop;"


def mbarrier_local():
    """One thread arrives at a barrier that expects no other arrival, and waits for the phase to complete."""
    loop = "    @%idle bra next;\n"
    for link in range(LINKS):
        loop += f"    mbarrier.arrive.shared::cta.b64 _, [%mine];\n{wait_for('%mine', '%parity', f'{link}')}\n    xor.b32 %parity, %parity, 1;\n"
    return Kernel(
        name="mbarrier_arrive_try_wait", family="mbarrier", instruction="mbarrier.arrive.b64; mbarrier.try_wait.parity.b64",
        claim={"SYNCS.ARRIVE": LINKS}, operations=LINKS, issuer="block", threads=32, registers=MBARRIER_REGISTERS,
        setup="""\
    mov.u32 %mine, dynamic_shared;
    mov.b32 %parity, 0;
    setp.ne.u32 %idle, %thread, 0;
    @%idle bra ready;
    mbarrier.init.shared::cta.b64 [%mine], 1;
ready:
""",
        loop=loop + "next:\n", finish="timed_out:\n",
    )  # fmt: skip


def round_trip(name, instruction, arrive, cluster, space="", links=LINKS // 2):
    """Two threads signal each other, in two warps of a CTA or in two CTAs of a cluster.

    The first arrives at the second's barrier and waits at its own; then the second does the same. A round trip is two
    signals.
    """
    if cluster:
        roles = """\
    mov.u32 %rank, %cluster_ctarank;
    setp.ne.u32 %second, %rank, 0;
    ld.param.u32 %hop, [hop];
    // Thread 0 of ranks 0 and `hop` takes part; all other threads are idle.
    setp.ne.u32 %idle, %thread, 0;
    @!%second bra playing;
    setp.ne.or.u32 %idle, %rank, %hop, %idle;
playing:
    mov.u32 %mine, dynamic_shared;
    selp.b32 %peer, 0, %hop, %second;
    mapa.shared::cluster.u32 %theirs, %mine, %peer;
    setp.ne.u32 %more, %thread, 0;
    @%more bra ready;
    mbarrier.init.shared::cta.b64 [%mine], 1;
    fence.mbarrier_init.release.cluster;
ready:
"""
    else:
        roles = """\
    setp.ne.u32 %second, %warp, 0;
    setp.ne.u32 %idle, %lane, 0;
    mov.u32 %x1, dynamic_shared;
    mad.lo.u32 %mine, %warp, 8, %x1;
    xor.b32 %x2, %warp, 1;
    mad.lo.u32 %theirs, %x2, 8, %x1;
    @%idle bra ready;
    mbarrier.init.shared::cta.b64 [%mine], 1;
ready:
"""
    loop = "    @%idle bra next;\n    @%second bra answer;\n"
    for link in range(links):
        loop += f"    {arrive}\n{wait_for('%mine', '%parity', f'first{link}', space)}\n    xor.b32 %parity, %parity, 1;\n"
    loop += "    bra next;\nanswer:\n"
    for link in range(links):
        loop += f"{wait_for('%mine', '%parity', f'second{link}', space)}\n    {arrive}\n    xor.b32 %parity, %parity, 1;\n"
    return Kernel(
        name=name, family="mbarrier", instruction=instruction, claim={"SYNCS.ARRIVE": 2 * links}, operations=links,
        issuer="block", threads=64, cluster=cluster, registers=MBARRIER_REGISTERS,
        setup=roles + "    mov.b32 %parity, 0;", loop=loop + "next:\n",
        finish="timed_out:\n",
    )  # fmt: skip


def mbarrier_kernels():
    yield mbarrier_local()
    yield round_trip("mbarrier_signal_warps", "mbarrier.arrive.b64 -> mbarrier.try_wait of another warp",
                    "mbarrier.arrive.shared::cta.b64 _, [%theirs];", cluster=False)  # fmt: skip
    yield round_trip("mbarrier_signal_blocks", "mbarrier.arrive.shared::cluster.b64 -> mbarrier.try_wait of another block",
                    "mbarrier.arrive.shared::cluster.b64 _, [%theirs];", cluster=True)  # fmt: skip
    yield round_trip(
        "mbarrier_signal_blocks_release",
        "mbarrier.arrive.release.cluster.shared::cluster.b64 -> mbarrier.try_wait.acquire.cluster of another block",
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%theirs];", cluster=True, space=".acquire.cluster",
    )  # fmt: skip


def dsmem_kernel(registers, chains):
    """Every lane follows addresses in the memory of the CTA `hop` ranks further: each word there holds its own address."""
    vectors = {1: "", 2: ".v2", 4: ".v4"}[registers]
    instruction = f"ld.shared::cluster{vectors}.b32"
    links = 16
    repeats = links // chains
    lines = []
    for _ in range(repeats):
        for chain in range(chains):
            first = chain * registers
            names = ", ".join(f"%v{first + i}" for i in range(registers))
            lines.append(f"    {instruction} {f'{{{names}}}' if registers > 1 else names}, [%v{first}];")
            # The other words, zeros, must be used, or ptxas loads only the first one.
            lines += [f"    or.b32 %v{first}, %v{first}, %v{first + i};" for i in range(1, registers)]
    setup = f"""\
    mov.u32 %mine, dynamic_shared;
    mad.lo.u32 %mine, %thread, {4 * registers}, %mine;
    mov.u32 %rank, %cluster_ctarank;
    mov.u32 %size, %cluster_nctarank;
    ld.param.u32 %hop, [hop];
    add.u32 %peer, %rank, %hop;
    rem.u32 %peer, %peer, %size;
    mapa.shared::cluster.u32 %x1, %mine, %rank;
    st.shared.b32 [%mine], %x1;
    {' '.join(f"st.shared.b32 [%mine+{4 * i}], 0;" for i in range(1, registers))}
    mapa.shared::cluster.u32 %theirs, %mine, %peer;
""" + "\n".join(f"    mov.u32 %v{chain * registers}, %theirs;" for chain in range(chains))
    return Kernel(
        name=f"dsmem_ld{vectors.replace('.', '_')}_b32_x{chains}", family="dsmem", instruction=instruction,
        claim={f"LD.E{'' if registers == 1 else f'.{32 * registers}'}": links}, operations=links, bytes=128 * registers, threads=1024,
        cluster=True,
        registers=f"    .reg .b32 %mine, %theirs, %peer, %rank, %size, %hop, %v<{chains * registers}>;",
        setup=setup, loop="\n".join(lines), results=[f"%v{i}" for i in range(chains * registers)],
    )  # fmt: skip
