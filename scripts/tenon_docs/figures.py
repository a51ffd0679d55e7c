"""The pictures of the book, drawn anew whenever it is made, where a page shows a command that draws one:

  tenon layout SHAPE TYPE OPERAND              the layout of a fragment; the picture's title is the caption
  scripts/plot KIND ... --out NAME.svg  # ...  the plot of committed results; the comment is the caption
"""

import html
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tenon_sass.errors import NO_TOOL, BadInput
from tenon_sass.files import read_text

LAYOUT = re.compile(r"tenon layout (\w+) (\w+) (\w+)")
PLOT = re.compile(r"scripts/plot .* --out [\w-]+\.svg")
SCRIPTS = Path(__file__).resolve().parents[1]


def find_program(root):
    """The built program `tenon` of a checkout, or that in PATH; None if there is none."""
    for place in ("build/bin/tenon", "build-run/bin/tenon"):
        if os.access(root / place, os.X_OK):
            return str(root / place)
    return shutil.which("tenon")


def find_python():
    """That of scripts/setup, which has matplotlib, else the one that runs this."""
    python = SCRIPTS.parent / ".tools" / "venv" / "bin" / "python3"
    return str(python) if os.access(python, os.X_OK) else sys.executable


class Figures:
    """root: where a page's commands run; program: `tenon`, or None."""

    def __init__(self, root, program):
        self.root, self.program = root, program
        self.drawn = {}  # name of the file -> SVG
        self.commands = {}  # name of the file -> the words that draw it
        self.missing = {}  # why commands drew nothing -> how many

    def shown_by(self, code, shown=()):
        """[(file name, caption)] of what a block of commands draws, except plots whose name is in `shown`."""
        found = []
        for line in code.replace("\\\n", " ").splitlines():
            line, _, comment = line.partition(" #")
            line = line.strip()
            if layout := LAYOUT.fullmatch(line):
                name = "layout-" + "-".join(layout.groups()) + ".svg"
                if self._draw(name, [self.program, "layout", *layout.groups(), "--svg"], line):
                    title = re.search(r"<title>(.*?)</title>", self.drawn[name])
                    found.append((name, html.unescape(title[1]) if title else line))
            elif PLOT.fullmatch(line):
                words = [word for text in shlex.split(line)[1:-2] for word in self._files(text)]
                name = line.split()[-1]
                if name not in shown and self._draw(f"plot-{name}", [find_python(), "-B", str(SCRIPTS / "plot"), *words, "--out"], line):
                    found.append((f"plot-{name}", comment.strip() or line))
        return found

    def _files(self, word):
        """What a shell makes of a word."""
        found = sorted(self.root.glob(word)) if "*" in word else []
        return [path.relative_to(self.root).as_posix() for path in found] or [word]

    def _draw(self, name, words, line):
        """Whether the book has the picture; words: a command without the file that it writes."""
        if words[0] is None:
            why = "there is no program tenon; build it or name it with --tenon"
            self.missing[why] = self.missing.get(why, 0) + 1
            return False
        if self.commands.setdefault(name, words) != words:
            raise BadInput(f"`{line}` and another command draw {name}: give one of them another name")
        if name in self.drawn:
            return True
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "picture.svg")
            try:
                done = subprocess.run([*words, path], capture_output=True, text=True, check=False, timeout=60, cwd=self.root)
            except OSError as error:
                raise BadInput(f"{words[0]}: {error.strerror}") from None
            if done.returncode == NO_TOOL and words[0] != self.program:
                why = done.stderr.strip()
                self.missing[why] = self.missing.get(why, 0) + 1
                return False
            if done.returncode or not os.path.exists(path):
                raise BadInput(f"`{line}` draws nothing: {done.stderr.strip() or done.stdout[:60]}")
            self.drawn[name] = read_text(path)
        return True
