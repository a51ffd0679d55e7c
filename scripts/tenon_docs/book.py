"""The book: which files of a checkout become pages, at which address each stands, and how they are connected.

  README.md of a folder    index.html there; another.md: another.html
  a header, a source       its name and .html, with its numbered lines; all of include/tenon, elsewhere what a page links to
  a folder without README  index.html, a list of its files
  pictures and data        copied as they are, if a page links to them
"""

import html
import os
import re
from pathlib import Path, PurePosixPath
from urllib.parse import quote, unquote, urlsplit

from . import declarations, listing
from .chapter import Chapter
from .pages import Page, broken, is_hidden, pages

# In the order in which they are read. Other pages follow as appendices.
CHAPTERS = (
    "README.md", "include/tenon/README.md", "include/tenon/gemm/README.md", "include/tenon/attention/README.md",
    "include/tenon/jit/README.md", "include/tenon/COMPILERS.md", "src/gemm/README.md", "src/gemm/BUILD_OPTIONS.md",
    "src/emulator/README.md", "ptx/README.md", "src/command_line/README.md", "scripts/README.md", "microbench/README.md", "microbench/WHICH.md",
    "microbench/PUBLISHED.md", "tests/README.md", ".github/CONTRIBUTING.md",
)  # fmt: skip
FLOORS = ("", "ptx", "fragment", "shared", "warp", "pipeline", "gemm", "attention", "jit", "emulator")
REFERENCE, NAMES = "reference.html", "names.html"
IMAGE = re.compile(r"!\[[^\]]*\]\(([^)\s]+)\)")
DATA = (".svg", ".png", ".json", ".csv")
STYLE = "style.css"


def address_of(path, is_folder=False):
    """Where a file of the checkout stands in the book. Web servers hide folders that begin with a dot."""
    path = PurePosixPath(re.sub(r"^\.(?=\w)", "", path))
    if is_folder or path.name == "README.md":
        return ((path if is_folder else path.parent) / "index.html").as_posix()
    if path.suffix == ".md":
        return path.with_suffix(".html").as_posix()
    return path.as_posix() if path.suffix in DATA else f"{path}.html"


def relative(address, origin):
    """A link from the page at one address to another address."""
    return quote(os.path.relpath(address, PurePosixPath(origin).parent.as_posix()))


class Book:
    def __init__(self, root, figures):
        self.root, self.figures = Path(root).resolve(), figures
        found = [path.relative_to(self.root).as_posix() for path in pages(self.root)]
        self.order = [name for name in CHAPTERS if name in found] + [name for name in found if name not in CHAPTERS]
        self.appendices = [name for name in self.order if name not in CHAPTERS]
        self.pages = {name: Page(self.root / name) for name in self.order}
        self.headers = sorted(p.relative_to(self.root).as_posix() for p in (self.root / "include" / "tenon").rglob("*.h*"))
        self.linked = set()  # files and folders that pages link to
        self.files = {}  # address -> text or bytes
        self.chapters = {}

    def problems(self):
        """Sentences about links of the Markdown pages that lead nowhere."""
        cache, found = {}, []
        for page in self.pages.values():
            found += broken(page, self.root, cache)
        return [sentence.removeprefix(f"{self.root}/") for sentence in found]

    def build(self):
        """Fills self.files."""
        for name, page in self.pages.items():
            here = address_of(name)
            shown = {PurePosixPath(target).name for target in IMAGE.findall(page.text)}
            self.chapters[name] = Chapter(
                page,
                lambda target, name=name: self._link(name, target),
                lambda code, here=here, shown=shown: [(relative(f, here), says) for f, says in self.figures.shown_by(code, shown)],
            )
        for i, name in enumerate(self.order):
            chapter = self.chapters[name]
            around = [self.order[i - 1] if i else None, self.order[i + 1] if i + 1 < len(self.order) else None]
            self._add(address_of(name), chapter.title, chapter.html, name, around)
        self.files.update(self.figures.drawn)
        self._reference()
        self._linked_files()
        self.files[STYLE] = (Path(__file__).parent / STYLE).read_text(encoding="utf-8")

    def _link(self, origin, target):
        """What stands in place of a link of the Markdown page `origin`."""
        parts = urlsplit(target)
        if parts.scheme or not parts.path:
            return target
        path = (self.root / origin).parent / unquote(parts.path)
        name = os.path.relpath(os.path.normpath(path), self.root)
        if path.is_dir() and f"{name}/README.md".removeprefix("./") in self.pages:
            name, path = f"{name}/README.md".removeprefix("./"), path / "README.md"
        if name not in self.pages:
            self.linked.add(name)
        address = relative(address_of(name, path.is_dir()), address_of(origin))
        return f"{address}#{parts.fragment}" if parts.fragment else address

    def _reference(self):
        floors, (declared, places) = [], declarations.read(self.root, self.headers)
        for floor in FLOORS:
            rows = []
            for name in self.headers:
                included = name.removeprefix("include/")
                if "/".join(included.split("/")[1:-1]) != floor:
                    continue
                text, here = (self.root / name).read_text(encoding="utf-8"), address_of(name)
                body = listing.header_page(
                    included, text, declared[name], lambda other, here=here: self._header_link(other, here),
                    lambda key, here=here: self._declaration_link(places.get(key), here),
                )  # fmt: skip
                self._add(here, included, body)
                rows.append((relative(here, REFERENCE), included, listing.first_sentence(text)))
            if rows:
                floors.append((floor or "host", rows))
        self._add(REFERENCE, "The headers, one by one", listing.reference_page(floors), REFERENCE)
        names = {(one.name, header) for header, found in declared.items() for one in found if one.name.isidentifier()}
        rows = [(name, self._declaration_link((header, name), NAMES), header.removeprefix("include/")) for name, header in names]
        self._add(NAMES, "All names", listing.names_page(rows), NAMES)

    def _header_link(self, included, here):
        return relative(address_of(f"include/{included}"), here) if f"include/{included}" in self.headers else None

    def _declaration_link(self, place, here):
        """The link to (header, name of a declaration in it)."""
        if place is None:
            return None
        address, anchor = address_of(place[0]), quote(listing.anchor_of(place[1]))
        return f"#{anchor}" if address == here else f"{relative(address, here)}#{anchor}"

    def _linked_files(self):
        folders = [name for name in self.linked if (self.root / name).is_dir()]
        for folder in folders:  # a folder shows its sources
            self.linked |= {f"{folder}/{p.name}" for p in (self.root / folder).iterdir() if self._is_source(p)}
        for name in sorted(self.linked - set(self.headers) - set(self.pages)):
            path, here = self.root / name, address_of(name, (self.root / name).is_dir())
            if path.is_dir():
                entries = sorted(p.name for p in path.iterdir() if not is_hidden(p.name) and p.name != "__pycache__")
                self._add(here, name, listing.folder_page(name, [(self._entry(f"{name}/{e}", here), e) for e in entries]))
            elif path.suffix in DATA:
                self.files[here] = path.read_bytes()
            else:
                self._add(here, name, listing.source_page(name, path.read_text(encoding="utf-8", errors="replace")))

    def _is_source(self, path):
        return path.is_file() and path.suffix not in DATA and not path.name.startswith(".")

    def _entry(self, name, here):
        is_folder = (self.root / name).is_dir()
        there = name in self.linked or name in self.headers or name in self.pages
        return relative(address_of(name, is_folder), here) if there else None

    def _add(self, here, title, body, name=None, around=(None, None)):
        """A whole page. name: of the chapter, which the contents mark; around: the chapters before and after it."""
        turns = "".join(
            f'<a href="{relative(address_of(other), here)}">{word}: {html.escape(self.chapters[other].title)}</a>\n'
            for word, other in zip(("Back", "Next"), around)
            if other
        )
        style, home, headers, names = (relative(other, here) for other in (STYLE, "index.html", REFERENCE, NAMES))
        self.files[here] = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(title if title == "tenon" else f"{title} – tenon")}</title>
<link rel="stylesheet" href="{style}">
</head>
<body>
<header>
<a href="{home}">tenon</a>
<a class="to-contents" href="#contents">Contents</a>
<a href="{headers}">Headers</a>
<a href="{names}">Names</a>
</header>
<div class="page">
<main>
{body}<footer>
{turns}</footer>
</main>
<nav id="contents" aria-label="Contents">
{self._contents(here, name)}</nav>
</div>
</body>
</html>
"""

    def _contents(self, here, current):
        def item(name):
            chapter = self.chapters[name]
            link = f'<a href="{relative(address_of(name), here)}">{html.escape(chapter.title)}</a>'
            if name != current:
                return f"<li>{link}</li>\n"
            sections = "".join(f'<li><a href="#{html.escape(a)}">{html.escape(t)}</a></li>\n' for a, t in chapter.sections if a)
            return f'<li aria-current="page">{link}' + (f"\n<ul>\n{sections}</ul>\n" if sections else "") + "</li>\n"

        chapters = "".join(item(name) for name in self.order if name not in self.appendices)
        reference = ""
        for address, title in ((REFERENCE, "The headers, one by one"), (NAMES, "All names")):
            mark = ' aria-current="page"' if current == address else ""
            reference += f'<li{mark}><a href="{relative(address, here)}">{title}</a></li>\n'
        appendices = reference + "".join(item(name) for name in self.appendices)
        return f'<ul>\n{chapters}</ul>\n<p class="faint">Appendices</p>\n<ul>\n{appendices}</ul>\n'
