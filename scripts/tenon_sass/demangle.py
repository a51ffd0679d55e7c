"""Demangles C++ names through the installed C++ runtime; returns the mangled name without one."""

import ctypes
import functools


@functools.lru_cache(maxsize=None)
def _runtime():
    try:
        library = ctypes.CDLL("libstdc++.so.6")
        library.__cxa_demangle.restype = ctypes.c_void_p
        libc = ctypes.CDLL(None)
        libc.free.argtypes = [ctypes.c_void_p]
        return library.__cxa_demangle, libc.free
    except (OSError, AttributeError):
        return None


@functools.lru_cache(maxsize=None)
def demangle(name):
    runtime = _runtime()
    if runtime is None or not name.startswith("_Z"):
        return name
    cxa_demangle, free = runtime
    status = ctypes.c_int()
    text = cxa_demangle(name.encode(), None, None, ctypes.byref(status))
    if status.value != 0 or not text:
        return name
    try:
        return ctypes.string_at(text).decode("utf-8", "replace")
    finally:
        free(text)
