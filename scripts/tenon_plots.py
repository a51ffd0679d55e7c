"""The canvas of scripts/plot, and its drawings for the course: narrow enough for a phone, with letters of 12 pixels or more."""

import fnmatch
import io
import re

import tenon_results
from tenon_sass.errors import BadInput
from tenon_sass.files import check_fields, read_json, write_file

NARROW, LETTERS = 3.4, 9  # inches; points: a browser shows 96 pixels an inch, 4 pixels for 3 points
CURVES = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bbbbbb")
MARKERS = "osD^vP*"
# What an instruction benchmark measured, the first that all chosen cases have: field, its unit.
FIGURES = {
    "tflops": "TFLOP/s",
    "gigabytes_per_second": "GB/s",
    "flop_per_clk_per_sm": "FLOP a clock and SM",
    "bytes_per_clk_per_sm": "bytes a clock and SM",
    "cycles": "cycles",
}
ATTENTION_FIELDS = {
    **dict.fromkeys(("n", "k"), "a whole number above 0"),
    **dict.fromkeys(("benchmark", "types", "layout", "kernel", "machine"), "a string"),
    "tflops_burst": "a number or null",
}
OURS = re.compile(r"attention_(wgmma|mma)_")


def pyplot():
    import matplotlib

    matplotlib.use("agg")
    matplotlib.rcParams["svg.hashsalt"] = "tenon"  # the same figures give the same file
    matplotlib.rcParams["svg.fonttype"] = "none"  # text stays text: small files, and labels that can be searched
    from matplotlib import pyplot as plt

    return plt


def save(figure, axes, path):
    axes.spines[["top", "right"]].set_visible(False)
    drawn = io.BytesIO()
    if path.suffix == ".svg":
        figure.savefig(drawn, format="svg", metadata={"Date": None})
    else:
        figure.savefig(drawn, format="png", dpi=150, metadata={"Software": None})
    figure.clear()
    write_file(path, drawn.getvalue())


def draw_curves(curves, labels, title, path):
    """curves: {label: {x: y}}, or one without a label; labels: of x and y. Each x has a tick of its own."""
    plt = pyplot()
    figure, axes = plt.subplots(figsize=(NARROW, 3 + 0.2 * len(curves)), layout="constrained")
    for i, (label, points) in enumerate(curves.items()):
        style = {"color": CURVES[i % len(CURVES)], "marker": MARKERS[i % len(MARKERS)], "markersize": 4}
        axes.plot(*zip(*sorted(points.items())), label=label, **style)
    ticks = sorted({x for points in curves.values() for x in points})
    axes.set_xscale("log", base=2)
    axes.set_xticks(ticks, [f"{x:g}" for x in ticks], fontsize=LETTERS)
    axes.minorticks_off()
    axes.tick_params(axis="y", labelsize=LETTERS)
    axes.set_ylim(bottom=0)
    axes.set_xlabel(labels[0], fontsize=LETTERS)
    axes.set_ylabel(labels[1], fontsize=LETTERS)
    figure.suptitle(title, fontsize=LETTERS)
    if any(curves):
        figure.legend(loc="outside lower center", fontsize=LETTERS, ncols=2, frameon=False)
    save(figure, axes, path)


# --- instructions


def chosen(path, cases):
    """The records whose family/kernel/measure matches and that have the values of all axes that `cases` names."""
    kind = "/".join(part for part in cases.split("/") if ":" not in part)
    wanted = dict(part.split(":", 1) for part in cases.split("/") if ":" in part)
    found = []
    for record in tenon_results.load(path):
        if "axes" in record and fnmatch.fnmatchcase("/".join(record["name"].split("/")[:3]), kind):
            if wanted.items() <= record["axes"].items():
                found.append(record)
    if not found:
        example = "tma/cp_async_bulk/throughput/source:dram"
        raise BadInput(f"{path} has no case '{cases}': --cases names family/kernel/measure, and values of axes, as {example}")
    return found, wanted


def number(text, path):
    try:
        return float(text)
    except ValueError:
        raise BadInput(f"{path}: '{text}' is no number to draw over") from None


def instructions(options):
    path, over = options.results[0], options.over
    if len(options.results) > 1:
        raise BadInput("instructions draws one file of tenon_instruction_benchmark")
    records, wanted = chosen(path, options.cases)
    axes = [record["axes"] for record in records]
    if any(over not in values for values in axes):
        raise BadInput(f"{path}: a case of {options.cases} has no axis '{over}'; they have {', '.join(sorted(axes[0]))}")
    for i, record in enumerate(records):
        check_fields(record, dict.fromkeys(FIGURES, "a number or null"), f"{path}: case {i} of {options.cases}", optional=True)
    # An axis that says no more than `over`, or that is the same everywhere, makes no curves.
    free = sorted(
        name for name in {name for values in axes for name in values} - {over}
        if len({(values[over], values.get(name)) for values in axes}) > len({values[over] for values in axes})
    )  # fmt: skip
    if len(free) > 1:
        raise BadInput(f"more than one axis differs, give a value to all but one: {', '.join(free)}")
    figure = next((name for name in FIGURES if all(record.get(name) is not None for record in records)), None)
    if figure is None:
        raise BadInput(f"the cases of {options.cases} have no figure in common")
    key = (lambda values: number(values.get(free[0], "nan"), path)) if free else (lambda values: 0)
    curves = {}
    for record in sorted(records, key=lambda record: key(record["axes"])):
        label = f"{record['axes'].get(free[0])} {free[0]}" if free else None
        curves.setdefault(label, {})[number(record["axes"][over], path)] = record[figure]
    kernel = options.cases.split("/")[1]
    title = f"{kernel}\n" + ", ".join([*(f"{name} {value}" for name, value in wanted.items()), records[0].get("machine", "")]).strip(", ")
    draw_curves(curves, (options.label or over, FIGURES[figure]), title, options.out)


# --- attention


def attention(options):
    """TFLOP/s of the forward pass over the number of keys, of the later of two records of a case."""
    contenders, machines, drawable = {}, set(), set()
    for path in options.results:
        loaded = read_json(path)
        if not isinstance(loaded, list) or not all(isinstance(record, dict) for record in loaded):
            raise BadInput(f"{path} must hold an array of objects")
        for i, record in enumerate(loaded):
            check_fields(record, ATTENTION_FIELDS, f"{path}: record {i}")
            case = (record["benchmark"], record["layout"], record["types"])
            if case[0] == "attention_forward" and record["tflops_burst"] is not None:
                drawable.add(case[1:])
            if case != ("attention_forward", options.layout, options.types) or record["tflops_burst"] is None:
                continue
            own = OURS.match(record["kernel"])
            name = {"wgmma": "tenon, wgmma", "mma": "tenon, mma.sync"}[own[1]] if own else record["kernel"]
            contenders.setdefault(name, {})[record["n"]] = record["tflops_burst"]
            machines.add(record["machine"])
    if not contenders:
        there = sorted(f"'{layout}' {types}" for layout, types in drawable)
        sentence = f"no record of a forward pass has the layout '{options.layout}' and the types {options.types}"
        raise BadInput(f"{sentence}; there are {', '.join(there) or 'none'}")
    curves = dict(sorted(contenders.items(), key=lambda item: -max(item[1].values())))
    title = f"{options.layout}, {options.types}\n{', '.join(sorted(machines))}"
    draw_curves(curves, ("keys", "TFLOP/s, burst"), title, options.out)


# --- swizzle

ROWS, BANKS, BANK_BYTES, CHUNK_BYTES = 8, 32, 4, 16


def swizzled_chunk(row_bytes, row, chunk):
    """As tenon/shared/swizzle.hpp has it; test_plot.py compares the two."""
    return chunk ^ (row // (128 // row_bytes) % (row_bytes // CHUNK_BYTES))


def places(row_bytes, is_swizzled):
    """[(row, chunk)] of the 16-byte places of a tile of eight rows, in the order of their addresses."""
    chunks = row_bytes // CHUNK_BYTES
    found = [None] * (ROWS * chunks)
    for row in range(ROWS):
        for chunk in range(chunks):
            found[row * chunks + (swizzled_chunk(row_bytes, row, chunk) if is_swizzled else chunk)] = (row, chunk)
    return found


def swizzle(options):
    """Shared memory, 128 bytes a line, without and with the swizzle. Chunk 0 of each row, which ldmatrix reads at once, has a colour."""
    plt = pyplot()
    from matplotlib.patches import Rectangle

    width = BANKS * BANK_BYTES // CHUNK_BYTES
    lines = ROWS * options.row_bytes // CHUNK_BYTES // width
    figure, panels = plt.subplots(2, 1, figsize=(NARROW, 1.3 + 0.5 * lines), layout="constrained")
    for axes, is_swizzled in zip(panels, (False, True)):
        for at, (row, chunk) in enumerate(places(options.row_bytes, is_swizzled)):
            x, y = at % width, at // width
            axes.add_patch(Rectangle((x, y), 1, 1, facecolor="#ffffff" if chunk else CURVES[0], edgecolor="#888888"))
            axes.text(x + 0.5, y + 0.52, f"{row},{chunk}", ha="center", va="center", fontsize=LETTERS,
                      color="#000000" if chunk else "#ffffff")  # fmt: skip
        axes.set_xlim(0, width)
        axes.set_ylim(lines, 0)
        banks = BANKS // width
        axes.set_xticks([x + 0.5 for x in range(width)], [str(banks * x) for x in range(width)], fontsize=LETTERS)
        axes.set_yticks([])
        axes.tick_params(length=0)
        axes.set_title("swizzled" if is_swizzled else "not swizzled", fontsize=LETTERS)
        axes.set_xlabel("bank", fontsize=LETTERS)
        axes.spines[:].set_visible(False)
    figure.suptitle(f"Row and chunk in a tile of {options.row_bytes} bytes a row", fontsize=LETTERS)
    save(figure, panels[1], options.out)
