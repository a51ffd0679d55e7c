"""The committed state of some kernels' machine code, and what is too far from it. The tolerances are report.EXAMPLES'."""

import json

from .errors import BadInput

REGISTERS, INSTRUCTIONS, LOOP, LOOP_AT_LEAST = 4, 0.10, 0.05, 4
_EXACT = ("local_bytes", "static_shared_bytes", "barriers", "loop_tensor")
_KEYS = {"kernel", "arch", *_EXACT, "registers", "instructions", "loop", "findings"}


def row_of(analysis):
    """What the baseline keeps of an analyse.Analysis."""
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


def write_baseline(analyses):
    """The file's text: a line a kernel, so that a change shows as one line of a diff."""
    return "[\n" + ",\n".join(json.dumps(row_of(a)) for a in analyses) + "\n]\n"


def read_baseline(path):
    try:
        with open(path, encoding="utf-8") as file:
            rows = json.load(file)
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise BadInput(f"{path}: not JSON: {error}") from None
    if not isinstance(rows, list) or not all(isinstance(row, dict) and set(row) == _KEYS for row in rows):
        raise BadInput(f"{path}: must hold a list of objects with the keys {', '.join(sorted(_KEYS))}")
    return rows


def compare(rows, analyses, archs=()):
    """Sentences, one for each value of a kernel that is too far from its row. archs: compare these, not all rows."""
    known = {(row["kernel"], row["arch"]): row for row in rows if not archs or row["arch"] in archs}
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
