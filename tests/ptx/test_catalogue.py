"""The table and the headers say the same: every wrapped form has its function and every function its form."""
import re
import unittest

from catalogue import INCLUDE, headers, key, load, pairs, wrappers
from tenon_ptx.table import ARCHITECTURES, spell_version
from tenon_toolkit import fetch

FORMS = load()
WRAPPERS = [w for header in headers() for w in wrappers(header)]
PAIRS = pairs()


def first_target(form):
    """The architecture from which the form exists; f16 m8n8k4 is older than what the toolkit of the table knows."""
    return "70" if re.search(r"m8n8k4\..*\.f16\.f16\.", form.mnemonic) else form.row.targets[0]


def guard(form):
    """The condition with which the form's function begins."""
    targets = (first_target(form), *form.row.targets[1:])
    # Functions for all five types; two of the types exist on more architectures.
    if "kind::f8f6f4" in form.mnemonic and "m16n8k16" not in form.mnemonic and not (
            form.mnemonic.startswith("mma.sp") and ".f16." in form.mnemonic):
        return "has_f8f6f4<A, B, Dependent>"
    if targets[0].isdigit():
        return f"sm_at_least<{targets[0]}, Dependent>"
    return f"is_specific_target<Dependent, {', '.join(t.rstrip('a') for t in targets)}>"


def operands(text):
    """The operands of an instruction, split at the commas that stand outside brackets."""
    parts = text.rstrip(";").split(" ", 1)
    return re.findall(r"\{[^}]*\}|\[[^\]]*\]|[^,\s]+", parts[1]) if len(parts) > 1 else []


def instruction(wrapper):
    """The one instruction of the asm statement, without the moves that 8-bit registers need around it, or without the
    comparison that makes its predicate, and its predicate."""
    found = [line.strip() for line in wrapper.asm.removeprefix("{").removesuffix("}").split(";") if line.strip()]
    chosen = [line for line in found if not line.startswith((".reg", "setp.") + (() if len(found) == 1 else ("mov.",)))]
    return re.sub(r"^@\w+ ", "", chosen[0]).replace("%%", "%") + ";"


def generic(form, text):
    """The text with the types that are template arguments replaced by A and B, in the order in which they stand."""
    for kind, letter in zip(form.types, "AB"):
        name = kind.removeprefix("type_")
        text = re.sub(rf"\.({name}|{name.upper()})(?=\.|\s|$)", f".{letter}", text, count=1)
    return text


class Catalogue(unittest.TestCase):
    def test_it_is_not_empty(self):
        self.assertGreater(len(FORMS), 500)

    def test_every_form_has_its_wrapper_with_that_signature(self):
        for form, wrapper in PAIRS:
            self.assertIsNotNone(wrapper, f"{form.form}: {form.header} has no {form.function}{form.signature()}")

    def test_every_wrapper_is_in_the_table(self):
        by_signature = {key(w.header, w.function, w.result, w.parameters) for w in WRAPPERS}
        known = {key(f.header, f.function, *f.signature()) for f in FORMS}
        self.assertEqual(sorted(by_signature - known), [])
        self.assertEqual(len(by_signature), len(WRAPPERS), "two wrappers share a signature")
        self.assertEqual(len({f.callee() + str(f.signature()) for f in FORMS}), len(FORMS), "two forms share a call")

    def test_no_device_function_escapes_the_reader(self):
        for header in headers():
            text = (INCLUDE / "tenon/ptx" / header).read_text()
            text = "\n".join(line for line in text.splitlines() if not line.startswith("//"))
            self.assertEqual(text.count("__device__"), len(wrappers(header)), header)

    def test_the_name_is_the_mnemonic_without_the_types_that_are_arguments(self):
        for form, _ in PAIRS:
            name = re.sub(r"::|\.", "_", generic(form, form.mnemonic))
            name = name.replace("_A_B_", "_") if form.types else name
            size = re.search(r"\], (\d+)|%(\w+)", form.form)
            self.assertEqual(form.function, name + (f"_{size[1] or size[2]}" if size else ""))

    def test_the_template_takes_the_types_then_the_immediates(self):
        for form, wrapper in PAIRS:
            expected = ["class A", "class B"][: len(form.types)] + [f"int {o.name}" for o in form.immediates]
            self.assertEqual(wrapper.template, [*expected, "class Dependent = void"], form.form)

    def test_the_comment_begins_with_the_form_and_states_isa_and_sm(self):
        for form, wrapper in PAIRS:
            isa = ".".join(map(str, form.row.ptx_isa))
            # A function for several types states the architectures of all of them.
            sm = "120a" if guard(form).startswith("has_f8f6f4") else first_target(form)
            self.assertTrue(wrapper.comment.startswith(f"{generic(form, form.form)} PTX ISA {isa}, sm_{sm}. SASS: "),
                            f"{form.form}: {wrapper.comment}")

    def test_the_comment_names_the_sass_of_a_native_chip(self):
        for form, wrapper in PAIRS:
            native = [arch for arch in ARCHITECTURES if form.row.status(arch) == "native"]
            said = [arch for arch in native if all(
                re.sub(r"\.STEP\d", "", generic(form, op)) in wrapper.comment
                for op, _ in form.row.sass[arch].opcodes if op != "ALU")]
            self.assertTrue(said or not native, f"{form.form}: {wrapper.comment}")

    def test_the_comment_says_where_the_form_is_emulated(self):
        by_wrapper = {}
        for form, wrapper in PAIRS:
            emulated = [arch for arch in ARCHITECTURES if form.row.status(arch) == "emulated"]
            by_wrapper.setdefault(id(wrapper), (wrapper, set()))[1].update(emulated)
        for wrapper, emulated in by_wrapper.values():
            self.assertEqual("emulated" in wrapper.comment, bool(emulated), wrapper.comment)
        for form, wrapper in PAIRS:
            emulated = [arch for arch in ARCHITECTURES if form.row.status(arch) == "emulated"]
            if emulated and any(form.row.status(arch) == "native" for arch in ARCHITECTURES):
                self.assertRegex(wrapper.comment, rf"sm_{emulated[0]}\b.* emulated", form.form)

    def test_the_instruction_text_is_the_form(self):
        for form, wrapper in PAIRS:
            text = instruction(wrapper)
            mnemonic = re.sub(r"%\d+\.%\d+", "A.B", text.split()[0].rstrip(";"))
            self.assertEqual(mnemonic, generic(form, form.mnemonic))
            said, written = operands(form.row.instruction), operands(text)
            self.assertEqual(len(said), len(written), wrapper.asm)
            for a, b in zip(said, written):
                if a[0].isdigit() or b[0].isdigit() or a.startswith("%"):
                    self.assertEqual(a, b, wrapper.asm)
                self.assertEqual(a.startswith("["), b.startswith("["), wrapper.asm)

    def test_a_predicate_is_made_from_the_last_operand_and_guards_the_instruction(self):
        guarded = [(form, wrapper) for form, wrapper in PAIRS if form.row.predicate]
        self.assertTrue(guarded)
        for form, wrapper in guarded:
            last = sum(o.count or 1 for o in form.row.results + form.row.operands) - 1
            self.assertEqual(form.row.operands[-1].name, form.row.predicate, form.form)
            self.assertRegex(wrapper.asm, rf"^\{{\.reg \.pred p; setp\.ne\.s32 p, %{last}, 0; @p {form.mnemonic} .*;\}}$")
            numbers = [int(n) for n in re.findall(r"%(\d+)", wrapper.asm.split("@p")[1])]
            self.assertEqual(numbers, list(range(last)), form.form)
            for result in form.row.results:  # it is read as well: kept where the instruction does not run
                self.assertIn(f'"+r"({result.name})', wrapper.body, form.form)
        for form, wrapper in PAIRS:
            self.assertEqual("@" in wrapper.asm, form.row.predicate is not None, form.form)

    def test_operands_are_numbered_in_order_and_as_many_as_the_table_says(self):
        for form, wrapper in PAIRS:
            if wrapper.asm.startswith("{"):
                continue  # an 8-bit register in between: tested by what ptxas makes of it
            mnemonic, _, rest = wrapper.asm.partition(" ")
            numbers = [int(n) for n in re.findall(r"%(\d+)", rest) + re.findall(r"%(\d+)", mnemonic)]
            self.assertEqual(numbers, list(range(len(numbers))), form.form)
            registers = sum(o.count or 1 for o in form.row.results + form.row.operands)
            self.assertEqual(len(numbers), registers + len(form.types), form.form)

    def test_operands_are_passed_in_order_and_elements_too(self):
        for form, wrapper in PAIRS:
            bound = re.findall(r'"[=+]?\w"\((?:uint16_t\{)?(\w+)(?:\[(\d+)\])?(?:::name)?\}?\)', wrapper.body)
            expected = []
            for operand in form.row.results + form.row.operands:
                expected += [(operand.name, str(i)) for i in range(operand.count)] or [(operand.name, "")]
            self.assertEqual(bound, expected + [("A", ""), ("B", "")][: len(form.types)], form.form)

    def test_what_touches_or_orders_memory_says_so_and_nothing_else_does(self):
        for form, wrapper in PAIRS:
            memory = form.mnemonic.startswith(("ldmatrix", "stmatrix", "cp.async", "mbarrier", "ld.", "st.", "bar.", "prefetch",
                                               "griddepcontrol.wait"))
            self.assertEqual(wrapper.clobbers_memory, memory, form.form)
            # A policy is not kept in registers from one store to the next: it is a constant to ptxas. The next grid may begin
            # before or after any access to memory, but not at any time.
            stays = memory or ".sync" in form.mnemonic or form.mnemonic.startswith(("createpolicy", "griddepcontrol"))
            self.assertEqual("asm volatile" in wrapper.body, stays, form.form)

    def test_the_guard_names_the_function_and_every_architecture(self):
        for form, wrapper in PAIRS:
            self.assertRegex(re.sub(r"\s+", " ", wrapper.body), rf"static_assert\(\s?{re.escape(guard(form))},", form.form)
            self.assertIn(f"tenon::ptx::{form.function} needs sm_", wrapper.sentence)
            first = first_target(form)
            if first.isdigit():
                self.assertIn(f"needs sm_{first} or newer: compile with -arch=sm_{first} or above", wrapper.sentence)
            else:
                for arch in form.row.targets:
                    self.assertIn(f"sm_{arch}", wrapper.sentence)
                self.assertRegex(wrapper.sentence, r"compile with -gencode arch=compute_(\w+),code=sm_\1( \(-arch=sm_\1 .*\))?$")

    def test_a_form_without_a_letter_runs_on_everything_newer(self):
        for form, _ in PAIRS:
            if form.row.targets[0].isdigit():
                at = ARCHITECTURES.index(form.row.targets[0])
                self.assertEqual(form.row.targets, ARCHITECTURES[at:], form.form)

    def test_forms_that_the_oldest_toolkit_lacks_guard_the_toolkit(self):
        oldest = fetch.number(fetch.versions()[0])
        floor = f'cuda_at_least<{oldest[0]}, {oldest[1]}, void>, "tenon needs the CUDA Toolkit {oldest[0]}.{oldest[1]} or newer'
        self.assertIn(floor, (INCLUDE / "tenon/ptx/arch.hpp").read_text())
        for form, wrapper in PAIRS:
            guards = re.findall(r"cuda_at_least<(\d+), (\d+), Dependent>,([^;]*);", wrapper.body)
            if form.row.toolkit == oldest:
                self.assertEqual(guards, [], form.form)
                continue
            self.assertEqual([(int(major), int(minor)) for major, minor, _ in guards], [form.row.toolkit], form.form)
            needs = f"needs PTX ISA {spell_version(form.row.ptx_isa)}: compile with CUDA {spell_version(form.row.toolkit)} or newer"
            self.assertIn(needs, "".join(re.findall(r'"([^"]*)"', guards[0][2])), form.form)


if __name__ == "__main__":
    unittest.main()
