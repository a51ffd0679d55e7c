"""The pages of the book that no Markdown stands behind: a source with its lines, a header's reference, a folder."""

import html
import re

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


def source_page(name, text):
    return f"<h1><code>{html.escape(name)}</code></h1>\n{source_lines(text)}"


def header_page(name, text, link_of_include):
    """name: as it is included. The opening comment, each public declaration below its comment, and the source."""
    outline = Outline(text)
    parts = [f"<h1><code>{html.escape(name)}</code></h1>\n"]
    if outline.opening:
        parts.append(f'<pre tabindex="0">{html.escape(outline.opening)}</pre>\n')
    if outline.declarations:
        parts.append('<h2 id="declarations">Declarations</h2>\n')
    for declaration in outline.declarations:
        comment = f'<pre class="comment" tabindex="0">{html.escape(declaration.comment)}</pre>\n' if declaration.comment else ""
        line = declaration.line
        parts.append(f'{comment}<pre tabindex="0"><code>{html.escape(declaration.text)}</code></pre>\n'
                     f'<p class="faint"><a href="#L{line}">line {line}</a></p>\n')  # fmt: skip
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
        rows = "".join(
            f'<tr><td><a href="{html.escape(address)}">{html.escape(name)}</a></td><td>{html.escape(sentence)}</td></tr>\n'
            for address, name, sentence in headers
        )
        parts.append(f'<h2 id="{title}">{title}</h2>\n<div class="table" tabindex="0"><table>\n{rows}</table></div>\n')
    return "".join(parts)


def folder_page(name, entries):
    """entries: [(address or None, name)]"""
    items = "".join(
        f'<li><a href="{html.escape(address)}">{html.escape(entry)}</a></li>\n' if address else f"<li>{html.escape(entry)}</li>\n"
        for address, entry in entries
    )
    return f"<h1><code>{html.escape(name)}/</code></h1>\n<ul>\n{items}</ul>\n"
