"""The outline of a C++ header: its opening comment and its public declarations, each with the comment above it.

No parser of C++, but enough for headers that clang-format has laid out: comments of //, namespaces, balanced brackets. What a
user cannot call is left out: bodies of functions, private members, namespaces named detail, macros; and what says nothing new:
forward declarations and specialisations without a comment.
"""

import re
from dataclasses import dataclass

# What the scanner steps over as one: comments, strings, characters (not the ' of 1'000), preprocessor lines.
TOKEN = re.compile(
    r"//[^\n]*|/\*.*?\*/"
    r"|\"(?:\\.|[^\"\\\n])*\"|(?<![0-9a-zA-Z_])'(?:\\.|[^'\\\n])+'"
    r"|(?<=\n)[ \t]*#(?:\\\n|[^\n])*|[^\S\n]+|\n|\w+|.",
    re.DOTALL,
)
NAMESPACE = re.compile(r"(?:inline )?namespace ([\w:]*)\s*\Z|extern \"C\"\s*\Z")
CLASS = re.compile(r"(?:^|\s|>)(class|struct|union)\s+(?:\[\[\w+\]\]\s*|alignas\([^)]*\)\s*)*\w+[^()=]*\Z")
ENUM = re.compile(r"(?:^|\s)enum\b[^()=]*\Z")
ACCESS = re.compile(r"(public|protected|private)\s*\Z")
FORWARD = re.compile(r"(template <[^;{]*>\s*)?(class|struct|union)\s+\w+;\Z")
HIDDEN = re.compile(r"static_assert|friend\b|using namespace")
SPECIALISATION = re.compile(r"template <[^;{]*?>\s*(class|struct|union)\s+\w+<|template <[^;{]*?>\s*inline constexpr [\w: ]+ \w+<")
NOLINT = re.compile(r"^.*\bNOLINT.*\n?", re.MULTILINE)
FAR = 20  # columns
LONG = 6  # lines of an initialiser or a body that are still shown


@dataclass
class Declaration:
    comment: str
    text: str
    line: int  # of its first word


def tokens_of(text):
    """[(kind, start, end)]: comment, line (of the preprocessor), space, newline, or the character itself; else word."""
    found = []
    for match in TOKEN.finditer("\n" + text):
        start, end, first = match.start() - 1, match.end() - 1, match[0].lstrip()[:2]
        if start < 0:
            continue
        if first in ("//", "/*"):
            kind = "comment"
        elif first.startswith("#"):
            kind = "line"
        elif not match[0].strip():
            kind = "newline" if match[0] == "\n" else "space"
        else:
            kind = match[0] if match[0] in "(){}[];:,=" else "word"
        found.append((kind, start, end))
    return found


def opening_comment(text):
    """The comment before everything else, without its slashes."""
    lines = []
    for line in text.splitlines():
        if line.startswith("//"):
            lines.append(line)
        elif lines or not line.startswith("/*"):
            break
        else:
            return bare(text[: text.index("*/") + 2])
    return bare("\n".join(lines))


def bare(comment):
    """A comment without its slashes and stars, and without what it says to clang-tidy."""
    comment = NOLINT.sub("", comment)
    lines = [re.sub(r"^\s*(?:///?|/\*+|\*(?!/))? ?|\s*\*/\s*$", "", line) for line in comment.splitlines()]
    return "\n".join(lines).strip("\n")


class Outline:
    def __init__(self, text):
        self.text, self.tokens = text, tokens_of(text)
        self.opening = opening_comment(text)
        self.declarations = []
        self.at = 0
        self._scope(self.declarations.append)

    def line(self, position):
        return self.text.count("\n", 0, position) + 1

    def _skip_block(self):
        """Steps over a bracket that opens here and all within it; its position and the one after it."""
        start, depth = self.tokens[self.at][1], 0
        while self.at < len(self.tokens):
            kind, _, end = self.tokens[self.at]
            self.at += 1
            depth += (kind in ("{", "(", "[")) - (kind in ("}", ")", "]"))
            if depth == 0 and kind in ("}", ")", "]"):
                return start, end
        raise ValueError(f"line {self.line(start)}: the bracket never closes")

    def _following(self):
        """The kind of the next token that is no space and no comment."""
        kinds = (kind for kind, _, _ in self.tokens[self.at :])
        return next((kind for kind in kinds if kind not in ("space", "newline", "comment")), "end")

    def _scope(self, found, members_are=True):
        """Reads declarations until the scope closes; found(declaration) for those that are public."""
        comment, public, blank = [], members_are, 0
        while self.at < len(self.tokens):
            kind, start, end = self.tokens[self.at]
            if kind == "}":
                return
            if kind == "comment":
                if blank > 1:
                    comment = []
                comment.append(self.text[start:end])
                blank = 0
            elif kind == "newline":
                blank += 1
            elif kind in ("line", ";"):
                comment, blank = [], 0
            elif kind != "space":
                said = comment if blank <= 1 else []
                comment, blank = [], 0
                public = self._declaration(bare("\n".join(said)), public, found)
                continue
            self.at += 1

    def _declaration(self, comment, public, found):
        """Reads one; whether what follows is public."""
        start, pieces, begin = self.tokens[self.at][1], [], self.tokens[self.at][1]
        while self.at < len(self.tokens):
            kind, position, end = self.tokens[self.at]
            head = self.text[start:position]
            if kind == ";":
                self.at += 1
                end = self._trailing_comment(end)
                break
            if kind == "}":  # a macro that stands without a semicolon
                end = position
                break
            if kind == ":" and (access := ACCESS.match(head)):
                self.at += 1
                return access[1] != "private"
            if kind in ("(", "["):
                self._skip_block()
                continue
            if kind == "{":
                if (match := NAMESPACE.match(head)) is not None:
                    if "detail" in (match[1] or ""):
                        self._skip_block()
                    else:
                        self.at += 1
                        self._scope(found)
                        self.at += 1
                    return public
                pieces.append(self.text[begin:position])
                shown, ends = self._body(head)
                pieces.append(shown)
                begin = end = self.tokens[self.at - 1][2]
                if ends:
                    break
                continue
            self.at += 1
        text = "".join([*pieces, self.text[begin:end]])
        if public and not HIDDEN.match(text) and (comment or not (FORWARD.match(text) or SPECIALISATION.match(text))):
            indent = start - (self.text.rfind("\n", 0, start) + 1)
            found(Declaration(comment, tidied(text, indent), self.line(start)))
        return public

    def _body(self, head):
        """Steps over braces; (what to show of them, whether the declaration ends with them)."""
        if not ENUM.search(head) and (match := CLASS.search(head)):
            self.at += 1
            members = []
            self._scope(members.append, match[1] != "class")
            self.at += 1
            parts = []
            for member in members:
                parts += [f"  // {line}".rstrip() for line in member.comment.splitlines()]
                parts += [f"  {line}" for line in member.text.splitlines()]
            return "{\n" + "\n".join(parts) + "\n}" if parts else "{}", False
        start, end = self._skip_block()
        inside = self.text[start:end]
        if ENUM.search(head) or self._following() in (";", ",", "{"):  # an initialiser
            return inside if ENUM.search(head) or inside.count("\n") < LONG else "{ ... }", False
        return ";", True

    def _trailing_comment(self, end):
        """The end of a comment behind the semicolon, on the same line."""
        at = self.at
        while at < len(self.tokens) and self.tokens[at][0] == "space":
            at += 1
        if at < len(self.tokens) and self.tokens[at][0] == "comment":
            self.at = at + 1
            return self.tokens[at][2]
        return end


def tidied(text, indent):
    """Without the initialisers of a constructor and the space before a body; from the left margin on."""
    text = re.sub(r"\)(\s*noexcept)?\s*:\s(?!:)[^;]*;\Z", r")\1;", text) if not text.startswith("enum") else text
    text = re.sub(r"^[ \t]*#.*\n", "", text, flags=re.MULTILINE)  # conditions within the declaration
    first, *rest = re.sub(r"\s+;\Z", ";", text).split("\n")
    return "\n".join([first.rstrip(), *(_dedented(line, indent) for line in rest)])


def _dedented(line, indent):
    """Parameters that stand below a bracket far to the right move to the left, where a phone shows them."""
    stripped = line.strip()
    width = len(line) - len(line.lstrip())
    return " " * (4 if width > indent + FAR else max(width - indent, 0)) + stripped if stripped else ""
