"""The cases to measure: each is a kernel and the parameters of its launch. The most important figures come first.

A case uses one SM (grid "one"), all SMs with one CTA each ("all"), one cluster ("cluster") or as many clusters as fit
("clusters"). `issuers` of a CTA issue the kernel's operations. Protocol "cycles" divides the difference of two launches;
"sustained" runs for 0.4 s and uses the second half, at the clock that the power limit allows.
"""

from kernels import chains, copies, feed, synchronisation, tensor, wgmma
from kernels.frame import SHARED_SLOT

KIB = 1024
MIB = 1024 * KIB
L2_ONE, L2_ALL = 1 * MIB, 64 * KIB  # window of a CTA: it fits the L2
DRAM_ONE, DRAM_ALL = 2048 * MIB, 16 * MIB  # each launch continues to read where the last one stopped
WARPS = (1, 2, 4, 8, 16)
SHARED_LIMIT = 200 * KIB
# One CTA an SM: more than half of an SM's shared memory.
WHOLE_SM = 120 * KIB


class Suite:
    """Kernels by file, and cases in their order of execution."""

    def __init__(self):
        self.files = {}
        self.cases = []
        self._known = {}

    def kernel(self, file, kernel):
        if kernel.name not in self._known:
            self._known[kernel.name] = kernel
            self.files.setdefault(file, []).append(kernel)
        return self._known[kernel.name]

    def case(self, kernel, measure, warps, axes, grid="one", quick=True, **launch):
        per_issuer = {"warp": 1, "warpgroup": 4}.get(kernel.issuer)
        text = "/".join(f"{name}:{value}" for name, value in axes.items())
        case = {
            "name": "/".join(part for part in (kernel.family, kernel.name, measure, text) if part),
            "kernel": kernel.name, "measure": measure, "axes": axes, "grid": grid, "warps": warps,
            "issuers": warps // per_issuer if per_issuer else 1, "quick": quick, "data": kernel.data,
            "cluster": 1, "shared": 0, "stride": 0, "bytes": 0, "stages": 0, "hop": 0, "window": 0,
            "advance": False, "map": False, "protocol": "cycles", **launch,
        }  # fmt: skip
        if case["warps"] * 32 > kernel.threads:
            raise ValueError(f"{case['name']}: {warps} warps, the kernel takes {kernel.threads // 32}")
        if grid == "all":
            case["shared"] = max(case["shared"], WHOLE_SM)
        self.cases.append(case)


def mma(suite, table, primary):
    """mma.sync and mma.sp; `primary` selects the few forms that are measured over all axes, else the others."""
    for kernel, count in tensor.kernels(table):
        if tensor.is_primary(kernel.instruction) != primary:
            continue
        kernel = suite.kernel("mma_primary" if primary else kernel.family, kernel)
        if count == 1:
            suite.case(kernel, "latency", 1, {"warps": 1, "accumulators": 1})
        most = kernel.threads // 32
        for warps in [w for w in WARPS if w <= most] if primary else [min(8, most)]:
            if count == 1 and (warps == 1 or not primary):
                continue
            best = count == 4 and warps == 8
            suite.case(kernel, "throughput", warps, {"warps": warps, "accumulators": count}, quick=best or not primary)
        if primary and count == 4:
            suite.case(kernel, "all_sm", 8, {"warps": 8, "accumulators": 4}, grid="all")


def wgmma_case(suite, types, n, from_registers, sparse, measure, **options):
    group, outstanding = options.pop("group", 4), options.pop("outstanding", 1)
    kernel = wgmma.kernel(types, n, from_registers, sparse, group, outstanding)
    kernel = suite.kernel(f"wgmma_{'sparse' if sparse else 'rs' if from_registers else 'ss'}", kernel)
    groups = options.pop("warpgroups", 1)
    axes = {"warpgroups": groups, "group": group, "outstanding": outstanding, **options.pop("more", {})}
    suite.case(kernel, measure, 4 * groups, axes, shared=wgmma.shared_bytes(n), **options)


# Types of wgmma to run on all SMs, with random operands and with zeros.
POWERED = (("f32", "f16", "f16"), ("f16", "f16", "f16"), ("f32", "tf32", "tf32"), ("f32", "e4m3", "e4m3"), ("s32", "s8", "s8"))


def data_axis(data):
    return {"data": "zeros" if data == "zeros" else "normal"}


def wgmma_primary(suite):
    f32 = ("f32", "f16", "f16")
    both = (False, True)
    for n in (256, 128, 64):
        for rs in both:
            wgmma_case(suite, f32, n, rs, False, "throughput")
            wgmma_case(suite, f32, n, rs, False, "throughput", warpgroups=2)
            wgmma_case(suite, f32, n, rs, False, "latency", group=1, outstanding=0)
    # The types of S1's table, all SMs, random operands and zeros.
    for types in (*POWERED, ("f16", "e4m3", "e4m3")):
        for data in (types[1], "zeros"):
            wgmma_case(suite, types, 256, False, False, "all_sm", grid="all", data=data, more=data_axis(data))
    for group, outstanding in ((1, 0), (1, 1), (1, 3), (2, 0), (2, 1), (4, 0), (4, 1), (8, 0)):
        wgmma_case(suite, ("f32", "bf16", "bf16"), 64, False, False, "groups", group=group, outstanding=outstanding)


def wgmma_rest(suite):
    both = (False, True)
    for types in wgmma.TYPES:
        numbers = wgmma.FLOAT_N if types[0] != "s32" else wgmma.INTEGER_N
        if types != wgmma.EVERY_N[0]:
            numbers = [n for n in numbers if n % 64 == 0 or n in (8, 16, 32, 96)] if types in wgmma.EVERY_N else wgmma.SAMPLED_N
        for rs in both:
            for n in numbers:
                quick = n in wgmma.SAMPLED_N
                if (types, n) not in [(wgmma.EVERY_N[0], m) for m in (64, 128, 256)]:
                    wgmma_case(suite, types, n, rs, False, "throughput", quick=quick)
            if types != wgmma.EVERY_N[0]:
                wgmma_case(suite, types, 256, rs, False, "latency", group=1, outstanding=0)
            if types[1] == "b1" or types[2].endswith("satfinite"):
                continue
            for n in (128, 256):
                wgmma_case(suite, types, n, rs, True, "throughput", quick=n == 256)
    for n in wgmma.FLOAT_N:
        if n not in wgmma.SAMPLED_N:
            wgmma_case(suite, wgmma.EVERY_N[0], n, False, False, "latency", group=1, outstanding=0, quick=False)


def sustained(suite, table):
    """The effect of the power limit: random operands against zeros."""
    for kernel, count in tensor.kernels(table):
        if count == 4 and kernel.instruction.endswith(tensor.PRIMARY[0]) and kernel.family == "mma":
            for data in ("f16", "zeros"):
                kernel = suite.kernel("mma_primary", kernel)
                suite.case(kernel, "sustained", 8, data_axis(data), grid="all", data=data, protocol="sustained")
    for types in POWERED:
        for data in (types[1], "zeros"):
            wgmma_case(suite, types, 256, False, False, "sustained", grid="all", data=data, protocol="sustained",
                       quick=types == POWERED[0], more=data_axis(data))  # fmt: skip


def fed(suite):
    """mma.sync with operands from shared memory, by size of the warp tile."""
    for rows, columns in feed.TILES:
        kernel = suite.kernel("mma_primary", feed.kernel(rows, columns))
        for warps in (4, 8):
            axes = {"warps": warps, "mma": rows * columns, "ldmatrix": rows + columns // 2}
            suite.case(kernel, "throughput", warps, axes, shared=feed.SHARED, quick=warps == 8)


def shared_memory(suite):
    for name, (_, _, width, _) in chains.LOAD.items():
        for count in chains.LOAD_CHAINS:
            kernel = suite.kernel("shared", chains.load_kernel(name, count))
            for ways in (1, 2, 4, 8, 16, 32):
                if ways * width > 128 or ("trans" in name and ways > 1):
                    continue
                launch = {"stride": ways * width, "quick": ways in (1, 2, 8)}
                if count == 1:
                    suite.case(kernel, "latency", 1, {"ways": ways}, shared=SHARED_SLOT, **launch)
                else:
                    suite.case(kernel, "throughput", 16, {"ways": ways}, shared=16 * SHARED_SLOT, **launch)
    for name, (_, _, width, _) in chains.STORE.items():
        kernel = suite.kernel("shared", chains.store_kernel(name))
        for ways in (1, 2, 4, 8, 16, 32):
            if ways * width <= 128 and not ("trans" in name and ways > 1):
                suite.case(kernel, "throughput", 16, {"ways": ways}, shared=16 * SHARED_SLOT, stride=ways * width,
                           quick=ways in (1, 2, 8))  # fmt: skip
    for name, width in (("stmatrix_ldmatrix", 16), ("st_ld_shared", 4)):
        kernel = suite.kernel("shared", chains.round_trip_kernel(name))
        suite.case(kernel, "latency", 1, {}, shared=SHARED_SLOT, stride=width)


def registers(suite):
    for name in chains.REGISTER:
        for count in (1, 8):
            kernel = suite.kernel("registers", chains.register_kernel(name, count))
            if count == 1:
                suite.case(kernel, "latency", 1, {"warps": 1, "chains": 1})
            else:
                suite.case(kernel, "throughput", 16, {"warps": 16, "chains": count})


def synchronisations(suite):
    for kernel in synchronisation.mbarrier_kernels():
        kernel = suite.kernel("synchronisation", kernel)
        if kernel.cluster:
            for size, hop in ((2, 1), (4, 3), (8, 7)):
                axes = {"cluster": size, "hop": hop}
                suite.case(kernel, "round_trip", 2, axes, grid="cluster", shared=1024, **axes)
        else:
            suite.case(kernel, "round_trip", 1 if kernel.threads == 32 else 2, {}, shared=1024)
    for kernel in synchronisation.barrier_kernels():
        kernel = suite.kernel("synchronisation", kernel)
        if kernel.cluster:
            for size in (1, 2, 4, 8, 16):
                suite.case(kernel, "latency", 8, {"cluster": size, "warps": 8}, grid="cluster", cluster=size)
        elif kernel.name == "bar_sync":
            for warps in (1, 2, 4, 8, 16, 32):
                suite.case(kernel, "latency", warps, {"warps": warps})
        else:
            suite.case(kernel, "latency", 1, {"warps": 1})
    for width, count in ((1, 1), (4, 1), (4, 4)):
        kernel = suite.kernel("synchronisation", synchronisation.dsmem_kernel(width, count))
        for size in (2, 4, 8, 16):
            if count == 1:
                for hop in (0, 1) if size == 2 else (1,):
                    axes = {"cluster": size, "hop": hop}
                    suite.case(kernel, "latency", 1, axes, grid="cluster", shared=16 * KIB, **axes)
            else:
                axes = {"cluster": size, "hop": 1}
                suite.case(kernel, "throughput", 32, axes, grid="clusters", shared=WHOLE_SM, **axes)


def copying(suite):
    kernel = suite.kernel("copies", copies.load_kernel("ld.global.cg.b64", "LDG.E.64.STRONG.GPU"))
    suite.case(kernel, "latency", 1, {"source": "l2"}, stride=4224, window=L2_ONE)
    suite.case(kernel, "latency", 1, {"source": "dram"}, stride=4224, window=DRAM_ONE, advance=True)
    for kernel in copies.tma_kernels():
        kernel = suite.kernel("copies", kernel)
        tensor_map = kernel.name.endswith("2d")
        for size in (1, 2, 4, 8, 16, 32):
            for stages in (1, 2, 3, 4, 6, 8, 16):
                shared = copies.ring_shared_bytes(size * KIB, stages)
                if shared > SHARED_LIMIT:
                    continue
                quick = (stages in (1, 4) and size in (2, 8, 16)) or (stages == 16 and size == 1)
                ring = {"bytes": size * KIB, "stages": stages}
                for source, one, every in (("l2", L2_ONE, L2_ALL), ("dram", DRAM_ONE, DRAM_ALL)):
                    axes = {**ring, "source": source}
                    launch = {**ring, "shared": shared, "map": tensor_map, "advance": source == "dram", "quick": quick}
                    if stages == 1:
                        suite.case(kernel, "latency", 1, axes, window=one, **launch)
                    suite.case(kernel, "throughput", 1, axes, grid="all", window=every, **launch)
    for outstanding, read in ((0, False), (0, True), (3, True)):
        kernel = suite.kernel("copies", copies.store_kernel(outstanding, read))
        for size in (1, 2, 8, 16, 32):
            ring = {"bytes": size * KIB, "stages": outstanding + 1}
            shared = size * KIB * (outstanding + 1)
            for source, one, every in (("l2", L2_ONE, L2_ALL), ("dram", DRAM_ONE, DRAM_ALL)):
                axes = {**ring, "target": source}
                launch = {"bytes": size * KIB, "shared": shared, "advance": source == "dram", "quick": size == 8}
                if outstanding == 0:
                    suite.case(kernel, "latency", 1, axes, window=one, **launch)
                else:
                    suite.case(kernel, "throughput", 1, axes, grid="all", window=every, **launch)
    for size, cache in ((4, "ca"), (8, "ca"), (16, "ca"), (16, "cg")):
        for outstanding in (0, 1, 3, 7) if cache == "cg" else (0, 3):
            kernel = suite.kernel("copies", copies.cp_async_kernel(size, cache, outstanding))
            for source, one, every in (("l2", L2_ONE, L2_ALL), ("dram", DRAM_ONE, DRAM_ALL)):
                axes = {"bytes": size, "stages": outstanding + 1, "source": source}
                shared = copies.cp_async_shared_bytes(size, outstanding, 32)
                if outstanding == 0:
                    suite.case(kernel, "latency", 1, {**axes, "warps": 1}, window=one, advance=source == "dram", shared=shared)
                if cache == "ca" and outstanding == 0:
                    continue
                for warps in (4, 8, 16) if cache == "cg" else (8,):
                    shared = copies.cp_async_shared_bytes(size, outstanding, 32 * warps)
                    if cache == "ca":
                        shared = SHARED_LIMIT  # leaves an L1 smaller than the window: these copies go through it
                    if shared <= SHARED_LIMIT:
                        suite.case(kernel, "throughput", warps, {**axes, "warps": warps}, grid="all", window=every,
                                   advance=source == "dram", shared=shared, quick=warps == 8)  # fmt: skip


def suite_of(table):
    """All cases, in their order of execution."""
    suite = Suite()
    mma(suite, table, primary=True)
    wgmma_primary(suite)
    fed(suite)
    shared_memory(suite)
    synchronisations(suite)
    copying(suite)
    registers(suite)
    sustained(suite, table)
    wgmma_rest(suite)
    mma(suite, table, primary=False)
    suite.cases.sort(key=lambda case: not case["quick"])  # stable
    return suite
