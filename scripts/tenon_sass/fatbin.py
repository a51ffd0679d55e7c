"""Extracts the cubins of any file with device code, without cuobjdump.

A cubin is one ELF image. A fat binary (`nvcc -fatbin`; sections .nv_fatbin and, for relocatable device code,
__nv_relfatbin of a host object) is a chain of containers:

    container: u32 magic 0xBA55ED50, u16 version, u16 header bytes, u64 payload bytes
    entry:     u16 kind (1 PTX, 2 cubin), u16 version, u32 header bytes, u64 payload bytes (padded to 8),
               u32 compressed bytes, ..., u32 sm at 28, u64 flags at 40, ..., u64 uncompressed bytes at 56

Flags: 0x2000 LZ4, 0x8000 zstd, 0x100000 architecture-specific (the a of sm_90a). Found by experiment with CUDA 13.0
and tested for each of its --compress-mode values.
"""

import re
import struct

from .decompress import lz4_block, zstd_frame
from .elf import Cubin, Elf, MACHINE_CUDA
from .errors import BadInput

MAGIC = 0xBA55ED50
KIND_CUBIN = 2
FLAG_LZ4, FLAG_ZSTD, FLAG_ARCH_SPECIFIC = 0x2000, 0x8000, 0x100000
ARCHIVE_MAGIC = b"!<arch>\n"


def cubins_of_file(path):
    """The cubins of a cubin, fatbin, object, static library, shared library or executable; [] if it has none."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}") from None
    return cubins_of(data, str(path))


def cubins_of(data, origin):
    if data.startswith(ARCHIVE_MAGIC):
        return [cubin for name, member in archive_members(data, origin) for cubin in cubins_of(member, name)]
    if data[:4] == struct.pack("<I", MAGIC):
        return _cubins_of_containers(data, origin)
    if data[:4] != b"\x7fELF":
        raise BadInput(f"{origin}: neither an ELF file, nor a static library, nor a fat binary")
    elf = Elf(data, origin)
    if elf.machine == MACHINE_CUDA:
        return [Cubin(data, origin)]
    # A linked program keeps the relocatable inputs beside the linked image, but only the linked image runs.
    for name in (".nv_fatbin", "__nv_relfatbin"):
        section = elf.section(name)
        cubins = _cubins_of_containers(elf.bytes_of(section), origin) if section else []
        if cubins:
            return cubins
    return []


def archive_members(data, origin):
    """(name, bytes) of the members of an ar archive that are ELF files."""
    at, long_names, members = len(ARCHIVE_MAGIC), b"", []
    while at + 60 <= len(data):
        name = data[at : at + 16].decode("latin-1").rstrip()
        field = data[at + 48 : at + 58]
        if not re.fullmatch(rb"\d+ *", field):  # int() would accept "-60", which leads back to this member
            raise BadInput(f"{origin}: corrupt: no member size at byte {at + 48} of the static library")
        size, start = int(field), at + 60
        if start + size > len(data):
            raise BadInput(f"{origin}: truncated: member {name} ends at byte {start + size} of {len(data)}")
        body = data[start : start + size]
        if name == "//":
            long_names = body
        elif body[:4] == b"\x7fELF":
            if name.startswith("/"):
                if not re.fullmatch(r"/[0-9]+", name):
                    raise BadInput(f"{origin}: corrupt: no member name at byte {at} of the static library")
                name = long_names[int(name[1:]) :].split(b"/\n")[0].decode("utf-8", "replace")
            members.append((f"{origin}({name.rstrip('/')})", body))
        at = start + size + size % 2
    return members


def _cubins_of_containers(data, origin):
    found, at = [], 0
    while at + 16 <= len(data):
        magic, _, header, size = struct.unpack_from("<IHHQ", data, at)
        if magic != MAGIC:
            at += 8  # the linker aligns containers to 8 bytes
            continue
        end = at + header + size
        if header < 16:
            raise BadInput(f"{origin}: corrupt: the header of the fat binary at byte {at} has {header} bytes but needs 16")
        if end > len(data):
            raise BadInput(f"{origin}: truncated: a fat binary ends at byte {end} of {len(data)}")
        found += _cubins_of_entries(data, at + header, end, origin)
        at = end
    return found


def _cubins_of_entries(data, at, end, origin):
    found = []
    while at + 64 <= end:
        kind, _, header, padded = struct.unpack_from("<HHIQ", data, at)
        payload, after = at + header, at + header + padded
        if header < 64 or after > end:
            raise BadInput(f"{origin}: corrupt: the fat-binary entry at byte {at} has {header} + {padded} bytes")
        if kind == KIND_CUBIN:
            compressed = struct.unpack_from("<I", data, at + 16)[0]
            sm = struct.unpack_from("<I", data, at + 28)[0]
            flags = struct.unpack_from("<Q", data, at + 40)[0]
            size = struct.unpack_from("<Q", data, at + 56)[0]
            try:
                if flags & FLAG_ZSTD:
                    image = zstd_frame(data[payload : payload + compressed], size)
                elif flags & FLAG_LZ4:
                    image = lz4_block(data[payload : payload + compressed], size)
                else:
                    image = data[payload:after]
            except BadInput as error:
                raise BadInput(f"{origin}: {error}") from None
            found.append(Cubin(image, origin, str(sm) + ("a" if flags & FLAG_ARCH_SPECIFIC else "")))
        at = after
    return found
