"""Files of records: replaced completely or not at all, so that they can be written after each row and an interrupted run
loses none of its rows."""

import json
import os


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
