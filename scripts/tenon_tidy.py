"""Runs clang-tidy over the sources of a compilation database, several of them read as one. scripts/check_tidy calls it:

  tenon_tidy.py DATABASE FOLDER I N CLANG_TIDY OPTION...    the sources below FOLDER; I and N of --part I/N

Headers, above all those of the standard library, take most of clang-tidy's time.
"""

import collections
import concurrent.futures
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

MOST_LINES = 5000  # read as one, so that two processes end at about the same time
# Of a command: the output, and what clang-tidy need not know or (a precompiled header of gcc) cannot read. Not -O: it keeps the
# sources that include CLI11 (-O1) apart, since performance-unnecessary-value-param looks through all for each of its functions.
LEFT_OUT = re.compile(r"(?<= )(-o \S+|-fPIC|-Winvalid-pch|-include \S*cmake_pch\.hxx)(?= |$)")


def read_database(path, folder):
    """{(where it runs, command without the source): of each of its compilations the sources below the folder}"""
    compilations, seen = collections.defaultdict(list), set()
    for row in json.loads(Path(path).read_text()):
        sources = [row["file"]]
        if Path(row["file"]).name.startswith("unity_"):  # of a unity build: #includes of its sources
            sources = re.findall(r'#include "(.+)"', Path(row["file"]).read_text())
        sources = [s for s in sources if s.startswith(folder) and s.endswith(".cpp") and s not in seen]
        seen.update(sources)  # some are compiled for a test too
        if sources:
            command = " ".join(LEFT_OUT.sub("", row["command"]).replace(row["file"], "").split())
            compilations[row["directory"], command].append(sources)
    return compilations


def unnamed(text):
    """The names that unnamed namespaces declare, as the format of the sources shows them: at the beginning of a line."""
    blocks = re.findall(r"^namespace \{$(.*?)^\}  // namespace$", text, re.MULTILINE | re.DOTALL)
    name = re.compile(r"^(?![ #/}]|template|using [\w:]+;).*?(\w+)(?= ?[({=;\[]| final| :)", re.MULTILINE)
    return {found for block in blocks for found in name.findall(block)}


def together(compilations, most):
    """Groups of compilations that declare no name twice, none of more lines than `most` unless it is one compilation."""
    groups = []
    for sources in sorted(compilations):
        text = "".join(Path(source).read_text() for source in sources)
        names, lines = unnamed(text), text.count("\n")
        group = next((g for g in groups if g["lines"] + lines <= most and not g["names"] & names), None)
        if group is None:
            group = {"names": set(), "lines": 0, "sources": []}
            groups.append(group)
        group["names"] |= names
        group["lines"] += lines
        group["sources"] += sources
    return [(group["lines"], group["sources"]) for group in groups]


def read(sources, where, command, folder, program, *options):
    """Reads the sources as one, by way of the folder: whether clang-tidy finds nothing, and what it says."""
    name = sources[0]
    if len(sources) > 1:
        name = f"{folder}/together.cpp"
        # To include sources is what this file is for, and a finding in any other.
        include = '#include "{}"  // NOLINT(bugprone-suspicious-include)\n'
        Path(name).write_text("".join(include.format(source) for source in sources))
    row = {"directory": where, "command": f"{command} {name}", "file": name}
    (folder / "compile_commands.json").write_text(json.dumps([row]))
    done = subprocess.run([program, "-p", folder, *options, name], capture_output=True, text=True, check=False)
    # The count of suppressed warnings is not a finding.
    said = (line for line in done.stderr.splitlines(True) if not re.search("warnings? generated", line))
    return done.returncode == 0, done.stdout + "".join(said)


def check(sources, *how):
    """The same. If the sources do not compile as one, reads them one by one: what is wrong with them may be that alone."""
    good, output = read(sources, *how)
    if len(sources) == 1 or "[clang-diagnostic-error" not in output:
        return good, output
    found = [read([source], *how) for source in sources]
    if all(one for one, _ in found):
        why = next(line for line in output.splitlines() if "[clang-diagnostic-error" in line)
        return True, f"check_tidy: reads {len(sources)} sources one by one, which do not compile as one: {why}\n"
    return False, "".join(text for _, text in found)


def main(database, folder, part, parts, *clang_tidy):
    commands = read_database(database, folder)
    lines = sum(Path(s).read_text().count("\n") for of_command in commands.values() for sources in of_command for s in sources)
    most = min(MOST_LINES, -(-lines // int(parts)))
    groups = [(n, sources, *command) for command, all_ in commands.items() for n, sources in together(all_, most)]
    if not groups:
        print(f"check_tidy: {database} names no source of src", file=sys.stderr)
        return 2
    groups = sorted(groups, key=lambda group: (-group[0], group[1]))[int(part) :: int(parts)]  # the longest first
    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(2) as pool:
        folders = [Path(temporary) / str(i) for i in range(len(groups))]
        for one in folders:
            one.mkdir()
        runs = [pool.submit(check, *group[1:], one, *clang_tidy) for group, one in zip(groups, folders)]
        found = False
        for run in concurrent.futures.as_completed(runs):
            good, output = run.result()
            print(output, end="", flush=True)
            found = found or not good
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
