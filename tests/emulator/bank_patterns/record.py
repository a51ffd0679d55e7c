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

# What the hardware counts, not what ncu computes from addresses (smsp__sass_...): the two differ where lanes share.
METRIC = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"


def main():
    program, ptx, out, commit = sys.argv[1:]
    names = [line.split("\t") for line in subprocess.check_output([program, "--list"], text=True).splitlines()]
    text = subprocess.check_output(["ncu", "--csv", "--metrics", METRIC, program, ptx], text=True)
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith('"ID"'))
    counts = [int(row["Metric Value"].replace(",", "")) for row in csv.DictReader(io.StringIO("\n".join(lines[start:])))]
    assert len(counts) == len(names), f"ncu saw {len(counts)} launches, not {len(names)}"
    # Every launch counts a wavefront that is not the pattern's: that of a launch in which no lane takes part.
    idle = {count for (_, name), count in zip(names, counts) if name == "no lane"}
    assert len(idle) == 1, f"launches without an access count {idle}"
    records = [
        {"entry": entry, "pattern": name, "wavefronts": count - min(idle)}
        for (entry, name), count in zip(names, counts)
    ]
    machine = subprocess.check_output(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], text=True).strip()
    stamp = {"machine": machine, "commit": commit, "date": str(datetime.date.today())}
    with open(out, "w", encoding="utf-8") as file:
        head = json.dumps(stamp)[:-1]
        body = ",\n  ".join(json.dumps(record) for record in records)
        file.write(f'{head}, "patterns": [\n  {body}\n]}}\n')


main()
