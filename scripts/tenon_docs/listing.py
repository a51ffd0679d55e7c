"""The pages of the book that no Markdown stands behind: a source with its lines, a header's reference, a folder."""

import html
import re
import textwrap

from .header import Outline

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


def header_page(name, text, link_of_include):
    """name: as it is included. The opening comment, each public declaration below its comment, and the source."""
    outline = Outline(text)
    parts = [f"<h1><code>{html.escape(name)}</code></h1>\n"]
    if outline.opening:
        parts.append(comment_html(outline.opening))
    if outline.declarations:
        parts.append('<h2 id="declarations">Declarations</h2>\n')
    for declaration in outline.declarations:
        line = declaration.line
        parts.append(f'<section>\n{comment_html(declaration.comment)}'
                     f'<pre tabindex="0"><code>{html.escape(declaration.text)}</code></pre>\n'
                     f'<p class="faint"><a href="#L{line}">line {line}</a></p>\n</section>\n')  # fmt: skip
    parts.append(f'<h2 id="source">Source</h2>\n{source_lines(text, link_of_include)}')
    return "".join(parts)


def first_sentence(text):
    """Of a header's opening comment."""
    paragraph = " ".join(Outline(text).opening.split("\n\n")[0].split())
    return re.split(r"(?<=[.:!?])\s", paragraph)[0].rstrip(":")


def reference_page(floors):
    """floors: [(title, [(address, name, sentence)])]"""
    parts = ["<h1>The headers, one by one</h1>\n<p>Each page has the opening comment of a header, its public declarations with "
             "the comments above them, and the source.</p>\n"]  # fmt: skip
    for title, headers in floors:
        items = "".join(
            f'<dt><a href="{html.escape(address)}">{html.escape(name)}</a></dt><dd>{html.escape(sentence)}</dd>\n'
            for address, name, sentence in headers
        )
        parts.append(f'<h2 id="{title}">{title}</h2>\n<dl>\n{items}</dl>\n')
    return "".join(parts)


def folder_page(name, entries):
    """entries: [(address or None, name)]"""
    items = "".join(
        f'<li><a href="{html.escape(address)}">{html.escape(entry)}</a></li>\n' if address else f"<li>{html.escape(entry)}</li>\n"
        for address, entry in entries
    )
    return f"<h1><code>{html.escape(name)}/</code></h1>\n<ul>\n{items}</ul>\n"
