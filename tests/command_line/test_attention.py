"""`tenon attention`: what it refuses, and in the emulator what it computes; on a GPU the same, timed."""
import json
import math
import sys

import tenon_command
from tenon_command import Folder, npy, read_npy, run

SIZES = ("--heads", 2, "--queries", 17, "--head-dimension", 32)


class Usage(Folder):
    def test_what_is_missing_or_does_not_go_together(self):
        self.refused(2, "give --heads, --queries and --head-dimension", "attention", "--heads", 2, "--json")
        self.refused(2, "--q, --k and --v must be given together", "attention", "--q", "q.npy")
        self.refused(2, "--causal is --right 0", "attention", *SIZES, "--causal", "--left", 3)
        self.refused(2, "--bench times a GPU", "attention", *SIZES, "--bench", "--device", "emulator")
        self.refused(2, "--heads is for random tensors", "attention", "--q", "q", "--k", "k", "--v", "v", "--heads", 2)

    def test_lengths_that_do_not_go_together(self):
        lengths = ("--heads", 2, "--head-dimension", 32, "--query-lengths", "3,4")
        self.refused(2, "it does not go with --queries", "attention", *lengths, "--queries", 4)
        self.refused(2, "it does not go with --keys", "attention", *lengths, "--key-lengths", "3,4", "--keys", 4)
        self.refused(2, "--query-lengths has 2 batches but --key-lengths has 1", "attention", *lengths, "--key-lengths", 3)
        self.refused(2, "--batch is 3 but there are lengths of 2 batches", "attention", *lengths, "--batch", 3)
        self.refused(2, "--page-size", "attention", *lengths, "--page-size", 257)
        self.refused(2, "--query-lengths is for random tensors", "attention", "--q", "q", "--k", "k", "--v", "v",
                     "--query-lengths", 3)

    def test_bad_values(self):
        self.refused(2, "--queries", "attention", "--heads", 2, "--queries", "x", "--head-dimension", 32, "--json")
        self.refused(2, "--head-dimension", "attention", "--heads", 2, "--queries", 3, "--head-dimension", 2000)
        self.refused(2, "--type", "attention", *SIZES, "--type", "f32")
        self.refused(2, "--output-type is for --type e4m3", "attention", *SIZES, "--output-type", "f16")

    def test_backward(self):
        self.refused(2, "--deterministic is for --backward", "attention", *SIZES, "--deterministic")
        self.refused(2, "--d-o is for --backward", "attention", *SIZES, "--d-o", "o.npy", "--json")
        self.refused(2, "--out writes O of the forward pass", "attention", *SIZES, "--backward", "--out", "o.npy")
        d_o = self.path("d_o.npy")
        npy(d_o, "(17, 2, 16)", [0.0] * 544)
        self.refused(2, "dO is 1 x 17 x 2 x 16 but must be as O, 1 x 17 x 2 x 32", "attention", *SIZES, "--backward", "--d-o", d_o)

    def test_help_has_examples(self):
        code, out, _ = run("attention", "--help")
        self.assertEqual(code, 0)
        for words in ("--causal", "--soft-cap", "--key-heads", "--sinks", "--query-lengths", "--key-lengths", "--page-size",
                      "--check", "--bench", "--json", "--backward", "--d-o", "--deterministic", "Examples:"):
            self.assertIn(words, out)

    def test_files(self):
        q, k, text = self.path("q.npy"), self.path("k.npy"), self.path("text.npy")
        npy(q, "(3, 2, 32)", [0.0] * 192)
        npy(k, "(5, 2, 16)", [0.0] * 160)
        npy(text, "(192,)", [0.0] * 192)
        self.refused(2, "its shape is 192 but must be rows x heads x dimension", "attention", "--q", text, "--k", q, "--v", q)
        self.refused(2, "the head dimension of Q is 32 but that of K 16", "attention", "--q", q, "--k", k, "--v", k)
        self.refused(2, "its elements are f16 but --type is bf16", "attention", "--q", q, "--k", q, "--v", q, "--type", "bf16")
        self.refused(2, "cannot be", "attention", "--q", q, "--k", q, "--v", self.path("none.npy"), "--json")


class Computes(Folder):
    DEVICE = "emulator"
    KEYS = ["kernel", "device", "device_name", "batch", "heads", "key_heads", "queries", "keys", "head_dimension",
            "value_dimension", "type", "max_error", "rms_error", "error_bound", "log_sum_exp_error", "ok", "ms", "ms_low",
            "ms_high", "tflops", "findings", "counters"]

    def attention(self, *arguments):
        code, out, err = run("attention", *arguments, "--device", self.DEVICE, "--json")
        self.assertEqual((code, err), (0, ""))
        return json.loads(out)

    def test_the_form_that_scripts_rely_on(self):
        answer = self.attention(*SIZES, "--keys", 63, "--key-heads", 1, "--causal", "--check")
        self.assertEqual(list(answer), self.KEYS)
        self.assertEqual([answer[x] for x in ("batch", "heads", "key_heads", "queries", "keys", "ok")], [1, 2, 1, 17, 63, True])
        self.assertTrue(0 < answer["rms_error"] < answer["max_error"] <= answer["error_bound"] < 0.02)

    def test_every_option_is_checked_against_float64(self):
        for options in (("--left", 5), ("--soft-cap", 2), ("--alibi",), ("--scale", -0.5), ("--batch", 2, "--type", "bf16")):
            self.assertTrue(self.attention(*SIZES, *options, "--check")["ok"], options)

    def test_variable_lengths_pages_and_sinks(self):
        heads = ("--heads", 2, "--key-heads", 1, "--head-dimension", 32, "--causal", "--check")
        for options in (("--query-lengths", "5,0,17"), ("--query-lengths", "5,17", "--key-lengths", "70,3"),
                        ("--queries", 4, "--key-lengths", "0,33,9", "--page-size", 5, "--sinks"),
                        ("--query-lengths", "5,1", "--keys", 20, "--page-size", 256)):
            answer = self.attention(*heads, *options)
            self.assertTrue(answer["ok"], options)
            self.assertRegex(answer["kernel"], "_decode_|_general", options)
        self.assertEqual((answer["batch"], answer["queries"], answer["keys"]), (2, 5, 20))

    def test_rows_of_batches_follow_each_other(self):
        o = self.path("o.npy")
        self.attention("--heads", 2, "--head-dimension", 32, "--query-lengths", "5,1,3", "--out", o)
        descr, shape, values = read_npy(o)
        self.assertEqual((descr, shape), ("<f2", (1, 9, 2, 32)))
        self.assertTrue(all(math.isfinite(x) for x in values))

    def test_e4m3(self):
        answer = self.attention("--heads", 2, "--queries", 17, "--head-dimension", 64, "--type", "e4m3", "--output-type", "f16", "--check")
        self.assertEqual((answer["kernel"], answer["type"], answer["ok"]), ("attention_wgmma_e4m3_64_192x160_full", "e4m3", True))
        self.refused(2, "offsets, lengths or pages are given but e4m3 needs batches of equal lengths", "attention", "--heads", 2,
                     "--query-lengths", "3,5", "--head-dimension", 64, "--type", "e4m3", "--device", self.DEVICE, "--json")

    def test_what_it_refuses(self):
        self.refused(2, "heads is 3 but must be a multiple of key_heads, 2", "attention", "--heads", 3, "--key-heads", 2,
                     "--queries", 4, "--head-dimension", 64, "--device", self.DEVICE, "--json")
        self.refused(2, "no attention kernel of this build takes f16 with head dimensions 40", "attention", "--heads", 1,
                     "--queries", 4, "--head-dimension", 40, "--device", self.DEVICE)
        self.refused(2, "no attention kernel has the name 'warp'", "attention", *SIZES, "--kernel", "warp", "--device", self.DEVICE)
        self.refused(3, "too little memory", "attention", "--batch", 2**28, "--heads", 2**10, "--queries", 2**28,
                     "--head-dimension", 64, "--device", self.DEVICE)

    def test_files_in_and_out(self):
        q, k, v, o = (self.path(name + ".npy") for name in "qkvo")
        npy(q, "(3, 1, 32)", [0.0] * 96)
        npy(k, "(4, 1, 32)", [1.0] * 128)
        npy(v, "(1, 4, 1, 32)", [float(row) for row in range(4) for _ in range(32)], code="f", descr="<f4")
        self.attention("--q", q, "--k", k, "--v", v, "--causal", "--out", o)
        descr, shape, values = read_npy(o)
        self.assertEqual((descr, shape), ("<f2", (1, 3, 1, 32)))
        self.assertEqual(values[::32], (0.5, 1.0, 1.5))

    BACKWARD_KEYS = [*KEYS, "backward", "deterministic", "forward_kernel", "dq", "dk", "dv"]

    def test_backward_in_the_form_that_scripts_rely_on(self):
        answer = self.attention(*SIZES, "--keys", 63, "--key-heads", 1, "--causal", "--backward", "--check")
        self.assertEqual(list(answer), self.BACKWARD_KEYS)
        self.assertEqual((answer["ok"], answer["backward"], answer["deterministic"]), (True, True, False))
        self.assertTrue(answer["kernel"].startswith("attention_backward_"))
        self.assertNotIn("backward", answer["forward_kernel"])
        for gradient in ("dq", "dk", "dv"):
            self.assertEqual(list(answer[gradient]), ["max_error", "rms_error", "share_of_bound"])
            self.assertTrue(0 < answer[gradient]["rms_error"] < answer[gradient]["max_error"] < 0.01, answer)
            self.assertTrue(0 < answer[gradient]["share_of_bound"] < 1, answer)
        unchecked = self.attention(*SIZES, "--backward")
        self.assertEqual([unchecked[x] for x in ("ok", "dq", "dk", "dv", "ms")], [None] * 5)

    def test_every_option_of_backward_is_checked_against_float64(self):
        for options in (("--left", 5), ("--soft-cap", 2), ("--alibi", "--deterministic"), ("--scale", -0.5), ("--keys", 1),
                        ("--batch", 2, "--type", "bf16"), ("--keys", 0)):
            answer = self.attention(*SIZES, *options, "--backward", "--check")
            self.assertEqual((answer["ok"], answer["deterministic"]), (True, "--deterministic" in options), options)

    def test_a_kernel_of_backward_by_its_name(self):
        answer = self.attention(*SIZES, "--backward", "--check", "--kernel", "attention_backward_mma_f16_32")
        self.assertEqual((answer["kernel"], answer["ok"]), ("attention_backward_mma_f16_32", True))
        self.refused(2, "no backward kernel of attention has the name 'warp'", "attention", *SIZES, "--backward", "--kernel",
                     "warp", "--device", self.DEVICE)

    def test_what_backward_does_not_take(self):
        heads = ("--heads", 2, "--head-dimension", 32, "--backward", "--device", self.DEVICE)
        queries = (*heads, "--queries", 17)
        for options in ((*heads, "--query-lengths", "3,4"), (*queries, "--key-lengths", 3), (*queries, "--page-size", 8),
                        (*queries, "--sinks")):
            option = next(x for x in options if x in ("--query-lengths", "--key-lengths", "--page-size", "--sinks"))
            self.refused(2, option + " is for the forward pass alone: it does not go with --backward", "attention", *options)
        self.refused(2, "type is e4m3 but the backward pass of attention needs f16 or bf16", "attention", *queries, "--type",
                     "e4m3", "--json")

    def test_backward_of_files(self):
        paths = {name: self.path(name + ".npy") for name in ("q", "k", "v", "d-o")}
        for index, path in enumerate(paths.values()):
            npy(path, "(5, 1, 32)", [((i * 7 + index) % 11 - 5) / 4 for i in range(160)])
        qkv = [x for name in "qkv" for x in ("--" + name, paths[name])]
        checked = ("--backward", "--check", "--causal")
        answers = [self.attention(*qkv, *checked, *d_o) for d_o in (("--d-o", paths["d-o"]), ("--seed", 2), ("--seed", 3))]
        self.assertTrue(all(answer["ok"] for answer in answers))
        self.assertEqual(len({answer["dv"]["rms_error"] for answer in answers}), 3)
        self.refused(2, "--seed is for random tensors", "attention", *qkv, *checked, "--d-o", paths["d-o"], "--seed", 2)
        npy(paths["d-o"], "(5, 1, 32)", [0.0] * 160)  # gradients of 0
        answer = self.attention(*qkv, *checked, "--d-o", paths["d-o"])
        self.assertEqual([answer[x]["max_error"] for x in ("dq", "dk", "dv")], [0, 0, 0])

    def test_nothing_to_compute(self):
        answer = self.attention("--heads", 2, "--queries", 0, "--keys", 3, "--head-dimension", 32, "--check")
        self.assertEqual((answer["kernel"], answer["ok"]), (None, True))


class OnAGpu(Computes):
    DEVICE = "cuda"

    def test_time_lies_in_its_interval(self):
        answer = self.attention("--heads", 8, "--queries", 512, "--head-dimension", 64, "--bench")
        self.assertTrue(0 < answer["ms_low"] <= answer["ms"] <= answer["ms_high"])
        self.assertTrue(math.isfinite(answer["tflops"]) and answer["tflops"] > 0)

    def test_time_of_backward_lies_in_its_interval(self):
        answer = self.attention("--heads", 8, "--queries", 512, "--head-dimension", 64, "--backward", "--check", "--bench")
        self.assertTrue(answer["ok"])
        self.assertTrue(0 < answer["ms_low"] <= answer["ms"] <= answer["ms_high"])
        self.assertTrue(math.isfinite(answer["tflops"]) and answer["tflops"] > 0)


if __name__ == "__main__":
    sys.exit(tenon_command.main({"L0": [Usage], "L3": [Computes], "L4": [OnAGpu]}))
