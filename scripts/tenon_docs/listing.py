"""The pages of the book that no Markdown stands behind: a source with its lines, a header's reference, a folder."""

import html
import re
import textwrap

from .declarations import opening_comment

INCLUDE = re.compile(r"^(\s*#\s*include\s*)&quot;(tenon/[\w/.]+)&quot;", re.MULTILINE)


def source_lines(text, link_of_include=lambda name: None):
    """The numbered lines of a source. #L12 names line 12, as on GitHub."""
    lines = []
    for number, line in enumerate(html.escape(text).split("\n")[: text.count("\n") + (not text.endswith("\n"))], 1):
        match = INCLUDE.match(line)
        if match and (address := link_of_include(match[2])):
            line = f'{match[1]}&quot;<a href="{html.escape(address)}">{match[2]}</a>&quot;{line[match.end():]}'
        lines.append(f'<span id="L{number}" data-line="{number}">{line}\n</span>')
    return f'<pre class="source" tabindex="0"><code>{"".join(lines)}</code></pre>\n'


def comment_html(comment):
    """A comment as text that fits any width: its paragraphs and lists; what is indented stays as it is."""
    parts = []  # [(tag, lines)]
    for line in comment.splitlines():
        last = parts[-1][0] if parts else ""
        if not line.strip():
            parts.append(("", []))
        elif line.startswith("- "):
            parts.append(("li", [line[2:]]))
        elif last == "li" and line.startswith("  "):
            parts[-1][1].append(line.strip())
        else:
            tag = "pre" if line.startswith("  ") else "p"
            if last != tag:
                parts.append((tag, []))
            parts[-1][1].append(line)
    return "".join(_part_html(tag, lines) for tag, lines in parts if lines)


def _part_html(tag, lines):
    if tag == "pre":
        return f'<pre tabindex="0">{html.escape(textwrap.dedent(chr(10).join(lines)))}</pre>\n'
    lines = [re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(line)) for line in lines]
    # An instruction in PTX, and what introduces a list, have a line of their own.
    text = "".join(line + ("<br>\n" if line.endswith((";", ":")) else "\n") for line in lines[:-1]) + lines[-1]
    return f"<ul><li>{text}</li></ul>\n" if tag == "li" else f"<p>{text}</p>\n"


def source_page(name, text):
    return f"<h1><code>{html.escape(name)}</code></h1>\n{source_lines(text)}"


def header_page(name, text, declarations, link_of_include, link_of):
    """name: as it is included. The opening comment, each public declaration below its comment, and the source.

    link_of(key): the address of what Doxygen calls so, or None.
    """
    parts = [f"<h1><code>{html.escape(name)}</code></h1>\n"]
    if opening := opening_comment(text):
        parts.append(comment_html(opening))
    if declarations:
        parts.append('<h2 id="declarations">Declarations</h2>\n')
    anchors = set()
    for declaration in declarations:
        line, place = declaration.line, ""
        if anchor_of(declaration.name) not in anchors:  # of overloads the first
            anchors.add(anchor_of(declaration.name))
            place = f' id="{html.escape(anchor_of(declaration.name))}"'
        parts.append(f'<section{place}>\n{declarations_html([declaration], link_of)}'
                     f'<p class="faint"><a href="#L{line}">line {line}</a></p>\n</section>\n')  # fmt: skip
    parts.append(f'<h2 id="source">Source</h2>\n{source_lines(text, link_of_include)}')
    return "".join(parts)


def declarations_html(declarations, link_of):
    """Each below its comment; those without one follow the one before in its block. Members of a class stand below it."""
    parts, block = [], []

    def flush():
        if block:
            parts.append(f'<pre tabindex="0"><code>{chr(10).join(block)}</code></pre>\n')
            block.clear()

    for declaration in declarations:
        if declaration.comment:
            flush()
            parts.append(comment_html(declaration.comment))
        links = {word: address for word, key in declaration.links.items() if word != declaration.name and (address := link_of(key))}
        block.append(linked(declaration.text, links))
        if declaration.members:
            flush()
            parts.append(f'<div class="members">\n{declarations_html(declaration.members, link_of)}</div>\n')
    flush()
    return "".join(parts)


def anchor_of(name):
    return f"declaration-{re.sub(r'[^-!%-;=?-~]', '_', name)}"


def linked(text, links):
    """A declaration whose words lead to their declarations; links: {word: address}. What a comment says stays as it is."""
    if not links:
        return html.escape(text)
    words = re.compile(r"//[^\n]*|(?<!\w)(?:" + "|".join(map(re.escape, sorted(links, key=len, reverse=True))) + r")(?!\w)")
    parts, at = [], 0
    for match in words.finditer(text):
        if match[0] in links:
            parts.append(f'{html.escape(text[at:match.start()])}<a href="{html.escape(links[match[0]])}">{html.escape(match[0])}</a>')
            at = match.end()
    return "".join([*parts, html.escape(text[at:])])


def first_sentence(text):
    """Of a header's opening comment."""
    paragraph = " ".join(opening_comment(text).split("\n\n")[0].split())
    return re.split(r"(?<=[.:!?])\s", paragraph)[0].rstrip(":")


def reference_page(floors):
    """floors: [(title, [(address, name, sentence)])]"""
    parts = ["<h1>The headers, one by one</h1>\n<p>Each page has the opening comment of a header, its public declarations with "
             "the comments above them, and the source. A type in a declaration leads to its own declaration.</p>\n"]  # fmt: skip
    for title, headers in floors:
        items = "".join(
            f'<dt><a href="{html.escape(address)}">{html.escape(name)}</a></dt><dd>{html.escape(sentence)}</dd>\n'
            for address, name, sentence in headers
        )
        parts.append(f'<h2 id="{title}">{title}</h2>\n<dl>\n{items}</dl>\n')
    return "".join(parts)


def names_page(names):
    """names: [(name, address, header)]"""
    letters = {}
    for name, address, header in sorted(names, key=lambda one: (one[0].lower(), *one)):
        letters.setdefault(name[0].upper() if name[0].isalpha() else "_", []).append(
            f'<dt><a href="{html.escape(address)}"><code>{html.escape(name)}</code></a></dt><dd>{html.escape(header)}</dd>\n'
        )
    turns = " ".join(f'<a href="#names-{letter}">{letter}</a>' for letter in letters)
    lists = "".join(f'<h2 id="names-{letter}">{letter}</h2>\n<dl>\n{"".join(items)}</dl>\n' for letter, items in letters.items())
    return f"<h1>All names</h1>\n<p>What the headers declare, members of classes apart.</p>\n<p>{turns}</p>\n{lists}"


def folder_page(name, entries):
    """entries: [(address or None, name)]"""
    items = "".join(
        f'<li><a href="{html.escape(address)}">{html.escape(entry)}</a></li>\n' if address else f"<li>{html.escape(entry)}</li>\n"
        for address, entry in entries
    )
    return f"<h1><code>{html.escape(name)}/</code></h1>\n<ul>\n{items}</ul>\n"
