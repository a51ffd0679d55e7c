"""The C API keeps its binary interface: what the headers of a released version declare is where today's headers have it.

  test_abi.py <C compiler> <folder of the released headers> <include folder of today> <folder to write into>

Enumerators have their numbers, functions their declarations, fields their offsets and sizes. A struct that begins with
struct_bytes may have grown at its end; the others have their size (include/tenon/c_types.h).
"""
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

HEADERS = ("c_types.h", "c_scaled.h", "c_attention.h", "tenon.h")


def declarations(folder):
    """The text of the headers without comments, directives, and the bodies of inline functions."""
    text = "\n".join((folder / "tenon" / name).read_text() for name in HEADERS)
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"^\s*#.*$", "", text, flags=re.M).replace("TENON_INLINE", "static inline")
    return re.sub(r"(static inline [^{;]*)\{.*?\n\}", r"\1;", text, flags=re.S)


def structs_of(text):
    """The names of the fields of each struct."""
    found = {}
    for body, name in re.findall(r"typedef struct \w+ \{(.*?)\}\s*(\w+);", text, flags=re.S):
        fields = []
        for line in body.split(";"):
            if not line.strip():
                continue
            declarators = line.replace("*", " ").split(",")
            fields += [re.sub(r"\[.*", "", declarator).split()[-1] for declarator in declarators]
        found[name] = fields
    return found


def enumerators_of(text):
    return [name for body in re.findall(r"typedef enum \w+ \{(.*?)\}", text, flags=re.S) for name in re.findall(r"(\w+)\s*=", body)]


def functions_of(text):
    """Each declaration by its name."""
    without_types = re.sub(r"typedef (struct|enum) \w+ \{.*?\}\s*\w+;", "", text, flags=re.S)
    found = {}
    for declaration in re.findall(r"[^;{}]*\btenon_\w+\([^;]*\)\s*;", without_types):
        declaration = " ".join(declaration.split()).replace('extern "C" ', "")
        found[re.search(r"\b(tenon_\w+)\(", declaration).group(1)] = declaration
    return found


def layout(compiler, folder, structs, enumerators, work):
    """What a program that is compiled with these headers takes the offsets, sizes and numbers for."""
    lines = [f'printf("{name} %zu\\n", sizeof({name}));' for name in structs]
    for name, fields in structs.items():
        lines += [f'printf("{name}.{field} %zu %zu\\n", offsetof({name}, {field}), sizeof((({name}*)0)->{field}));' for field in fields]
    lines += [f'printf("{name} %d\\n", (int){name});' for name in enumerators]
    source = work / "layout.c"
    source.write_text('#include <stddef.h>\n#include <stdio.h>\n#include "tenon/tenon.h"\nint main(void) {\n' + "\n".join(lines) + "\nreturn 0;\n}\n")
    program = work / "layout"
    # The inline functions of the headers need the library, which this program does not call.
    subprocess.run([compiler, "-std=c99", "-O1", f"-I{folder}", source, "-o", program, "-Wl,--unresolved-symbols=ignore-all"], check=True)
    printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    return {line.split()[0]: [int(number) for number in line.split()[1:]] for line in printed.splitlines()}


def complaints(compiler, released, today, work):
    work.mkdir(parents=True, exist_ok=True)
    old, new = declarations(released), declarations(today)
    structs, enumerators = structs_of(old), enumerators_of(old)
    result = []
    for name, declaration in functions_of(old).items():
        found = functions_of(new).get(name)
        if found != declaration:
            result.append(f"{name}: was '{declaration}', is '{found}'")
    missing = [name for name in enumerators if name not in enumerators_of(new)]
    missing += [f"{name}.{field}" for name, fields in structs.items() for field in fields if field not in structs_of(new).get(name, [])]
    if missing:
        return result + [f"{name}: is gone" for name in missing]
    was, now = (layout(compiler, folder, structs, enumerators, work) for folder in (released, today))
    for name, numbers in was.items():
        may_grow = "struct_bytes" in structs.get(name, [])
        if now[name] != numbers and not (may_grow and now[name] > numbers):
            result.append(f"{name}: was {numbers}, is {now[name]}")
    return result


class Abi(unittest.TestCase):
    compiler, released, today, work = "", pathlib.Path(), pathlib.Path(), pathlib.Path()

    def test_reads_the_headers(self):
        text = declarations(self.released)
        structs = structs_of(text)
        self.assertEqual(structs["tenon_matrix"], ["data", "ld", "type", "reserved"])
        self.assertIn("multiprocessors", structs["tenon_gemm_problem"])
        self.assertIn("row_bias", structs["tenon_gemm_pointers"])
        self.assertEqual(sum("struct_bytes" in fields for fields in structs.values()), 9)
        self.assertIn("TENON_CUDA_ERROR", enumerators_of(text))
        functions = functions_of(text)
        self.assertEqual(functions["tenon_version"], "const char* tenon_version(void);")
        self.assertIn("tenon_gemm_problem_default", functions)
        self.assertGreater(len(functions), 40)

    def test_every_struct_can_grow(self):
        structs = structs_of(declarations(self.today))
        fixed = [name for name, fields in structs.items() if not {"struct_bytes", "reserved"} & set(fields)]
        self.assertEqual(fixed, ["tenon_status"])  # which the library writes: its message says what is new

    def test_today_has_all_of_it(self):
        self.assertEqual(complaints(self.compiler, self.released, self.today, self.work), [])

    def changed(self, header, before, after):
        """The complaints about today's headers with a change."""
        folder = self.work / "changed"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.today / "tenon", folder / "tenon", ignore=lambda _, names: [n for n in names if n not in HEADERS])
        path = folder / "tenon" / header
        self.assertIn(before, path.read_text())
        path.write_text(path.read_text().replace(before, after, 1))
        return complaints(self.compiler, self.released, folder, self.work)

    def test_a_field_that_moves_is_found(self):
        found = self.changed("tenon.h", "  int64_t m, n, k;", "  int more[2];\n  int64_t m, n, k;")
        self.assertIn("tenon_gemm_problem.m: was [8, 8], is [16, 8]", found)

    def test_a_field_at_the_end_is_not(self):
        self.assertEqual(self.changed("tenon.h", "} tenon_gemm_problem;", "  int64_t more;\n} tenon_gemm_problem;"), [])

    def test_a_nested_struct_that_grows_is_found(self):
        found = self.changed("c_types.h", "} tenon_matrix;", "  int64_t more;\n} tenon_matrix;")
        self.assertIn("tenon_matrix: was [32], is [40]", found)

    def test_an_enumerator_with_another_number_is_found(self):
        self.assertEqual(self.changed("c_types.h", "TENON_F64 = 8", "TENON_F64 = 9"), ["TENON_F64: was [8], is [9]"])

    def test_what_is_gone_is_found(self):
        self.assertEqual(self.changed("c_attention.h", "  float soft_cap;", "  float cap;"), ["tenon_attention_problem.soft_cap: is gone"])
        found = self.changed("c_scaled.h", "int tenon_slices_for(int bits, int64_t k);", "int tenon_slices_for(int64_t k);")
        self.assertEqual(found, ["tenon_slices_for: was 'int tenon_slices_for(int bits, int64_t k);', is 'int tenon_slices_for(int64_t k);'"])


if __name__ == "__main__":
    Abi.compiler, Abi.released, Abi.today, Abi.work = sys.argv[1], *(pathlib.Path(path) for path in sys.argv[2:5])
    unittest.main(argv=sys.argv[:1])
