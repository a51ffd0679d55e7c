"""`tenon tune` as scripts see it, up to where kernels are timed; that is in test_gemm.py."""
import json
import os
import sys

import tenon_command
from tenon_command import Folder, has_gpu, run


class Tune(Folder):
    DRY = ("--dry-run", "--device", "emulator")

    def test_candidates(self):
        code, out, err = run("tune", "--shapes", "4096,64:4096:4096", "--types", "bf16,e4m3", "--layout", "tn,nn",
                             *self.DRY, "--json")
        self.assertEqual((code, err), (0, ""))
        answer = json.loads(out)
        self.assertEqual(list(answer), ["device", "problems"])
        names = {kernel["name"] for kernel in json.loads(run("list", "--json")[1])}
        shapes = [(p["m"], p["n"], p["k"], p["types"], p["layout"]) for p in answer["problems"]]
        self.assertEqual(shapes, [(m, 4096, 4096, f"{type_} -> f32", layout) for type_ in ("bf16", "e4m3")
                                  for layout in ("tn", "nn") for m in (4096, 64)])
        for problem in answer["problems"]:
            candidates = problem["candidates"]
            self.assertEqual(candidates[0], problem["documented"])
            self.assertGreater(len(candidates), 3)
            self.assertEqual(len(set(candidates)), len(candidates))
            self.assertLessEqual(set(candidates), names)
            self.assertFalse([name for name in candidates if name.startswith("module_")])

    def test_the_pattern_keeps_the_documented_choice(self):
        code, out, _ = run("tune", "--shapes", 4096, *self.DRY, "--json", "--kernel", "cp_async_*64x64x64*")
        self.assertEqual(code, 0)
        (problem,) = json.loads(out)["problems"]
        self.assertEqual(problem["candidates"], [problem["documented"], "cp_async_f16_f32_tn_64x64x64_s5"])

    def test_text_and_files_of_shapes(self):
        with open(self.path("shapes.txt"), "w") as file:
            file.write("# layers\n64:512:256  # the first\n\n128\n")
        code, out, _ = run("tune", "--shapes-from", self.path("shapes.txt"), *self.DRY)
        self.assertEqual(code, 0)
        self.assertIn("problem  64 x 512 x 256, f16 -> f32, layout tn: ", out)
        self.assertIn("problem  128 x 128 x 128, f16 -> f32, layout tn: ", out)
        self.assertEqual(out.count("(the documented choice)"), 2)
        with open(self.path("shapes.txt"), "a") as file:
            file.write("many\n")
        self.refused(2, "shapes.txt, line 5: 'many' is not a shape", "tune", "--shapes-from", self.path("shapes.txt"),
                     *self.DRY)

    def test_bad_requests(self):
        self.refused(2, "give the shapes to tune for", "tune", *self.DRY)
        self.refused(2, "--shapes: '0' is not a shape", "tune", "--shapes", 0, *self.DRY)
        self.refused(2, "'fp8' is not a type", "tune", "--shapes", 64, "--types", "fp8", *self.DRY)
        self.refused(2, "promote is given but A and B are f16", "tune", "--shapes", 64, "--promote", *self.DRY)
        self.refused(2, "--kernel is '(' and has '(' but must be a pattern of whole names: * stands for any characters",
                     "tune", "--shapes", 64, "--kernel", "(", *self.DRY)
        self.refused(2, "give the file for the table with --out", "tune", "--shapes", 64)
        self.refused(2, "kernels are timed on a GPU", "tune", "--shapes", 64, "--device", "emulator", "--json")
        self.refused(2, "cannot be written", "tune", "--shapes", 64, "--out", self.path("no/folder/x.tune"))
        self.assertEqual(os.listdir(self.folder), [])
        self.refused(2, "--kernel is 'nosuch' but matches the name of no kernel (* stands for", "tune", "--shapes", 64, "--kernel",
                     "nosuch", *self.DRY)
        self.refused(2, "--kernel is '*_bf16_*' but no kernel with such a name takes any of these problems", "tune", "--shapes",
                     64, "--kernel", "*_bf16_*", *self.DRY)
        self.refused(2, "--dry-run measures nothing", "tune", "--shapes", 64, "--out", self.path("x.tune"), *self.DRY)
        for seconds in ("nan", "-1", "3601", "many"):
            self.refused(2, "--seconds: '%s' is not a number from 0 to 3600" % seconds, "tune", "--shapes", 64, "--seconds",
                         seconds, *self.DRY)

    def test_patterns_that_a_regular_expression_would_not_survive(self):
        for pattern in ("(" * 10000 + ")" * 10000, "a" * 100000, "((.*)*)*x", "*a" * 50000):
            code, out, err = run("tune", "--shapes", 64, "--kernel", pattern, *self.DRY)
            self.assertEqual((code, out), (2, ""))
            self.assertTrue(err.startswith("tenon: --kernel is '" + pattern[:9]), err[:100])
            self.assertLess(len(err), 300)
        pattern = "*a" * 127 + "b"
        self.refused(2, "but matches the name of no kernel", "tune", "--shapes", 64, "--kernel", pattern, *self.DRY)

    def test_endless_input(self):
        self.refused(2, "/dev/zero: it has more than the 67108864 bytes", "tune", "--shapes-from", "/dev/zero", *self.DRY)
        with open(self.path("shapes.txt"), "w") as file:
            file.write("x" * 3000000)
        _, _, err = run("tune", "--shapes-from", self.path("shapes.txt"), *self.DRY)
        self.assertIn("line 1: 'xxxxxxxxxx", err)
        self.assertLess(len(err), 500)

    def test_without_a_gpu(self):
        if has_gpu():
            self.skipTest("this machine has a GPU")
        self.refused(3, "no CUDA device: ", "tune", "--shapes", 64, "--out", self.path("x.tune"))
        self.refused(3, "no CUDA device: ", "tune", "--shapes", 64, "--dry-run", "--device", "cuda")
        self.assertEqual(os.listdir(self.folder), [])
        self.assertEqual(run("tune", "--shapes", 64, "--dry-run")[0], 0)

    def test_bad_tables(self):
        table = self.path("x.tune")
        sizes = ("--m", 8, "--n", 8, "--k", 8)
        self.refused(2, "x.tune: cannot be read: No such file or directory", "gemm", *sizes, "--tuning", table)
        for text, words in (("", "x.tune, line 1: the text ends where '{' is needed"),
                            ('{"tenon_tuning": 9}', "is 9 but this library reads 1")):
            with open(table, "w") as file:
                file.write(text)
            self.refused(2, words, "gemm", *sizes, "--tuning", table)


if __name__ == "__main__":
    sys.exit(tenon_command.main({"L0": [Tune]}))
