"""kernels.csv, the table of GEMM kernels: reads and checks it, and writes the C++ that instantiates its kernels.

The table is the one source of what the library holds. CMake runs `generate` when it configures; the C++ it writes puts
every kernel, with the cost parameters of its row, into the list that `tenon list` prints and select.cpp chooses from.

To add a tile: add a line to kernels.csv. No other file changes.
To add a type that fragment/element.hpp has and an instruction multiplies:
  1. kernels.csv: its tiles;
  2. this file: a line of TYPES;
  3. include/tenon/gemm/types.hpp: the enumerator of tenon::Type, its name and size.

Columns. A line stands for one kernel per entry of `types` and of `layouts`. Order counts: of two kernels with equal cost
the choice takes the earlier line.
  family      wgmma; tma and cp_async: mma.sync on tiles that TMA or cp.async loads; cp_async_unaligned: cp_async for operands
              at any address
  types       operands and accumulator as kernel names spell them: f16_f32; e4m3_e5m2_f32 if A and B differ
  layouts     tn nn tt nt, of A and B: t is row-major, n is column-major
  tile_m, tile_n, tile_k      of a CTA: rows and columns of C, with swapab too, and depth of a k-tile
  narrowest   wgmma: the fewest columns (rows with swapab) that a tile is fitted to, if a launch may take fewer than tile_n
              (tile_m); more, or none, in layouts in which the columns are contiguous in memory (Kernel.narrowest)
  warpgroups  wgmma: consumer warpgroups that share a tile, 1 to 3 (1 with pingpong)
  warp_m, warp_n              the other families: the tile of a warp
  stages      k-tiles in flight
  clusters    wgmma: CTAs of a cluster along m x n, which share operands. Several, powers of two: one compiled kernel, whose
              launch says which; each is an entry of the list that gemm() chooses from
  cluster_k   wgmma: CTAs of a cluster that split the sum
  subtiles    wgmma: epilogue subtiles of 16 rows x 128 bytes that a warp may have on their way to C
  schedule    wgmma: cooperative, or pingpong
  variant     wgmma: nothing, or of: swapab (computes the transpose of C; with streamk too), streamk (divides the tiles that
              would not fill a wave evenly among the CTAs, which add up in the workspace), rowinterleaved (A has any leading dimension),
              promoted (accumulators promoted to f32), unaligned (operands of any alignment; with swapab only A);
              all families but tma: fused (the epilogue of EpilogueOptions, and a C apart from D);
              cp_async: rounded (A and B are f32 in memory, rounded to the type as fragments are loaded)
  set         core: one of the few tiles that TENON_TILES=core builds; more: the rest
  efficiency  part of the peak of an SM (4096 operations on 16-bit operands a clock, twice as many on 8-bit operands, half as
              many on tf32, a 16th on f64) that its main loop reaches, where neither L2 nor memory limits
  resident    CTAs that run side by side on an SM
  why         why the line is there, if it needs saying

Where the efficiencies come from. Those of wgmma are fitted, with the parameters of cost_model.hpp, to recorded times of
every kernel (tenon_fit_choices): tiles that the tensor core has the same rows and columns of have one efficiency. Four were
set by hand, since the records hold few large products: 256x192 of 16 bits and of e4m3, 256x256 of f16 sums, 128x256 of
tf32. Kernels of unaligned or row-interleaved operands keep what was measured before the last fit, times 0.94 (by hand). A
tile that was not measured gets, with M x N the tile as the tensor core has it, times 0.92 if it is rowinterleaved,
  pingpong     0.918 + 0.009 (N - 128) / 128       cooperative, M = 128   0.903 + 0.052 (N - 128) / 128
  cooperative, M = 256   0.957 + 0.01 (N - 192) / 32              M = 64    0.477 + 0.5 (min(N, 128) - 64) / 64
Those of the other families are TFLOP/s in bf16 on an H200, relative to the largest tile of tma, which has 555: 480 for the
other one, 477, 430 and 270 for cp_async, 270 for cp_async_unaligned where operands are aligned. The other types likewise,
at 4096 cubed, relative to what their rate makes of 555: tf32 247, 224 and 140, s8 853, 785 and 501, e4m3 353 and 303 (on
9.0, where mma.sync of fp8 converts to f16; 8.9 was not measured).
"""

import argparse
import csv
import json
import math
import sys
from dataclasses import dataclass
from pathlib import Path

TABLE = Path(__file__).resolve().with_name("kernels.csv")
TEXT_COLUMNS = ("family", "types", "layouts", "clusters", "schedule", "variant", "set", "why")
COLUMNS = (
    "family", "types", "layouts", "tile_m", "tile_n", "tile_k", "narrowest", "warpgroups", "warp_m", "warp_n", "stages", "clusters",
    "cluster_k", "subtiles", "schedule", "variant", "set", "efficiency", "resident", "why",
)  # fmt: skip
WGMMA_COLUMNS = ("narrowest", "warpgroups", "clusters", "cluster_k", "subtiles", "schedule")
MMA_COLUMNS = ("warp_m", "warp_n")  # of the families of mma.sync
LAYOUTS = ("tn", "nn", "tt", "nt")
SETS = ("core", "more")

# Name -> C++ type and bits.
TYPES = {
    "f16": ("__half", 16),
    "bf16": ("__nv_bfloat16", 16),
    "f32": ("float", 32),
    "tf32": ("tf32", 32),
    "e4m3": ("e4m3", 8),
    "e5m2": ("e5m2", 8),
    "s8": ("int8_t", 8),
    "s32": ("int32_t", 32),
    "f64": ("double", 64),
}
# A tile of wgmma has k-tiles of this many bytes a row, which is what the 128-byte swizzle takes.
WGMMA_ROW_BYTES = 128
# Of columns that are contiguous in memory a fitted tile has a multiple of this many (column_step).
PANEL_STEP = 16
# 128 bytes of them, in 16 bits: what is loaded of such columns is a multiple of it.
PANEL_COLUMNS = 64
# An instruction of mma.sync takes this many bytes of a row of k, whatever the type. Of f64 m16n8k16 takes 128.
MMA_K_BYTES = 32
F64_K = 16
MOST_SHARED_BYTES = 227 * 1024

# The lowest architecture with mma.sync on fp8.
FP8_ARCHITECTURE = 89
# Family -> header that it is instantiated from, and the lowest architecture.
FAMILIES = {
    "wgmma": ("wgmma_kernels.cuh", 90),
    "tma": ("tma_kernels.cuh", 90),
    "cp_async": ("cp_async_kernels.cuh", 80),
    "cp_async_unaligned": ("cp_async_kernels.cuh", 80),
}
UNALIGNED_HEADER = "unaligned_kernels.cuh"
# From the words of `schedule` and `variant` to the C++ templates around a WgmmaConfig, innermost first. `promoted` is an
# argument of WgmmaOperands, `unaligned` a configuration of its own: Kernel.cpp().
TEMPLATES = {"cooperative": None, "pingpong": "Pingpong", "swapab": "SwapAB", "rowinterleaved": "RowInterleaved", "streamk": "StreamedK"}
VARIANTS = ("", "swapab", "streamk", "swapab streamk", "rowinterleaved", "promoted", "unaligned", "unaligned swapab", "fused")
MMA_VARIANTS = {"cp_async": ("", "fused", "rounded"), "cp_async_unaligned": ("", "fused"), "tma": ("",)}
# Shared memory that the epilogue of fused kernels takes of each warp.
FUSED_BYTES_OF_WARP = 4096


class BadTable(Exception):
    """A sentence that names the line and the column."""


def operands_of(types):
    """'e4m3_e5m2_f32' -> ('e4m3', 'e5m2', 'f32')"""
    parts = types.split("_")
    return (parts[0], parts[0], parts[1]) if len(parts) == 2 else tuple(parts)


@dataclass(frozen=True)
class Row:
    """A line of the table. Columns that its family does not have are None."""

    line: int
    family: str
    types: tuple
    layouts: tuple
    tile_m: int
    tile_n: int
    tile_k: int
    narrowest: int
    warpgroups: int
    warp_m: int
    warp_n: int
    stages: int
    clusters: tuple  # of (along m, along n)
    cluster_k: int
    subtiles: int
    schedule: str
    variant: str
    set: str
    efficiency: float
    resident: int
    why: str

    def swaps(self):
        return "swapab" in self.variant.split()

    def mma_tile(self):
        """Rows and columns as the tensor core has them."""
        return (self.tile_n, self.tile_m) if self.swaps() else (self.tile_m, self.tile_n)


@dataclass(frozen=True)
class Kernel:
    """One kernel: a row, for one entry of its types, one of its layouts and one of its clusters."""

    row: Row
    types: str
    layout: str
    cluster: tuple = None

    def narrowest(self):
        """The fewest columns of a launch, None where it always takes all: wgmma's columns come from B, or with swapab from A."""
        row, columns = self.row, self.row.mma_tile()[1]
        contiguous_k = self.layout[0] == "t" if row.swaps() else self.layout[1] == "n"
        if contiguous_k or not row.narrowest:
            return row.narrowest
        # Where the columns are contiguous, panels of them are loaded whole: fewer panels would be another kernel.
        least = max(row.narrowest, (columns - 1) // PANEL_COLUMNS * PANEL_COLUMNS + PANEL_STEP)
        least = -(-least // PANEL_STEP) * PANEL_STEP
        return least if least < columns and columns % PANEL_STEP == 0 else None

    def begins_statement(self):
        """Whether it is the first of the kernels that one statement appends."""
        return self.row.clusters is None or self.cluster == self.row.clusters[0]

    def cpp(self):
        """The statement that appends it, and those that differ from it only in their clusters, to `list`."""
        row = self.row
        a, b, accumulator = (TYPES[name][0] for name in operands_of(self.types))
        orders = ["row_major" if letter == "t" else "column_major" for letter in self.layout]
        if "unaligned" in row.variant.split():
            swapped = "true" if row.swaps() else "false"
            return f"append_unaligned<UnalignedConfig<{a}, {row.mma_tile()[0]}, {row.stages}, {swapped}>>(list);"
        shape = "TileShape<{}, {}, {}>".format(*row.mma_tile(), row.tile_k)
        if row.family != "wgmma":
            a = a if a == b else f"OperandTypes<{a}, {b}>"
            a = f"Rounded<{a}>" if row.variant == "rounded" else a
            warp = f"TileShape<{row.warp_m}, {row.warp_n}, 0>"
            config = f"GemmConfig<{a}, {accumulator}, {', '.join(orders)}, {shape}, {warp}, {row.stages}>"
            if row.family == "tma":
                return f"append_tma<{config}>(list);"
            alignment = f"Alignment::{'any' if row.family == 'cp_async_unaligned' else 'full_16'}"
            return f"append_cp_async<{config}, {alignment}{self.operation()}>(list);"
        if row.swaps():  # B^T and A^T are the operands of the transpose of C
            orders = ["column_major" if order == "row_major" else "row_major" for order in reversed(orders)]
        if len(row.clusters) == 1:
            along_m, along_n = reversed(row.clusters[0]) if row.swaps() else row.clusters[0]
            cluster, arguments = f"ClusterShape<{along_m}, {along_n}, {row.cluster_k}>", ""
        else:
            shapes = ", ".join(f"{{{m}, {n}}}" for m, n in row.clusters)
            cluster, arguments = f"LaunchedCluster<{row.cluster_k}>", f"{{{shapes}}}, "
        promotes = ", true" if row.variant == "promoted" else ""
        config = (
            f"WgmmaConfig<WgmmaOperands<{a}, {b}, {accumulator}{promotes}>, {', '.join(orders)}, {shape}, {row.warpgroups}, "
            f"{row.stages}, {cluster}, {row.subtiles}>"
        )
        if self.narrowest():
            config = f"Fitted<{config}, {self.narrowest()}>"
        for word in (row.schedule, *row.variant.split()):
            if TEMPLATES.get(word):
                config = f"{TEMPLATES[word]}<{config}>"
        return f"append_wgmma<{config}{self.operation()}>({arguments}list);"

    def operation(self):
        return ", FusedEpilogue" if self.row.variant == "fused" else ""

    def architecture(self):
        """The lowest one that has its instructions."""
        fp8 = self.types.startswith(("e4m3", "e5m2"))
        return max(FAMILIES[self.row.family][1], FP8_ARCHITECTURE if fp8 else 0)

    def fields(self):
        """What `tenon list --json` says of it, under the same names."""
        row = self.row
        cluster = (*(self.cluster or (1, 1)), row.cluster_k or 1)
        return {
            "arch": "sm_90a" if self.architecture() == 90 else f"sm_{self.architecture()}",
            "family": row.family,
            "types": self.types,
            "layout": self.layout,
            "tile": f"{row.tile_m}x{row.tile_n}x{row.tile_k}",
            "narrowest": self.narrowest(),
            "stages": row.stages,
            "cluster": "x".join(map(str, cluster)),
            "schedule": row.schedule or None,
            "variant": row.variant or None,
            "efficiency": row.efficiency,
            "resident": row.resident,
        }


# Reading and checking


class Reader:
    """Checks the cells of one line; every complaint names the line and the column."""

    def __init__(self, name, line, cells):
        self.name, self.line, self.cells = name, line, cells

    def refuse(self, column, sentence):
        raise BadTable(f"{self.name}, line {self.line}, column {column}: {sentence}")

    def word(self, column, allowed):
        cell = self.cells[column]
        if cell not in allowed:
            found = f"'{cell}'" if cell else "nothing"
            self.refuse(column, f"{found} is there but must be {' or '.join(repr(a) if a else 'nothing' for a in allowed)}")
        return cell

    def words(self, column, allowed, what):
        found = self.cells[column].split()
        if not found:
            self.refuse(column, f"nothing is there but must be at least one of {', '.join(allowed)}")
        for word in found:
            if word not in allowed:
                self.refuse(column, f"'{word}' is not a {what} but must be of {', '.join(allowed)}")
        if len(set(found)) < len(found):
            self.refuse(column, f"'{self.cells[column]}' names a {what} twice")
        return tuple(found)

    def number(self, column, least, most, multiple=1):
        cell = self.cells[column]
        if not (cell.isascii() and cell.isdigit()):
            self.refuse(column, f"{repr(cell) if cell else 'nothing'} is there but must be a whole number")
        value = int(cell)
        if not least <= value <= most or value % multiple:
            of = f"a multiple of {multiple} " if multiple > 1 else ""
            self.refuse(column, f"{value} must be {of}from {least} to {most}")
        return value

    def clusters(self):
        """The cell of that column as pairs of numbers."""
        found = []
        for word in self.cells["clusters"].split():
            numbers = word.split("x")
            if len(numbers) != 2 or not all(n.isascii() and n.isdigit() and 1 <= int(n) <= 8 for n in numbers):
                self.refuse("clusters", f"'{word}' must be MxN, of numbers from 1 to 8")
            found.append((int(numbers[0]), int(numbers[1])))
        if not found:
            self.refuse("clusters", "nothing is there but must be at least one MxN")
        if len(set(found)) < len(found):
            self.refuse("clusters", f"'{self.cells['clusters']}' names a cluster twice")
        for along in (n for pair in found for n in pair):
            if len(found) > 1 and along & (along - 1):
                self.refuse("clusters", f"{along} must be a power of two where the launch says how many CTAs a cluster has")
        return tuple(found)

    def fraction(self, column):
        try:
            value = float(self.cells[column])
        except ValueError:
            value = math.nan
        if not 0 < value <= 1:
            self.refuse(column, f"'{self.cells[column]}' must be a number above 0, and 1 at most")
        return value

    def nothing(self, column, why):
        if self.cells[column]:
            self.refuse(column, f"'{self.cells[column]}' is there but must be empty: {why}")


def known_types(family):
    """The entries that `types` may have."""
    wide = ["f16_f32", "bf16_f32", "f16_f16"]
    if family == "tma":
        return wide
    if family == "cp_async_unaligned":
        return [*wide, "f64_f64"]
    fp8 = [f"{a}_f32" if a == b else f"{a}_{b}_f32" for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")]
    one = [f"{a}_f32" for a, (_, bits) in TYPES.items() if f"{a}_f32" not in wide + fp8 and a not in ("f32", "s8", "s32", "f64")]
    return [*wide, *one, *fp8, "s8_s32", *(["f64_f64"] if family == "cp_async" else [])]


def read_row(name, line, cells):
    reader = Reader(name, line, cells)
    family = reader.word("family", tuple(FAMILIES))
    types = reader.words("types", known_types(family), "types of a product")
    layouts = reader.words("layouts", LAYOUTS, "layout")
    values = {"line": line, "family": family, "types": types, "layouts": layouts, "why": cells["why"]}
    values["set"] = reader.word("set", SETS)
    values["efficiency"] = reader.fraction("efficiency")
    values["resident"] = reader.number("resident", 1, 32)
    values["stages"] = reader.number("stages", 2, 32)
    variant = reader.word("variant", VARIANTS if family == "wgmma" else MMA_VARIANTS[family])
    values["variant"] = " ".join(variant.split())
    for column in MMA_COLUMNS if family == "wgmma" else WGMMA_COLUMNS:
        reader.nothing(column, f"kernels of the family {family} have none")
        values[column] = None
    if family == "wgmma":
        read_wgmma(reader, values)
    else:
        values["tile_m"], values["tile_n"] = (reader.number(c, 16, 256, 16) for c in ("tile_m", "tile_n"))
        bits = max(TYPES[operand][1] for name in types for operand in operands_of(name)[:2])
        if min(TYPES[operands_of(name)[0]][1] for name in types) != bits:
            reader.refuse("types", f"'{' '.join(types)}' must have operands of one size: tile_k counts elements")
        step = F64_K if bits == 64 else MMA_K_BYTES * 8 // bits
        most_steps = 2 if variant == "rounded" else 8 if bits == 16 else 4
        values["tile_k"] = reader.number("tile_k", step, most_steps * step, step)
        if variant == "rounded":
            for name in types:
                if name not in ("f16_f32", "bf16_f32"):
                    reader.refuse("types", f"{name} is there but rounded is for f16_f32 and bf16_f32 alone")
        if bits == 64 and variant:
            reader.refuse("variant", f"{variant} is for accumulators in f32 and s32")
        if bits not in (16, 64) and layouts != ("tn",):
            reader.refuse("layouts", f"'{' '.join(layouts)}' must be tn: ldmatrix transposes 16-bit elements alone")
        for column, tile in (("warp_m", "tile_m"), ("warp_n", "tile_n")):
            values[column] = reader.number(column, 16, values[tile], 16)
            if values[tile] % values[column]:
                reader.refuse(column, f"{values[column]} must divide {tile}, which is {values[tile]}")
        values["schedule"] = None
        bits = 32 if variant == "rounded" else bits
        check_shared_bytes(reader, values, bits)
        ring = values["stages"] * (values["tile_m"] + values["tile_n"]) * values["tile_k"] * bits // 8
        warps = values["tile_m"] // values["warp_m"] * (values["tile_n"] // values["warp_n"])
        if variant == "fused" and ring < warps * FUSED_BYTES_OF_WARP:
            reader.refuse("stages", f"{values['stages']} k-tiles take {ring} bytes, but fused needs {warps * FUSED_BYTES_OF_WARP}")
    row = Row(**values)
    if row.narrowest and not any(Kernel(row, row.types[0], layout).narrowest() for layout in row.layouts):
        reader.refuse("narrowest", f"{row.narrowest} is there but no layout of '{' '.join(row.layouts)}' can have narrower tiles")
    return row


def read_wgmma(reader, values):
    types, layouts, variant = values["types"], values["layouts"], values["variant"].split()
    bits = [max(TYPES[operand][1] for operand in operands_of(t)[:2]) for t in types]
    values["tile_k"] = reader.number("tile_k", 16, 128)
    for name, size in zip(types, bits):
        if values["tile_k"] * size != 8 * WGMMA_ROW_BYTES:
            reader.refuse("tile_k", f"{values['tile_k']} must be {8 * WGMMA_ROW_BYTES // size}, {WGMMA_ROW_BYTES} bytes of {name}")
        if size != 16 and layouts != ("tn",):
            reader.refuse("layouts", f"'{' '.join(layouts)}' must be tn: wgmma reads {name} with k contiguous alone")
        if variant and variant[0] in ("swapab", "rowinterleaved", "unaligned") and (size != 16 or name == "f16_f16"):
            reader.refuse("types", f"{name} is there but {variant[0]} is for f16_f32 and bf16_f32 alone")
        if "fused" in variant and name == "f16_f16":
            reader.refuse("types", f"{name} is there but fused is for accumulators in f32 and s32 alone")
        if "streamk" in variant and name == "f16_f16":
            reader.refuse("types", f"{name} is there but streamk adds up accumulators in f32 and s32 alone")
        if "promoted" in variant and name in ("f16_f32", "f16_f16", "s8_s32"):
            reader.refuse("types", f"{name} is there but promoted is for bf16, tf32, e4m3 and e5m2 alone")
    only = {"rowinterleaved": "tt", "unaligned": "tn"}.get(variant[0] if variant else "")
    if only and layouts != (only,):
        reader.refuse("layouts", f"'{' '.join(layouts)}' must be {only}, the layout of {variant[0]}")

    values["schedule"] = reader.word("schedule", ("cooperative", "pingpong"))
    pingpong = values["schedule"] == "pingpong"
    if pingpong and variant and variant[0] not in ("swapab", "fused"):
        reader.refuse("schedule", f"pingpong is there but must be cooperative with {variant[0]}")
    values["warpgroups"] = reader.number("warpgroups", 1, 1 if pingpong else 3)
    values["clusters"] = reader.clusters()
    values["cluster_k"] = reader.number("cluster_k", 1, 1 if pingpong or "streamk" in variant or variant[:1] in (["unaligned"], ["rowinterleaved"]) else 8)
    for along_m, along_n in values["clusters"]:
        ctas = along_m * along_n * values["cluster_k"]
        if ctas > 8:
            reader.refuse("cluster_k", f"{values['cluster_k']} gives clusters of {ctas} CTAs, but they have 8 at most")
        if "streamk" in variant and ctas > 2:
            reader.refuse("clusters", f"{along_m}x{along_n} has {ctas} CTAs but streamk runs in clusters of 1 or 2")

    rows, columns = ("tile_n", "tile_m") if "swapab" in variant else ("tile_m", "tile_n")
    more_rows = 0
    if "unaligned" in variant:  # one tile: its columns come from shared memory, its rows through registers
        rows, columns = columns, rows
        values[columns], values[rows] = reader.number(columns, 32, 256, 32), reader.number(rows, 128, 128)
        reader.number("warpgroups", 2, 2)
        reader.nothing("narrowest", "unaligned kernels fit no tile")
        values["narrowest"] = None
        reader.nothing("subtiles", "unaligned kernels store from registers")
        values["subtiles"] = None
        needed = (2, 1) if "swapab" in variant else (1, 2)
        if values["clusters"] != (needed,):
            reader.refuse("clusters", f"'{reader.cells['clusters']}' must be {needed[0]}x{needed[1]}, the cluster of unaligned kernels")
    else:
        step = 64 * values["warpgroups"]
        values[rows] = reader.number(rows, step, 256, step)
        even = 16 if "swapab" in variant or "s8_s32" in types else 8
        # ptxas compiles three consumer warpgroups for 128 registers a thread (WgmmaConfig).
        values[columns] = reader.number(columns, even, 200 // even * even if values["warpgroups"] == 3 else 256, even)
        read_narrowest(reader, values, columns, 16 if "s8_s32" in types else 8)
        values["subtiles"] = reader.number("subtiles", 2 if "fused" in variant else 1, 8)
        if "fused" in variant:
            reader.number("cluster_k", 1, 1)
        check_clusters(reader, values)
        # Where the operand that gives the instruction its columns has them contiguous, its last panel of 128 bytes is whole.
        has_panels = any(layout[0] == "n" if columns == "tile_m" else layout[1] == "t" for layout in layouts)
        more_rows = -values[columns] % PANEL_COLUMNS if has_panels else 0
    check_shared_bytes(reader, values, bits[0], more_rows)


def read_narrowest(reader, values, columns, step):
    """columns: the column of the tile's columns as the tensor core has them; step: of which those of a launch are multiples."""
    values["narrowest"] = None
    if not reader.cells["narrowest"]:
        return
    for word in ("fused", "promoted", "rowinterleaved"):
        if word in values["variant"].split():
            reader.refuse("narrowest", f"{reader.cells['narrowest']} is there but must be empty with {word}")
    values["narrowest"] = reader.number("narrowest", step, values[columns] - step, step)


def check_clusters(reader, values):
    """Of several: the CTAs of each along m load equal parts of B, in groups of 8 columns, those along n of A."""
    for along_m, along_n in values["clusters"] if len(values["clusters"]) > 1 else ():
        for along, column in ((along_m, "tile_n"), (along_n, "tile_m")):
            if values[column] % (8 * along):
                reader.refuse("clusters", f"{along_m}x{along_n} shares {values[column]} rows of an operand among {along} CTAs, but "
                              "each must load a multiple of 8")  # fmt: skip


def check_shared_bytes(reader, values, bits, more_rows=0):
    """more_rows: that are loaded of the operands beyond the tile."""
    ring = values["stages"] * (values["tile_m"] + values["tile_n"] + more_rows) * values["tile_k"] * bits // 8
    if ring > MOST_SHARED_BYTES:
        reader.refuse("stages", f"{values['stages']} k-tiles take {ring} bytes of shared memory, but a CTA has {MOST_SHARED_BYTES}")


def read_table(path=TABLE):
    """The rows of the table; BadTable says what is wrong with it."""
    path = Path(path)
    with open(path, newline="", encoding="utf-8") as stream:
        lines = list(csv.reader(stream, skipinitialspace=True))
    header = [cell.strip() for cell in lines[0]] if lines else []
    for column in COLUMNS:
        if column not in header:
            raise BadTable(f"{path.name}, line 1: there is no column {column}")
    for i, column in enumerate(header):
        if column not in COLUMNS or column in header[:i]:
            raise BadTable(f"{path.name}, line 1, column {column or i + 1}: no kernel has it, or it is there twice")
    rows, seen = [], {}
    for line, cells in enumerate(lines[1:], 2):
        if not cells:
            continue
        if len(cells) != len(header):
            raise BadTable(f"{path.name}, line {line}, column {header[min(len(cells), len(header)) - 1]}: the line has "
                           f"{len(cells)} cells but must have {len(header)}")  # fmt: skip
        row = read_row(path.name, line, dict(zip(header, (cell.strip() for cell in cells))))
        rows.append(row)
        for kernel in filter(Kernel.begins_statement, kernels_of([row])):
            statement = kernel.cpp()
            if statement in seen:
                raise BadTable(f"{path.name}, line {line}, column types: {kernel.types} {kernel.layout} has this kernel in line "
                               f"{seen[statement]} already")  # fmt: skip
            seen[statement] = line
    if not rows:
        raise BadTable(f"{path.name}, line 2, column family: the table has no kernels")
    return rows


def kernels_of(rows):
    return [
        Kernel(row, types, layout, cluster)
        for row in rows
        for types in row.types
        for layout in row.layouts
        for cluster in row.clusters or (None,)
    ]


# What of the table a build has


@dataclass(frozen=True)
class Selection:
    """The CMake options that choose kernels. None: all."""

    types: tuple = None
    layouts: tuple = None
    tiles: str = "all"
    architectures: tuple = ("80", "90")

    def has(self, kernel):
        return (
            (self.types is None or kernel.types in self.types)
            and (self.layouts is None or kernel.layout in self.layouts)
            and (self.tiles == "all" or kernel.row.set == self.tiles)
            and (FAMILIES[kernel.row.family][1] < 90 or "90" in self.architectures)  # else code for sm_90a, which no other runs
        )


def selected(rows, selection):
    """The kernels that a build has; BadTable if an option names what no kernel of the table has."""
    kernels = kernels_of(rows)
    types = list(dict.fromkeys(kernel.types for kernel in kernels))
    for word in selection.architectures:
        if not (word.isascii() and word.isdigit() and int(word) >= 80):
            raise BadTable(f"TENON_ARCHITECTURES names '{word}' but must be of 80, 86, 87, 89, 90 and later, numbers without letters")
    if selection.tiles not in ("all", "core"):
        raise BadTable(f"TENON_TILES is '{selection.tiles}' but must be 'all' or 'core'")
    for option, chosen, known in (("TENON_TYPES", selection.types, types), ("TENON_LAYOUTS", selection.layouts, LAYOUTS)):
        for word in chosen or ():
            if word not in known:
                raise BadTable(f"{option} names '{word}' but must be 'all' or of {', '.join(known)}")
    found = [kernel for kernel in kernels if selection.has(kernel)]
    if not found:
        raise BadTable("TENON_TYPES, TENON_LAYOUTS, TENON_TILES and TENON_ARCHITECTURES leave no kernel to build")
    return found


# Writing

# A source ends where its kernels take about this long to compile: the compiler's time grows with the tile, and the epilogue of
# fused kernels takes most of theirs. The unit is a tile of 128 x 128, 2.5 seconds of one core of 2026; the headers of a source
# take twice as long.
MOST_WORK = 40
FUSED_WORK = 6


@dataclass
class Source:
    name: str
    header: str
    family: str
    part: str  # what `tenon list` adds sizes up by
    kernels: list

    def is_f64(self):
        return self.kernels[0].types == "f64_f64"

    def ptx(self, architectures):
        """The files of its PTX, that for sm_90 last. What is compiled for 80 and 90 apart gets two, named after both."""
        both = self.is_f64() and "90" in architectures and len(set(architectures)) > 1
        return [f"{self.name}.compute_{arch}" for arch in ("80", "90")] if both else [self.name]


def work_of(kernel):
    if not kernel.begins_statement():
        return 0  # compiled already
    row = kernel.row
    work = max(0.5, row.tile_m * row.tile_n / 128**2) * (1.5 if row.schedule == "pingpong" else 1)
    return work * (FUSED_WORK if "fused" in row.variant.split() else 1)


def sources_of(kernels):
    """Kernels, sorted into sources: of wgmma several lines of the same types, as many as compile in a minute, of the other
    families one line each."""
    groups = {}
    for kernel in kernels:
        row = kernel.row
        header = UNALIGNED_HEADER if "unaligned" in row.variant.split() else FAMILIES[row.family][0]
        groups.setdefault((row.family, kernel.types, header, None if row.family == "wgmma" else row.line), []).append(kernel)
    types_in_order = list(dict.fromkeys(kernel.types for kernel in kernels))
    sources = []
    for (family, types, header, _), group in sorted(
        groups.items(), key=lambda item: (list(FAMILIES).index(item[0][0]), types_in_order.index(item[0][1]))
    ):
        row, part = group[0].row, f"{family}_{types}"
        if family != "wgmma":
            suffix = f"_{row.variant}" if row.variant else ""
            sources.append(Source(f"{part}_{row.tile_m}x{row.tile_n}x{row.tile_k}_s{row.stages}{suffix}", header, family, part, group))
            continue
        name = f"{part}_unaligned" if header == UNALIGNED_HEADER else part
        pieces, work = [[]], 0
        for kernel in group:
            if pieces[-1] and kernel.begins_statement() and work + work_of(kernel) > MOST_WORK:
                pieces.append([])
                work = 0
            pieces[-1].append(kernel)
            work += work_of(kernel)
        sources += [Source(f"{name}_{i}", header, family, part, piece) for i, piece in enumerate(pieces)]
    return sources


def source_text(source):
    body = "".join(f"  {kernel.cpp()}\n" for kernel in source.kernels if kernel.begins_statement())
    return (
        f"// Written by src/gemm/kernel_table.py from kernels.csv.\n#include \"gemm/{source.header}\"\n\nnamespace tenon {{\n\n"
        f"void {source.name}(std::vector<Kernel>& list) {{\n{body}}}\n\n}}  // namespace tenon\n"
    )


def list_text(sources, architectures):
    """The definition of what kernel_sources.hpp declares."""
    declarations = "".join(f"void {source.name}(std::vector<Kernel>& list);\n" for source in sources)
    costs, rows = "", ""
    for source in sources:
        values = ", ".join(f"{{{k.row.efficiency!r}, {k.row.resident}}}" for k in source.kernels)
        costs += f"constexpr KernelCost costs_of_{source.name}[] = {{{values}}};\n"
        rows += f'    {{"{source.name}", "{source.ptx(architectures)[-1]}", "{source.part}", {source.name}, costs_of_{source.name}, {len(source.kernels)}}},\n'
    return (
        '// Written by src/gemm/kernel_table.py from kernels.csv.\n#include "gemm/kernel_sources.hpp"\n\nnamespace tenon {\n\n'
        f"{declarations}\nnamespace {{\n{costs}}}  // namespace\n\nconst KernelSource kernel_sources[] = {{\n{rows}}};\n"
        f"const std::size_t kernel_source_count = {len(sources)};\n\n}}  // namespace tenon\n"
    )


def cmake_text(sources, architectures):
    """tenon_FAMILY_sources for CMakeLists.txt: the names of the sources, without extension; tenon_FAMILY_ptx: of their PTX. tenon_mma_fp8_sources: those of
    the other families that need FP8_ARCHITECTURE. tenon_mma_f64_sources: those of f64, whose instructions for sm_90 are others."""
    lines = ["# Written by src/gemm/kernel_table.py from kernels.csv."]
    for family in FAMILIES:
        names = " ".join(source.name for source in sources if source.family == family)
        lines.append(f"set(tenon_{family}_sources {names})")
        files = " ".join(file for source in sources if source.family == family for file in source.ptx(architectures))
        lines.append(f"set(tenon_{family}_ptx {files})")
    fp8 = (source.name for source in sources if source.kernels[0].architecture() == FP8_ARCHITECTURE)
    lines.append(f"set(tenon_mma_fp8_sources {' '.join(fp8)})")
    f64 = (source.name for source in sources if source.is_f64())
    lines.append(f"set(tenon_mma_f64_sources {' '.join(f64)})")
    return "\n".join(lines) + "\n"


def write_if_changed(path, text):
    """A source that stays the same keeps its time, and is not compiled anew."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def generate(kernels, folder, architectures=("80", "90")):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    sources = sources_of(kernels)
    texts = {f"{source.name}.cu": source_text(source) for source in sources}
    texts["kernel_sources.cpp"] = list_text(sources, architectures)
    texts["kernel_sources.cmake"] = cmake_text(sources, architectures)
    for name, text in texts.items():
        write_if_changed(folder / name, text)
    for old in folder.glob("*.cu"):
        if old.name not in texts:
            old.unlink()


def cmake_list(text):
    """'a;b' as CMake passes it, or 'all'."""
    words = tuple(word for word in text.replace(";", " ").split() if word)
    return None if words in ((), ("all",)) else words


def main():
    parser = argparse.ArgumentParser(prog="kernel_table", description="Checks src/gemm/kernels.csv and writes what it stands for.")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, what in (("generate", "write the C++ sources and kernel_sources.cmake"), ("list", "print the kernels as JSON")):
        command = commands.add_parser(name, help=what)
        command.add_argument("--table", type=Path, default=TABLE)
        command.add_argument("--types", type=cmake_list, default=None)
        command.add_argument("--layouts", type=cmake_list, default=None)
        command.add_argument("--tiles", default="all")
        command.add_argument("--architectures", type=cmake_list, default=("80", "90"))
        if name == "generate":
            command.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    try:
        selection = Selection(options.types, options.layouts, options.tiles, options.architectures or ())
        kernels = selected(read_table(options.table), selection)
    except (BadTable, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    if options.command == "generate":
        generate(kernels, options.output, selection.architectures)
    else:
        print(json.dumps([kernel.fields() for kernel in kernels], indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
