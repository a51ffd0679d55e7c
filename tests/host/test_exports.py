"""libtenon.so shows the functions that the headers in include/tenon declare, and nothing else.

  test_exports.py map <c++ compiler> <include folder> <exported.map> <folder to write into>
  test_exports.py library <c++ compiler> <include folder> <libtenon.so> <folder to write into>

The compiler says what a function is called: each declaration, with a body, is compiled, and nm lists the names.
"""

import re
import subprocess
import sys
import unittest
from pathlib import Path

BODY = " { __builtin_trap(); }"
NO_DEFINITION = re.compile(r"=\s*(default|delete)$|^(using|typedef|friend|static_assert|template)\b")


def statements(text):
    """(scopes, statement) of what ends with a semicolon at the level of a namespace or of a class."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", " ", text, flags=re.M)
    scopes, statement, parentheses, skipped = [], "", 0, 0
    for character in text:
        if skipped:
            skipped += {"{": 1, "}": -1}.get(character, 0)
            if not skipped and "(" in statement:
                statement = ""  # it was the body of a function
            continue
        parentheses += {"(": 1, ")": -1}.get(character, 0)
        head = re.sub(r"\b(public|protected|private)\s*:", " ", " ".join(statement.split())).strip()
        if character == "{" and not parentheses:
            scope = re.match(r'(?:inline )?(namespace|struct|class|extern "C")\s*(?:final )?([\w:]*)[^(=]*$', head)
            if scope:
                scopes.append(scope.groups())
                statement = ""
            else:
                skipped = 1
        elif character == "}" and not parentheses:
            scopes.pop()
            statement = ""
        elif character == ";" and not parentheses:
            yield list(scopes), head
            statement = ""
        else:
            statement += character


def definition(scopes, declaration):
    """C++ that defines a function which is declared without a body; None if the statement declares none."""
    declaration = re.sub(r"\[\[\w+\]\]|\b(explicit|static|virtual)\b", "", declaration).strip()
    if "(" not in declaration or NO_DEFINITION.search(declaration):
        return None
    begin, without, depth, default = declaration.index("("), "", 0, False
    for character in declaration[begin:]:
        if depth == 1 and character in ",)":
            default = False
        depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(character, 0)
        default = default or (depth == 1 and character == "=")
        without += "" if default else character
    name = re.search(r"(~?\w+|operator\W+)\s*$", declaration[:begin]).start()
    classes = "".join(f"{name_of}::" for kind, name_of in scopes if kind in ("struct", "class"))
    spaces = [name_of for kind, name_of in scopes if kind == "namespace"]
    return "".join(f"namespace {space} {{ " for space in spaces) + declaration[:name] + classes + declaration[name:begin] + without + BODY + " }" * len(spaces)  # fmt: skip


def names(arguments, demangled):
    output = subprocess.run(["nm", *(["--demangle"] if demangled else []), "--defined-only", "--extern-only", *map(str, arguments)],
                            capture_output=True, text=True, check=True).stdout  # fmt: skip
    return {line.split(maxsplit=2)[2] for line in output.splitlines()}


def declared(compiler, include, folder, demangled):
    """The names of the functions that the headers directly in include/tenon declare and do not define."""
    headers = sorted(path for path in (Path(include) / "tenon").iterdir() if path.suffix in (".h", ".hpp"))
    lines = [f'#include "tenon/{header.name}"' for header in headers]
    for header in headers:
        lines += filter(None, (definition(*found) for found in statements(header.read_text(encoding="utf-8"))))
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    source, code = folder / "declared.cpp", folder / "declared.o"
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    subprocess.run([compiler, "-std=c++17", "-w", f"-I{include}", "-c", source, "-o", code], check=True)
    return names([code], demangled)


def compare(what, found, wanted):
    wrong = [f"{what} shows {name}, which no header in include/tenon declares" for name in sorted(found - wanted)]
    wrong += [f"{what} does not show {name}, which a header in include/tenon declares" for name in sorted(wanted - found)]
    if wrong or not wanted:
        sys.exit("\n".join(wrong) or "no header declares a function")
    print(f"{what} shows the {len(wanted)} functions of the headers, and nothing else")


def exported(text):
    """The names that a linker script lists one a line: without wildcards, so that it shows no more than these."""
    text = re.sub(r"#[^\n]*|/\*.*?\*/", "", text, flags=re.S)
    listed = re.search(r"global:(.*)local:\s*\*;", text, re.S)[1]
    return {name.strip().strip('"') for name in re.sub(r'extern "C\+\+"\s*{|}', "", listed).split(";") if name.strip()}


class Statements(unittest.TestCase):
    def test_only_functions_without_a_body(self):
        text = """
            #define TWO(x) \\
              int two(x);
            namespace tenon { // int in_a_comment();
            struct CUstream;  struct Empty {};
            enum class Mode : int { one = 0 };
            inline int inlined(int x) { if (x) { return f(x); } return 0; }
            inline constexpr int sizes[] = {1, 2};
            Status two_lines(const Gemm& problem,
                             Stream* stream = nullptr, Point where = {1, f(2)}) noexcept;
            class Tuning {
             public:
              Tuning() noexcept = default;
              ~Tuning();
              explicit Tuning(int x) : x_(x) {}
              Tuning& operator=(Tuning&& other) noexcept;
              int size() const noexcept { return x_; }
             private:
              friend struct Access;
              struct State { int x{1}; bool is() const; };
              int x_{0};
            };
            }
            extern "C" {
            const char* tenon_name(void);
            static inline int c_inline(void) { return 0; }
            }"""
        self.assertEqual([found for found in (definition(*s) for s in statements(text)) if found], [
            "namespace tenon { Status two_lines(const Gemm& problem, Stream* stream , Point where ) noexcept" + BODY + " }",
            "namespace tenon { Tuning::~Tuning()" + BODY + " }",
            "namespace tenon { Tuning& Tuning::operator=(Tuning&& other) noexcept" + BODY + " }",
            "namespace tenon { bool Tuning::State::is() const" + BODY + " }",
            "const char* tenon_name(void)" + BODY])  # fmt: skip

    def test_names_of_a_linker_script(self):
        text = '# What; it shows\n{\n  global:\n    c;\n    extern "C++" {\n      "a::b(int)";\n      a::*;\n    };\n  local:\n    *;\n};\n'
        self.assertEqual(exported(text), {"c", "a::b(int)", "a::*"})


if __name__ == "__main__":
    if not unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(Statements)).wasSuccessful():
        sys.exit(1)
    which, compiler, include, file, folder = sys.argv[1:]
    wanted = declared(compiler, include, folder, demangled=which == "map")
    compare(file, exported(Path(file).read_text(encoding="utf-8")) if which == "map" else names(["--dynamic", file], demangled=False), wanted)
