"""`tenon precision`, in the emulator; on a GPU the same errors, with times."""
import json
import sys

import tenon_command
from tenon_command import Folder, run

METHODS = ["f32", "bf16x6", "tf32x3", "bf16x3", "tf32", "f16", "bf16", "f16_f16"]


class Usage(Folder):
    def test_bad_options(self):
        self.refused(2, "--largest: '63' is not a whole number from 64 to 16384", "precision", "--largest", 63)
        self.refused(2, "--numbers", "precision", "--numbers", "ones", "--json")
        self.refused(2, "--device", "precision", "--device", "abacus", "--json")

    def test_help_has_examples(self):
        code, out, _ = run("precision", "--help")
        self.assertEqual(code, 0)
        for words in ("--largest", "--numbers", "--seed", "--device", "--json", "Examples:", "breaks down"):
            self.assertIn(words, out)

    def test_a_gpu_that_is_not_there(self):
        if not tenon_command.has_gpu():
            self.refused(3, "no CUDA device: ", "precision", "--device", "cuda", "--json")


class Study(Folder):
    DEVICE = "emulator"

    def study(self, *arguments):
        code, out, err = run("precision", "--device", self.DEVICE, *arguments, "--json")
        self.assertEqual((code, err), (0, ""))
        return json.loads(out)

    def errors(self, answer, size):
        return {row["method"]: row["relative_error"] for row in answer["rows"] if row["size"] == size}

    def test_rows_of_every_size_and_method(self):
        answer = self.study("--largest", 128)
        self.assertEqual(list(answer), ["device", "device_name", "numbers", "seed", "rtol", "atol", "rows", "breaks_down_at"])
        self.assertEqual([(row["size"], row["method"]) for row in answer["rows"]],
                         [(size, method) for size in (64, 128) for method in METHODS])
        for row in answer["rows"]:
            self.assertEqual(row["ms"] is None, self.DEVICE == "emulator")
            self.assertEqual(row["kernel"] is None, row["method"] == "f32")
            self.assertTrue(0 < row["relative_error"] <= row["max_error"] < 1, row)

    def test_each_method_errs_as_its_type_allows(self):
        errors = self.errors(self.study("--largest", 64), 64)
        self.assertLess(errors["bf16x6"], errors["f32"])
        for method, least, most in (("f32", 2**-26, 2**-22), ("bf16x6", 2**-27, 2**-23), ("tf32x3", 2**-26, 2**-22),
                                    ("bf16x3", 2**-20, 2**-16), ("tf32", 2**-14, 2**-11), ("f16", 2**-14, 2**-11),
                                    ("bf16", 2**-11, 2**-8), ("f16_f16", 2**-13, 2**-9)):
            self.assertTrue(least < errors[method] < most, f"{method}: {errors[method]}")

    def test_the_seed_and_the_numbers_count(self):
        first = self.study("--largest", 64)
        self.assertEqual(self.errors(self.study("--largest", 64), 64), self.errors(first, 64))
        self.assertNotEqual(self.errors(self.study("--largest", 64, "--seed", 2), 64), self.errors(first, 64))
        uniform = self.study("--largest", 64, "--numbers", "uniform")
        self.assertEqual(uniform["numbers"], "uniform")
        self.assertNotEqual(self.errors(uniform, 64), self.errors(first, 64))

    def test_text(self):
        code, out, err = run("precision", "--device", self.DEVICE, "--largest", 64)
        self.assertEqual((code, err), (0, ""))
        lines = out.splitlines()
        self.assertEqual(lines[1].split(), ["size", "method", "max", "error", "relative", "error", "tolerance", "ms"])
        self.assertEqual([line.split()[1] for line in lines[2:10]], METHODS)


class StudyOnAGpu(Study):
    DEVICE = "cuda"

    def test_the_emulator_gives_the_same_bits(self):
        def without_times(answer):
            return [{**row, "ms": None, "kernel": None} for row in answer["rows"]]

        code, out, _ = run("precision", "--device", "emulator", "--largest", 64, "--json")
        self.assertEqual(code, 0)
        self.assertEqual(without_times(self.study("--largest", 64)), without_times(json.loads(out)))

    def test_f16_accumulators_break_down(self):
        breaks_down_at = self.study("--largest", 1024)["breaks_down_at"]
        self.assertLess(breaks_down_at["f16_f16"], breaks_down_at["f16"])
        self.assertEqual([breaks_down_at[m] for m in ("f32", "bf16x6", "tf32x3")], [None] * 3)


if __name__ == "__main__":
    sys.exit(tenon_command.main({"L0": [Usage], "L3": [Study], "L4": [StudyOnAGpu]}))
