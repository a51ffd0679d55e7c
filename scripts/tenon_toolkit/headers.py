"""The headers of include/tenon: which are plain C++, which NVRTC compiles and which g++. Compiles the latter two with the NVRTC and
the headers of a Toolkit, all in one program a target, each alone where that fails."""

import functools
import os
import re
import subprocess

from tenon_sass.errors import NoTool

from .fetch import ROOT, number
from .nvrtc import Program, load

INCLUDE = ROOT / "include"
TARGETS = {"sm_80": "12.4", "sm_89": "12.4", "sm_90a": "12.4", "sm_100a": "12.8", "sm_120a": "12.8", "host": "12.4"}  # and since when
INCLUDED = re.compile(r'^\s*#include "(tenon/[^"]+)"', re.M)
# What headers of which name reach is refused by older versions, with this sentence.
NEEDS = {"needs_cuda_12_5.hpp": (12, 5), "needs_cuda_12_8.hpp": (12, 8)}
SENTENCE = "this header of tenon needs the CUDA Toolkit {}.{} or newer"


# What only a compiler of CUDA understands.
DEVICE_CODE = re.compile(r"\b__(device|global|shared|forceinline)__\b|\basm volatile\b|\b__CUDACC_VER_")
HEADERS_OF_CUDA = "#include <cuda"


def every(suffix):
    """The path below include of each header with this suffix."""
    return [path.relative_to(INCLUDE).as_posix() for path in sorted((INCLUDE / "tenon").rglob(f"*.{suffix}"))]


@functools.lru_cache(maxsize=None)
def text_of(path):
    return (INCLUDE / path).read_text(encoding="utf-8")


@functools.lru_cache(maxsize=None)
def _included(path):
    return INCLUDED.findall(text_of(path))


def reached(header):
    """The header and all tenon headers that it includes."""
    found, unread = set(), [header]
    while unread:
        path = unread.pop()
        if path not in found:
            found.add(path)
            unread += _included(path)
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


@functools.lru_cache(maxsize=None)
def _has_headers_of_cuda(path):
    return HEADERS_OF_CUDA in _in_plain_cpp(text_of(path))


def is_for_host(header):
    """Whether no part of it, nor of what it includes, needs a compiler of CUDA: with CUDA's headers, plain C or C++ must compile it."""
    return not any(_has_device_code(path) for path in reached(header))


def is_plain(header):
    """Whether it needs no header of CUDA either."""
    return is_for_host(header) and not any(_has_headers_of_cuda(path) for path in reached(header))


def for_host():
    """{header: the names that it reaches}"""
    found = [h for h in every("hpp") + every("h") if is_for_host(h) and not h.endswith("gtest.hpp")]
    return {header: names_reached(header) for header in found}


def for_nvrtc():
    """{header: the names that it reaches} without headers of host code."""
    found = {header: names_reached(header) for header in every("hpp") if "/emulator/" not in header}
    return {header: names for header, names in found.items() if "needs_host.hpp" not in names}


def targets_of(toolkit):
    return [target for target, since in TARGETS.items() if number(toolkit.version) >= number(since)]


def _by_nvrtc(toolkit, target):
    """A function of headers: what NVRTC says of them."""
    library, folders = load(toolkit.libraries), [INCLUDE, *toolkit.includes]

    def log(names):
        with Program(library, folders, target, "".join(f'#include "{name}"\n' for name in names)) as program:
            return program.log

    return log


def _by_gxx(toolkit):
    """The same of CXX, or g++."""
    options = ["-std=c++17", "-Wall", "-Wextra", "-fsyntax-only", f"-I{INCLUDE}"]
    for folder in toolkit.includes:
        options += ["-isystem", str(folder)]
    command = [os.environ.get("CXX") or "g++", *options, "-x", "c++", "-"]

    def log(names):
        text = "".join(f'#include "{name}"\n' for name in names)
        try:
            done = subprocess.run(command, input=text, capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C"})
        except OSError as error:
            raise NoTool(f"{command[0]} does not run, but a C++ compiler must compile the headers for the host: {error.strerror}") from None
        return done.stderr.strip()

    return log


def check(toolkit, target):
    """{target, compiled, refused, failures}: `compiled` counts the headers that should compile, `refused` those that should say
    that the toolkit is too old for them, and `failures` has what the compiler said of those that do otherwise. The target `host`:
    those that a C++ compiler takes, with the headers of the toolkit; the others are NVRTC's."""
    if target == "host":
        log, headers = _by_gxx(toolkit), for_host()
    else:
        log, headers = _by_nvrtc(toolkit, target), for_nvrtc()
    if target not in ("host", "sm_90a"):
        headers = {h: names for h, names in headers.items() if "needs_sm_90a.hpp" not in names}
    lacking = {name: since for name, since in NEEDS.items() if number(toolkit.version) < since}
    too_new = {h: SENTENCE.format(*lacking[name]) for name in lacking for h, names in headers.items() if name in names}
    compiled = [h for h in headers if h not in too_new]
    failures = {}
    if together := log(compiled):
        failures = {h: text for h in compiled if (text := log([h]))} or {"all together": together}
    for header, sentence in too_new.items():
        text = log([header])
        errors = [line for line in text.splitlines() if " error" in line and " detected" not in line and "tenon stops here" not in line]
        if len(errors) != 1 or sentence not in errors[0]:
            failures[header] = f"is not refused with one sentence:\n{text}"
    return {"target": target, "compiled": len(compiled), "refused": len(too_new), "failures": failures}
