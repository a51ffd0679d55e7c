"""The book of scripts/docs in headless Chromium, 360 pixels wide: nothing is wider than the window. Needs a Chromium in PATH."""

import functools
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
PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WIDTH = 360
# A window of Chromium is at least 500 pixels wide, a frame within it may be narrower.
HARNESS = """<!doctype html><body><script>
const found = {};
async function measure(page) {
  const frame = document.createElement("iframe");
  frame.style = "width: %(width)dpx; height: 800px; border: 0";
  frame.src = page;
  await new Promise((done) => { frame.onload = done; document.body.append(frame); });
  const root = frame.contentDocument.documentElement;
  const boxes = [...root.querySelectorAll(".table, pre")].filter((box) => box.scrollWidth > box.clientWidth);
  found[page] = {window: frame.contentWindow.innerWidth, width: root.scrollWidth, height: root.scrollHeight, boxes: boxes.length,
                 font: parseFloat(frame.contentWindow.getComputedStyle(frame.contentDocument.body).fontSize)};
  frame.remove();
}
(async () => {
  for (const page of %(pages)s) await measure(page);
  const text = document.createElement("p");
  text.id = "found";
  text.textContent = JSON.stringify(found);
  document.body.append(text);
})();
</script>"""


class Server(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


def measured(chromium, folder, pages):
    """{page: its sizes in a frame of WIDTH pixels}. Serves the folder, since frames of file:// may not be read."""
    (folder / "harness.html").write_text(HARNESS % {"width": WIDTH, "pages": json.dumps(pages)}, encoding="utf-8")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Server, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        command = [chromium, "--headless", "--no-sandbox", "--hide-scrollbars", "--disable-gpu", "--no-proxy-server", "--virtual-time-budget=60000",
                   f"--user-data-dir={folder}/profile", "--dump-dom", f"http://127.0.0.1:{server.server_port}/harness.html"]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
        server.shutdown()
    found = re.search(r'<p id="found">(.*?)</p>', done.stdout)
    if not found:
        raise AssertionError(f"{chromium} measured nothing: {done.stdout[-500:]} {done.stderr[-500:]}")
    return json.loads(found[1])


class Phone(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.chromium = next(filter(None, map(shutil.which, PROGRAMS)), None)
        if cls.chromium is None:
            print(f"test_phone.py: Skipped\nneeds a Chromium ({', '.join(PROGRAMS)}) in PATH", flush=True)  # read by test_summary
            raise unittest.SkipTest("no Chromium")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        program = ["--tenon", os.environ["TENON_PROGRAM"]] if "TENON_PROGRAM" in os.environ else []
        command = [sys.executable, ROOT / "scripts" / "docs", "--out", cls.folder / "book", *program]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    def test_no_chapter_is_wider_than_a_phone(self):
        pages = [
            "index.html", "include/tenon/index.html", "src/gemm/index.html", "src/emulator/index.html", "ptx/index.html",
            "src/command_line/index.html", "scripts/index.html", "microbench/index.html", "microbench/HISTORY.html", "tests/index.html",
            "reference.html", "include/tenon/ptx/mma_f16.hpp.html", "include/tenon/gemm/kernel_wgmma_unaligned.hpp.html",
            "github/CONTRIBUTING.html",
        ]  # fmt: skip
        found = measured(self.chromium, self.folder / "book", pages)
        for page in pages:
            with self.subTest(page=page):
                self.assertEqual(found[page]["window"], WIDTH)
                self.assertLessEqual(found[page]["width"], WIDTH)
                self.assertGreater(found[page]["height"], 300)
                self.assertGreaterEqual(found[page]["font"], 16)
        self.assertGreater(found["ptx/index.html"]["boxes"], 0, "the support matrix scrolls in its box")

    def test_planted_wide_things(self):
        tree, cell = self.folder / "tree", "wide" * 20
        tree.mkdir()
        row = "|" + f" {cell} |" * 12
        wide = {
            "table": f"# t\n\n{row}\n{'|---' * 12}|\n{row}\n", "code": f"# t\n\n```sh\n{cell * 5}\n```\n", "word": f"# {cell}\n\n`{cell}` {cell}\n",
        }  # fmt: skip
        (tree / "README.md").write_text("# tenon\n", encoding="utf-8")
        (tree / "include" / "tenon").mkdir(parents=True)
        for name, text in wide.items():
            (tree / f"{name}.md").write_text(text, encoding="utf-8")
        command = [sys.executable, ROOT / "scripts" / "docs", "--root", tree, "--out", self.folder / "wide"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        pages = [f"{name}.html" for name in wide]
        found = measured(self.chromium, self.folder / "wide", pages)
        self.assertEqual([found[page]["width"] for page in pages], [WIDTH] * 3)
        self.assertEqual([found[page]["boxes"] for page in pages], [1, 1, 0])
        # Without the stylesheet they do widen the page: the measure is able to fail.
        (self.folder / "wide" / "style.css").write_text("", encoding="utf-8")
        found = measured(self.chromium, self.folder / "wide", pages)
        for page in pages:
            self.assertGreater(found[page]["width"], WIDTH, page)


if __name__ == "__main__":
    unittest.main()
