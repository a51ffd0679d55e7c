"""The pages say what is true: links lead somewhere, code blocks compile or run, tables are short or generated.

Needs TENON_PROGRAM (the executable `tenon`), TENON_BUILD (the build folder; TENON_HAS_BENCHMARKS is ON if it builds them),
TENON_CXX (a C++ compiler), TENON_NVCC and TENON_CUDA_INCLUDE (the toolkit's headers).
"""

import os
import re
import sys
import tempfile
import unittest
from pathlib import Path

import page_code

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
sys.dont_write_bytecode = True
from tenon_docs import pages  # noqa: E402  (the lines above make it importable)

README = ROOT / "README.md"
# Pages for users beside them.
OTHERS = ("src/gemm/BUILD_OPTIONS.md", "include/tenon/COMPILERS.md")
# What VOCABULARY calls otherwise, as far as the words mean nothing else.
PRIVATE_WORDS = re.compile(r"\b(slabs?|copy engine|eighths|by turns|hands? over|handed over)\b", re.IGNORECASE)


def readmes(root=ROOT):
    return [pages.Page(path) for path in pages.pages(root, "README.md")]


def checked_pages():
    """Whose code, words and scripts are checked: the pages for users and contributors."""
    return readmes() + [pages.Page(path) for path in (*sorted((ROOT / ".github").glob("*.md")), *(ROOT / name for name in OTHERS))]


def host_folders(root=ROOT):
    folders = ["-I", root / "include"]
    for folder in os.environ["TENON_CUDA_INCLUDE"].split(";"):
        folders += ["-isystem", folder]
    return folders


def shell(folder, root=ROOT):
    has_benchmarks = os.environ.get("TENON_HAS_BENCHMARKS", "ON") == "ON"
    return page_code.Shell(root, os.environ["TENON_PROGRAM"], os.environ["TENON_BUILD"], folder, os.environ["TENON_NVCC"], has_benchmarks)


def sentences_about(page, block, shell_of_page, root=ROOT):
    checks = {
        "cpp": lambda: page_code.check_host(block, os.environ["TENON_CXX"], host_folders(root)),
        "c": lambda: page_code.check_host(block, os.environ["TENON_CXX"], host_folders(root), "c", "c99"),
        "cuda": lambda: page_code.check_cuda(block, root),
        "cmake": lambda: page_code.check_cmake(block, root),
        "json": lambda: page_code.check_json(block),
        "sh": lambda: shell_of_page.check(block),
        "yaml": lambda: page_code.check_workflow(block, shell_of_page),
    }
    if block.language not in checks:
        return [f"the language is '{block.language}' but must be one of {', '.join(checks)}, which can be checked"]
    return checks[block.language]()


class Tree(unittest.TestCase):
    """Every page."""

    def test_links_lead_somewhere(self):
        found, cache = pages.pages(ROOT), {}
        self.assertGreater(len(found), 8)
        for path in found:
            with self.subTest(page=path.relative_to(ROOT)):
                self.assertEqual(pages.broken(pages.Page(path), ROOT, cache), [])

    def test_code_blocks_are_what_they_say(self):
        for page in checked_pages():
            with tempfile.TemporaryDirectory() as folder:
                commands = shell(folder)
                for block in page.blocks:
                    with self.subTest(page=page.path.relative_to(ROOT), line=block.line):
                        self.assertEqual(sentences_about(page, block, commands), [])

    def test_code_blocks_are_fenced_and_end(self):
        for page in checked_pages():
            self.assertEqual(page.problems, [], page.path)

    def test_words_are_those_of_the_field(self):
        for page in checked_pages():
            found = [(i, match[0]) for i, line in enumerate(page.lines, 1) for match in PRIVATE_WORDS.finditer(line)]
            self.assertEqual(found, [], page.path)

    def test_scripts_that_prose_names_are_there(self):
        for page in checked_pages():
            for script in set(re.findall(r"(?<![\w/])scripts/[\w.]*\w", page.text)):
                path = ROOT / script
                there = path.exists() if path.suffix or path.is_dir() else os.access(path, os.X_OK)
                self.assertTrue(there, f"{page.path}: {script}")


class MainPage(unittest.TestCase):
    def setUp(self):
        self.page = pages.Page(README)

    def test_it_is_short(self):
        lines = self.page.text.splitlines()
        self.assertLessEqual(len(lines), 200)
        long = [i for i, line in enumerate(self.page.lines, 1) if len(line) > 125 and not line.startswith("|")]
        self.assertEqual(long, [], "as few lines as these may not be had by long ones")

    def test_it_has_one_table_of_at_most_12_rows(self):
        (rows,) = self.page.tables()
        self.assertLessEqual(rows, 12)
        self.assertIn("<!-- table:summary -->", self.page.text)

    def test_the_embedding_examples_are_whole_files_of_at_most_30_lines(self):
        examples = {path.read_text(encoding="utf-8") for path in (ROOT / "tests/examples").glob("*.cu")}
        quoted = self.page.of("cuda")
        self.assertGreaterEqual(len(quoted), 1)
        for block in quoted:
            self.assertIn(block.text, examples)
            self.assertLessEqual(len(block.text.splitlines()), 30)

    def test_it_has_the_two_commands_and_one_call(self):
        first, *_ = self.page.of("sh")
        self.assertEqual([words[0] for words in page_code.commands_of(first.text)], ["./scripts/run", "./scripts/test"])
        (call,) = self.page.of("cpp")
        self.assertIn("tenon::gemm(", call.text)

    def test_every_other_readme_is_reached_from_it(self):
        links = {(README.parent / link.split("#")[0]).resolve() for link in self.page.links() if "://" not in link}
        for page in readmes():
            if page.path != README:
                self.assertIn(page.path.resolve(), links)


class OtherPages(unittest.TestCase):
    def test_every_command_of_tenon_is_shown(self):
        page = pages.Page(ROOT / "src/command_line/README.md")
        shown = {words[1] for block in page.of("sh") for words in page_code.commands_of(block.text) if words[0] == "tenon"}
        text = page_code.run(os.environ["TENON_PROGRAM"], "--help").stdout
        commands = re.findall(r"^  (\w+)  ", text.split("Subcommands:")[1].split("\n\n")[0], re.MULTILINE)
        self.assertEqual(shown, set(commands))

    def test_the_course_has_every_floor_in_order(self):
        page = (ROOT / "include/tenon/README.md").read_text(encoding="utf-8")
        floors = re.search(r"^LAYERS = \[(.*)\]$", (ROOT / "scripts/check_floors").read_text(encoding="utf-8"), re.MULTILINE)[1]
        there = [name for name in re.findall(r"\w+", floors) if (ROOT / "include/tenon" / name).is_dir()]
        self.assertGreaterEqual(len(there), 6)
        self.assertEqual(re.findall(r"^## (\w+): ", page, re.MULTILINE), there)

    def test_every_generated_table_stands_in_one_page(self):
        names = re.findall(r'^    "(\w+)": \w+_table,$', (ROOT / "scripts/readme_tables").read_text(encoding="utf-8"), re.MULTILINE)
        self.assertGreater(len(names), 5)
        marked = [name for page in readmes() for name in re.findall(r"<!-- table:(\w+) -->", page.text)]
        self.assertEqual(sorted(marked), sorted(names))

    def test_every_level_of_the_tests_is_explained(self):
        rows = re.findall(r"^\| (L\d) \|", (ROOT / "tests/README.md").read_text(encoding="utf-8"), re.MULTILINE)
        self.assertEqual(rows, ["L0", "L1", "L2", "L3", "L4"])

    def test_every_family_and_every_part_of_a_kernel_name_is_explained(self):
        page = (ROOT / "src/gemm/README.md").read_text(encoding="utf-8")
        names = [line.split()[0] for line in page_code.run(os.environ["TENON_PROGRAM"], "list").stdout.splitlines()[1:-1]]
        self.assertGreater(len(names), 100)
        families, parts = set(), set()
        for name in names:
            head, tail = re.fullmatch(r"(.*)_s\d+((?:_\w+)?)", name).groups()
            families.add(re.match(r"(?:cp_async|[a-z]+)(?=_)", head)[0])
            parts |= {re.sub(r"^c\d+x\d+$", "cAxB", re.sub(r"(?<![cx])\d+$", "N", part)) for part in tail.split("_") if part}
        self.assertEqual(set(re.findall(r"^\| `(\w+)_\*` \|", page, re.MULTILINE)), families)
        table = page.split("| part | meaning |")[1].split("\n\n")[0]
        self.assertEqual(set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)), parts)


class Checker(unittest.TestCase):
    """The checks themselves, on pages with planted mistakes."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve() / "tree"
        for place in ("folder", "tests/examples", "src/host", "build", "scripts/cmake", ".tools", "work"):
            (self.root / place).mkdir(parents=True)
        self.write("folder/other.md", "# Other page\n\n## A `code`, and: more\n\n## Twice\n\n## Twice\n")
        self.write("folder/source.cpp", "one\ntwo\n")
        self.write("tests/examples/example.cu", "first\nsecond\nthird\n")
        self.write("build/CMakeCache.txt", "")
        self.write("build/README.md", "[broken](nothing)")
        self.write("CMakePresets.json", '{"configurePresets": [{"name": "release"}]}')
        self.write("src/tenonConfig.cmake.in", '  if(NOT component MATCHES "^(headers|library)$")\n')
        self.write("CMakeLists.txt", "project(tenon VERSION 0.2.0)\nadd_library(tenon::part ALIAS tenon_part)\n"
                   'option(TENON_THIS "x" ON)\nset(TENON_THAT "80" CACHE STRING "y")\nadd_library(something)\n')  # fmt: skip
        self.write("scripts/cmake/TenonSass.cmake", 'function(tenon_add_sass_test s)\n"SPILL_FREE" "NAME;KERNEL" "EXPECT"\n')
        self.program("scripts/tool", "echo '  --good X  --goodness  -o'")
        self.write("scripts/not_executable", "")
        self.write("scripts/pyproject.toml", 'name = "some-thing"\nextra = []\n')

    def write(self, name, text):
        (self.root / name).write_text(text, encoding="utf-8")
        return self.root / name

    def program(self, name, body):
        self.write(name, f"#!/bin/sh\n{body}\n").chmod(0o755)

    def broken(self, text):
        return pages.broken(pages.Page(self.write("README.md", text)), self.root)

    def test_links_that_are_good(self):
        good = (
            "[a](folder/other.md)", "[a](folder)", "![a](folder/source.cpp)", "[a](#here)\n\n# Here\n", "[a](README.md#x--y)\n\n# x & y\n",
            "[a](folder/other.md#a-code-and-more)", "[a](folder/other.md#twice-1)", "[a](folder/source.cpp#L2)", "[`a[i]`](folder)",
            "[a](https://example.org/x#y)", "[a](folder 'a title')", "[a][label]\n\n[label]: folder\n", "[![a](folder)](folder/other.md)",
            "`[a](nothing)`", "```sh\n[a](nothing)\n```", "<!-- [a](nothing) -->", '<a id="there"></a> [a](#there)',
            "# [Linked](folder) heading\n[a](#linked-heading)", "# **Bold** _x_\n[a](#bold-_x_)",
        )  # fmt: skip
        for text in good:
            self.assertEqual(self.broken(text), [], text)

    def test_links_that_are_broken(self):
        for text, why in (
            ("[a](nothing.md)", "does not exist"),
            ("text ![a](picture.png) text", "does not exist"),
            ("[![a](nothing.png)](folder)", "does not exist"),
            ("[a](Folder/other.md)", "does not exist"),
            ("[a](folder/other.md#nowhere)", "heading"),
            ("[a](folder/other.md#twice-2)", "heading"),
            ("[a](#nowhere)\n\n# Here\n", "heading"),
            ("[a](#here)\n\n```sh\n# Here\n```\n", "heading"),
            ("[a](folder#x)", "not a page"),
            ("[a](folder/source.cpp#L3)", "the file has 2"),
            ("[a][label]", "no definition"),
            ("[a][label]\n\n[label]: nothing\n", "does not exist"),
            ("[a](/folder)", "begins with /"),
            ("[a](../../outside)", "leaves the repository"),
            ("[a](build/README.md)", "build folder"),
            ("[a](.tools/x)", "does not exist"),
            ("[a]()", "empty"),
            ("[a](https:///x)", "scheme"),
            ("[a](javascript:x)", "scheme"),
            ('<a href="nothing">a</a>', "does not exist"),
            ('<img alt="x" src="nothing.png">', "does not exist"),
        ):
            found = self.broken(text)
            self.assertEqual(len(found), 2 if "[label]:" in text else 1, text)
            self.assertIn(why, found[0], text)

    def test_pages_of_build_folders_are_left_out(self):
        self.write("README.md", "")
        self.write(".tools/README.md", "")
        self.assertEqual(pages.pages(self.root, "README.md"), [self.root / "README.md"])

    def test_form(self):
        for text, count in (("```sh\nx\n", 1), ("text\n\n    code\n", 1), ("- item\n\n    more of it\n", 0), ("```sh\n\n    x\n```\n", 0),
                            ("- item\n\ntext\n\n    code\n", 1)):  # fmt: skip
            self.assertEqual(len(pages.Page(self.write("README.md", text)).problems), count, text)

    def test_tables_are_counted(self):
        page = pages.Page(self.write("README.md", "| a |\n|---|\n| 1 |\n| 2 |\n\n```sh\n| x |\n```\n\n| a |\n|---|\n"))
        self.assertEqual(page.tables(), [2, 0])

    def sentences(self, language, code):
        page = pages.Page(self.write("README.md", f"```{language}\n{code}```\n"))
        folder = self.root / "work" / str(len(list((self.root / "work").iterdir())))
        folder.mkdir()
        return sentences_about(page, page.blocks[0], page_code.Shell(self.root, os.environ["TENON_PROGRAM"], self.root / "build", folder,
                                                                     os.environ["TENON_NVCC"]), self.root)  # fmt: skip

    def test_code(self):
        for language, code, why in (
            ("cpp", "int f() { return 1; }\n", None),
            ("cpp", "int f() { return x; }\n", "was not declared"),
            ("cpp", "int f() { int unused; return 1; }\n", "unused"),
            ("cpp", '#include "tenon/nothing.hpp"\n', "nothing.hpp"),
            ("c", "int f(void) { return 1; }\n", None),
            ("c", "class X {};\n", "class"),
            ("cuda", "first\nsecond\n", None),
            ("cuda", "first\nthird\n", "no source"),
            ("cuda", "econd\n", "no source"),
            ("cuda", "\n", "empty"),
            ("json", '{"a": [1]}\n', None),
            ("json", '{"a": [1}\n', "not JSON"),
            ("cmake", 'include(TenonSass)\ntenon_add_sass_test(x KERNEL "EXPECTED.*" EXPECT HMMA.1>=2 SPILL_FREE)\n', None),
            ("cmake", "tenon_add_sass_tests(x)\n", "no module"),
            ("cmake", "tenon_add_sass_test(x KERNELS y)\n", "no argument KERNELS"),
            ("cmake", "include(TenonSas)\n", "no TenonSas.cmake"),
            ("cmake", "set(TENON_THAT 90)\nadd_subdirectory(tenon)\ntarget_link_libraries(x PRIVATE tenon::part)\n", None),
            ("cmake", "set(TENON_OTHER 90)\n", "no CMakeLists.txt has the option TENON_OTHER"),
            ("cmake", "target_link_libraries(x PRIVATE tenon::par)\n", "no CMakeLists.txt has the target tenon::par"),
            ("cmake", "find_package(tenon 0.2 REQUIRED COMPONENTS headers library)\nfind_package(tenon)\nfind_package(X 7)\n", None),
            ("cmake", "find_package(tenon REQUIRED COMPONENTS headers librar)\n", "tenon has no component librar"),
            ("cmake", "find_package(tenon 0.1 REQUIRED)\n", "the project has not the version 0.1"),
            ("yaml", "jobs: {a: {steps: [{uses: x}, {run: scripts/tool --good}]}}\n", None),
            ("yaml", "jobs: {a: {steps: [{run: scripts/tool --bad}]}}\n", "no --help shows --bad"),
            ("yaml", "variables: {A: b}\nc: {script: [tenon-tool --good, nvcc x.cu]}\n", None),
            ("yaml", "c: {script: [tenon-tool --bad]}\n", "no --help shows --bad"),
            ("yaml", "c: {script: []}\n", "no job runs a command"),
            ("yaml", "c: {script: [x\n", "no workflow"),
            ("yaml", "jobs: [x]\n", "no workflow"),
            ("", "x\n", "the language is ''"),
            ("text", "x\n", "the language is 'text'"),
        ):
            found = self.sentences(language, code)
            if why is None:
                self.assertEqual(found, [], code)
            else:
                self.assertIn(why, "".join(found), code)

    def test_commands(self):
        for code, why in (
            ("tenon layout m16n8k16 f16 a  # a comment\n", None),
            ("tenon layout m16n8k16 f16 nothing\n", "exit status 2"),
            ("tenon nothing\n", "exit status 2"),
            ("tenon gemm --m 24 --n 56 --k 40 --nothing\n", "exit status 2"),
            ("tenon gemm --a A.npy --b B.npy --out C.npy --device emulator\n", None),
            ("scripts/tool --good 1 && ./scripts/tool\n", None),
            ("VARIABLE=x scripts/tool \\\n  --goodness -o\n", None),
            ("scripts/tool --goo\n", "no --help shows --goo"),
            ("scripts/tool\nscripts/tool --bad=1\n", "no --help shows --bad"),
            ("scripts/nothing\n", "there is no scripts/nothing"),
            ("scripts/not_executable\n", "cannot be executed"),
            ("tenon-tool --goodness\n", None),
            ("tenon-tool --bad\n", "no --help shows --bad"),
            ("tenon-nothing\n", "there is no tenon-nothing"),
            ("pip install ./scripts && pip install './scripts[extra]'\n", None),
            ("pip install 'some-thing[extra] @ git+https://example.org/x.git@v1#subdirectory=scripts'\n", None),
            ("pip install other-thing@git\n", "names no folder"),
            ("pip install 'other-thing @ git+https://example.org/x.git#subdirectory=scripts'\n", "has no `name = "),
            ("pip install './scripts[more]'\n", "has no `more = ["),
            ("pip install ./folder\n", "names no folder"),
            ("pip install -r ./scripts\n", "no check understands"),
            ("rm x\n", "there is no rm"),
            ("./tenon_nothing\n", "there is no ./tenon_nothing"),
            ("scripts/tool > file\n", "no check understands"),
            ("scripts/tool 'x\n", "closing quotation"),
            ("# nothing\n", "no command"),
            ("cmake --preset release -DTENON_THIS=OFF -DTENON_THAT=90 && cmake --build build --target something\n", None),
            ("cmake --preset debug\n", "no preset debug"),
            ("cmake --build build --target some\n", "no CMakeLists.txt has the target"),
            ("cmake -B build -DTENON_OTHER=1\n", "no CMakeLists.txt has the option"),
            ("git diff folder/source.cpp\n", None),
            ("git diff folder/nothing\n", "there is no folder/nothing"),
            ("cd folder\n", None),
            ("cd nowhere\n", "no folder"),
            ("nvcc -ptx nothing.cu\n", "exit status"),
        ):
            found = self.sentences("sh", code)
            if why is None:
                self.assertEqual(found, [], code)
            else:
                self.assertIn(why.lower(), "".join(found).lower(), code)


if __name__ == "__main__":
    unittest.main()
