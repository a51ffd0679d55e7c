"""Files of records: replaced completely or not at all, so that they can be written after each row and an interrupted run
loses none of its rows."""

import argparse
import json
import os


def file_of_records(path):
    """The type of an option: what could not be written after hours is refused before."""
    if os.path.isdir(path):
        raise argparse.ArgumentTypeError(f"'{path}' is a folder but must be a file")
    folder = os.path.dirname(os.path.realpath(path))
    is_replaced = os.path.isfile(path) or not os.path.exists(path)
    if is_replaced and not os.access(folder, os.W_OK):
        raise argparse.ArgumentTypeError(f"'{path}' cannot be written: the folder {folder} is not there or write-protected")
    return path


def store(path, records):
    text = json.dumps(records, indent=1) + "\n"
    if os.path.exists(path) and not os.path.isfile(path):  # a pipe or a device is no file to replace
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return
    path = os.path.realpath(path)  # a link stays
    temporary = f"{path}.{os.getpid()}.tmp"
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(temporary, path)
