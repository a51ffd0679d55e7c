"""Every header below include/tenon compiles alone, and is cheap to include. Headers are found by listing the folder.

  test_headers.py alone  <nvcc> <c++ compiler> <folder>   nvcc, and g++ where the header needs no CUDA; no warning
  test_headers.py nvrtc  <cuda library folder>            what embedders compile at run time: the headers of ptx/
  test_headers.py budget <nvcc> <folder>                  at most 0.1 s of CPU over an empty source; over one that
                                          includes just <cuda/ptx>, or what the emulator's host API takes from the
                                          standard library, where the header does

Exit status 77: skipped.
"""
import ctypes
import pathlib
import re
import resource
import subprocess
import sys

INCLUDE = pathlib.Path(__file__).resolve().parents[2] / "include"
HEADERS = sorted(p.relative_to(INCLUDE) for suffix in ("*.hpp", "*.h") for p in (INCLUDE / "tenon").rglob(suffix))
BUDGET_SECONDS = 0.1

# What only nvcc understands. A header without any of it, also by way of what it includes, must compile with plain g++.
DEVICE_CODE = re.compile(r"\b__(device|global|shared|forceinline)__\b|\basm volatile\b|\b__CUDACC_VER_|#include <cuda")
INCLUDED = re.compile(r'^\s*#include "(tenon/[^"]+)"', re.M)


def reachable(header):
    """The header and all tenon headers that it includes."""
    found, todo = set(), [pathlib.Path(header)]
    while todo:
        path = todo.pop()
        if path not in found:
            found.add(path)
            todo += [pathlib.Path(name) for name in INCLUDED.findall((INCLUDE / path).read_text())]
    return found


def includes(header, what):
    return any(what in (INCLUDE / path).read_text() for path in reachable(header))


def strip_guarded(text):
    """The text without what stands under #if ... __CUDACC__ or __CUDA_ARCH__, which plain g++ never sees."""
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


def is_host_header(header):
    return not any(DEVICE_CODE.search(strip_guarded((INCLUDE / path).read_text())) for path in reachable(header))


def alone(nvcc, cxx, folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    failures, host = [], 0
    for header in HEADERS:
        # Twice: the header is guarded against double inclusion.
        text = f'#include "{header}"\n#include "{header}"\n'
        commands = [[nvcc, "-x", "cu", "-std=c++17", "--Werror=all-warnings", "-Xcompiler=-Wall,-Wextra,-Werror",
                     "-gencode", "arch=compute_90a,code=sm_90a", "-cubin"]]
        if is_host_header(header):
            host += 1
            commands.append([cxx, "-x", "c" if header.suffix == ".h" else "c++", "-Wall", "-Wextra", "-Wpedantic",
                             "-Werror", "-fsyntax-only", "-std=c11" if header.suffix == ".h" else "-std=c++17"])
        for command in commands:
            source = folder / ("alone_" + re.sub(r"\W", "_", str(header)) + ".cu")
            source.write_text(text)
            output = [] if "-fsyntax-only" in command else ["-o", folder / "alone.cubin"]
            result = subprocess.run([*command, f"-I{INCLUDE}", source, *output], text=True, capture_output=True)
            if result.returncode != 0 or result.stderr:
                failures.append(f"{header} does not compile alone with {pathlib.Path(command[0]).name}:\n{result.stderr}")
    if failures:
        sys.exit("\n".join(failures))
    print(f"{len(HEADERS)} headers compile alone, {host} of them without CUDA")


def nvrtc(folder):
    libraries = sorted(pathlib.Path(folder).glob("libnvrtc.so*"))
    if not libraries:
        print(f"skipped: no libnvrtc in {folder}")
        sys.exit(77)
    library = ctypes.CDLL(str(libraries[0]))
    failures = []
    headers = [h for h in HEADERS if h.parts[1] == "ptx"]
    for header in headers:
        program = ctypes.c_void_p()
        assert library.nvrtcCreateProgram(ctypes.byref(program), f'#include "{header}"\n'.encode(), b"alone.cu", 0,
                                          None, None) == 0
        options = [b"--std=c++17", b"--gpu-architecture=sm_90a", f"-I{INCLUDE}".encode()]
        if library.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options)) != 0:
            size = ctypes.c_size_t()
            library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
            log = ctypes.create_string_buffer(size.value)
            library.nvrtcGetProgramLog(program, log)
            failures.append(f"{header} does not compile under NVRTC:\n{log.value.decode()}")
        library.nvrtcDestroyProgram(ctypes.byref(program))
    if failures:
        sys.exit("\n".join(failures))
    print(f"{len(headers)} headers of ptx/ compile under NVRTC")


def cpu_seconds(command):
    """CPU time of the command and its children: unlike wall time, it does not count what other processes take."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def baseline_of(header):
    """What a source has included already that the header is charged over."""
    if includes(header, "<cuda/ptx>"):
        return "#include <cuda/ptx>\n"
    if "emulator" in header.parts:  # for host code, which has these anyway; kernels never include it
        return "#include <memory>\n#include <optional>\n#include <stdexcept>\n#include <string>\n#include <vector>\n"
    return ""


class Stopwatch:
    """The least CPU time over several compilations of a source to PTX: the least is the one that was least disturbed."""

    def __init__(self, nvcc, folder):
        self.nvcc, self.folder, self.least = nvcc, pathlib.Path(folder), {}
        self.folder.mkdir(parents=True, exist_ok=True)

    def measure(self, text):
        source = self.folder / "budget.cu"
        source.write_text(text)
        seconds = cpu_seconds([self.nvcc, "-std=c++17", "-gencode", "arch=compute_90a,code=compute_90a", "-ptx",
                               f"-I{INCLUDE}", source, "-o", self.folder / "budget.ptx"])
        self.least[text] = min(seconds, self.least.get(text, seconds))
        return self.least[text]


def budget(nvcc, folder):
    """A header is compiled up to eight times, until one compilation keeps the budget; beside it, its baseline.

    A machine on which even an empty source takes more than 0.2 s of CPU is slow, or disturbed by what else runs on it
    (hyperthreads and caches are shared): there the budget grows in proportion, to half of the empty source's time.
    """
    stopwatch = Stopwatch(nvcc, folder)
    empty = ""
    baseline = {h: baseline_of(h) for h in HEADERS}
    for text in sorted({empty, *baseline.values()}) * 3:
        stopwatch.measure(text)

    def extra(header):
        return stopwatch.least[f'#include "{header}"\n'] - stopwatch.least[baseline[header]]

    def allowed():
        return max(BUDGET_SECONDS, stopwatch.least[empty] / 2)

    over = list(HEADERS)
    for _ in range(8):
        for header in over:
            stopwatch.measure(f'#include "{header}"\n')
        over = [h for h in over if extra(h) > allowed()]
        if not over:
            break
        for text in sorted({empty, *(baseline[h] for h in over)}):
            stopwatch.measure(text)
    for header in HEADERS:
        over_what = " ".join(baseline[header].replace("#include", "").split())
        print(f"{extra(header):+.3f} s  {header}" + (f"  over {over_what}" if over_what else ""))
    print(f"an empty source takes {stopwatch.least[empty]:.3f} s, a header may add {allowed():.3f} s")
    if over:
        sys.exit("over the budget: " + ", ".join(map(str, over)))


if __name__ == "__main__":
    {"alone": alone, "nvrtc": nvrtc, "budget": budget}[sys.argv[1]](*sys.argv[2:])
