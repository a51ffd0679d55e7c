"""Reads the parts of ELF64 for a host object's fat-binary sections and a cubin's kernels with their resources.

The resource records (.nv.info) and the flag words are not documented by NVIDIA; what is used here was found by
comparing cubins of CUDA 12.6 and 13.0 with `ptxas -v` and `cuobjdump --dump-resource-usage`, and is tested so.
"""

import re
import struct
from dataclasses import dataclass
from typing import Optional

from .errors import BadInput

MACHINE_CUDA = 190
SHT_SYMTAB, SHT_NOBITS = 2, 8
STT_FUNC = 2
STB_LOCAL = 0
STO_CUDA_ENTRY = 0x10
# Attributes of .nv.info: pairs (symbol index, value).
EIATTR_FRAME_SIZE, EIATTR_MIN_STACK_SIZE, EIATTR_REGCOUNT = 0x11, 0x12, 0x2F
EIATTR_NUM_BARRIERS = 0x4C  # in .nv.info.<kernel>, a byte
EIFMT_BVAL, EIFMT_SVAL = 2, 4
# From sm_90 on the system reserves the first kilobyte of a CTA's shared memory; the section counts it, ptxas does not.
RESERVED_SHARED_BYTES = 1024


@dataclass
class Section:
    name: str
    kind: int
    offset: int
    size: int
    link: int
    info: int


@dataclass
class Symbol:
    name: str
    info: int
    other: int
    section: int
    size: int

    @property
    def is_kernel(self):
        return self.info & 15 == STT_FUNC and bool(self.other & STO_CUDA_ENTRY)

    @property
    def is_function(self):
        return self.info & 15 == STT_FUNC and self.section != 0

    @property
    def is_local(self):
        return self.info >> 4 == STB_LOCAL


@dataclass
class Resources:
    registers: int
    local_bytes: int  # stack frame of a thread, callees included: spills, indexed arrays and calls
    static_shared_bytes: int
    barriers: Optional[int] = None  # named barriers that a CTA reserves, of 16; None for images older than CUDA 13


class Elf:
    """An ELF64 little-endian image. `origin` names it in error sentences."""

    def __init__(self, data, origin):
        self.data = data
        self.origin = origin
        if data[:4] != b"\x7fELF":
            raise BadInput(f"{origin}: not an ELF image")
        if len(data) < 64:
            raise BadInput(f"{origin}: truncated: {len(data)} bytes, an ELF header alone has 64")
        if data[4] != 2 or data[5] != 1:
            raise BadInput(f"{origin}: not a 64-bit little-endian ELF image")
        self.abi = data[8]
        self.machine = struct.unpack_from("<H", data, 18)[0]
        self.flags = struct.unpack_from("<I", data, 48)[0]
        program, count = self._unpack("<Q", 32)[0], self._unpack("<H", 56)[0]
        if count and program + 56 * count > len(data):
            raise BadInput(f"{origin}: truncated: the program headers end at byte {program + 56 * count} of {len(data)}")
        self.sections = self._read_sections()

    def _unpack(self, form, offset):
        try:
            return struct.unpack_from(form, self.data, offset)
        except (struct.error, OverflowError):
            raise BadInput(
                f"{self.origin}: truncated: the ELF image has {len(self.data)} bytes and refers to byte {offset}"
            ) from None

    def _string(self, table, offset):
        start = table + offset
        end = self.data.find(b"\0", start)
        if start >= len(self.data) or end < 0:
            raise BadInput(f"{self.origin}: truncated: a name lies at byte {start} of {len(self.data)}")
        return self.data[start:end].decode("utf-8", "replace")

    def _read_sections(self):
        table = self._unpack("<Q", 40)[0]
        size, count, names = self._unpack("<HHH", 58)
        if table == 0 or count == 0:
            return []
        rows = [self._unpack("<IIQQQQIIQQ", table + size * i) for i in range(count)]
        if names >= count:
            raise BadInput(f"{self.origin}: corrupt: section {names} should hold names but there are {count} sections")
        sections = []
        for name, kind, _, _, offset, length, link, info, _, _ in rows:
            if kind not in (0, SHT_NOBITS) and offset + length > len(self.data):
                raise BadInput(
                    f"{self.origin}: truncated: a section ends at byte {offset + length} of {len(self.data)}"
                )
            sections.append(Section(self._string(rows[names][4], name), kind, offset, length, link, info))
        return sections

    def section(self, name):
        return next((s for s in self.sections if s.name == name), None)

    def _section_at(self, index, what):
        if index >= len(self.sections):
            raise BadInput(f"{self.origin}: corrupt: section {index} should hold {what} but there are {len(self.sections)} sections")
        return self.sections[index]

    def bytes_of(self, section):
        return b"" if section.kind == SHT_NOBITS else self.data[section.offset : section.offset + section.size]

    def symbols(self):
        found = []
        for table in (s for s in self.sections if s.kind == SHT_SYMTAB):
            names = self._section_at(table.link, "the names of symbols").offset
            for i in range(table.size // 24):
                name, info, other, section, _, size = self._unpack("<IBBHQQ", table.offset + 24 * i)
                found.append(Symbol(self._string(names, name), info, other, section, size))
        return found


class Cubin(Elf):
    """A device image. `arch` is "80", "90", "90a"; the kernels are its entry functions by mangled name."""

    def __init__(self, data, origin, arch_of_container=None):
        super().__init__(data, origin)
        if self.machine != MACHINE_CUDA:
            raise BadInput(f"{origin}: not a cubin: ELF machine {self.machine}, a cubin has {MACHINE_CUDA}")
        self.arch = self._arch_of_note() or arch_of_container or self._arch_of_flags()
        self._symbols = self.symbols()
        self.kernels = {s.name: i for i, s in enumerate(self._symbols) if s.is_kernel and s.section != 0}

    def _arch_of_note(self):
        # CUDA 13 and later record ptxas's command line, the only place in the image that distinguishes 90 from 90a.
        note = self.section(".note.nv.tkinfo")
        match = note and re.search(rb"-arch sm_(\d+[af]?)[ \0]", self.bytes_of(note))
        return match.group(1).decode() if match else None

    def _arch_of_flags(self):
        if self.abi >= 8:  # CUDA 13
            return str(self.flags >> 8 & 0xFF)
        return str(self.flags & 0xFF) + ("a" if self.flags & 0x800 else "")

    def resources(self, kernel):
        """Registers, local and static shared memory of a kernel, as the driver sees them."""
        symbol = self._symbols[self.kernels[kernel]]
        text = self._section_at(symbol.section, f"the code of {kernel}")
        values = {EIATTR_REGCOUNT: text.info >> 24, EIATTR_FRAME_SIZE: 0, EIATTR_MIN_STACK_SIZE: 0}
        for attribute, form, value in self._info(".nv.info"):
            if form == EIFMT_SVAL and len(value) == 8:
                owner, number = struct.unpack("<II", value)
                if owner == self.kernels[kernel] and attribute in values:
                    values[attribute] = number
        shared = self.section(f".nv.shared.{kernel}")
        shared_bytes = shared.size if shared else 0
        if shared and self.section(".nv.shared.reserved.0"):
            shared_bytes = max(0, shared_bytes - RESERVED_SHARED_BYTES)
        local = max(values[EIATTR_FRAME_SIZE], values[EIATTR_MIN_STACK_SIZE])
        barriers = 0 if self.abi >= 8 else None
        for attribute, form, value in self._info(f".nv.info.{kernel}"):
            if attribute == EIATTR_NUM_BARRIERS and form == EIFMT_BVAL:
                barriers = value[0]
        return Resources(values[EIATTR_REGCOUNT], local, shared_bytes, barriers)

    def _info(self, section):
        """(attribute, form, bytes of the value) of the records of a section."""
        info = self.section(section)
        data = self.bytes_of(info) if info else b""
        at = 0
        while at + 4 <= len(data):
            form, attribute, value = struct.unpack_from("<BBH", data, at)
            at += 4
            if form == EIFMT_SVAL:
                yield attribute, form, data[at : at + value]
                at += value
            else:
                yield attribute, form, struct.pack("<H", value)
