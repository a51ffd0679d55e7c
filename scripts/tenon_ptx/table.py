"""ptx/instructions.csv as Python objects. ptx/README.md explains the columns.

A Form is a row. The columns `results` and `operands` have its operands as name=type; a type is a register class
("b32", "f32", "pred"), an array of them ("4xf32"), or an immediate with its value in the tests ("imm:16").
"""

import csv
import io
import re
from dataclasses import dataclass, replace
from pathlib import Path

from tenon_sass.errors import BadInput
from tenon_sass.files import read_csv, write_file

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "ptx" / "instructions.csv"
COLUMNS = ("form", "provider", "name", "header", "results", "operands", "ptx_isa", "toolkit", "sass")
PROVIDERS = ("tenon", "cuda::ptx", "nvcuda::wmma", "cuda", "ptx")

# Every architecture of the table, in the order of ranges such as "80-89". Code for an architecture without a
# letter also runs on newer ones; an architecture with a letter is a target of its own.
ARCHITECTURES = ("75", "80", "86", "87", "88", "89", "90", "90a", "100", "100a", "103a", "110a", "120a", "121a")


@dataclass(frozen=True)
class Lowering:
    """The machine code of a form on one architecture: opcode -> count, and whether the chip has the instruction."""

    emulated: bool
    opcodes: tuple  # of (opcode, count)

    def __str__(self):
        text = " ".join(f"{n}*{op}" for op, n in self.opcodes) or "nothing"
        return f"emulated {text}" if self.emulated else text

    @staticmethod
    def parse(text):
        words = text.split()
        emulated = words[:1] == ["emulated"]
        words = words[emulated:]
        if words == ["nothing"]:
            return Lowering(emulated, ())
        if not words or not all(re.fullmatch(r"\d+\*\S+", word) for word in words):
            raise BadInput(f"the SASS is '{text}' but must be counts and opcodes such as '2*HMMA.16816.F32', or 'nothing'")
        return Lowering(emulated, tuple((op, int(n)) for n, op in (word.split("*") for word in words)))


def encode_sass(lowerings):
    """{architecture: Lowering} -> "75-89: 1*HMMA...; 90: emulated ...": equal neighbours share a range."""
    groups = []
    for place, arch in enumerate(ARCHITECTURES):
        if arch not in lowerings:
            continue
        if groups and groups[-1][1] == place - 1 and lowerings[ARCHITECTURES[groups[-1][1]]] == lowerings[arch]:
            groups[-1][1] = place
        else:
            groups.append([place, place])
    spans = [ARCHITECTURES[a] if a == b else f"{ARCHITECTURES[a]}-{ARCHITECTURES[b]}" for a, b in groups]
    return "; ".join(f"{span}: {lowerings[ARCHITECTURES[a]]}" for span, (a, _) in zip(spans, groups))


def decode_sass(text):
    """The inverse. An architecture in no range lacks the form."""
    result = {}
    for group in filter(None, text.split("; ")):
        span, _, what = group.partition(": ")
        first, _, last = span.partition("-")
        for name in (first, last or first):
            if name not in ARCHITECTURES:
                raise BadInput(f"the table names architecture '{name}', which must be one of {', '.join(ARCHITECTURES)}")
        for place in range(ARCHITECTURES.index(first), ARCHITECTURES.index(last or first) + 1):
            result[ARCHITECTURES[place]] = Lowering.parse(what)
    return result


def spell_version(version):
    return ".".join(map(str, version))


def parse_version(text):
    return tuple(map(int, filter(None, text.split("."))))


@dataclass(frozen=True)
class Operand:
    name: str
    kind: str  # "b32", "pred", "imm"
    count: int  # elements of an array; 0 for a scalar
    value: str  # value of an immediate

    @staticmethod
    def parse(text):
        name, _, kind = text.partition("=")
        if kind.startswith("imm:"):
            return Operand(name, "imm", 0, kind[4:])
        count, _, kind = kind.rpartition("x") if re.match(r"\d+x", kind) else ("", "", kind)
        return Operand(name, kind, int(count or 0), "")


@dataclass(frozen=True)
class Form:
    form: str  # PTX text: "mma.sync... d, a, b, c;"
    provider: str
    name: str  # the function; for tenon with the template arguments that select the form
    header: str
    results: tuple  # of Operand
    operands: tuple
    ptx_isa: tuple
    toolkit: tuple  # the oldest of PyPI's CUDA versions whose ptxas has the form; empty: not measured
    sass: dict  # architecture -> Lowering

    @property
    def predicate(self):
        """The operand that decides whether the instruction runs at all: "predicate" of "@predicate st...", else None."""
        return self.form.split()[0][1:] if self.form.startswith("@") else None

    @property
    def instruction(self):
        """The form without its predicate."""
        return self.form.partition(" ")[2] if self.predicate else self.form

    @property
    def mnemonic(self):
        return self.instruction.split()[0].rstrip(";")

    @property
    def family(self):
        """The family of the form, by its first matching word: see FAMILIES."""
        return next(name for name, pattern in FAMILIES.items() if re.match(pattern, self.mnemonic))

    @property
    def targets(self):
        return tuple(arch for arch in ARCHITECTURES if arch in self.sass)

    def status(self, arch):
        lowering = self.sass.get(arch)
        return "absent" if lowering is None else "emulated" if lowering.emulated else "native"

    def row(self):
        def spell(operand):
            kind = f"imm:{operand.value}" if operand.kind == "imm" else operand.kind
            return f"{operand.name}={f'{operand.count}x' if operand.count else ''}{kind}"

        return dict(zip(COLUMNS, (
            self.form, self.provider, self.name, self.header, " ".join(map(spell, self.results)),
            " ".join(map(spell, self.operands)), spell_version(self.ptx_isa), spell_version(self.toolkit),
            encode_sass(self.sass))))

    def with_sass(self, sass):
        return replace(self, sass=sass)

    def with_toolkit(self, toolkit):
        return replace(self, toolkit=toolkit)


# In the order of the table, which is the order of matching.
FAMILIES = {
    "mma": r"mma\.(?!sp)",
    "mma.sp": r"mma\.sp",
    "wmma": r"wmma\.",
    "wgmma": r"wgmma\.",
    "tcgen05": r"tcgen05\.",
    "matrix move": r"(ldmatrix|stmatrix|movmatrix)\.",
    "TMA": r"cp\.(reduce\.)?async\.bulk\.(prefetch\.)?tensor\.|prefetch(\.\w+)?\.tensormap|tensormap\.replace",
    "bulk copy": r"cp\.(reduce\.)?async\.bulk\.",
    "cp.async": r"cp\.async\.",
    "load, store, prefetch": r"ld\.shared\.|st\.(shared|global)\.|prefetch\.global|createpolicy\.",
    "mbarrier": r"mbarrier\.",
    "fence": r"fence\.|tensormap\.cp_fenceproxy",
    "distributed shared memory": r"(st|red)\.async\.|st\.bulk\.|(ld|st)\.shared::cluster|mapa\.|getctarank\.",
    "warp, block, cluster": r"setmaxnreg|mov\.|elect|barrier|griddepcontrol|nanosleep|bar\.|redux|shfl|clusterlaunchcontrol",
    "conversion": r"cvt\.",
    "packed arithmetic": r"",
}


def load(path=TABLE):
    forms = []
    for line, row in read_csv(path, COLUMNS):
        try:
            forms.append(form_of(row))
        except BadInput as error:
            raise BadInput(f"{path}:{line}: {error}") from None
    return forms


def form_of(row):
    if not row["form"].strip():
        raise BadInput("a row has no form")
    if row["provider"] not in PROVIDERS:
        raise BadInput(f"the provider is '{row['provider']}' but must be one of {', '.join(PROVIDERS)}")
    if not re.fullmatch(r"\d+\.\d+", row["ptx_isa"]):
        raise BadInput(f"the PTX ISA is '{row['ptx_isa']}' but must be a version such as 7.0")
    if not re.fullmatch(r"(\d+\.\d+)?", row["toolkit"]):
        raise BadInput(f"the toolkit is '{row['toolkit']}' but must be a version such as 12.4, or empty")
    return Form(row["form"], row["provider"], row["name"], row["header"], tuple(map(Operand.parse, row["results"].split())),
                tuple(map(Operand.parse, row["operands"].split())), parse_version(row["ptx_isa"]), parse_version(row["toolkit"]),
                decode_sass(row["sass"]))  # fmt: skip


def save(forms, path=TABLE):
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(form.row() for form in forms)
    write_file(path, text.getvalue())
