"""Compares kernels' machine code with a committed baseline. report.EXAMPLES states the tolerances."""

import json

from .errors import BadInput
from .expect import Selection
from .files import check_fields, read_json

REGISTERS, INSTRUCTIONS, LOOP, LOOP_AT_LEAST = 4, 0.10, 0.05, 4
_EXACT = ("local_bytes", "static_shared_bytes", "barriers", "loop_tensor")
_NUMBERS = ("registers", "local_bytes", "static_shared_bytes", "instructions", "loop", "loop_tensor")
_FIELDS = {
    "kernel": "a string",
    "arch": "a string",
    **dict.fromkeys(_NUMBERS, "a whole number"),
    "barriers": "a whole number or null",  # null for images older than CUDA 13
    "findings": "a list of strings",
}


def row_of(analysis):
    """The baseline's row for an analyse.Analysis."""
    loop, resources = analysis.loop, analysis.resources
    return {
        "kernel": analysis.name,
        "arch": analysis.arch,
        "registers": resources.registers,
        "local_bytes": resources.local_bytes,
        "static_shared_bytes": resources.static_shared_bytes,
        "barriers": resources.barriers,
        "instructions": analysis.instructions,
        "loop": loop.every_trip if loop else 0,
        "loop_tensor": loop.tensor if loop else 0,
        "findings": sorted({finding.kind for finding in analysis.findings}),
    }


def write_baseline(rows):
    """The file's text: one line for each kernel, so that a change is one line of a diff."""
    rows = sorted(rows, key=lambda row: (row["kernel"], row["arch"]))
    return "[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n"


def read_baseline(path):
    rows = read_json(path)
    if not isinstance(rows, list) or not all(isinstance(row, dict) and set(row) == _FIELDS.keys() for row in rows):
        raise BadInput(f"{path}: must hold a list of objects with the keys {', '.join(sorted(_FIELDS))}")
    for i, row in enumerate(rows):
        check_fields(row, _FIELDS, f"{path}: object {i}")
    return rows


def compare(rows, analyses, selection=Selection()):
    """One sentence for each value of a kernel that is too far from its row. Compares only the kernels of the selection."""
    known = {(row["kernel"], row["arch"]): row for row in rows if selection.holds(row["kernel"], row["arch"])}
    found = {(a.name, a.arch): row_of(a) for a in analyses}
    differences = [f"sm_{arch} {name}: in the baseline but not in the files" for name, arch in sorted(known.keys() - found)]
    differences += [f"sm_{arch} {name}: not in the baseline" for name, arch in sorted(found.keys() - known)]
    for key in sorted(known.keys() & found):
        differences += [f"sm_{key[1]} {key[0]}: {sentence}" for sentence in _differences(known[key], found[key])]
    return differences


def _differences(was, now):
    for value in _EXACT:
        if now[value] != was[value]:
            yield f"{value} is {now[value]} but the baseline has {was[value]}"
    for value, slack in (
        ("registers", REGISTERS),
        ("instructions", INSTRUCTIONS * was["instructions"]),
        ("loop", max(LOOP * was["loop"], LOOP_AT_LEAST)),
    ):
        if abs(now[value] - was[value]) > slack:
            yield f"{value} is {now[value]} but the baseline has {was[value]}, and {int(slack)} more or less are allowed"
    for kind in sorted(set(now["findings"]) - set(was["findings"])):
        yield f"the finding '{kind}' is new"
