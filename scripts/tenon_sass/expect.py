"""Requirements on a kernel's code: their syntax and their check."""

import operator
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import List, Optional

from .demangle import demangle
from .errors import BadInput
from .files import check_fields, read_json

_COMPARISONS = {">=": operator.ge, "<=": operator.le, "==": operator.eq, "=": operator.eq, ">": operator.gt, "<": operator.lt}
_COUNT = re.compile(r"^([A-Z][A-Za-z0-9_.]*)(?:(>=|<=|==|=|>|<)(\d+))?$")
_ARCH = re.compile(r"^(?:sm_)?(\d{2,3}[af]?)$")


@dataclass
class Kernel:
    """A kernel as compiled for one architecture."""

    name: str  # mangled
    arch: str  # "80", "90a"
    origin: str  # the file (and the member of a static library) that holds it
    resources: object  # elf.Resources
    opcodes: Counter = field(default_factory=Counter)

    def count(self, opcode):
        """Number of instructions whose opcode is this one or continues it at a dot: HMMA counts HMMA.16816.F32."""
        return sum(n for name, n in self.opcodes.items() if name == opcode or name.startswith(opcode + "."))


@dataclass
class Check:
    """One requirement on one kernel, with its result."""

    requirement: str
    found: str
    ok: bool


@dataclass
class Expectation:
    """All requirements on the kernels that match a pattern, on every listed architecture (all, if none is)."""

    kernel: str
    archs: List[str] = field(default_factory=list)
    expect: List[str] = field(default_factory=list)
    forbid: List[str] = field(default_factory=list)
    max_registers: Optional[int] = None
    spill_free: bool = False

    def __post_init__(self):
        self._pattern = compile_pattern(self.kernel)
        self.archs = [parse_arch(a) for a in self.archs]
        self._counts = [_parse_count(e) for e in self.expect]
        for opcode in self.forbid:
            if not re.fullmatch(r"[A-Z][A-Za-z0-9_.]*", opcode):
                raise BadInput(f"the forbidden opcode '{opcode}' must be an opcode such as LDL or HMMA.16816")
        if self.max_registers is not None and not 1 <= self.max_registers <= 255:
            raise BadInput(f"the register ceiling is {self.max_registers} but must lie in 1..255")
        if not (self.expect or self.forbid or self.max_registers or self.spill_free):
            raise BadInput(f"nothing to check for the kernel pattern '{self.kernel}': name an opcode or a ceiling")

    def matches(self, name):
        return bool(self._pattern.search(name) or self._pattern.search(demangle(name)))

    def covers(self, arch):
        return not self.archs or arch in self.archs

    def judge(self, kernel):
        checks = []
        for opcode, relation, bound in self._counts:
            found = kernel.count(opcode)
            checks.append(Check(f"{opcode} {relation} {bound}", str(found), _COMPARISONS[relation](found, bound)))
        for opcode in self.forbid:
            found = kernel.count(opcode)
            checks.append(Check(f"no {opcode}", str(found), found == 0))
        resources = kernel.resources
        if self.max_registers is not None:
            checks.append(
                Check(
                    f"registers <= {self.max_registers}", str(resources.registers), resources.registers <= self.max_registers
                )
            )
        if self.spill_free:
            accesses = kernel.count("LDL") + kernel.count("STL")
            found = f"{resources.local_bytes} bytes of local memory, {accesses} LDL/STL"
            checks.append(Check("no spills", found, resources.local_bytes == 0 and accesses == 0))
        return checks


def _parse_count(text):
    match = _COUNT.match(text.replace(" ", ""))
    if not match:
        raise BadInput(f"the expectation '{text}' must be an opcode, alone or compared: LDSM or HMMA.16816.F32>=64")
    opcode, relation, bound = match.groups()
    if relation is None:
        return opcode, ">=", 1
    return opcode, "==" if relation == "=" else relation, int(bound)


def compile_pattern(text):
    try:
        return re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise BadInput(f"the kernel pattern '{text}' is not a regular expression: {error}") from None


class Selection:
    """The kernels that --kernel and --arch select; all without these options. matches: whether a name, mangled or
    demangled, is selected; without it `kernel` is a regular expression that the name holds."""

    def __init__(self, kernel="", archs=(), matches=None):
        self.kernel = kernel
        self.archs = [parse_arch(arch) for arch in archs]
        self._matches = matches or compile_pattern(kernel).search

    def holds(self, name, arch):
        fits = not self.archs or arch in self.archs
        return fits and bool(self._matches(name) or self._matches(demangle(name)))


def parse_arch(text):
    match = _ARCH.match(str(text))
    if not match:
        raise BadInput(f"the architecture '{text}' must be one such as 80, 90a or sm_90a")
    return match.group(1)


def read_expectations(path):
    """Expectations from a JSON file: a list of objects with the keys of class Expectation (arch for archs)."""
    rows = read_json(path)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows) or not rows:
        raise BadInput(f"{path}: must hold a list of one or more objects")
    return [_expectation_of(row, f"{path}: object {i}") for i, row in enumerate(rows)]


_FIELDS = {
    "kernel": "a string",
    "arch": "a list of strings or whole numbers",
    "expect": "a list of strings",
    "forbid": "a list of strings",
    "max_registers": "a whole number",
    "spill_free": "true or false",
}


def _expectation_of(row, where):
    for key in row:
        if key not in _FIELDS:
            raise BadInput(f"{where}: unknown key '{key}'; known are {', '.join(_FIELDS)}")
    if "kernel" not in row:
        raise BadInput(f"{where}: has no key 'kernel'")
    check_fields(row, _FIELDS, where, optional=True)
    values = dict(row)
    values["archs"] = values.pop("arch", [])
    return Expectation(**values)
