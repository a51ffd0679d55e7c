"""The catalogue and the headers say the same: every form has its wrapper and every wrapper its form."""
import re
import unittest

from catalogue import CHIPS, headers, load, wrappers

FORMS = load()
WRAPPERS = [w for header in headers() for w in wrappers(header)]


def key(header, function, returns, parameters):
    return header, function, returns, tuple(parameters)


BY_SIGNATURE = {key(w.header, w.function, w.result, w.parameters): w for w in WRAPPERS}
PAIRS = [(f, BY_SIGNATURE.get(key(f.header, f.function, *f.signature()))) for f in FORMS]


def operands(text):
    """The operands of an instruction, split at the commas that stand outside brackets."""
    parts = text.rstrip(";").split(" ", 1)
    return re.findall(r"\{[^}]*\}|\[[^\]]*\]|[^,\s]+", parts[1]) if len(parts) > 1 else []


class Catalogue(unittest.TestCase):
    def test_it_is_not_empty(self):
        self.assertGreater(len(FORMS), 150)

    def test_every_form_has_its_wrapper_with_that_signature(self):
        for form, wrapper in PAIRS:
            self.assertIsNotNone(wrapper, f"{form.form}: {form.header} has no {form.function}{form.signature()}")

    def test_every_wrapper_is_in_the_catalogue(self):
        known = {key(f.header, f.function, *f.signature()) for f in FORMS}
        self.assertEqual(sorted(set(BY_SIGNATURE) - known), [])
        self.assertEqual(len(BY_SIGNATURE), len(WRAPPERS), "two wrappers share a signature")
        self.assertEqual(len(known), len(FORMS), "two forms share a signature")

    def test_no_device_function_escapes_the_reader(self):
        for header in headers():
            text = "\n".join(line for line in self.code(header).splitlines() if not line.startswith("//"))
            self.assertEqual(text.count("__device__"), len(wrappers(header)), header)

    def test_the_name_is_the_mnemonic(self):
        for form, _ in PAIRS:
            name = re.sub(r"::|\.", "_", form.mnemonic)
            size = re.search(r"\], (\d+)", form.form)
            self.assertEqual(form.function, name + (f"_{size.group(1)}" if size else ""))

    def test_the_comment_begins_with_the_form_and_states_isa_and_sm(self):
        for form, wrapper in PAIRS:
            isa = ".".join(map(str, form.ptx_isa))
            self.assertTrue(wrapper.comment.startswith(f"{form.form} PTX ISA {isa}, sm_{form.min_sm}. SASS: "),
                            wrapper.comment)

    def test_the_comment_names_the_sass_of_the_newest_native_chip(self):
        for form, wrapper in PAIRS:
            native = [chip for chip in CHIPS if form.status[chip] == "native"]
            for opcode in form.sass[native[-1]] if native else ():
                self.assertIn(re.sub(r"\.STEP\d", "", opcode), wrapper.comment, form.form)

    def test_the_comment_says_where_the_form_is_emulated(self):
        for form, wrapper in PAIRS:
            emulated = [chip for chip in CHIPS if form.status[chip] == "emulated"]
            self.assertEqual("emulated" in wrapper.comment, bool(emulated), form.form)
            if emulated and any(form.status[chip] == "native" for chip in CHIPS):
                self.assertRegex(wrapper.comment, rf"sm_{emulated[0]}\b.* emulated", form.form)

    def test_the_instruction_text_is_the_form(self):
        for form, wrapper in PAIRS:
            self.assertEqual(wrapper.asm.split()[0].rstrip(";"), form.mnemonic)
            self.assertTrue(wrapper.asm.endswith(";"), wrapper.asm)
            said, written = operands(form.form), operands(wrapper.asm)
            self.assertEqual(len(said), len(written), wrapper.asm)
            for a, b in zip(said, written):
                if a.isdigit() or b.isdigit():
                    self.assertEqual(a, b, wrapper.asm)
                self.assertEqual(a.startswith("["), b.startswith("["), wrapper.asm)

    def test_operands_are_numbered_in_order_and_as_many_as_the_catalogue_says(self):
        for form, wrapper in PAIRS:
            numbers = [int(n) for n in re.findall(r"%(\d+)", wrapper.asm)]
            self.assertEqual(numbers, list(range(len(numbers))), form.form)
            registers = sum(int(x.split("x")[0]) if "x" in x else 1 for x in (form.d, form.a, form.b, form.c) if x)
            self.assertEqual(len(numbers), registers + len(form.immediates), form.form)

    def test_array_elements_are_passed_in_order(self):
        for form, wrapper in PAIRS:
            bound = re.findall(r'"=?\w"\((\w+)(?:\[(\d+)\])?\)', wrapper.body)
            for letter, spec in (("d", form.d), ("a", form.a), ("b", form.b), ("c", form.c)):
                if "x" in spec and form.mnemonic.startswith("mma"):
                    self.assertEqual([int(i) for n, i in bound if n == letter],
                                     list(range(int(spec.split("x")[0]))), f"{form.form}: {letter}")
            self.assertEqual([n for n, _ in bound if n in "dabc"], sorted((n for n, _ in bound if n in "dabc"),
                                                                          key="dabc".index), form.form)

    def test_what_touches_or_orders_memory_says_so_and_nothing_else_does(self):
        for form, wrapper in PAIRS:
            memory = form.mnemonic.startswith(("ldmatrix", "stmatrix", "cp.async"))
            self.assertEqual(wrapper.clobbers_memory, memory, form.form)
            self.assertEqual("asm volatile" in wrapper.body, memory or ".sync" in form.mnemonic, form.form)

    def test_the_guard_names_the_function_and_the_sm(self):
        for form, wrapper in PAIRS:
            guard = f"is_sm_{form.min_sm}<Dependent>" if form.only else f"sm_at_least<{form.min_sm}, Dependent>"
            self.assertIn(f"static_assert({guard},", wrapper.body)
            sentence = "".join(re.findall(r'"([^"]*)"', wrapper.body.split("static_assert(")[1].split(");")[0]))
            self.assertEqual(sentence, form.sentence)

    def test_forms_newer_than_ptx_8_0_guard_the_toolkit(self):
        toolkit = {(8, 1): "12, 1", (8, 4): "12, 4", (8, 7): "12, 8"}  # the first CUDA that writes this ISA
        for form, wrapper in PAIRS:
            if form.ptx_isa > (8, 0):
                self.assertIn(f"cuda_at_least<{toolkit[form.ptx_isa]}, Dependent>", wrapper.body)
            else:
                self.assertNotIn("cuda_at_least", wrapper.body)

    def test_status_and_sass_agree_with_the_minimum_sm(self):
        for form, _ in PAIRS:
            for chip in CHIPS:
                self.assertIn(form.status[chip], ("native", "emulated", "absent"))
                self.assertEqual(form.status[chip] != "absent", form.exists_on(chip), form.form)
                self.assertEqual(not form.sass[chip], form.status[chip] == "absent", form.form)

    @staticmethod
    def code(header):
        from catalogue import INCLUDE
        return (INCLUDE / "tenon/ptx" / header).read_text()


if __name__ == "__main__":
    unittest.main()
