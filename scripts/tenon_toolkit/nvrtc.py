"""NVRTC, CUDA's runtime compiler, through ctypes. One process should load one version of it."""

import ctypes
import time
from pathlib import Path


def load(*folders):
    """The library in the first folder that has it; None: there is none."""
    found = [path for folder in folders for path in sorted(Path(folder).glob("libnvrtc.so*"))]
    return ctypes.CDLL(str(found[0])) if found else None


class Program:
    """A program that NVRTC has compiled, or refused: `error` says so."""

    def __init__(self, library, folders, architecture, source, names=(), options=()):
        self.library, self.handle = library, ctypes.c_void_p()
        assert library.nvrtcCreateProgram(ctypes.byref(self.handle), source.encode(), b"program.cu", 0, None, None) == 0
        for name in names:
            assert library.nvrtcAddNameExpression(self.handle, name.encode()) == 0
        # -default-device: without it NVRTC refuses generic lambdas, and functions that are constexpr but not __device__.
        options = ["-std=c++17", f"--gpu-architecture={architecture}", "-default-device", *(f"-I{folder}" for folder in folders), *options]
        options = [option.encode() for option in options]
        started = time.process_time()
        failed = library.nvrtcCompileProgram(self.handle, len(options), (ctypes.c_char_p * len(options))(*options)) != 0
        self.seconds = time.process_time() - started
        self.log = self.read("ProgramLog").decode().rstrip("\0\n")
        self.error = self.log if failed else None

    def read(self, what):
        size = ctypes.c_size_t()
        assert getattr(self.library, f"nvrtcGet{what}Size")(self.handle, ctypes.byref(size)) == 0
        text = ctypes.create_string_buffer(size.value)
        assert getattr(self.library, f"nvrtcGet{what}")(self.handle, text) == 0
        return text.raw

    def symbol(self, name):
        found = ctypes.c_char_p()
        assert self.library.nvrtcGetLoweredName(self.handle, name.encode(), ctypes.byref(found)) == 0, name
        return found.value.decode()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.library.nvrtcDestroyProgram(ctypes.byref(self.handle))
