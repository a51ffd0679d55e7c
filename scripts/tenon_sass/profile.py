"""Reads hardware counters of a command's kernels through ncu and its CSV output."""

import csv
import io
import re
import subprocess
from dataclasses import dataclass, field
from typing import Dict, Optional

from .errors import NoTool
from .expect import compile_pattern


@dataclass
class Launch:
    """One launch of a kernel. A counter that the GPU lacks is None."""

    kernel: str  # as ncu prints it: demangled, unless --print-kernel-base says otherwise
    capability: str  # "9.0"; "" if ncu does not print it
    counters: Dict[str, Optional[float]] = field(default_factory=dict)


def profile(command, metrics, kernel, options=(), ncu="ncu"):
    """The Launches of the kernels whose name matches the regular expression. Raises NoTool if ncu cannot measure."""
    compile_pattern(kernel)  # ncu would only say that it measured nothing
    call = [ncu, "--csv", "--metrics", ",".join(metrics), "-k", f"regex:{kernel}", *options, *command]
    try:
        done = subprocess.run([str(word) for word in call], capture_output=True, text=True, errors="replace", check=False)
    except OSError as error:
        raise NoTool(f"{ncu} cannot be run: {error.strerror}") from None
    said = re.findall(r"==ERROR== (.*)", done.stdout + done.stderr)
    if said or done.returncode != 0:
        raise NoTool(f"ncu could not measure the command: {(said or [done.stderr.strip()[-300:]])[0]}")
    return launches(done.stdout)


def launches(text):
    """The Launches in ncu's output, among the program's own lines."""
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        raise NoTool("ncu measured no kernel: does --kernel fit one that the command launches?")
    rows = [lines[start], *(line for line in lines[start + 1 :] if re.match(r'"\d+",', line))]
    found = {}
    try:
        for row in csv.DictReader(io.StringIO("\n".join(rows))):
            launch = found.setdefault(row["ID"], Launch(row["Kernel Name"], row.get("CC") or ""))
            launch.counters[row["Metric Name"]] = _number(row["Metric Value"] or "")
    except (csv.Error, KeyError) as error:
        raise NoTool(f"ncu's answer cannot be read, a table with the columns {lines[start]}: {error}") from None
    return list(found.values())


def _number(text):
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None  # "n/a"
