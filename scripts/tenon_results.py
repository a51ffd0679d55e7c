"""Reads files of results: arrays of records, and the files of tenon_instruction_benchmark."""

import collections
import re

from tenon_sass.errors import BadInput
from tenon_sass.files import check_fields, read_json, shown

# Types of A, B, the accumulator and C; whether the accumulator is promoted every 128 products.
Types = collections.namedtuple("Types", "a b accumulate promoted output")
TYPES = re.compile(r"([a-z0-9]+)_(?:([a-z0-9]+)_)?([a-z]+[0-9]+)(p?)_([a-z0-9]+)")


def flat(loaded, path):
    """The records of a loaded file. Copies fields that an instruction benchmark's file has once, or in names, to each record."""
    if isinstance(loaded, dict) and loaded.get("benchmark") == "instruction" and isinstance(loaded.get("results"), list):
        shared = {key: value for key, value in loaded.items() if key != "results"}
        for i, record in enumerate(loaded["results"]):
            check_fields(record, {"name": "a string"}, f"{path}: result {i}")
        return [{**shared, **parts_of(record["name"], path), **record} for record in loaded["results"]]
    if isinstance(loaded, dict) and loaded.get("benchmark") == "gemm_choices":
        return []  # times of many kernels, from which a test judges the choice: no results to show
    if not isinstance(loaded, list) or not all(isinstance(record, dict) for record in loaded):
        raise BadInput(f"{path} must hold an array of objects, or the object that tenon_instruction_benchmark writes")
    return loaded


def parts_of(name, path):
    """Splits the name of an instruction benchmark's case: family/kernel/measure/axis:value/axis:value..."""
    if not re.fullmatch(r"[^/]+/[^/]+/[^/]+(/[^/:]+:[^/]*)*", name):
        raise BadInput(f"{path}: a result's name is {shown(name)} but must be family/kernel/measure/axis:value...")
    family, kernel, measure, *axes = name.split("/")
    return {"family": family, "kernel": kernel, "measure": measure, "axes": dict(axis.split(":", 1) for axis in axes)}


def types_of(text):
    """Parses a record's types: bf16_f32_bf16, e4m3_f32p_bf16 (promoted), e4m3_e5m2_f32_bf16 (A and B differ)."""
    match = TYPES.fullmatch(text)
    if not match:
        raise BadInput(f"types '{text}' are not a_accumulate_output or a_b_accumulate_output")
    a, b, accumulate, promoted, output = match.groups()
    return Types(a, b or a, accumulate, bool(promoted), output)


def load(path):
    return flat(read_json(path), path)


def files_below(folder):
    """The JSON files of a folder of results, sorted by name. Raises BadInput if there is none."""
    if not folder.is_dir():
        raise BadInput(f"{folder} must be a folder of results but is {'a file' if folder.exists() else 'not there'}")
    paths = sorted(folder.rglob("*.json"))
    if not paths:
        raise BadInput(f"{folder} must hold results, files *.json, but has none")
    return paths
