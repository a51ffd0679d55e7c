"""Markdown to HTML: one page, whose headings have GitHub's anchors and whose links lead to pages of the book."""

import html
import re

from markdown_it import MarkdownIt
from markdown_it.token import Token

from .pages import HTML_COMMENT, HTML_LINK


def _parser():
    parser = MarkdownIt("commonmark", {"html": True}).enable("table")
    parser.add_render_rule("table_open", lambda *_: '<div class="table" tabindex="0">\n<table>\n')
    parser.add_render_rule("table_close", lambda *_: "</table>\n</div>\n")
    return parser


def _text_of(token):
    """What a reader sees of an inline token."""
    return "".join(child.content for child in token.children or [] if child.type in ("text", "code_inline"))


def _relinked(markup, link):
    """Raw HTML, without comments, whose links lead into the book."""
    markup = HTML_COMMENT.sub("", markup)
    return HTML_LINK.sub(lambda m: m[0].replace(m[1], html.escape(link(html.unescape(m[1]))), 1), markup)


class Chapter:
    """page: a pages.Page; link(target) -> the address in the book; pictures(code) -> [(address, caption)]."""

    def __init__(self, page, link, pictures):
        self.parser, self.link, self.pictures = _parser(), link, pictures
        self.title, self.sections = page.path.stem, []  # [(anchor, title)] of the second level
        anchors = {line: anchor for line, _, anchor in page.headings()}
        tokens = self.parser.parse(page.text)
        written = []
        for i, token in enumerate(tokens):
            written.append(token)
            if token.type == "heading_open":
                self._heading(token, _text_of(tokens[i + 1]), anchors.get(token.map[0] + 1))
            elif token.type == "inline":
                self._inline(token)
                if tokens[i - 1].tag == "p" and token.children and all(child.type == "image" for child in token.children):
                    tokens[i - 1].attrs = {"class": "picture", "tabindex": "0"}
            elif token.type == "html_block":
                token.content = _relinked(token.content, link)
            elif token.type == "fence":
                token.attrSet("tabindex", "0")
                written += self._figures(token)
        self.html = self.parser.renderer.render(written, self.parser.options, {})

    def _heading(self, token, title, anchor):
        if anchor:
            token.attrSet("id", anchor)
        if token.tag == "h1":
            self.title = title
        elif token.tag == "h2":
            self.sections.append((anchor, title))

    def _inline(self, token):
        for child in token.children:
            if child.type == "link_open":
                child.attrSet("href", self.link(child.attrGet("href")))
            elif child.type == "image":
                child.attrSet("src", self.link(child.attrGet("src")))
            elif child.type == "html_inline":
                child.content = _relinked(child.content, self.link)

    def _figures(self, fence):
        if not re.fullmatch(r"sh\b.*", fence.info):
            return []
        figures = []
        for address, caption in self.pictures(fence.content):
            shown, caption = html.escape(address), html.escape(caption)
            figure = Token("html_block", "", 0)
            figure.content = f'<figure tabindex="0"><img src="{shown}" alt="{caption}"><figcaption>{caption}</figcaption></figure>\n'
            figures.append(figure)
        return figures
