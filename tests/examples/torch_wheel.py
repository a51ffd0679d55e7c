"""PyTorch without a GPU, from PyPI. Its wheels for x86-64 load the libraries of CUDA, of 3 GB, none of which is called on the
CPU: stand_ins() makes libraries of the same names, whose functions all say that there is no device."""

import collections
import ctypes
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from tenon_toolkit import packages  # noqa: E402  (the line above makes it importable)

OF_CUDA = re.compile(r"lib(cu|nv|nccl)")
NO_DEVICE = 100  # cudaErrorNoDevice, CUDA_ERROR_NO_DEVICE


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def needed_versions(library):
    """Symbol versions that a library needs: {name of the other library: versions}."""
    versions, file = collections.defaultdict(set), None
    for line in output_of("readelf", "-VW", library).splitlines():
        if found := re.search(r"Version: \d+ +File: (\S+)", line):
            file = found[1]
        elif file and (found := re.search(r" Name: (\S+) +Flags: ", line)):
            versions[file].add(found[1])
    return versions


def stand_ins(libraries, folder, compiler):
    """Makes libraries in `folder` for those of CUDA that PyTorch's own libraries load, and returns their paths."""
    needed, versions = set(), collections.defaultdict(set)
    undefined, defined = set(), set()
    for library in libraries:
        needed.update(re.findall(r"\(NEEDED\).*\[(.*)\]", output_of("readelf", "-dW", library)))
        for name, some in needed_versions(library).items():
            versions[name] |= some
        for line in output_of("nm", "-D", library).splitlines():
            *_, kind, symbol = line.split()
            (undefined if kind == "U" else defined).add(symbol.split("@")[0] if kind != "U" else symbol)
    # Of what has no version, everything that is neither PyTorch's own nor Python's nor the compiler's.
    plain = {s for s in undefined - defined if "@" not in s and not s.startswith(("_", "Py"))}
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for name in sorted(n for n in needed if OF_CUDA.match(n)):
        symbols = {version: {s.split("@")[0] for s in undefined if s.split("@")[-1] == version} for version in versions[name]}
        source, script, library = folder / f"{name}.c", folder / f"{name}.map", folder / name
        functions = set().union(plain if not made else set(), *symbols.values())
        source.write_text("".join(f"int {s}(void) {{ return {NO_DEVICE}; }}\n" for s in sorted(functions)))
        script.write_text("".join(f"{version} {{ {'; '.join([*sorted(some), ''])} }};\n" for version, some in symbols.items()))
        subprocess.run([compiler, "-xc", "-w", "-fno-builtin", "-shared", "-fPIC", "-o", library, f"-Wl,-soname,{name}", source,
                        *([f"-Wl,--version-script={script}"] if symbols else [])], check=True)  # fmt: skip
        made.append(library)
    return made


def make_importable(folder, compiler):
    """Fetches PyTorch, if it is not here, for the import that follows. NoTool if PyPI does not answer."""
    fetched = packages.of_this_python("torch", "PyTorch")
    own = [*(fetched / "torch" / "lib").glob("*.so*"), *(fetched / "torch").glob("_C*.so")]
    for library in stand_ins(own, folder, compiler):
        ctypes.CDLL(str(library), ctypes.RTLD_GLOBAL)  # so the loader does not look for another one of that name
    sys.path.insert(0, str(fetched))
