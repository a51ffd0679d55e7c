"""The two compressions of fat binaries: LZ4 blocks (--compress-mode speed) and zstd frames (size, balance)."""

import ctypes
import ctypes.util
import functools

from .errors import BadInput, NoTool

ZSTD_RATIO = 1 << 15  # the highest ratio of the format: a block of 128 KB of one byte takes four


def lz4_block(data, size):
    """Decompresses an LZ4 block (without a frame) to `size` bytes. Format: lz4_Block_format.md of the lz4 project."""
    out = bytearray()
    at = 0
    try:
        while at < len(data):
            token = data[at]
            at += 1
            literals, at = _lz4_length(data, at, token >> 4)
            if at + literals > len(data):
                raise BadInput("an LZ4 image of the fat binary ends inside its literals: the file is truncated")
            out += data[at : at + literals]
            at += literals
            if at >= len(data):
                break  # the last sequence has literals only
            distance = data[at] | data[at + 1] << 8
            length, at = _lz4_length(data, at + 2, token & 15)
            length += 4
            start = len(out) - distance
            if distance == 0 or start < 0:
                raise BadInput("an LZ4 image of the fat binary refers to bytes before its start: the file is corrupt")
            if len(out) + length > size:  # checked first: corrupt lengths are long
                raise BadInput(f"an LZ4 image of the fat binary holds more than the {size} bytes that its header says")
            piece = out[start : start + length]  # a match may overlap its own output: repeat the existing bytes
            out += (piece * -(-length // len(piece)))[:length]
    except IndexError:
        raise BadInput("an LZ4 image of the fat binary ends inside a sequence: the file is truncated") from None
    if len(out) != size:
        raise BadInput(f"an LZ4 image of the fat binary holds {len(out)} bytes but its header says {size}")
    return bytes(out)


def _lz4_length(data, at, length):
    if length == 15:
        while True:
            byte = data[at]
            at += 1
            length += byte
            if byte != 255:
                break
    return length, at


@functools.lru_cache(maxsize=None)
def _zstd():
    """The system's libzstd (dpkg and rpm depend on it)."""
    name = ctypes.util.find_library("zstd") or "libzstd.so.1"
    try:
        zstd = ctypes.CDLL(name)
    except OSError:
        raise NoTool(
            "the fat binary is compressed with zstd and this machine has no libzstd.so.1: "
            "install libzstd1, or build with nvcc --compress-mode none"
        ) from None
    zstd.ZSTD_decompress.restype = ctypes.c_size_t
    zstd.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    zstd.ZSTD_getFrameContentSize.restype = ctypes.c_ulonglong
    zstd.ZSTD_getFrameContentSize.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    return zstd


def zstd_frame(data, size):
    """Decompresses a zstd frame to `size` bytes."""
    zstd = _zstd()
    # A corrupt header may have any size, so it is checked against the frame before memory is allocated.
    most = min(zstd.ZSTD_getFrameContentSize(bytes(data), len(data)), ZSTD_RATIO * len(data))
    if size > most:
        raise BadInput(f"a zstd image of the fat binary holds {most} bytes at most but its header says {size}")
    out = ctypes.create_string_buffer(max(size, 1))
    found = zstd.ZSTD_decompress(out, size, bytes(data), len(data))
    if zstd.ZSTD_isError(ctypes.c_size_t(found)):
        raise BadInput("a zstd image of the fat binary cannot be decompressed: the file is truncated or corrupt")
    if found != size:
        raise BadInput(f"a zstd image of the fat binary holds {found} bytes but its header says {size}")
    return out.raw[:size]
