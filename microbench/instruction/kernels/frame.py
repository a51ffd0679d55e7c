"""What every timed kernel has in common: one parameter list, one loop between two reads of the cycle counter.

The loop runs `trips` times; the program launches it with R and with 2R trips and divides the difference, so that what
stands outside the loop (the reads themselves, the first and last latencies) drops out of the figure. Each warp stamps
its begin and end: a block takes as long as from its first begin to its last end.
"""

from dataclasses import dataclass, field

HEADER = """\
// Made by microbench/instruction/generate: edit that.
.version 8.7
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 dynamic_shared[];
"""

# The same for all kernels; see LaunchArguments in ../launch.hpp.
PARAMETERS = """\
    .param .u64 stamps,   // 64 bytes a warp: begin, end (cycles), begin, end (ns), SM, 1 if a wait ran out of time
    .param .u64 data,     // operands, 256 KiB
    .param .u64 sink,     // 4 bytes a thread, so that results are used
    .param .u64 source,   // what copies and global loads read: `window` bytes a block
    .param .u64 window,   // a power of two
    .param .u64 start,    // first byte of the window that this launch reads
    .param .u32 trips,    // of the timed loop; at least 1
    .param .u32 stride,   // bytes between the addresses of neighbouring lanes
    .param .u32 bytes,    // of one copy
    .param .u32 stages,   // copies in flight
    .param .u32 hop,      // ranks from a block to the one of its cluster that it talks to
    .param .align 64 .b8 map[128]"""

DATA_BYTES = 256 * 1024
SHARED_SLOT = 4096  # bytes of shared memory that a warp has for itself in the shared-memory kernels


@dataclass
class Kernel:
    """One entry point: what it runs, and what its loop must contain for its figures to be believed."""

    name: str
    family: str
    instruction: str  # PTX
    claim: dict  # SASS opcode -> number in the timed loop
    operations: int  # of `instruction` in one trip of one issuer
    issuer: str = "warp"  # warp, warpgroup or block: who issues `operations` of them
    flop: int = 0  # of one operation
    bytes: int = 0  # moved by one operation; 0: none, or given by the case
    threads: int = 512  # the most that a block may have
    data: str = "bits"  # kind of the operands
    setup: str = ""
    loop: str = ""
    finish: str = ""
    results: list = field(default_factory=list)  # 32-bit registers that the sink takes
    registers: str = ""
    cluster: bool = False  # begins and ends with a barrier of the cluster
    native: bool = True  # False: the chip has no such instruction, ptxas emulates it

    def ptx(self):
        barrier = "barrier.cluster.arrive.aligned;\n    barrier.cluster.wait.aligned;" if self.cluster else "bar.sync 0;"
        sink = "\n".join(f"    xor.b32 %sum, %sum, {register};" for register in self.results)
        return f"""
.visible .entry {self.name}(
{PARAMETERS})
.maxntid {self.threads}
{{
    .reg .pred %more, %leader, %late;
    .reg .b32 %thread, %threads, %warp, %lane, %trips, %sum, %block, %sm, %warps, %failed, %x<8>;
    .reg .b64 %stamp, %data, %sink, %begin, %end, %ns_begin, %ns_end, %y<8>;
{self.registers}
    mov.u32 %thread, %tid.x;
    mov.u32 %threads, %ntid.x;
    mov.u32 %block, %ctaid.x;
    shr.u32 %warp, %thread, 5;
    and.b32 %lane, %thread, 31;
    shr.u32 %warps, %threads, 5;
    mov.b32 %sum, 0;
    mov.b32 %failed, 0;
    ld.param.u32 %trips, [trips];
    ld.param.u64 %data, [data];
    cvta.to.global.u64 %data, %data;
{self.setup}
    mov.u64 %ns_begin, %globaltimer;
    {barrier}
    mov.u64 %begin, %clock64;
timed:
    .pragma "nounroll";
{self.loop}
    sub.u32 %trips, %trips, 1;
    setp.ne.u32 %more, %trips, 0;
    @%more bra timed;
    mov.u64 %end, %clock64;
{self.finish}
    bar.warp.sync -1;
    {barrier}
    mov.u64 %ns_end, %globaltimer;
{sink}
    ld.param.u64 %sink, [sink];
    cvta.to.global.u64 %sink, %sink;
    mad.lo.u32 %x0, %block, %threads, %thread;
    mad.wide.u32 %sink, %x0, 4, %sink;
    st.global.b32 [%sink], %sum;
    ld.param.u64 %stamp, [stamps];
    cvta.to.global.u64 %stamp, %stamp;
    mad.lo.u32 %x0, %block, %warps, %warp;
    mad.wide.u32 %stamp, %x0, 64, %stamp;
    mov.u32 %sm, %smid;
    setp.eq.u32 %leader, %lane, 0;
    @%leader st.global.u64 [%stamp], %begin;
    @%leader st.global.u64 [%stamp+8], %end;
    @%leader st.global.u64 [%stamp+16], %ns_begin;
    @%leader st.global.u64 [%stamp+24], %ns_end;
    @%leader st.global.u32 [%stamp+32], %sm;
    @%leader st.global.u32 [%stamp+36], %failed;
    ret;
}}
"""


def vector(name, count, first=0):
    """{%a0, %a1}, or %a0 alone."""
    registers = ", ".join(f"%{name}{first + i}" for i in range(count))
    return f"{{{registers}}}"


def load_registers(name, count, offset, width=32):
    """`count` registers from the operands, other ones in every thread."""
    step = width // 8
    lines = [
        f"    mul.lo.u32 %x0, %thread, {count * step};",
        f"    add.u32 %x0, %x0, {offset};",
        "    cvt.u64.u32 %y0, %x0;",
        "    add.u64 %y0, %y0, %data;",
    ]
    lines += [f"    ld.global.b{width} %{name}{i}, [%y0+{i * step}];" for i in range(count)]
    return "\n".join(lines)


def wait_for(barrier, parity, tag, space=""):
    """Waits until the phase of that parity is complete, or two thousand million cycles: a hang costs the machine.

    The clock is read only where the first try fails, so a wait that has nothing to wait for pays for one try_wait.
    """
    return f"""\
    mbarrier.try_wait.parity{space}.shared::cta.b64 %done, [{barrier}], {parity};
    @%done bra met_{tag};
    mov.u64 %y6, %clock64;
again_{tag}:
    mbarrier.try_wait.parity{space}.shared::cta.b64 %done, [{barrier}], {parity};
    @%done bra met_{tag};
    mov.u64 %y7, %clock64;
    sub.u64 %y7, %y7, %y6;
    setp.lt.u64 %done, %y7, 0x80000000;
    @%done bra again_{tag};
    mov.b32 %failed, 1;
    bra timed_out;
met_{tag}:"""
