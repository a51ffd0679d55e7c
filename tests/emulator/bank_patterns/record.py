#!/usr/bin/env python3
"""Records the shared-memory wavefronts that ncu counts for the patterns: record.py PROGRAM PATTERNS.ptx OUT.json COMMIT.

Needs a GPU of sm_90 or newer and ncu. What it writes is committed; bank_patterns_test compares the emulator with it.
"""

import csv
import datetime
import io
import json
import subprocess
import sys

SASS = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
ALL = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"
KIND = {"load": "ld", "store": "st", "ldmatrix": "ldsm", "stmatrix": "stsm"}


def main():
    program, ptx, out, commit = sys.argv[1:]
    names = [line.split("\t") for line in subprocess.check_output([program, "--list"], text=True).splitlines()]
    metrics = [SASS.format(kind) for kind in KIND.values()] + [ALL]
    text = subprocess.check_output(["ncu", "--csv", "--metrics", ",".join(metrics), program, ptx], text=True)
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith('"ID"'))
    counts = {}
    for row in csv.DictReader(io.StringIO("\n".join(lines[start:]))):
        value = row["Metric Value"].replace(",", "")
        counts.setdefault(int(row["ID"]), {})[row["Metric Name"]] = int(float(value)) if value.replace(".", "").isdigit() else None
    assert len(counts) == len(names), f"ncu saw {len(counts)} launches, not {len(names)}"
    records = []
    for (entry, name), launch in zip(names, (counts[key] for key in sorted(counts)), strict=True):
        own = launch.get(SASS.format(KIND[entry.split("_")[0]]))
        records.append({"entry": entry, "pattern": name, "wavefronts": own, "wavefronts_of_all": launch.get(ALL)})
    machine = subprocess.check_output(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], text=True).strip()
    stamp = {"machine": machine, "commit": commit, "date": str(datetime.date.today())}
    with open(out, "w", encoding="utf-8") as file:
        head = json.dumps(stamp)[:-1]
        body = ",\n  ".join(json.dumps(record) for record in records)
        file.write(f'{head}, "patterns": [\n  {body}\n]}}\n')


main()
