"""mma.sync fed by ldmatrix: the cost of a warp's operands, by size of its tile.

A step multiplies one k-slice of a warp tile of `rows` x `columns` mma.m16n8k16: `rows` ldmatrix.x4 load A and
`columns` / 2 load B, and each fragment serves all mma of its row or column. The next step's fragments are loaded while
this step's are multiplied. The rows of 512 bytes are read without bank conflicts. The addresses change every second step,
because ptxas would merge equal loads. A has a copy of opposite sign, and B a copy, so that the accumulators stay small.
"""

from .frame import Kernel, vector

REGION = 8192  # bytes of A, of its negated copy, of B, of its copy
SHARED = 4 * REGION
TILES = ((1, 2), (2, 2), (2, 4), (4, 4), (4, 8))  # rows and columns of mma

SETUP = f"""\
    mov.u32 %ring, dynamic_shared;
    shl.b32 %x1, %thread, 2;
copy:
    cvt.u64.u32 %y0, %x1;
    add.u64 %y0, %y0, %data;
    add.u32 %x3, %ring, %x1;
    ld.global.b32 %x2, [%y0];
    st.shared.b32 [%x3], %x2;
    xor.b32 %x2, %x2, 0x80008000;
    st.shared.b32 [%x3+{REGION}], %x2;
    ld.global.b32 %x2, [%y0+{128 * 1024}];
    st.shared.b32 [%x3+{2 * REGION}], %x2;
    st.shared.b32 [%x3+{3 * REGION}], %x2;
    shl.b32 %x4, %threads, 2;
    add.u32 %x1, %x1, %x4;
    setp.lt.u32 %more, %x1, {REGION};
    @%more bra copy;
    bar.sync 0;
    mad.lo.u32 %home, %lane, 16, %ring;
    mov.u32 %address, %home;
    mov.b32 %at, 0;
"""


def kernel(rows, columns):
    steps = max(4, 64 // (rows * columns))
    a, b, products = 4 * rows, 2 * columns, rows * columns

    def loads(step):
        twin, buffer = step % 2, step % 2
        lines = []
        if step % 2 == 0:  # every second step
            lines += [
                "    add.u32 %at, %at, 2048;",
                f"    and.b32 %at, %at, {REGION - 1};",
                "    add.u32 %address, %home, %at;",
            ]
        for name, count, region in (("a", rows, 0), ("b", columns // 2, 2)):
            for i in range(count):
                first = buffer * (a if name == "a" else b) + 4 * i
                offset = (region + twin) * REGION + 512 * i
                lines.append(f"    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {vector(name, 4, first)}, [%address+{offset}];")
        return lines

    form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
    lines = []
    for step in range(steps):
        lines += loads(step + 1)
        for row in range(rows):
            for column in range(columns):
                accumulators = vector("c", 4, 4 * (row * columns + column))
                from_a = vector("a", 4, step % 2 * a + 4 * row)
                from_b = vector("b", 2, step % 2 * b + 2 * column)
                lines.append(f"    {form} {accumulators}, {from_a}, {from_b}, {accumulators};")
    operations = steps * products
    return Kernel(
        name=f"ldmatrix_mma_{16 * rows}x{8 * columns}", family="mma_fed", instruction=f"{form}; ldmatrix.x4",
        claim={"HMMA.16816.F32": operations, "LDSM.16.M88.4": steps * (rows + columns // 2)}, operations=operations,
        flop=2 * 16 * 8 * 16, threads=256, data="f16",
        registers=f"    .reg .b32 %ring, %home, %address, %at, %a<{2 * a}>, %b<{2 * b}>, %c<{4 * products}>;",
        setup=SETUP + "\n".join(f"    mov.b32 %c{i}, 0;" for i in range(4 * products)) + "\n" + "\n".join(loads(0)),
        loop="\n".join(lines), results=[f"%c{4 * i}" for i in range(products)],
    )  # fmt: skip
