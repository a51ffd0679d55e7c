"""The headers of include/tenon: which are plain C++ and which NVRTC compiles. Compiles the latter with the NVRTC of a Toolkit, all
in one program a target, each alone where that fails."""

import functools
import re

from .fetch import ROOT, number
from .nvrtc import Program, load

INCLUDE = ROOT / "include"
TARGETS = {"sm_80": "12.4", "sm_89": "12.4", "sm_90a": "12.4", "sm_100a": "12.8", "sm_120a": "12.8"}  # and since when
INCLUDED = re.compile(r'^\s*#include "(tenon/[^"]+)"', re.M)
SENTENCE_12_5 = "this header of tenon needs the CUDA Toolkit 12.5 or newer"


# What only a compiler of CUDA understands.
DEVICE_CODE = re.compile(r"\b__(device|global|shared|forceinline)__\b|\basm volatile\b|\b__CUDACC_VER_|#include <cuda")


def every(suffix):
    """The path below include of each header with this suffix."""
    return [path.relative_to(INCLUDE).as_posix() for path in sorted((INCLUDE / "tenon").rglob(f"*.{suffix}"))]


@functools.lru_cache(maxsize=None)
def text_of(path):
    return (INCLUDE / path).read_text(encoding="utf-8")


def reached(header):
    """The header and all tenon headers that it includes."""
    found, unread = set(), [header]
    while unread:
        path = unread.pop()
        if path not in found:
            found.add(path)
            unread += INCLUDED.findall(text_of(path))
    return found


def names_reached(header):
    """The names of the files that it reaches, without folders."""
    return {path.rpartition("/")[2] for path in reached(header)}


def _in_plain_cpp(text):
    """The text without what is under #if ... __CUDACC__ or __CUDA_ARCH__, which plain C++ never sees."""
    kept, depth, hidden_at = [], 0, None
    for line in text.splitlines():
        if re.match(r"\s*#\s*if", line):
            depth += 1
            if hidden_at is None and re.search(r"\bif(def\b.*|\b.*defined\W+)__CUDA(CC|_ARCH)__", line):
                hidden_at = depth
        elif re.match(r"\s*#\s*endif", line):
            if hidden_at == depth:
                hidden_at = None
            depth -= 1
        elif re.match(r"\s*#\s*el", line) and hidden_at == depth:
            hidden_at = None
        if hidden_at is None and not line.lstrip().startswith("//"):
            kept.append(line)
    return "\n".join(kept)


@functools.lru_cache(maxsize=None)
def _has_device_code(path):
    return DEVICE_CODE.search(_in_plain_cpp(text_of(path))) is not None


def is_plain(header):
    """Whether no part of it, nor of what it includes, needs a compiler of CUDA: plain C or C++ must compile it."""
    return not any(_has_device_code(path) for path in reached(header))


def for_nvrtc():
    """{header: the names that it reaches} without headers of host code."""
    found = {header: names_reached(header) for header in every("hpp") if "/emulator/" not in header}
    return {header: names for header, names in found.items() if "needs_host.hpp" not in names}


def targets_of(toolkit):
    return [target for target, since in TARGETS.items() if number(toolkit.version) >= number(since)]


def check(toolkit, target):
    """{target, compiled, refused, failures}: `compiled` counts the headers that should compile, `refused` those that should say
    that the toolkit is too old for them, and `failures` has what the compiler said of those that do otherwise."""
    library, folders, headers = load(toolkit.libraries), [INCLUDE, *toolkit.includes], for_nvrtc()

    def log(names):
        with Program(library, folders, target, "".join(f'#include "{name}"\n' for name in names)) as program:
            return program.log

    chosen = [h for h, names in headers.items() if target == "sm_90a" or "needs_sm_90a.hpp" not in names]
    too_new = [h for h in chosen if number(toolkit.version) < (12, 5) and "needs_cuda_12_5.hpp" in headers[h]]
    compiled = [h for h in chosen if h not in too_new]
    failures = {}
    if together := log(compiled):
        failures = {h: text for h in compiled if (text := log([h]))} or {"all together": together}
    for header in too_new:
        text = log([header])
        errors = [line for line in text.splitlines() if " error" in line and " detected" not in line]
        if len(errors) != 1 or SENTENCE_12_5 not in errors[0]:
            failures[header] = f"is not refused with one sentence:\n{text}"
    return {"target": target, "compiled": len(compiled), "refused": len(too_new), "failures": failures}
