"""Every page of the book of scripts/docs in headless Chromium, 360 pixels wide. Needs a Chromium in PATH.

No page scrolls sideways, no letter is smaller than 12 pixels, and what is wider than the text (a table, code, a picture) scrolls
in a box of its own.
"""

import functools
import html
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WIDTH, SMALLEST = 360, 12
# A window of Chromium is at least 500 pixels wide, a frame within it may be narrower. sees() says what is wrong with a page.
HARNESS = """<!doctype html><body><script>
const width = %(width)d, smallest = %(smallest)d;
function sees(page, view) {
  const said = new Set(), root = page.scrollingElement, styles = new Map();
  const scrolls = (box) => /auto|scroll/.test(view.getComputedStyle(box).overflowX);
  for (const details of page.querySelectorAll("details")) details.open = true;
  if (view.innerWidth !== width) said.add(`the frame is ${view.innerWidth} pixels wide`);
  if (root.scrollWidth > root.clientWidth) said.add(`the page scrolls sideways: it is ${root.scrollWidth} pixels wide`);
  const texts = page.createTreeWalker(page.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    if (!texts.currentNode.data.trim()) continue;
    const {tagName, className, parentElement} = texts.currentNode.parentElement;
    if (!styles.has(parentElement)) styles.set(parentElement, new Set());
    if (styles.get(parentElement).has(tagName + className)) continue;  // as its neighbour, such as the lines of a source
    styles.get(parentElement).add(tagName + className);
    const size = parseFloat(view.getComputedStyle(texts.currentNode.parentElement).fontSize);
    if (size < smallest) said.add(`letters of <${tagName.toLowerCase()}> are ${size} pixels high`);
  }
  if (!styles.size) said.add("the page has no text");
  for (const box of page.querySelectorAll("img, svg, table, pre")) {
    const name = `<${box.tagName.toLowerCase()}>`;
    if (box.tagName === "PRE" && box.scrollWidth > box.clientWidth && !scrolls(box)) said.add(`${name} overflows and does not scroll`);
    let shown = box;
    while (shown && !scrolls(shown)) shown = shown.parentElement;
    const edges = (shown || box).getBoundingClientRect();
    if (edges.left < 0 || edges.right > width) said.add(`${name} reaches from ${edges.left} to ${edges.right}`);
    if (box.tagName !== "IMG") continue;
    if (!box.naturalWidth) said.add(`${name} shows nothing`);
    else if (box.clientWidth < box.naturalWidth)
      said.add(`${name} is shrunk from ${box.naturalWidth} pixels to ${box.clientWidth}, and its letters with it`);
  }
  return [...said];
}
const pages = %(pages)s, found = {};
async function measure(page) {
  const frame = document.createElement("iframe");
  frame.style = `width: ${width}px; height: 800px; border: 0`;
  frame.src = page;
  await new Promise((done) => { frame.onload = done; document.body.append(frame); });
  found[page] = sees(frame.contentDocument, frame.contentWindow);
  frame.remove();
}
async function measureSome() {
  while (pages.length) await measure(pages.pop());
}
Promise.all([1, 2, 3, 4].map(measureSome)).then(() => {
  const text = document.createElement("p");
  text.id = "found";
  text.textContent = JSON.stringify(found);
  document.body.append(text);
});
</script>"""


class Server(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


def runs(program):
    """Whether it is a browser: Ubuntu has programs of these names that only ask for another package."""
    done = subprocess.run([program, "--version"], capture_output=True, check=False, timeout=60)
    return done.returncode == 0


def measured(chromium, folder):
    """{page: what is wrong with it}, of all pages below the folder. It is served, since frames of file:// may not be read."""
    pages = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.html"))
    harness = HARNESS % {"width": WIDTH, "smallest": SMALLEST, "pages": json.dumps(pages)}
    with tempfile.TemporaryDirectory() as profile, http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Server, directory=str(folder))
    ) as server:
        (folder / "harness.html").write_text(harness, encoding="utf-8")
        threading.Thread(target=server.serve_forever, daemon=True).start()
        command = [chromium, "--headless", "--no-sandbox", "--hide-scrollbars", "--disable-gpu", "--no-proxy-server", "--virtual-time-budget=600000",
                   f"--user-data-dir={profile}", "--dump-dom", f"http://127.0.0.1:{server.server_port}/harness.html"]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
        server.shutdown()
    (folder / "harness.html").unlink()
    found = re.search(r'<p id="found">(.*?)</p>', done.stdout)
    if not found:
        raise AssertionError(f"{chromium} measured nothing: {done.stdout[-500:]} {done.stderr[-500:]}")
    return json.loads(html.unescape(found[1]))


def book(folder, *arguments):
    subprocess.run([sys.executable, ROOT / "scripts" / "docs", "--out", folder, *arguments], check=True, stdout=subprocess.DEVNULL)
    return folder


class Phone(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.chromium = next(filter(runs, filter(None, map(shutil.which, PROGRAMS))), None)
        if cls.chromium is None:
            print(f"test_phone.py: Skipped\nneeds a Chromium ({', '.join(PROGRAMS)}) in PATH", flush=True)  # read by test_summary
            raise unittest.SkipTest("no Chromium")

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_every_page_of_the_book(self):
        program = os.environ.get("TENON_PROGRAM")
        made = os.environ.get("TENON_BOOK")  # by test_docs, which ran before this
        folder = Path(made) if made else book(self.folder, *(["--tenon", program] if program else []))
        found = measured(self.chromium, folder)
        self.assertGreater(len(found), 300)
        self.assertEqual({page: said for page, said in found.items() if said}, {})
        for picture in folder.glob("*.svg"):  # sizes of layouts are in pixels, those of plots in points
            sizes = re.findall(r'font-size="([\d.]+)"|font(?:-size)?: ?(?:\w+ )*([\d.]+)px', picture.read_text(encoding="utf-8"))
            smallest = min(float(layout) if layout else float(plot) * 96 / 72 for layout, plot in sizes)
            self.assertGreaterEqual(smallest, SMALLEST, picture.name)

    def test_wide_things_in_markdown(self):
        tree, cell = self.folder / "tree", "wide" * 20
        (tree / "include" / "tenon").mkdir(parents=True)
        (tree / "wide.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg" width="900" height="200"/>', encoding="utf-8")
        row = "|" + f" {cell} |" * 12
        wide = {
            "README": "# tenon\n", "table": f"# t\n\n{row}\n{'|---' * 12}|\n{row}\n", "code": f"# t\n\n```sh\n{cell * 5}\n```\n",
            "word": f"# {cell}\n\n`{cell}` {cell}\n", "picture": "# t\n\n![p](wide.svg)\n",
        }  # fmt: skip
        for name, text in wide.items():
            (tree / f"{name}.md").write_text(text, encoding="utf-8")
        folder = book(self.folder / "book", "--root", tree)
        found = measured(self.chromium, folder)
        self.assertEqual(found, {page: [] for page in found})
        self.assertEqual(len(found), len(wide) + 2)  # the lists of headers and of names
        # Without the stylesheet they do widen the page.
        (folder / "style.css").write_text("", encoding="utf-8")
        found = measured(self.chromium, folder)
        for name in ("table", "code", "word", "picture"):
            self.assertRegex(found[f"{name}.html"][0], "^the page scrolls sideways: it is [0-9]+ pixels wide$")

    def test_each_fault_is_found(self):
        start = "<!doctype html><meta name=viewport content='width=device-width'><body style='margin: 0'>"
        planted = {
            "good": ("<p>text", []), "empty": ("", ["the page has no text"]),
            "wide": ("<div style='width: 400px'>x</div>", ["the page scrolls sideways: it is 400 pixels wide"]),
            "small": ("<p><sub style='font-size: 11px'>x</sub>", ["letters of <sub> are 11 pixels high"]),
            "closed": ("<details><p style='font-size: 8px'>x</details>", ["letters of <p> are 8 pixels high"]),
            "clipped": ("<pre style='overflow: hidden'>" + "x" * 400 + "</pre>", ["<pre> overflows and does not scroll"]),
            "hidden": ("<div style='overflow: hidden'><table style='width: 500px'><td>x</table></div>", ["<table> reaches from 0 to 500"]),
            "lost": ("x<img src='lost.png'>", ["<img> shows nothing"]),
            "shrunk": ("x<br><img src='p.svg' width=300>", ["<img> is shrunk from 400 pixels to 300, and its letters with it"]),
        }  # fmt: skip
        (self.folder / "p.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg" width="400" height="200"/>', encoding="utf-8")
        for name, (markup, _) in planted.items():
            (self.folder / f"{name}.html").write_text(start + markup, encoding="utf-8")
        found = measured(self.chromium, self.folder)
        self.assertEqual(found, {f"{name}.html": said for name, (_, said) in planted.items()})


if __name__ == "__main__":
    unittest.main()
