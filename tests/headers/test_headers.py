"""Every header below include/tenon compiles alone, and is cheap to include. Headers are found by listing the folder.

  test_headers.py alone  <nvcc> <c++ compiler> <folder> <cuda library folder>   nvcc, or g++ where the header needs no
                                          CUDA; no warning. Where NVRTC is there, nvcc compiles the headers that `nvrtc`
                                          compiles alone in one source: it takes three times as long. What a header adds
                                          to an empty source, or to one that includes just <cuda/ptx>, GoogleTest, what
                                          the host API of emulator and jit takes from the standard library, or the launch
                                          that one of jit extends, where the header does, is within a budget; counted in
                                          characters, since the seconds that they
                                          stand for depend on what else a machine does
  test_headers.py older  <nvcc> <c++ compiler> <folder>   for older targets they compile all the same, for the parts that
                                          those have; the kernels of clusters are refused with a sentence
  test_headers.py sentences <nvcc> <c++ compiler> <folder>   what compiles a header and cannot is told so in one sentence:
                                          C++14, plain C++ for device code, a target that a kernel's header excludes
  test_headers.py nvrtc  <cuda library folder> <cuda include folder>...   what embedders compile at run time: every header
                                          alone, but those of host code, which say in one sentence that they are; and
                                          whole kernels with an operation of the embedder's own, most of them in 3 s,
                                          on a slow machine in as much longer as it takes for <cuda/ptx>

Exit status 77: skipped.
"""
import functools
import os
import pathlib
import re
import subprocess
import sys
import tempfile

INCLUDE = pathlib.Path(__file__).resolve().parents[2] / "include"
sys.path.insert(0, str(INCLUDE.parent / "scripts"))
sys.dont_write_bytecode = True
from tenon_toolkit.headers import is_plain, reached, text_of  # noqa: E402  (the lines above make it importable)
from tenon_toolkit.nvrtc import Program, load as nvrtc_library  # noqa: E402

HEADERS = sorted(p.relative_to(INCLUDE) for suffix in ("*.hpp", "*.h") for p in (INCLUDE / "tenon").rglob(suffix))
# About half of what an empty .cu holds. The header that comes closest, ptx/wgmma_sp.hpp, adds 0.12 s to its 0.36 s.
BUDGET_CHARACTERS = 605_000
# With all of a kernel and its launch: the element types of CUDA, its driver's and runtime's API.
BUDGET_OF_A_LAUNCH = 985_000


@functools.lru_cache(maxsize=None)
def reachable(header):
    """The header and all tenon headers that it includes."""
    return {pathlib.Path(name) for name in reached(header.as_posix())}


def includes(header, what):
    return any(what in text_of(path) for path in reached(header.as_posix()))


PTX = "#include <cuda/ptx>\n"


def baseline_of(header):
    """What a source has included already that the header is charged over."""
    if header.name == "gtest.hpp":  # for tests, which have it anyway
        return "#include <gtest/gtest.h>\n"
    # For host code, which has these anyway; kernels never include them.
    standard = ("memory", "optional", "stdexcept", "string", "vector") if {"emulator", "jit"} & {*header.parts} else ()
    needed = [*(["cuda/ptx"] if includes(header, PTX) else []), *standard]
    if "jit" in header.parts:  # what it extends has a budget of its own
        launch, attention = header.name, header.name.replace("launch_attention", "launch")
        if attention != launch and pathlib.Path(f"tenon/attention/{attention}") in reachable(header):
            needed.append(f"tenon/attention/{attention}")
        elif pathlib.Path("tenon/gemm/launch.hpp") in reachable(header):
            needed.append(f"tenon/gemm/{launch if launch.startswith('launch') else 'launch.hpp'}")
    return "".join(f"#include <{name}>\n" for name in needed)


def alone(nvcc, cxx, folder, cuda_libraries):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    failures = []

    for_gpu = ["-std=c++17", "--Werror=all-warnings", "-Xcompiler=-Wall,-Wextra,-Werror", "-gencode", "arch=compute_90a,code=sm_90a"]

    def compile(what, command, source, text):
        """What the command prints."""
        source.write_text(text)
        result = subprocess.run([*command, f"-I{INCLUDE}", source], text=True, capture_output=True)
        if result.returncode != 0 or result.stderr:
            failures.append(f"{what} does not compile alone with {pathlib.Path(command[0]).name}:\n{result.stderr}")
        return result.stdout

    def count(preprocessed):
        """What is left of it for the compiler proper: the characters that the preprocessor leaves, line markers aside."""
        return sum(len(line) for line in preprocessed.splitlines() if line.strip() and not line.startswith("#"))

    def including(headers):
        return "".join(f'#include "{header}"\n' for header in headers)

    def on_gpu(what, text):
        compile(what, [nvcc, *for_gpu, "-cubin", "-o", folder / "alone.cubin"], folder / "alone.cu", text)

    @functools.lru_cache(maxsize=None)
    def characters(text):
        return count(compile("what is measured", [nvcc, *for_gpu, "-E"], folder / "alone.cu", text))

    def check_size(headers, over, budget):
        """Checks that all together keep within the budget of one: then each does, since a source with more headers is no smaller.
        If they do not, checks each half of them."""
        extra = characters(including(headers)) - characters(over)
        over_what = " over " + " ".join(over.replace("#include", "").split()) if over else ""
        if extra <= budget:
            print(f"{extra:+8d} of {budget}: {headers[0]}" + (f" and {len(headers) - 1} more" if headers[1:] else "") + over_what)
        elif len(headers) == 1:
            failures.append(f"{headers[0]} adds {extra} characters{over_what}, its budget is {budget}")
        else:
            check_size(headers[:len(headers) // 2], over, budget)
            check_size(headers[len(headers) // 2:], over, budget)

    hosts = [header for header in HEADERS if is_plain(header.as_posix())]
    by_nvrtc = [h for h in FOR_NVRTC if NEEDS_HOST not in reachable(h) and h not in hosts] if nvrtc_library(cuda_libraries) else []
    alike = {}  # those with the same baseline and budget
    for header in HEADERS:
        text = including([header, header])  # twice: the header is guarded against double inclusion
        if header in hosts:
            language, standard = ("c", "c11") if header.suffix == ".h" else ("c++", "c++17")
            compile(header, [cxx, "-x", language, f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"],
                    folder / "alone.cpp", text)
        elif header not in by_nvrtc:
            on_gpu(header, text)
        budget = BUDGET_OF_A_LAUNCH if header.name.startswith(("launch", "plan_sm90")) else BUDGET_CHARACTERS
        alike.setdefault((baseline_of(header), budget), []).append(header)
    for what, together in (("all headers without device code", hosts), ("all headers that NVRTC compiles", by_nvrtc)):
        on_gpu(what, including(together))
    for (over, budget), headers in alike.items():
        for first in range(0, len(headers), 16):  # more at a time seldom fit
            check_size(headers[first:first + 16], over, budget)
    if failures:
        sys.exit("\n".join(failures))
    print(f"{len(HEADERS)} headers compile alone, {len(hosts)} of them without CUDA")


def older(nvcc, cxx, folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)

    def compiled(name, headers, sm):
        source = folder / f"{name}_{sm}.cu"
        source.write_text("".join(f'#include "{header}"\n' for header in headers))
        return subprocess.run([nvcc, "-std=c++17", f"-arch=sm_{sm}", "--Werror=all-warnings", f"-I{INCLUDE}", "-cubin", source,
                               "-o", folder / "older.cubin"], text=True, capture_output=True)

    def preprocessed(header, sm):
        """Of the headers of tenon alone: -MG lets the preprocessor go on where a header is missing, such as <cuda/ptx>."""
        command = [cxx, "-x", "c++", "-M", "-MG", "-nostdinc", "-D__CUDACC__", f"-D__CUDA_ARCH__={10 * sm}", f"-I{INCLUDE}", "-"]
        return subprocess.run(command, input=f'#include "{header}"\n', text=True, capture_output=True)

    def needed(header, sm):
        """The file with the sentence of a header of kernels for newer targets."""
        names = {path.name for path in reachable(header)}
        return "needs_sm_90a.hpp" if "needs_sm_90a.hpp" in names else "needs_sm_80.hpp" if sm < 80 and "needs_sm_80.hpp" in names else None

    for sm in (75, 80):
        result = compiled("all", [h for h in HEADERS if not needed(h, sm)], sm)
        if result.returncode != 0 or result.stderr:
            sys.exit(f"the headers do not compile for sm_{sm}:\n{result.stderr}")
        compiled_once = set()  # that nvcc, too, stops at the preprocessor's error is shown of one header for each sentence
        for header in (h for h in HEADERS if needed(h, sm)):
            results = [preprocessed(header, sm)]
            if needed(header, sm) not in compiled_once:
                compiled_once.add(needed(header, sm))
                results.append(compiled(header.stem, [header], sm))
            for result in results:
                if result.returncode == 0 or "the kernels of this header need sm_" not in result.stderr:
                    sys.exit(f"{header} does not say for sm_{sm} what it needs:\n{result.stderr}")
    print(f"{sum(not needed(h, 80) for h in HEADERS)} headers compile for sm_75 and sm_80")


# What g++ does not go beyond: the include of a file that does not exist, after #error.
STOP = "tenon stops here"
CPP17 = "needs C++17: compile with -std=c++17 or newer"
DEVICE = "this header of tenon holds device code: compile with nvcc"
KERNELS_ONLY = {pathlib.Path(f"tenon/{name}.hpp") for name in ("ptx/mma_f16", "fragment/f16", "warp/warp_tile", "pipeline/tma_ring")}
LOWER_FLOORS = ("ptx", "fragment", "shared", "warp", "pipeline", "emulator")


def sentences(nvcc, cxx, folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    failures = []

    def errors(suffix, text, *command):
        """The errors that a compiler prints, those aside that only stop it."""
        source = folder / f"sentences.{suffix}"
        source.write_text(text)
        result = subprocess.run([*command, f"-I{INCLUDE}", source], text=True, capture_output=True, env={**os.environ, "LC_ALL": "C"})
        found = [line for line in result.stderr.splitlines() if re.match(r"\S+(:\d+:\d+:|\(\d+\):) (fatal )?error\b", line)]
        return [line for line in found if STOP not in line]

    def expect(what, found, sentence):
        if sentence is None and found or sentence is not None and (len(found) != 1 or sentence not in found[0]):
            failures.append(f"{what}: expected {sentence or 'no error'}, found {len(found)} errors:\n  " + "\n  ".join(found[:5]))

    for header in (h for h in HEADERS if h.suffix == ".hpp"):
        text = f'#include "{header}"\n'
        if includes(header, CPP17):
            expect(f"{header} in C++14", errors("cpp", text, cxx, "-std=c++14", "-fsyntax-only"), CPP17)
        if header.parts[1] in LOWER_FLOORS:
            found = errors("cpp", text, cxx, "-std=c++17", "-fsyntax-only")
            if found or header in KERNELS_ONLY:
                expect(f"{header} in plain C++", found, DEVICE)
    hopper = ["-gencode", "arch=compute_90a,code=sm_90a"]
    for name in ("fragment/f16", "warp/warp_tile", "pipeline/tma_ring"):
        expect(f"{name} in C++14 by nvcc", errors("cu", f'#include "tenon/{name}.hpp"\n', nvcc, "-std=c++14", "-cubin", *hopper, "-o",
                                                  folder / "sentences.cubin"), CPP17)
    needs_80 = "need sm_80 or newer: compile with -arch=sm_80"
    needs_90 = "need sm_90a alone: compile with -gencode arch=compute_90a,code=sm_90a"
    for names, flags, expected in ((["needs_sm_80"], ["-arch=sm_75"], needs_80), (["needs_sm_80"], ["-arch=sm_80"], None),
                                   (["needs_sm_80", "needs_sm_90a"], hopper, None), (["needs_sm_90a"], ["-arch=sm_90a"], needs_90),
                                   (["needs_sm_90a"], ["-arch=sm_80"], needs_90), (["needs_sm_90a"], ["-arch=sm_120a"], needs_90)):
        text = "".join(f'#include "tenon/ptx/{name}.hpp"\n' for name in names)
        found = errors("cu", text, nvcc, "-std=c++17", *flags, "-c", "-o", folder / "sentences.o")
        expect(f"{' and '.join(names)} with {' '.join(flags)}", found, expected)
    if failures:
        sys.exit("\n".join(failures))
    print(f"{len(HEADERS)} headers: one sentence each, or none")


# A header of host code is one that includes this, directly or through others. C and the emulator are not NVRTC's at all.
NEEDS_HOST = pathlib.Path("tenon/needs_host.hpp")
HOST_SENTENCE = "this header of tenon is for the host: under NVRTC include a kernel's header"
FOR_NVRTC = [h for h in HEADERS if h.suffix == ".hpp" and "emulator" not in h.parts]

BIAS_RELU = """
struct BiasRelu {
  const float* bias;
  __device__ float operator()(float accumulator, int, int column) const { return fmaxf(accumulator + bias[column], 0.0F); }
};
"""
ALIBI = """
struct Alibi {
  static constexpr bool changes_scores = true;
  float scale, slope;
  __device__ Alibi of_head(int) const { return *this; }
  __device__ float operator()(float dot, int position, int key) const { return scale * dot + slope * (key - position); }
  __device__ float log2_factor() const { return tenon::log2_of_e; }
};
"""
# Of the processor, that a kernel takes at most, twice as many where it has code for every type of C: on the machine of the
# figures in include/tenon/gemm/README.md. That parses <cuda/ptx> in PTX_SECONDS, by the ratio of 7.5 that gemm_wgmma_typed, 1.1 s
# there, has to it on another. A slower machine may take as much longer.
NVRTC_SECONDS, PTX_SECONDS = 3, 0.15
# Architecture, headers, the operation and the configuration, and the kernel: its name expression and a part of its symbol.
KERNELS = [
    ("sm_90a", ("cuda_fp16.h", "tenon/gemm/config_sm90.hpp", "tenon/gemm/kernel_wgmma.hpp"),
     BIAS_RELU + "using Config = tenon::sm90::PingpongConfig<half, float, 128, 192>;\n",
     "tenon::gemm_wgmma<Config, BiasRelu>", "gemm_wgmma"),
    ("sm_90a", ("cuda_fp16.h", "tenon/gemm/config_sm90.hpp", "tenon/gemm/kernel_wgmma.hpp"),
     BIAS_RELU + "using Config = tenon::sm90::PingpongConfig<half, float, 128, 192>;\n",
     "tenon::gemm_wgmma_typed<Config, BiasRelu, tenon::Type::f16>", "gemm_wgmma_typed"),
    ("sm_80", ("cuda_fp16.h", "tenon/gemm/config_sm80.hpp", "tenon/gemm/kernel_cp_async.hpp"),
     BIAS_RELU + "using Config = tenon::sm80::Config<half, float, 128, 128>;\n",
     "tenon::gemm_cp_async<Config, tenon::Alignment::any, BiasRelu>", "gemm_cp_async"),
    ("sm_80", ("cuda_fp16.h", "tenon/attention/kernel_mma.hpp"),
     ALIBI + "using Config = tenon::AttentionMmaConfig<half, 64, 64, 4, 2, 64, 32, 3, true, 2, tenon::Overlap::ahead>;\n",
     "tenon::attention_mma<Config, Alibi, tenon::Alignment::any, tenon::Sequences::equal>", "attention_mma"),
    ("sm_90a", ("cuda_fp16.h", "tenon/attention/kernel_wgmma.hpp", "tenon/attention/tiles_sm90.hpp"),
     ALIBI + "using Config = tenon::sm90::AttentionConfigFor<half, 128, tenon::CausalMask, Alibi>;\n",
     "tenon::attention_wgmma<Config, tenon::CausalMask, Alibi>", "attention_wgmma"),
]


def source_of(kernel):
    _, headers, text, *_ = kernel
    return "".join(f"#include <{header}>\n" for header in headers) + text


def with_cccl(*folders):
    """The toolkit's folders, and that of <cuda/ptx>, which nvcc looks into by itself."""
    return [*folders, *(path for path in (pathlib.Path(folder) / "cccl" for folder in folders) if path.is_dir())]


def nvrtc(folder, *cuda):
    library = nvrtc_library(folder)
    if library is None:
        print(f"skipped: no libnvrtc in {folder}")
        sys.exit(77)
    folders = [INCLUDE, *with_cccl(*cuda)]
    failures, hosts = [], 0
    with tempfile.TemporaryDirectory() as kept:
        # <cuda/ptx> takes longer than most of what includes it: for that it comes precompiled, where NVRTC can (since 12.8).
        precompiled = pathlib.Path(kept) / "ptx.pch"
        with Program(library, folders, "sm_90a", PTX, options=[f"--create-pch={precompiled}"]):
            after_ptx = [f"--use-pch={precompiled}", "--pch-messages=false"] if precompiled.exists() else None
        for header in FOR_NVRTC:
            text, options = f'#include "{header}"\n' * 2, []  # twice: the header is guarded against double inclusion
            if after_ptx and includes(header, PTX):
                text, options = PTX + text, after_ptx
            with Program(library, folders, "sm_90a", text, options=options) as program:
                if NEEDS_HOST in reachable(header):
                    hosts += 1
                    errors = [line for line in program.log.splitlines() if "error" in line]
                    if program.error is None or len(errors) < 1 or HOST_SENTENCE not in errors[0]:
                        failures.append(f"{header} does not say that it is for the host:\n{program.log}")
                elif program.log:
                    failures.append(f"{header} does not compile under NVRTC without a warning:\n{program.log}")
    for kernel in KERNELS:
        architecture, _, _, name, part = kernel
        of_type = NVRTC_SECONDS * (2 if part in ("gemm_wgmma", "gemm_cp_async") else 1)
        # What else the machine does adds to the seconds: a kernel that takes too long has two more tries.
        for _ in range(3):
            with Program(library, folders, "sm_90a", PTX) as program:
                most = of_type * max(1, program.seconds / PTX_SECONDS)
            with Program(library, folders, architecture, source_of(kernel), [name]) as program:
                seconds, log = program.seconds, program.log
                symbol, cubin = (None, b"") if program.error else (program.symbol(name), program.read("CUBIN"))
            if seconds <= most or log:
                break
        else:
            failures.append(f"{name} takes {seconds:.1f} s but must take {most:.1f} s at most on this machine")
        if log:
            failures.append(f"{name} does not compile under NVRTC without a warning:\n{log}")
            continue
        print(f"{seconds:.1f} s of {most:.1f} s for {name} ({architecture}): {len(cubin)} bytes")
        if part not in symbol or symbol.encode() not in cubin or not cubin.startswith(b"\x7fELF"):
            failures.append(f"{name}: the kernel {symbol} is not in its cubin of {len(cubin)} bytes")
    if failures:
        sys.exit("\n".join(failures))
    print(f"{len(FOR_NVRTC) - hosts} headers compile under NVRTC, {hosts} say that they are for the host")


if __name__ == "__main__":
    {"alone": alone, "older": older, "sentences": sentences, "nvrtc": nvrtc}[sys.argv[1]](*sys.argv[2:])
