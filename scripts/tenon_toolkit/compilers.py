"""The C++ compilers of this machine, tried on the headers of include/tenon: alone, as the host compiler of nvcc, and clang as the
compiler of CUDA."""

import os
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from . import headers
from .fetch import ROOT

INCLUDE = headers.INCLUDE
EXAMPLES = ROOT / "tests" / "examples"
STANDARDS = ("17", "20")
OLDEST = {"g++": 9, "clang++": 9}
OLDEST_CUDA = 16  # what older clang includes by itself needs CUDA 11
NAME = re.compile(r"(?:g|clang)\+\+(?:-\d+)?")
STRICT = ("-Wall", "-Wextra", "-Werror")
# What nvcc says of a compiler that it does not know, and of g++ 9 and clang 9, whose option for C++20 is that of the draft.
UNKNOWN_TO_NVCC = re.compile(r"(unsupported .*?)[.!]? The nvcc flag|(The -std=\S+ flag is not supported with the configured host compiler)")


@dataclass(frozen=True)
class Compiler:
    path: str
    kind: str
    version: str

    @property
    def major(self):
        return int(self.version.split(".")[0])

    def __str__(self):
        return f"{self.kind} {self.version}"

    @property
    def is_cuda_compiler(self):
        return self.kind == "clang++" and self.major >= OLDEST_CUDA

    def standard(self, year):
        """The option for C++17 or C++20, which older compilers call by their draft."""
        option = f"-std=c++{year}"
        return option if not _run([self.path, option, "-x", "c++", "-E", os.devnull])[0] else "-std=c++2a"


def _run(command, text=None):
    """(exit status, what it says), in English."""
    done = subprocess.run([str(word) for word in command], input=text, capture_output=True, text=True, errors="replace", check=False,
                          env={**os.environ, "LC_ALL": "C"})  # fmt: skip
    return done.returncode, done.stderr.strip()


def _first_errors(said):
    found = [line for line in said.splitlines() if re.search(r"\berror\b", line)]
    return "\n".join(found[:3]) or said[-500:]


def compiler(path):
    """The Compiler of that name or path, or None if it is neither g++ nor clang."""
    done = subprocess.run([path, "-x", "c++", "-E", "-dM", os.devnull], capture_output=True, text=True, check=False)
    macros = dict(re.findall(r"^#define (\w+) (.*)$", done.stdout, re.M))
    for kind, parts in (("clang++", ("__clang_major__", "__clang_minor__", "__clang_patchlevel__")),
                        ("g++", ("__GNUC__", "__GNUC_MINOR__", "__GNUC_PATCHLEVEL__"))):
        if parts[0] in macros:
            return Compiler(path, kind, ".".join(macros[part] for part in parts))
    return None


def installed():
    """Each g++ and clang++ in PATH once, with or without a number in its name, the oldest first; those that are too old aside."""
    found = {}
    for folder in os.get_exec_path():
        for path in sorted(Path(folder).glob("*++*")) if Path(folder).is_dir() else []:
            if NAME.fullmatch(path.name) and os.access(path, os.X_OK):
                found.setdefault(path.resolve(), compiler(str(path)))
    fit = [one for one in found.values() if one and one.major >= OLDEST[one.kind]]
    return sorted(fit, key=lambda one: (one.kind != "g++", one.major))


def alone(one, year, cuda):
    """What does not compile with the Compiler alone: {what: its errors}. cuda: the folder of CUDA's headers.

    All headers that are plain C++, the program of the C++ API, and in C99 the headers and the program of the C API."""
    plain = [h for h in headers.every("hpp") if headers.is_plain(h)]
    text = "".join(f"#include <{h}>\n" for h in plain if not h.endswith("gtest.hpp"))
    text += "#if __has_include(<gtest/gtest.h>)\n#include <tenon/emulator/gtest.hpp>\n#endif\n"
    c = "".join(f"#include <{h}>\n" for h in headers.every("h"))
    options = [*STRICT, "-Wpedantic", "-S", "-o", os.devnull, "-isystem", cuda, f"-I{INCLUDE}"]
    failures = {}
    for what, language, standard, source in (
        (f"{len(plain)} headers", "c++", one.standard(year), text),
        ("host_api.cpp", "c++", one.standard(year), f'#include "{EXAMPLES}/host_api.cpp"\n'),
        ("headers of C", "c", "-std=c99", c),
        ("host_api.c", "c", "-std=c99", f'#include "{EXAMPLES}/host_api.c"\n'),
    ):
        status, said = _run([one.path, standard, *options, "-x", language, "-"], source)
        if status or said:
            failures[what] = _first_errors(said)
    return failures


def under_nvcc(one, year, nvcc):
    """(refused, errors) of all headers in one source of CUDA, compiled by nvcc with this host compiler: what nvcc says of a
    compiler that it does not take, and what else it says."""
    text = "".join(f'#include "{h}"\n' for h in headers.every("hpp") + headers.every("h") if not h.endswith("gtest.hpp"))
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "all.cu"
        source.write_text(text)
        status, said = _run([nvcc, "-ccbin", one.path, f"-std=c++{year}", "-Xcompiler=-Wall,-Wextra", "-gencode",
                             "arch=compute_90a,code=sm_90a", f"-I{INCLUDE}", "-c", "-o", f"{source}.o", source])  # fmt: skip
    if refused := UNKNOWN_TO_NVCC.search(said):
        return refused[1] or refused[2], ""
    # clang warns of functions in CUDA's headers too, which are no headers of the system to it behind nvcc.
    warnings = [line for line in said.splitlines() if "warning" in line and str(INCLUDE) in line]
    return None, _first_errors(said) if status else "\n".join(warnings[:3])


# Headers that say in one sentence, each its own, what clang as the compiler of CUDA lacks.
SENTENCES = ("tenon/ptx/needs_nvcc.hpp", "tenon/ptx/needs_newer_clang.hpp", "tenon/ptx/needs_cuda_12_5.hpp")
# Kernels with their launches, for sm_80.
KERNELS = ("warp.cu", "embed_sm80.cu", "attention_score.cu")


def cuda_command(clang, toolkit, target):
    """What a command of this clang begins with, to compile CUDA with the Toolkit at that folder, for the target."""
    folders = [path for path in (toolkit / "include", toolkit / "include/cccl") if path.is_dir()]  # before those of the system
    return [clang.path, "-x", "cuda", f"--cuda-gpu-arch={target}", f"--cuda-path={toolkit}", "-std=c++17", *STRICT,
            "-Wno-unknown-cuda-version", "-Wno-unknown-attributes", f"-I{INCLUDE}", *(f"-isystem{path}" for path in folders)]  # fmt: skip


DEVICE_HALF = ("--cuda-device-only", "-fsyntax-only", "-")


def cannot(command):
    """Why that command cannot compile an empty source, or None."""
    status, said = _run([*command, *DEVICE_HALF], "")
    return re.sub(r"^\S+: (fatal )?error: ", "", _first_errors(said).splitlines()[0]) if status else None


def as_cuda(clang, toolkit, target):
    """{compiled, refused, failures} of the headers of device code, which this clang compiles with the Toolkit at that folder;
    {cannot: why} where it cannot compile an empty source."""
    common = cuda_command(clang, toolkit, target)
    if why := cannot(common):
        return {"cannot": why}
    refused, failures = set(), {}
    for header in SENTENCES:
        status, said = _run([*common, *DEVICE_HALF], f'#include "{header}"\n')
        if status:
            refused.add(header)
            errors = [line for line in said.splitlines() if " error: " in line and "tenon stops here" not in line]
            if len(errors) != 1 or "this header of tenon needs " not in errors[0]:
                failures[header] = f"is not refused with one sentence:\n{said}"
    found = headers.for_nvrtc()
    chosen = [h for h, names in found.items() if target == "sm_90a" or "needs_sm_90a.hpp" not in names]
    compiled = [h for h in chosen if not refused & headers.reached(h)]
    status, said = _run([*common, *DEVICE_HALF], "".join(f'#include "{h}"\n' for h in compiled))
    if status or said:
        failures["all together"] = _first_errors(said)
    for name in KERNELS if target == "sm_80" else ():
        with tempfile.TemporaryDirectory() as folder:
            for half in (["--cuda-device-only", "-O2", "-c", "-o", f"{folder}/cubin"], ["--cuda-host-only", "-fsyntax-only"]):
                status, said = _run([*common, *half, EXAMPLES / name])
                if status or said:
                    failures[f"{name} {half[0]}"] = _first_errors(said)
    return {"compiled": len(compiled), "refused": len(chosen) - len(compiled), "failures": failures}
