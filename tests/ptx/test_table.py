"""The table is complete and consistent: what ptx/README.md says of it, without assembling anything.

TENON_CUDA_INCLUDE names the toolkit's include folder, in which the providers other than tenon are looked up.
"""
import collections
import os
import pathlib
import re
import tempfile
import unittest

from catalogue import INCLUDE
from tenon_ptx import cuda_ptx, table

FORMS = table.load()
CUDA = pathlib.Path(os.environ.get("TENON_CUDA_INCLUDE", "/usr/local/cuda/include").split(";")[0])

# Rows a family: every canonical form that ptxas 13.0 accepts, immediates as one.
COUNTS = {
    "wgmma": 2151, "tcgen05": 1696,
    "mma.sp": 198, "mma": 220, "wmma": 818, "matrix move": 55, "TMA": 482, "bulk copy": 82, "cp.async": 135,
    "load, store, prefetch": 23, "mbarrier": 193, "fence": 38, "distributed shared memory": 56, "warp, block, cluster": 76,
    "conversion": 114, "packed arithmetic": 82,
}


class Rows(unittest.TestCase):
    def test_every_family_is_complete(self):
        counts = collections.Counter(form.family for form in FORMS)
        self.assertEqual({family: counts[family] for family in COUNTS}, COUNTS)

    def test_families_stand_together_in_their_order(self):
        order = [list(table.FAMILIES).index(form.family) for form in FORMS]
        self.assertEqual(order, sorted(order))

    def test_no_form_stands_twice(self):
        def spelling(form):
            text = re.sub(r"\.shared(?!::)", ".shared::cta", form.form)
            return text, tuple((o.kind, o.count) for o in form.results + form.operands)

        found = collections.Counter(map(spelling, FORMS))
        self.assertEqual([form for form, count in found.items() if count > 1], [])

    def test_the_file_is_what_reading_and_writing_it_gives(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder, "copy.csv")
            table.save(FORMS, copy)
            self.assertEqual(copy.read_text(encoding="utf-8"), table.TABLE.read_text(encoding="utf-8"))

    def test_every_operand_is_named_in_the_form_and_every_name_is_an_operand(self):
        for form in FORMS:
            text = re.sub(r"\b0x[0-9A-Fa-f]+|\b\d\S*|%\w+", "", form.instruction.partition(" ")[2])
            names = [o.name for o in form.results + form.operands]
            written = [w for w in re.findall(r"[A-Za-z_]\w*", text) if w != "_"] + [form.predicate] * bool(form.predicate)
            self.assertEqual(sorted(names), sorted(written), form.form)

    def test_every_form_exists_somewhere_and_from_a_base_target_on_everywhere(self):
        for form in FORMS:
            self.assertTrue(form.targets, form.form)
            base = next((arch for arch in form.targets if arch.isdigit()), None)
            if base:
                newer = table.ARCHITECTURES[table.ARCHITECTURES.index(base):]
                self.assertEqual([arch for arch in newer if arch not in form.targets], [], form.form)

    def test_a_native_product_of_matrices_is_one_tensor_instruction(self):
        tensor = re.compile(r"^[HIBDQO]MMA")
        for form in FORMS:
            for arch, lowering in form.sass.items() if form.family in ("mma", "mma.sp") else ():
                opcodes = {re.sub(r"\.STEP\d", "", op): n for op, n in lowering.opcodes if tensor.match(op)}
                if not lowering.emulated:
                    self.assertEqual(sum(opcodes.values()), 1, f"{form.form} on sm_{arch}: {lowering}")


class Toolkit(unittest.TestCase):
    # CUDA version -> the PTX ISA version that its documentation has.
    ISA = {(12, 4): (8, 4), (12, 5): (8, 5), (12, 6): (8, 5), (12, 8): (8, 7), (12, 9): (8, 8), (13, 0): (9, 0), (13, 1): (9, 1)}
    # Forms that ptxas had before the PTX ISA.
    EARLY = {"cvt.rn.satfinite.e2m1x2.f16x2": (13, 0), "cvt.rn.satfinite.relu.e2m1x2.f16x2": (13, 0)}

    def test_it_is_the_oldest_one_with_the_ptx_isa_of_the_form(self):
        for form in FORMS:
            documented = next(toolkit for toolkit, isa in self.ISA.items() if isa >= form.ptx_isa)
            self.assertEqual(form.toolkit, self.EARLY.get(form.mnemonic, documented), form.form)

    def test_each_early_form_is_in_the_table(self):
        self.assertEqual(set(self.EARLY) - {form.mnemonic for form in FORMS}, set())


class Emulated(unittest.TestCase):
    """The forms for which a chip is known to have no instruction."""

    def expect(self, pattern, first, last=None):
        order = table.ARCHITECTURES
        span = order[order.index(first) : order.index(last or first) + 1]
        forms = [form for form in FORMS if re.match(pattern, form.mnemonic)]
        self.assertTrue(forms, pattern)
        for form in forms:
            for arch in span:
                self.assertIn(form.status(arch), ("emulated", "absent"), f"{form.form} on sm_{arch}")

    def test_f16_m8n8k4_after_turing(self):
        self.expect(r"mma\.sync\.aligned\.m8n8k4\.(row|col)\.(row|col)\.f(16|32)", "80", "121a")

    def test_four_bit_integers_from_hopper_on(self):
        self.expect(r"mma\.(sp\S*\.)?sync\S*\.[su]4\.[su]4", "90", "121a")
        self.expect(r"wmma\.mma\S*\.[su]4\.[su]4", "90", "121a")

    def test_b1(self):
        self.expect(r"mma\.sync\S*\.b1\.b1\.s32\.xor", "90", "121a")
        self.expect(r"mma\.sync\S*\.b1\.b1\.s32\.and", "100", "121a")

    def test_fp8_where_the_warp_has_no_fp8_instruction(self):
        self.expect(r"mma\.(sp\S*\.)?sync\.aligned\.m16n8k\d+\.row\.col\.f(16|32)\.e\dm\d", "90", "110a")

    def test_sparse_products_with_metadata_in_any_order_from_blackwell_on(self):
        self.expect(r"mma\.sp\.sync\S*\.(f16\.f16\.f16\.f16|f32\.f16\.f16\.f32|s32\.[su]8\.[su]8\.s32)", "100", "121a")

    def test_f64_beyond_m8n8k4_from_blackwell_on(self):
        self.expect(r"mma\.sync\.aligned\.m16n8k\d+\.row\.col\.f64", "100", "121a")


class Providers(unittest.TestCase):
    def of(self, provider):
        found = [form for form in FORMS if form.provider == provider]
        self.assertTrue(found, provider)
        return found

    def test_there_are_no_others(self):
        self.assertEqual({form.provider for form in FORMS}, set(table.PROVIDERS))

    def test_tenon_names_a_function_and_its_header(self):
        for form in self.of("tenon"):
            self.assertRegex(form.name, r"^[a-z]\w+(<.*>)?$", form.form)
            self.assertTrue((INCLUDE / "tenon/ptx" / form.header).is_file(), form.header)

    def test_what_nobody_wraps_names_nobody(self):
        for form in self.of("ptx"):
            self.assertEqual((form.name, form.header), ("", ""), form.form)

    def test_cuda_ptx_has_an_asm_statement_with_this_text(self):
        wrapped = cuda_ptx.wrapped(CUDA / "cccl" if (CUDA / "cccl").is_dir() else CUDA)
        for form in self.of("cuda::ptx"):
            key = cuda_ptx.canonical(form.mnemonic), cuda_ptx.operands_of(form.form)
            self.assertEqual(f"cuda::ptx::{wrapped.get(key)}", form.name, form.form)
            self.assertEqual(form.header, "cuda/ptx", form.form)

    def test_names_of_the_toolkit_stand_in_its_headers(self):
        texts = {}
        for form in self.of("cuda") + self.of("nvcuda::wmma"):
            header = "crt/mma.h" if form.header == "mma.h" else form.header
            if header not in texts:
                texts[header] = (CUDA / header).read_text(encoding="utf-8", errors="ignore")
            self.assertRegex(texts[header], rf"\b{form.name.split('::')[-1]}\b", form.form)


class Sass(unittest.TestCase):
    def test_ranges_are_read_as_they_are_written(self):
        one, two = table.Lowering(False, (("HMMA.X", 1),)), table.Lowering(True, (("IMMA", 2), ("ALU", 7)))
        sass = {"80": one, "86": one, "87": one, "90": two, "90a": two, "120a": one}
        text = "80-87: 1*HMMA.X; 90-90a: emulated 2*IMMA 7*ALU; 120a: 1*HMMA.X"
        self.assertEqual(table.encode_sass(sass), text)
        self.assertEqual(table.decode_sass(text), sass)
        self.assertEqual(table.decode_sass("75: nothing"), {"75": table.Lowering(False, ())})


if __name__ == "__main__":
    unittest.main()
