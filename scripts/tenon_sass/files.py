"""Reads input files, with a sentence for each error in them, and writes files atomically."""

import csv
import io
import json
import os
import re

from .errors import BadInput


def read_text(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} is not UTF-8 text: {error.reason} at byte {error.start}") from None


def read_json(path):
    text = read_text(path)
    if not text.strip():
        raise BadInput(f"{path} is empty but must hold JSON")
    try:
        loaded = json.loads(text)
        if re.search(r"\\u[dD][89a-fA-F]", text):
            json.dumps(loaded, ensure_ascii=False).encode()  # half a surrogate pair could be read but not printed
        return loaded
    except RecursionError:
        raise BadInput(f"{path} is not readable JSON: it is nested too deeply") from None
    except ValueError as error:
        raise BadInput(f"{path} is not JSON: {error}") from None


def read_csv(path, columns):
    """[(line, row as a dict)] of a table with exactly these columns in every row."""
    lines = csv.DictReader(io.StringIO(read_text(path)), strict=True)
    try:
        found = tuple(lines.fieldnames or ())
        if found != tuple(columns):
            raise BadInput(f"{path}: the columns are '{','.join(found)}' but must be '{','.join(columns)}'")
        rows = []
        for row in lines:
            if None in row or None in row.values():
                cells = len(row.get(None) or ()) + sum(row[name] is not None for name in columns)
                raise BadInput(f"{path}:{lines.line_num}: the row has {cells} cells but must have {len(columns)}")
            rows.append((lines.line_num, row))
        return rows
    except csv.Error as error:
        raise BadInput(f"{path}:{lines.reader.line_num}: not CSV: {error}") from None


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e300  # false for NaN


# The kinds of values of a field, in words.
KINDS = {
    "a string": lambda value: isinstance(value, str),
    "true or false": lambda value: isinstance(value, bool),
    "a whole number": lambda value: _is_number(value) and isinstance(value, int) and value >= 0,
    "a whole number or null": lambda value: value is None or KINDS["a whole number"](value),
    "a whole number above 0": lambda value: _is_number(value) and isinstance(value, int) and value > 0,
    "a number above 0": lambda value: _is_number(value) and value > 0,
    "a number or null": lambda value: value is None or (_is_number(value) and value >= 0),
    "an object": lambda value: isinstance(value, dict),
    "a list of strings": lambda value: isinstance(value, list) and all(isinstance(item, str) for item in value),
    "a list of strings or whole numbers": lambda value: isinstance(value, list)
    and all(isinstance(item, (str, int)) and not isinstance(item, bool) for item in value),
}


def check_fields(record, fields, where, optional=False):
    """Raises BadInput unless the record is an object with these fields ({name: one of KINDS}), each of its kind."""
    if not isinstance(record, dict):
        raise BadInput(f"{where} is {shown(record)} but must be an object")
    missing = [name for name in fields if name not in record]
    if missing and not optional:
        raise BadInput(f"{where} lacks {', '.join(missing)}")
    for name, kind in fields.items():
        if name in record and not KINDS[kind](record[name]):
            raise BadInput(f"{where}: '{name}' is {shown(record[name])} but must be {kind}")


def shown(value):
    """A value of a JSON file, short enough for a sentence."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."


def write_file(path, content):
    """Replaces a file's content, str or bytes, atomically: on a full disk the old content stays, and a concurrent reader
    sees the old or the new. Keeps the mode and follows a link."""
    data = content.encode("utf-8") if isinstance(content, str) else content
    try:
        if os.path.exists(path) and not os.path.isfile(path):  # a pipe, or /dev/stdout: written, not replaced
            with open(path, "wb") as file:
                file.write(data)
        else:
            _replace(os.path.realpath(path), data)
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror}") from None


def _replace(target, data):
    exists = os.path.exists(target)
    if exists:
        os.close(os.open(target, os.O_WRONLY))  # fails for a write-protected file
    temporary = os.path.join(os.path.dirname(target), f".tenon-{os.urandom(4).hex()}.tmp")
    try:
        with open(temporary, "xb") as file:
            file.write(data)
        if exists:
            os.chmod(temporary, os.stat(target).st_mode & 0o7777)
        os.replace(temporary, target)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise
