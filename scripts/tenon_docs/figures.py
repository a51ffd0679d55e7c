"""The pictures of fragment layouts, drawn by `tenon layout`: one wherever a page shows that command."""

import html
import os
import re
import shutil
import subprocess
import tempfile

from tenon_sass.errors import BadInput
from tenon_sass.files import read_text

LAYOUT = re.compile(r"^tenon layout (\w+) (\w+) (\w+)(?: *#.*)?$", re.MULTILINE)


def find_program(root):
    """The built program `tenon` of a checkout, or that in PATH; None if there is none."""
    for place in ("build/bin/tenon", "build-run/bin/tenon"):
        if os.access(root / place, os.X_OK):
            return str(root / place)
    return shutil.which("tenon")


class Figures:
    def __init__(self, program):
        self.program = program
        self.drawn = {}  # name of the file -> SVG
        self.missing = 0  # commands whose picture nobody drew

    def shown_by(self, code):
        """[(file name, caption)] of the layouts that a block of commands prints."""
        found = []
        for layout in LAYOUT.findall(code):
            if self.program is None:
                self.missing += 1
                continue
            name = "layout-" + "-".join(layout) + ".svg"
            if name not in self.drawn:
                self.drawn[name] = self._draw(layout)
            title = re.search(r"<title>(.*?)</title>", self.drawn[name])
            found.append((name, html.unescape(title[1]) if title else " ".join(layout)))
        return found

    def _draw(self, layout):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "layout.svg")
            command = [self.program, "layout", *layout, "--svg", path]
            try:
                done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
            except OSError as error:
                raise BadInput(f"{self.program}: {error.strerror}") from None
            if done.returncode or not os.path.exists(path):
                raise BadInput(f"`tenon layout {' '.join(layout)}` draws nothing: {done.stderr.strip() or done.stdout[:60]}")
            return read_text(path)
