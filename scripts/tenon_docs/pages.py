"""The Markdown pages of a tree: their headings, links, code blocks and tables, and what is wrong with the links.

Only what these pages use: headings with #, fenced code blocks, inline links and images, reference links, HTML anchors.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

FENCE = re.compile(r"^( *)(```+|~~~+) *([^`]*?) *$")
HEADING = re.compile(r"^#{1,6} +(.*?)(?: +#+)?$")
INLINE_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
INLINE_LINK = re.compile(r"\]\(([^()]*(?:\([^()]*\)[^()]*)*)\)")
REFERENCE_LINK = re.compile(r"\]\[([^\]]+)\]")
DEFINITION = re.compile(r"^ {0,3}\[([^\]]+)\]: *(\S+)", re.MULTILINE)
HTML_LINK = re.compile(r"<(?:a|img|source)\b[^>]*?\b(?:href|src)=[\"']([^\"']*)[\"']", re.IGNORECASE)
HTML_ANCHOR = re.compile(r"<\w+\b[^>]*?\b(?:id|name)=[\"']([^\"']+)[\"']", re.IGNORECASE)
HTML_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
LIST_ITEM = re.compile(r"^ *(?:[-*+]|\d+[.)]) ")


def _blank(match):
    return "\n" * match[0].count("\n")  # the lines behind it keep their numbers


def slug_of(heading):
    """The anchor that GitHub makes of the first heading with this text, as it is written in Markdown."""
    title = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
    title = re.sub(r"(\*+)(.+?)\1", r"\2", title)
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


@dataclass
class Block:
    """A fenced code block."""

    language: str
    text: str
    line: int  # of the opening fence


class Page:
    def __init__(self, path):
        self.path = Path(path)
        self.text = self.path.read_text(encoding="utf-8")
        self.blocks = []
        self.problems = []  # of its form: (line, sentence)
        prose, fence, indent = [], None, ""
        for i, line in enumerate(self.text.splitlines(), 1):
            match = FENCE.match(line)
            if fence is None and match:
                indent, fence = match[1], match[2]
                self.blocks.append(Block(match[3], "", i))
            elif fence is not None and match and match[2].startswith(fence) and not match[3]:
                fence = None
            elif fence is not None:
                self.blocks[-1].text += line.removeprefix(indent) + "\n"
            prose.append("" if fence is not None or match else line)
        if fence is not None:
            self.problems.append((self.blocks[-1].line, "the code block never ends"))
        self.lines = prose  # without code blocks, with their line numbers
        self._find_indented_blocks()
        self.prose = HTML_COMMENT.sub(_blank, INLINE_CODE.sub(_blank, "\n".join(prose)))

    def _find_indented_blocks(self):
        """A block that is indented has no language, so that nobody could tell what it must do."""
        in_list = blank = False
        for i, line in enumerate(self.lines, 1):
            if line.startswith("    ") and blank and not in_list:
                self.problems.append((i, "the code block is indented: fence it with ``` and its language"))
            if line.strip():
                in_list = bool(LIST_ITEM.match(line)) or in_list and (line.startswith("  ") or not blank)
            blank = not line.strip() or line.startswith("    ") and blank

    def of(self, language):
        return [block for block in self.blocks if block.language == language]

    def headings(self):
        """[(line, text in Markdown, anchor)]: of headings with the same text, the second has -1 behind its anchor."""
        found, counts = [], {}
        for i, line in enumerate(self.lines, 1):
            if match := HEADING.match(line):
                slug = slug_of(match[1])
                count = counts.get(slug, 0)
                counts[slug] = count + 1
                found.append((i, match[1], f"{slug}-{count}" if count else slug))
        return found

    def anchors(self):
        """What a link may name after its #: the anchors that GitHub makes of headings, and those of HTML."""
        return set(HTML_ANCHOR.findall("\n".join(self.lines))) | {anchor for _, _, anchor in self.headings()}

    def placed_links(self):
        """[(line, target)], the targets as they are written. A reference without a definition stays `[label]`."""
        definitions = {match[1].lower(): match[2] for match in DEFINITION.finditer(self.prose)}
        found = [(match, match[1].strip()) for match in INLINE_LINK.finditer(self.prose)]
        found = [(match, re.sub(r"\s+(\"[^\"]*\"|'[^']*')$", "", target)) for match, target in found]  # without a title
        found += [(m, definitions.get(m[1].lower(), f"[{m[1]}]")) for m in REFERENCE_LINK.finditer(self.prose)]
        found += [(match, match[2]) for match in DEFINITION.finditer(self.prose)]
        found += [(match, match[1]) for match in HTML_LINK.finditer(self.prose)]
        return [(self.prose.count("\n", 0, match.start()) + 1, target) for match, target in found]

    def links(self):
        return [target for _, target in self.placed_links()]

    def tables(self):
        """Rows of each table, without the header and the line below it."""
        tables, rows = [], 0
        for line in [*self.lines, ""]:
            if line.startswith("|"):
                rows += 1
            elif rows:
                tables.append(rows - 2)
                rows = 0
        return tables


def is_hidden(name):
    """Folders that are no part of the repository. .github has pages for contributors."""
    return name.startswith(".") and name != ".github"


def pages(root, pattern="*.md"):
    """Paths below root, except in hidden folders and in build folders of CMake."""
    found = []
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(f for f in folders if not is_hidden(f) and not Path(folder, f, "CMakeCache.txt").exists())
        found += [Path(folder, name) for name in sorted(files) if Path(name).match(pattern)]
    return found


def broken(page, root, cache=None):
    """Sentences about links of the page that lead nowhere. What is on the network is not asked."""
    cache = {} if cache is None else cache
    sentences = []
    for line, target in page.placed_links():
        if why := why_broken(page, target, Path(root).resolve(), cache):
            sentences.append(f"{page.path}:{line}: the link '{target}' {why}")
    return sentences


def why_broken(page, target, root, cache):
    if target.startswith("["):
        return "has no definition"
    if not target or re.search(r"\s", target):
        return "is empty or holds white space"
    parts = urlsplit(target.strip("<>"))
    if parts.scheme:
        known = parts.scheme == "mailto" or parts.scheme in ("http", "https") and parts.netloc
        return None if known else "is of no scheme that a browser opens"
    if parts.path.startswith("/"):
        return "begins with /, which is another place on every site"
    path = (page.path.parent / unquote(parts.path)).resolve() if parts.path else page.path.resolve()
    if path != root and root not in path.parents:
        return "leaves the repository"
    if not path.exists():
        return "leads to a file that does not exist"
    if any(is_hidden(part) for part in path.relative_to(root).parts[:-1]):
        return "leads into a folder that is not part of the repository"
    if any((folder / "CMakeCache.txt").exists() for folder in (path, *path.parents) if root in folder.parents):
        return "leads into a build folder"
    return why_no_place(path, unquote(parts.fragment), cache) if parts.fragment else None


def why_no_place(path, fragment, cache):
    if path.suffix != ".md":
        lines = re.fullmatch(r"L(\d+)(?:-L(\d+))?", fragment)
        if not lines or not path.is_file():
            return "names a place in a file that is not a page"
        count = len(path.read_text(encoding="utf-8", errors="replace").splitlines())
        return None if all(0 < int(n) <= count for n in lines.groups() if n) else f"names a line, but the file has {count}"
    if path not in cache:
        cache[path] = Page(path).anchors()
    return None if fragment in cache[path] else "names a heading that the page does not have"
