"""`tenon gemm` with kernels executed, in the emulator and on a GPU; and there `tenon ladder` and `tenon tune`, which time."""
import concurrent.futures
import json
import os
import re
import shutil
import stat
import subprocess
import sys

import tenon_command
from tenon_command import Folder, has_gpu, npy, read_npy, run


class OnADevice(Folder):
    KEYS = {"kernel", "device", "device_name", "m", "n", "k", "epilogue", "max_error", "error_bound", "relative_error", "bias", "ok",
            "overflowed", "ms", "tflops", "tuning", "findings", "counters"}
    DEVICE = ()

    def gemm(self, *arguments):
        code, out, err = run("gemm", *arguments, *self.DEVICE, "--json")
        self.assertEqual((code, err), (0, ""))
        return json.loads(out)



class InTheEmulator(OnADevice):
    DEVICE = ("--device", "emulator")
    COUNTERS = ["instructions", "thread_instructions", "matrix_operations", "flop", "shared_wavefronts",
                "ideal_shared_wavefronts", "global_sectors", "ideal_global_sectors", "async_bytes"]
    KERNEL = "cp_async_f16_f32_tn_64x64x64_s5"

    def test_the_form_that_scripts_rely_on(self):
        answer = self.gemm("--m", 128, "--n", 96, "--k", 64, "--type", "f16", "--out-type", "f32", "--layout", "tn",
                           "--alpha", 1, "--beta", 0, "--seed", 7, "--check")
        self.assertEqual(set(answer), self.KEYS)
        self.assertEqual([answer[x] for x in ("device", "m", "n", "k", "ok")], ["emulator", 128, 96, 64, True])
        self.assertIn("emulator of sm_90", answer["device_name"])
        self.assertIn(answer["kernel"], [kernel["name"] for kernel in json.loads(run("list", "--json")[1])])
        self.assertTrue(0 < answer["max_error"] <= answer["error_bound"] < 1e-3)
        self.assertEqual((answer["ms"], answer["tflops"], answer["findings"]), (None, None, []))
        self.assertEqual(list(answer["counters"]), self.COUNTERS)

    def test_what_it_counts(self):
        counters = self.gemm("--m", 128, "--n", 64, "--k", 192, "--kernel", self.KERNEL)["counters"]
        self.assertEqual(counters["matrix_operations"], 128 * 64 * 192 // (16 * 8 * 16))
        self.assertEqual(counters["flop"], 2 * 128 * 64 * 192)
        self.assertEqual(counters["shared_wavefronts"], counters["ideal_shared_wavefronts"])
        self.assertEqual(counters["global_sectors"], counters["ideal_global_sectors"])

    def test_is_the_default_without_a_gpu(self):
        answer = json.loads(run("gemm", "--m", 16, "--n", 16, "--k", 16, "--json")[1])
        self.assertEqual(answer["device"], "cuda" if has_gpu() else "emulator")

    def test_a_batch(self):
        for layout, size in (("tn", (64, 64, 64)), ("nt", (17, 5, 9)), ("tn", (64, 128, 72))):
            with self.subTest(layout=layout, size=size):
                m, n, k = size
                answer = self.gemm("--batch", 3, "--m", m, "--n", n, "--k", k, "--layout", layout, "--out-type", "f16",
                                   "--beta", 0.5, "--check")
                self.assertEqual(set(answer), self.KEYS | {"batch"})
                self.assertEqual([answer[x] for x in ("batch", "ok", "findings")], [3, True, []])
                self.assertTrue(answer["kernel"].endswith("_batched"))

    def test_groups(self):
        for type_, layout, k in (("bf16", "tn", 72), ("f16", "tt", 64)):
            with self.subTest(type=type_):
                answer = self.gemm("--groups", "5,0,130", "--n", 40, "--k", k, "--type", type_, "--layout", layout,
                                   "--beta", 0.5, "--check")
                self.assertEqual(set(answer), self.KEYS | {"groups"})
                self.assertEqual([answer[x] for x in ("groups", "m", "ok", "findings")], [[5, 0, 130], 135, True, []])
                self.assertTrue(answer["kernel"].startswith("grouped_" + type_))

    def test_scales(self):
        for mode, kernel in (("tensor", "wgmma_e4m3_"), ("row_column", "wgmma_e4m3_"), ("block", "block_scaled_")):
            with self.subTest(mode=mode):
                answer = self.gemm("--m", 40, "--n", 136, "--k", 300, "--scale-mode", mode, "--out-type", "bf16", "--check")
                self.assertEqual(set(answer), self.KEYS | {"scale_mode"})
                self.assertEqual([answer[x] for x in ("scale_mode", "ok", "findings")], [mode, True, []])
                self.assertTrue(answer["kernel"].startswith(kernel))
                # One step of bf16 is 2^-8: the scales count.
                self.assertTrue(1e-4 < answer["relative_error"] < 1e-2, answer)
        answer = self.gemm("--groups", "3,130,0", "--n", 136, "--k", 300, "--scale-mode", "block", "--check")
        self.assertEqual(set(answer), self.KEYS | {"groups", "scale_mode"})
        self.assertTrue(answer["kernel"].startswith("grouped_e4m3_") and answer["ok"], answer)

    def test_precisions(self):
        errors = {}
        for precision in ("tf32", "f16", "bf16", "bf16x3", "bf16x6", "tf32x3"):
            with self.subTest(precision=precision):
                answer = self.gemm("--m", 40, "--n", 48, "--k", 100, "--precision", precision, "--beta", 0.5, "--check")
                self.assertEqual(set(answer), self.KEYS | {"precision"})
                self.assertEqual([answer[x] for x in ("precision", "ok", "findings")], [precision, True, []])
                errors[precision] = answer["relative_error"]
        # Of parts the error is against f32 operands; of one type, against operands that are rounded to it.
        self.assertLess(max(errors["bf16x6"], errors["tf32x3"]), 1e-6)
        self.assertTrue(1e-6 < errors["bf16x3"] < 1e-4, errors)
        for words, arguments in (("--precision is of f32 operands, but --type is given", ("--type", "f16")),
                                 ("--precision does not go with --batch", ("--batch", 2))):
            code, out, err = run("gemm", "--m", 8, "--n", 8, "--k", 8, "--precision", "tf32", *arguments)
            self.assertEqual((code, out), (2, ""), err)
            self.assertIn(words, err)

    def test_groups_and_scales_that_are_refused(self):
        sizes = ("--n", 8, "--k", 8)
        for words, arguments in (
                ("--groups: 'x' is not a whole number", ("--groups", "3,x", *sizes)),
                ("--m is not for --groups", ("--groups", "3", "--m", 3, *sizes)),
                ("give --n and --k, which all groups share", ("--groups", "3", "--n", 8)),
                ("--groups does not go with --batch", ("--groups", "3", "--batch", 2, *sizes)),
                ("--groups does not go with --bias", ("--groups", "3", "--bias", *sizes)),
                ("--groups is not timed here: tenon_grouped_benchmark does that", ("--groups", "3", "--bench", *sizes)),
                ("A is s8 but must be f16, bf16 or e4m3", ("--groups", "3", "--type", "s8", *sizes, *self.DEVICE)),
                ("--scale-mode is tensor but with --groups must be block", ("--groups", "3", "--scale-mode", "tensor", *sizes)),
                ("--scale-mode is of e4m3, but --type is f16", ("--m", 8, "--scale-mode", "block", "--type", "f16", *sizes)),
                ("--scale-mode needs both operands contiguous along k: --layout tn, not nn",
                 ("--m", 8, "--scale-mode", "block", "--layout", "nn", *sizes)),
                ("--scale-mode does not go with --promote", ("--m", 8, "--scale-mode", "block", "--promote", *sizes)),
                ("no block-scaled kernel has the name 'nosuch'",
                 ("--m", 8, "--scale-mode", "block", "--kernel", "nosuch", *sizes, *self.DEVICE))):
            with self.subTest(words):
                code, out, err = run("gemm", *arguments)
                self.assertEqual((code, out), (2, ""), err)
                self.assertIn(words, err)

    def test_some_of_the_multiprocessors(self):
        for sizes in ((("--m", 200, "--n", 136, "--k", 72)), ("--m", 131, "--n", 37, "--k", 45, "--type", "e4m3"),
                      ("--batch", 3, "--m", 64, "--n", 64, "--k", 64), ("--groups", "30,40", "--n", 64, "--k", 64)):
            with self.subTest(sizes):
                self.assertTrue(self.gemm(*sizes, "--multiprocessors", 2, "--no-overlap", "--check")["ok"])
        for words, code, arguments in (
                ("--multiprocessors: '-1' is not a whole number", 2, ("--multiprocessors=-1",)),
                ("multiprocessors is 99999 but must be 0 (all) to ", 2, ("--multiprocessors", 99999))):
            with self.subTest(words):
                found, out, err = run("gemm", "--m", 8, "--n", 8, "--k", 8, *arguments, *self.DEVICE)
                self.assertEqual((found, out), (code, ""), err)
                self.assertIn(words, err)

    def test_every_type_and_layout(self):
        for layout in ("tn", "nn", "tt", "nt"):
            for type_ in ("f16", "bf16"):
                with self.subTest(layout=layout, type=type_):
                    self.assertTrue(self.gemm("--m", 70, "--n", 37, "--k", 30, "--layout", layout, "--type", type_,
                                              "--out-type", type_, "--beta", -0.5, "--alpha", 2, "--check")["ok"])
            with self.subTest(layout=layout, accumulate="f16"):
                self.assertTrue(self.gemm("--m", 40, "--n", 136, "--k", 24, "--layout", layout, "--accumulate", "f16",
                                          "--check")["ok"])

    def test_a_fused_epilogue(self):
        for activation in ("none", "relu", "gelu", "gelu_erf", "silu"):
            with self.subTest(activation=activation):
                answer = self.gemm("--m", 70, "--n", 136, "--k", 64, "--bias", "--activation", activation, "--beta", 0.5,
                                   "--out-type", "f16", "--check")
                self.assertTrue(answer["ok"])
                self.assertEqual(answer["epilogue"], {"bias": True, "activation": activation})
                self.assertTrue(answer["kernel"].endswith("_fused"), answer["kernel"])
        self.assertEqual(self.gemm("--m", 9, "--n", 9, "--k", 9)["epilogue"], {"bias": False, "activation": "none"})
        # The results differ, so the check compares with the activation that was asked for.
        files = [self.path(name) for name in ("relu.npy", "none.npy")]
        for path, activation in zip(files, ("relu", "none")):
            self.gemm("--m", 20, "--n", 24, "--k", 16, "--activation", activation, "--check", "--out", path)
        relu, none = (read_npy(path)[2] for path in files)
        self.assertEqual(relu, tuple(max(x, 0.0) for x in none))
        self.assertLess(min(none), 0)
        self.refused(2, "--bias is for random matrices", "gemm", "--a", files[0], "--b", files[1], "--bias")

    def test_a_table_chooses_the_kernel(self):
        entry = {"a": "f16", "b": "f16", "accumulate": "f32", "c": "f32", "promote": False, "layout": "tn", "m": 64,
                 "n": 64, "k": 128, "kernel": "cp_async_f16_f32_tn_128x128x32_s2_unaligned", "microseconds": 1, "documented": "x",
                 "documented_microseconds": 2}
        table = {"tenon_tuning": 1, "device": "emulator", "sm": 90, "multiprocessors": 4, "entries": [entry]}
        sizes = ("--n", 64, "--k", 128, "--tuning", self.path("x.tune"), "--check")
        with open(self.path("x.tune"), "w") as file:
            json.dump(table, file, indent=1)
        self.assertEqual(self.gemm("--m", 64, *sizes)["kernel"], entry["kernel"])
        self.assertEqual(self.gemm("--m", 50, *sizes)["kernel"], entry["kernel"], "the nearest")
        documented = self.gemm("--m", 64, "--n", 64, "--k", 128)["kernel"]
        self.assertNotEqual(documented, entry["kernel"])
        self.assertEqual(self.gemm("--m", 64, *sizes, "--kernel", self.KERNEL)["kernel"], self.KERNEL)
        with open(self.path("x.tune"), "w") as file:
            json.dump({**table, "multiprocessors": 132}, file)
        self.assertEqual(self.gemm("--m", 64, *sizes)["kernel"], documented, "a table of another device")

    def test_empty_products(self):
        for m, n, k in ((0, 8, 8), (8, 0, 8), (8, 8, 0), (0, 0, 0)):
            answer = self.gemm("--m", m, "--n", n, "--k", k, "--check", "--beta", 0 if k else 0.5)
            self.assertTrue(answer["ok"])
            self.assertIsNone(answer["kernel"])
            self.assertEqual(answer["findings"], [])
        for type_, beta in (("e4m3", 0.5), ("s8", -3)):
            self.assertTrue(self.gemm("--m", 8, "--n", 8, "--k", 0, "--type", type_, "--beta", beta, "--check")["ok"])

    # Sizes that are multiples of nothing: copies, whatever the layout.
    OTHERS = (("tf32", "tf32", ("--out-type", "f16", "--beta", -0.5)),
              ("tf32", "tf32", ("--alpha", 1.5)),
              ("e4m3", "e4m3", ("--out-type", "bf16", "--alpha", 2, "--beta", 0.5)),
              ("e4m3", "e5m2", ("--promote", "--out-type", "f16")),
              ("e5m2", "e4m3", ("--promote", "--scale-a", 0.125)),
              ("e5m2", "e5m2", ("--scale-a", 3, "--scale-b", 0.25, "--beta", 1)),
              ("s8", "s8", ()),
              ("s8", "s8", ("--alpha", -70000, "--beta", 3)))

    def test_other_types_and_layouts(self):
        for i, (a, b, more) in enumerate(self.OTHERS):
            layouts = ("tn", ("nn", "tt", "nt")[i % 3])
            for layout in layouts:
                with self.subTest(a=a, b=b, layout=layout, more=more):
                    answer = self.gemm("--m", 70, "--n", 37, "--k", 150, "--type", a, "--type-b", b, "--layout", layout,
                                       *more, "--check")
                    self.assertEqual((answer["ok"], answer["findings"]), (True, []))
                    kernel = answer["kernel"]
                    self.assertTrue(kernel.startswith("wgmma_" + (a if a == b else a + "_" + b) + "_"), kernel)
                    self.assertIn("_tn_", kernel)
                    self.assertEqual(kernel.endswith("_promoted"), "--promote" in more)
                    if a == "s8":
                        self.assertEqual((answer["max_error"], answer["error_bound"]), (0, 0))
                    else:
                        self.assertTrue(0 < answer["max_error"] <= answer["error_bound"])

    def test_outputs_of_8_bits(self):
        for type_, out, alpha in (("s8", "s8", 0.002), ("s8", "e4m3", 0.01), ("f16", "e4m3", 30), ("bf16", "s8", 4),
                                  ("f16", "e5m2", 1)):
            with self.subTest(type=type_, out=out):
                answer = self.gemm("--m", 70, "--n", 37, "--k", 150, "--type", type_, "--out-type", out,
                                   "--alpha", alpha, "--check")
                self.assertEqual((answer["ok"], answer["findings"]), (True, []))
                self.assertTrue(answer["kernel"].endswith("_fused"), answer["kernel"])

    def test_f64(self):
        """Kernels for it read every layout. The files hold doubles, and so do alpha and beta."""
        for layout in ("tn", "nn", "tt", "nt"):
            for more in ((), ("--alpha", 0.1, "--beta", -0.7)):
                with self.subTest(layout=layout, more=more):
                    answer = self.gemm("--m", 70, "--n", 37, "--k", 51, "--type", "f64", "--layout", layout, *more, "--check")
                    self.assertEqual((answer["ok"], answer["findings"]), (True, []))
                    self.assertIn("_f64_f64_" + layout + "_", answer["kernel"])
                    self.assertTrue(0 < answer["max_error"] < 1e-13, answer["max_error"])
        third = 1 / 3
        npy(self.path("a.npy"), (1, 1), [third], "d", "<f8")
        npy(self.path("b.npy"), (1, 1), [3.0], "d", "<f8")
        self.gemm("--a", self.path("a.npy"), "--b", self.path("b.npy"), "--alpha", 0.1, "--out", self.path("c.npy"), "--check")
        self.assertEqual(read_npy(self.path("c.npy")), ("<f8", (1, 1), (third * 3.0 * 0.1,)))

    def test_long_products_are_announced(self):
        """One element may take long, too: the emulator multiplies whole tiles."""
        process = subprocess.Popen([tenon_command.COMMAND, "gemm", "--m", "1", "--n", "1", "--k", "100000000", *self.DEVICE],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        line = process.stderr.readline()
        process.kill()
        process.communicate()
        self.assertRegex(line, r"^tenon: the emulator will take about \d+ minutes of CPU time for this product$")

    def test_promotion_is_worth_it(self):
        """Beside a kernel whose CTAs do not divide k, since partial sums of f32 are rounded less, too."""
        sizes = ("--m", 16, "--n", 16, "--k", 4096, "--type", "e4m3", "--check")
        plain = self.gemm(*sizes, "--kernel", "wgmma_e4m3_f32_tn_64x128x128_s7")
        promoted = self.gemm(*sizes, "--promote")
        self.assertLess(4 * promoted["max_error"], plain["max_error"])
        self.assertLess(4 * promoted["relative_error"], plain["relative_error"])
        self.assertLess(2 * promoted["error_bound"], plain["error_bound"])

    def test_relative_error_and_bias(self):
        """What the number formats make: smaller than the limits of error_statistics.hpp, which --check holds it to."""
        for type_, k, accumulate, error in (("f16", 512, "f32", 3e-6), ("f16", 512, "f16", 6e-3), ("bf16", 512, "f32", 3e-6),
                                            ("tf32", 512, "f32", 3e-6), ("e4m3", 4096, "f32", 6e-3),
                                            ("e5m2", 1024, "f32", 6e-3)):
            with self.subTest(type=type_, accumulate=accumulate):
                answer = self.gemm("--m", 64, "--n", 64, "--k", k, "--type", type_, "--accumulate", accumulate, "--check")
                self.assertTrue(0 < answer["relative_error"] < error, answer["relative_error"])
                self.assertTrue(abs(answer["bias"]) < answer["relative_error"], answer["bias"])
                self.assertLess(answer["relative_error"], answer["max_error"])

    def test_overflow_is_reported(self):
        npy(self.path("A.npy"), (1, 2), [1e30, 1], code="f", descr="<f4")
        npy(self.path("B.npy"), (2, 3), [1, 1, 1, 0, 0, 2], code="f", descr="<f4")
        files = ("--a", self.path("A.npy"), "--b", self.path("B.npy"), "--check")
        answer = self.gemm(*files)
        self.assertEqual((answer["ok"], answer["overflowed"]), (True, {"a": 1, "b": 0, "old_c": 0, "c": 0}))
        out = run("gemm", *files, *self.DEVICE)[1]
        self.assertIn("overflow 1 element of %s became infinite: too large for f16\n" % self.path("A.npy"), out)
        answer = self.gemm(*files, "--type", "bf16", "--out-type", "f16")
        self.assertEqual((answer["ok"], answer["overflowed"]), (True, {"a": 0, "b": 0, "old_c": 0, "c": 3}))
        out = run("gemm", *files, "--type", "bf16", "--out-type", "f16", *self.DEVICE)[1]
        self.assertIn("overflow 3 elements of C became infinite: the exact product is too large for f16", out)
        answer = self.gemm(*files, "--type", "e4m3")
        self.assertEqual((answer["ok"], answer["overflowed"]["a"]), (True, 1))
        out = run("gemm", *files, "--type", "e4m3", *self.DEVICE)[1]
        self.assertIn("A.npy became the largest value: too large for e4m3\n", out)
        answer = self.gemm("--m", 8, "--n", 8, "--k", 8)
        self.assertEqual(answer["overflowed"], {"a": 0, "b": 0, "old_c": 0, "c": None})
        self.assertNotIn("overflow", run("gemm", "--m", 8, "--n", 8, "--k", 8, "--check", *self.DEVICE)[1])

    def test_text_names_both_types_and_promotion(self):
        sizes = ("gemm", "--m", 8, "--n", 8, "--k", 16, *self.DEVICE)
        self.assertIn("e4m3 and e5m2 inputs, f32 accumulate, promoted, bf16 result, layout tn",
                      run(*sizes, "--type", "e4m3", "--type-b", "e5m2", "--promote", "--out-type", "bf16")[1])
        self.assertIn("s8 inputs, s32 accumulate, s32 result", run(*sizes, "--type", "s8")[1])

    def test_files(self):
        npy(self.path("A.npy"), (2, 3), [1, 2, 3, 4, 5, 6])
        npy(self.path("B.npy"), (3, 2), [1, 0, 0, 1, 1, 1])
        self.gemm("--a", self.path("A.npy"), "--b", self.path("B.npy"), "--out", self.path("C.npy"), "--check")
        self.assertEqual(read_npy(self.path("C.npy")), ("<f4", (2, 2), (4, 5, 10, 11)))

    def multiply(self, *more):
        self.gemm("--a", self.path("A.npy"), "--b", self.path("B.npy"), "--out", self.path("C.npy"), "--check", *more)
        return read_npy(self.path("C.npy"))

    def test_files_of_integers(self):
        npy(self.path("A.npy"), (2, 3), [1, -2, 3, 127, -128, 100], code="b", descr="|i1")
        npy(self.path("B.npy"), (3, 2), [1, 0, 0, -128, 1, 1], code="b", descr="|i1")
        self.assertEqual(self.multiply(), ("<i4", (2, 2), (4, 259, 227, 16484)))
        self.assertEqual(self.multiply("--ldc", 5, "--alpha", 3), ("<i4", (2, 2), (12, 777, 681, 49452)))
        npy(self.path("C0.npy"), (2, 2), [1, 2147483647, -2147483648, 16777217], code="i", descr="<i4")
        self.assertEqual(self.multiply("--c", self.path("C0.npy"), "--beta", 1),
                         ("<i4", (2, 2), (5, 258 - 2**31, 227 - 2**31, 16777217 + 16484)))
        # Rounded to the nearest even, and kept within the range.
        npy(self.path("A.npy"), (2, 3), [0.5, 2.5, -1e9, 0, 0, 1e9], code="f", descr="<f4")
        npy(self.path("B.npy"), (3, 2), [100, 1, 1, 100, 1, -1], code="f", descr="<f4")
        self.assertEqual(self.multiply("--type", "s8")[2], (2 - 128, 200 + 128, 127, -127))

    def test_files_of_8_bit_floats(self):
        # 1, 2, 448, -0.5, 2^-9, 3 of e4m3; the same but 57344 and 2^-16 of e5m2.
        e4m3, e5m2 = [0x38, 0x40, 0x7E, 0xB0, 0x01, 0x44], [0x3C, 0x40, 0x7B, 0xB8, 0x01, 0x42]
        for descr in ("|u1", "|V1", "<V1"):
            npy(self.path("A.npy"), (2, 3), e4m3, code="B", descr=descr)
            npy(self.path("B.npy"), (3, 2), [1, 0, 0, 1, 0, 0], code="f", descr="<f4")
            self.assertEqual(self.multiply("--type", "e4m3")[2], (1, 2, -0.5, 2**-9))
            self.assertEqual(self.multiply("--type", "e4m3", "--type-b", "e5m2")[2], (1, 2, -0.5, 2**-9))
        npy(self.path("A.npy"), (2, 3), e5m2, code="B", descr="<f1")  # as ml_dtypes writes it
        self.assertEqual(self.multiply()[2], (1, 2, -0.5, 2**-16))
        npy(self.path("B.npy"), (3, 2), [0, 0, 0, 0, 1e9, 1], code="f", descr="<f4")  # becomes 448
        self.assertEqual(self.multiply("--type", "e5m2", "--type-b", "e4m3", "--scale-b", 0.5)[2],
                         (57344 * 224, 57344 * 0.5, 3 * 224, 1.5))

    def test_files_of_tf32(self):
        npy(self.path("A.npy"), (1, 2), [1 + 2**-10, 1 + 2**-11], code="f", descr="<f4")
        npy(self.path("B.npy"), (2, 2), [1, 0, 0, 1], code="f", descr="<f4")
        self.assertEqual(self.multiply("--type", "tf32"), ("<f4", (1, 2), (1 + 2**-10, 1)))
        self.assertEqual(self.multiply("--type", "tf32", "--out-type", "bf16"), ("<V2", (1, 2), (0x3F80, 0x3F80)))

    def test_more_than_fits(self):
        self.refused(3, "of device memory but", "gemm", "--m", 2000000000, "--n", 2000000000, "--k", 8, *self.DEVICE)

    def write_table(self, kernel, multiprocessors=4):
        entry = {"a": "f16", "b": "f16", "accumulate": "f32", "c": "f32", "promote": False, "layout": "tn", "m": 64, "n": 64,
                 "k": 64, "kernel": kernel, "microseconds": 1, "documented": kernel, "documented_microseconds": 1}
        with open(self.path("x.tune"), "w") as file:
            json.dump({"tenon_tuning": 1, "device": "a chip", "sm": 90, "multiprocessors": multiprocessors,
                       "entries": [entry]}, file)

    def tuned(self, *more, m=64):
        answer = self.gemm("--m", m, "--n", 64, "--k", 64, "--tuning", self.path("x.tune"), *more)
        return answer["tuning"]["used"], answer["tuning"]["why"], answer["kernel"] == self.KERNEL

    def test_what_became_of_a_tuning_table(self):
        self.write_table(self.KERNEL)
        self.assertEqual(self.tuned(), (True, "it has an entry for m = 64", True))
        self.assertEqual(self.tuned(m=80), (True, "it has an entry for m = 64", True))
        self.assertEqual(self.tuned(m=16), (False, "it has no entry for this problem", False))
        self.assertEqual(self.tuned("--kernel", self.KERNEL), (False, "a kernel that is named comes before it", True))
        self.write_table("nobody")
        self.assertEqual(self.tuned(), (False, "it has an entry for m = 64, but its kernel nobody is not in this build",
                                        False))
        self.write_table(self.KERNEL, multiprocessors=132)
        self.assertEqual(self.tuned(), (False, "it was measured on a chip, sm_90 with 132 multiprocessors, but this device is "
                                        "sm_90 with 4 multiprocessors", False))
        sizes = ("gemm", "--m", 64, "--n", 64, "--k", 64, *self.DEVICE)
        self.assertIn("\ntuning   not used: it was measured on a chip", run(*sizes, "--tuning", self.path("x.tune"))[1])
        self.assertNotIn("tuning", run(*sizes)[1])
        self.assertIsNone(self.gemm("--m", 8, "--n", 8, "--k", 8)["tuning"])

    def test_outputs_that_exist(self):
        """A file keeps its permissions, and a symbolic link its target."""
        sizes = ("--m", 8, "--n", 8, "--k", 8)
        out, link = self.path("C.npy"), self.path("link")
        with open(out, "w") as file:
            file.write("old")
        os.chmod(out, 0o600)
        os.symlink("dangling.npy", link)
        self.gemm(*sizes, "--out", out)
        self.gemm(*sizes, "--out", link)
        self.assertEqual(stat.S_IMODE(os.stat(out).st_mode), 0o600)
        self.assertEqual(os.readlink(link), "dangling.npy")
        self.assertEqual(read_npy(self.path("dangling.npy")), read_npy(out))
        self.assertEqual(sorted(os.listdir(self.folder)), ["C.npy", "dangling.npy", "link"])

    def test_a_fault_in_a_kernel(self):
        """A wait that lets the copy it is for go on: found, named at its line, status 1, nothing written."""
        shutil.copytree(tenon_command.PTX, self.path("ptx"))
        file = self.path("ptx/cp_async_f16_f32_64x64x64_s5.ptx")
        with open(file) as text:
            right = text.read()
        wrong = right.replace("cp.async.wait_group \t3;", "cp.async.wait_group \t4;").replace(
            "cp.async.wait_group 3;", "cp.async.wait_group 4;")
        self.assertNotEqual(right, wrong)
        with open(file, "w") as text:
            text.write(wrong)
        arguments = ("gemm", "--m", 64, "--n", 64, "--k", 320, "--kernel", self.KERNEL, "--out", self.path("C.npy"),
                     *self.DEVICE)
        code, out, err = run(*arguments, "--json", TENON_PTX_PATH=self.path("ptx"))
        self.assertEqual(code, 1, err)
        self.assertIn("the emulator found a fault in the kernel: async_use in ", err)
        answer = json.loads(out)
        self.assertEqual(set(answer), self.KEYS | {"error"})
        self.assertEqual((answer["error"]["code"], "tenon: " + answer["error"]["message"] + "\n"), ("wrong_result", err))
        findings = answer["findings"]
        self.assertTrue(findings)
        for finding in findings:
            self.assertEqual(list(finding), ["kind", "entry", "ptx_line", "source", "count", "first", "message", "lines"])
            self.assertEqual(list(finding["first"]), ["block", "thread", "address"])
            self.assertIn(finding["kind"], ("async_use", "race", "uninitialized"))
            self.assertIn("gemm_cp_async", finding["entry"])
            self.assertIn("ldmatrix", wrong.splitlines()[finding["ptx_line"] - 1])
            self.assertGreater(finding["count"], 0)
        self.assertFalse(os.path.exists(self.path("C.npy")))
        code, out, err = run(*arguments, TENON_PTX_PATH=self.path("ptx"))
        self.assertEqual(code, 1)
        self.assertIn("finding  async_use in ", out)
        self.assertEqual(run(*arguments)[0], 0)



class OnTheGpu(OnADevice):

    def test_the_ladder_ends_at_cublas(self):
        code, out, err = run("ladder", "--m", 256, "--n", 512, "--k", 128, "--json")
        if code == 3 and "libcublasLt" in err:
            self.skipTest("there is no cuBLASLt here")
        self.assertEqual(code, 0, err)
        answer = json.loads(out)
        rungs = [row["rung"] for row in answer["rows"]]
        self.assertEqual((rungs[0], rungs[2], rungs[-1]), ("naive FP32", "cuBLAS SGEMM", "cuBLASLt"))
        self.assertIn("mma.sync, TMA ring" if answer["machine"].startswith("NVIDIA H") else rungs[0], rungs)
        for row in answer["rows"]:
            self.assertTrue(row["ms"] > 0 and row["tflops"] > 0 and row["ratio"] > 0, row)
            self.assertIn(row["ok"], (True, None))

    def test_the_ladder_of_attention(self):
        """The documents' problem: tensor cores are at least eight times as fast as the scalar kernel."""
        code, out, err = run("ladder", "attention", "--json")
        self.assertEqual(code, 0, err)
        answer = json.loads(out)
        self.assertEqual([answer[x] for x in ("batch", "heads", "queries", "keys", "head_dimension")], [1, 8, 512, 512, 64])
        rows = answer["rows"]
        self.assertEqual([row["kernel"] for row in rows[:2]], ["scalar_f32", "wmma"])
        self.assertEqual(len(rows), 4 if answer["machine"].startswith("NVIDIA H") else 3)
        self.assertEqual(rows[0]["factor"], 1)
        self.assertGreaterEqual(max(row["factor"] for row in rows), 8)
        for row in rows:
            self.assertTrue(row["ok"] and row["max_error"] <= row["error_bound"] and row["ms"] > 0, row)

    def test_the_form_that_scripts_rely_on(self):
        answer = self.gemm("--m", 128, "--n", 96, "--k", 64, "--type", "f16", "--out-type", "f32", "--layout", "tn",
                           "--alpha", 1, "--beta", 0, "--seed", 7, "--device", "auto", "--check", "--bench")
        self.assertEqual(set(answer), self.KEYS)
        self.assertEqual([answer[x] for x in ("device", "m", "n", "k", "ok")], ["cuda", 128, 96, 64, True])
        self.assertIn(answer["kernel"], [kernel["name"] for kernel in json.loads(run("list", "--json")[1])])
        self.assertTrue(0 < answer["max_error"] <= answer["error_bound"] < 1e-3)
        self.assertTrue(answer["ms"] > 0 and answer["tflops"] > 0)

    def test_what_was_not_asked_is_null(self):
        answer = self.gemm("--m", 16, "--n", 16, "--k", 16)
        asked = ("max_error", "error_bound", "ok", "ms", "tflops", "findings", "counters")
        self.assertEqual([answer[x] for x in asked], [None] * len(asked))

    def test_every_type_and_layout(self):
        for layout in ("tn", "nn", "tt", "nt"):
            for type_ in ("f16", "bf16"):
                for out in ("f16", "bf16", "f32"):
                    with self.subTest(layout=layout, type=type_, out=out):
                        answer = self.gemm("--m", 200, "--n", 137, "--k", 90, "--layout", layout, "--type", type_,
                                           "--out-type", out, "--beta", -0.5, "--alpha", 2, "--check")
                        self.assertTrue(answer["ok"])
            with self.subTest(layout=layout, accumulate="f16"):
                self.assertTrue(self.gemm("--m", 200, "--n", 136, "--k", 88, "--layout", layout, "--accumulate", "f16",
                                          "--check")["ok"])

    def test_other_types_and_layouts(self):
        if json.loads(run("info", "--json")[1])["devices"][0]["arch"] != "sm_90":
            self.skipTest("needs a GPU of sm_90")
        for a, b, more in InTheEmulator.OTHERS:
            for layout in ("tn", "nn", "tt", "nt"):
                for sizes in (("--m", 200, "--n", 137, "--k", 333), ("--m", 700, "--n", 650, "--k", 1030)):
                    with self.subTest(a=a, b=b, layout=layout, more=more, sizes=sizes):
                        answer = self.gemm(*sizes, "--type", a, "--type-b", b, "--layout", layout, *more, "--check")
                        self.assertTrue(answer["ok"])

    def test_leading_dimensions_and_odd_sizes(self):
        for arguments in (("--m", 65, "--n", 67, "--k", 71, "--lda", 72, "--ldb", 73, "--ldc", 70),
                          ("--m", 1, "--n", 1, "--k", 1), ("--m", 1025, "--n", 1027, "--k", 1029)):
            self.assertTrue(self.gemm(*arguments, "--check")["ok"])

    def test_empty_products(self):
        for m, n, k in ((0, 8, 8), (8, 0, 8), (8, 8, 0), (0, 0, 0)):
            answer = self.gemm("--m", m, "--n", n, "--k", k, "--check", "--beta", 0 if k else 0.5)
            self.assertTrue(answer["ok"])
            self.assertIsNone(answer["kernel"])

    def test_large_check_on_the_device(self):
        self.assertTrue(self.gemm("--m", 1000, "--n", 1000, "--k", 1000, "--check")["ok"])

    def test_a_kernel_of_each_kind_by_name(self):  # gemm_test runs them all
        def run_by_name(kernel):
            name = kernel["name"]
            type_, type_b, accumulate, layout = re.search(
                r"^[a-z_]+?_(f16|bf16|tf32|e4m3|e5m2|s8|f64)(?:_(e4m3|e5m2))?_(f32|f16|s32|f64)_([tn]{2})_", name).groups()
            if "_rounded" in name:  # operands of f32, which it rounds
                types = ("--precision", type_)
            else:
                fused = "_fused" in name
                of_c = {"s8": "f16" if fused else "s32", "f64": "f64", "bf16": "bf16" if fused else "f16"}.get(type_, "f16")
                types = ("--type", type_, "--type-b", type_b or type_, "--out-type", of_c, "--accumulate", accumulate)
            promote = ("--promote",) if "_promoted" in name else ()
            return run("gemm", "--m", 264, "--n", 136, "--k", 200, "--kernel", name, "--layout", layout, *types, *promote,
                       "--check", "--json")

        arch = json.loads(run("info", "--json")[1])["devices"][0]["arch"]
        kinds = {}  # kernels that differ in more than layout and tile
        for kernel in json.loads(run("list", "--json")[1]):
            kinds.setdefault(re.sub(r"_[tn]{2}_\d+x\d+x\d+_s\d+", "", kernel["name"]), kernel)
        kernels = list(kinds.values())
        self.assertGreater(len(kernels), 100)
        runs = 0
        with concurrent.futures.ThreadPoolExecutor(8) as several:  # each is a process that waits
            answers = list(several.map(run_by_name, kernels))
        for kernel, (code, out, err) in zip(kernels, answers):
            name = kernel["name"]
            with self.subTest(kernel=name):
                if code == 3 and kernel["arch"] == "sm_90a" and arch != "sm_90":
                    continue  # another device could
                self.assertEqual(code, 0, err)
                self.assertEqual(json.loads(out)["kernel"], name)
                runs += 1
        self.assertGreater(runs, 0)

    def test_tune(self):
        """Measures two small problems of each type, and runs them by the table."""
        arch = json.loads(run("info", "--json")[1])["devices"][0]["arch"]
        types = ["f16", "bf16"] + (["e4m3", "s8"] if arch == "sm_90" else [])
        table = self.path("x.tune")
        code, out, err = run("tune", "--shapes", "64:256:512,200", "--types", ",".join(types), "--seconds", 0,
                             "--commit", "a test", "--out", table)
        self.assertEqual((code, err), (0, ""))
        self.assertIn("written  " + table, out)
        with open(table) as file:
            content = json.load(file)
        info = json.loads(run("info", "--json")[1])["devices"][0]
        self.assertEqual((content["tenon_tuning"], content["device"], content["multiprocessors"], content["commit"]),
                         (1, info["name"], info["multiprocessors"], "a test"))
        self.assertEqual("sm_%d" % content["sm"], info["arch"])
        self.assertEqual({(e["a"], e["m"], e["n"], e["k"]) for e in content["entries"]},
                         {(type_, *size) for type_ in types for size in ((64, 256, 512), (200, 200, 200))})
        for entry in content["entries"]:
            self.assertGreater(entry["microseconds"], 0.5, entry)
            self.assertLess(entry["microseconds"], 1000, entry)
            if entry["kernel"] == entry["documented"]:
                self.assertEqual(entry["microseconds"], entry["documented_microseconds"])
            else:
                self.assertLess(entry["microseconds"], entry["documented_microseconds"])
            if entry["a"] in ("f16", "bf16"):
                answer = self.gemm("--m", entry["m"], "--n", entry["n"], "--k", entry["k"], "--type", entry["a"],
                                   "--tuning", table, "--check")
                self.assertEqual((answer["kernel"], answer["ok"]), (entry["kernel"], True))
        code, out, err = run("tune", "--shapes", 64, "--kernel", "*_64x64x64_s5", "--seconds", 0, "--json")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(len(json.loads(out)["entries"]), 1)

    def test_tuned_for_more_than_fits(self):
        self.refused(3, "of device memory but", "tune", "--shapes", "2147479552:64:64", "--out-type", "f32", "--layout",
                     "nn", "--out", self.path("x.tune"))

    def test_more_than_fits(self):
        self.refused(3, "of device memory but", "gemm", "--m", 2000000000, "--n", 2000000000, "--k", 8)

    def test_files(self):
        npy(self.path("A.npy"), (2, 3), [1, 2, 3, 4, 5, 6])
        npy(self.path("B.npy"), (3, 2), [1, 0, 0, 1, 1, 1])
        out = self.path("C.npy")
        arguments = ("--a", self.path("A.npy"), "--b", self.path("B.npy"), "--out", out, "--check")
        self.gemm(*arguments)
        self.assertEqual(read_npy(out), ("<f4", (2, 2), (4, 5, 10, 11)))
        self.gemm(*arguments, "--out-type", "f16", "--ldc", 7)
        self.assertEqual(read_npy(out), ("<f2", (2, 2), (4, 5, 10, 11)))
        self.gemm(*arguments, "--out-type", "bf16")
        self.assertEqual(read_npy(out), ("<V2", (2, 2), (0x4080, 0x40A0, 0x4120, 0x4130)))
        npy(self.path("C0.npy"), (2, 2), [1, 2, 3, 4], code="f", descr="<f4")
        self.gemm(*arguments, "--c", self.path("C0.npy"), "--beta", 10)
        self.assertEqual(read_npy(out)[2], (14, 25, 40, 51))
        self.assertEqual(stat.S_IMODE(os.stat(out).st_mode) & 0o600, 0o600)
        self.assertEqual(sorted(os.listdir(self.folder)), ["A.npy", "B.npy", "C.npy", "C0.npy"])

    def test_fortran_order_and_f32_files(self):
        npy(self.path("A.npy"), (2, 3), [1, 4, 2, 5, 3, 6], code="f", descr="<f4", fortran="True")
        npy(self.path("B.npy"), (3, 2), [1, 0, 0, 1, 1, 1])
        self.gemm("--a", self.path("A.npy"), "--b", self.path("B.npy"), "--out", self.path("C.npy"))
        self.assertEqual(read_npy(self.path("C.npy"))[2], (4, 5, 10, 11))

    def test_a_kernel_that_does_not_fit(self):
        kernels = json.loads(run("list", "--json")[1])
        bf16 = [kernel["name"] for kernel in kernels if "_bf16_" in kernel["name"]]
        if not bf16:
            self.skipTest("no kernel has bf16 in its name")
        self.refused(2, "multiplies bf16 by bf16 but A is f16 and B is f16", "gemm", "--m", 64, "--n", 64, "--k", 64,
                     "--type", "f16", "--kernel", bf16[0])


if __name__ == "__main__":
    sys.exit(tenon_command.main({"L3": [InTheEmulator], "L4": [OnTheGpu]}))
