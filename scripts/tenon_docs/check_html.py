"""Finds links of the finished book that lead nowhere: to a file that it lacks, or to a place that a page lacks."""

import posixpath
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit


class _Places(HTMLParser):
    """The anchors of a page and its links: [(line, target)]."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.twice, self.links = set(), [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "id":
                if value in self.anchors:
                    self.twice.append((self.getpos()[0], value))
                self.anchors.add(value)
            elif name in ("href", "src"):
                self.links.append((self.getpos()[0], value or ""))


def dead_links(files):
    """Sentences; files: {address: text or bytes}."""
    places = {address: _Places(text) for address, text in files.items() if address.endswith(".html")}
    found = []
    for address, page in places.items():
        found += [f"{address}:{line}: the anchor '{anchor}' is there twice" for line, anchor in page.twice]
        for line, target in page.links:
            parts = urlsplit(target)
            if parts.scheme:
                continue
            path = posixpath.normpath(posixpath.join(posixpath.dirname(address), unquote(parts.path))) if parts.path else address
            if path not in files:
                found.append(f"{address}:{line}: the link '{target}' leads to a file that the book lacks")
            elif parts.fragment and (path not in places or unquote(parts.fragment) not in places[path].anchors):
                found.append(f"{address}:{line}: the link '{target}' names a place that the page lacks")
    return found
