"""The executable `tenon` as scripts see it: exit status, JSON on stdout, sentences on stderr, files.

Level L0 runs no kernel; level L3 runs them in the emulator; level L4 on a GPU, and exits with 77 where `tenon info`
finds none.
"""
import argparse
import json
import os
import re
import shutil
import stat
import struct
import subprocess
import sys
import tempfile
import unittest

COMMAND = None
PTX = None  # the folder of the kernels' PTX


def run(*arguments, **environment):
    """Exit status, stdout and stderr of one call."""
    done = subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True, timeout=300,
                          env={**os.environ, **environment})
    return done.returncode, done.stdout, done.stderr


def has_gpu():
    return json.loads(run("info", "--json")[1])["can_run"]["cuda"]["ok"]


def npy(path, rows, columns, values, code="e", descr="<f2", fortran="False"):
    """Writes a matrix; code is struct's letter of an element (e: half, f: float, H: 16 bits, b, B: 8 bits, i: 32)."""
    text = "{'descr': '%s', 'fortran_order': %s, 'shape': (%d, %d), }\n" % (descr, fortran, rows, columns)
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode())
        file.write(struct.pack("<%d%s" % (len(values), code), *values))


def read_npy(path):
    """descr, rows, columns, values of a file that `tenon` wrote."""
    with open(path, "rb") as file:
        content = file.read()
    assert content[:8] == b"\x93NUMPY\x01\x00"
    (length,) = struct.unpack("<H", content[8:10])
    header = eval(content[10:10 + length], {"__builtins__": {}})  # a Python literal by definition of the format
    assert (10 + length) % 64 == 0 and header["fortran_order"] is False
    rows, columns = header["shape"]
    code = {"<f2": "e", "<f4": "f", "<V2": "H", "<i4": "i"}[header["descr"]]
    return header["descr"], rows, columns, struct.unpack("<%d%s" % (rows * columns, code), content[10 + length:])


class Folder(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def refused(self, status, words, *arguments, **environment):
        """The call ends with the status, says the words in one line on stderr and nothing on stdout."""
        code, out, err = run(*arguments, **environment)
        self.assertEqual((code, out), (status, ""), err)
        self.assertTrue(err.startswith("tenon: "), err)
        self.assertIn(words, err)


class Usage(Folder):
    SIZES = ("--m", 8, "--n", 8, "--k", 8)

    def test_help_has_examples(self):
        for command in ("gemm", "ladder", "layout", "list", "info", "doctor", "tune"):
            code, out, _ = run(command, "--help")
            self.assertEqual(code, 0)
            self.assertIn("Examples:\n  tenon " + command, out)
        self.assertEqual(run("--help")[0], 0)

    def test_help_names_the_types(self):
        text = " ".join(run("gemm", "--help")[1].split())
        for words in ("{f16,bf16,tf32,e4m3,e5m2,s8}", "{f16,bf16,f32,s32}", "{f32,f16,s32}", "--type-b", "--promote",
                      "--scale-a", "--scale-b", "of s8 round(42 * N(0, 1)), within +-127"):
            self.assertIn(words, text)

    def test_bad_usage(self):
        self.refused(2, "subcommand", )
        self.refused(2, "--frobnicate", "gemm", "--frobnicate")
        self.refused(2, "give --m, --n and --k", "gemm")
        self.refused(2, "give --m, --n and --k", "gemm", "--m", 8, "--n", 8)
        self.refused(2, "--a and --b must be given together", "gemm", "--a", "x.npy")
        self.refused(2, "f64 not in", "gemm", *self.SIZES, "--type", "f64")
        self.refused(2, "xy not in", "gemm", *self.SIZES, "--layout", "xy")
        self.refused(2, "tpu not in", "gemm", *self.SIZES, "--device", "tpu")
        self.refused(2, "--k = many", "gemm", "--m", 8, "--n", 8, "--k", "many")

    def test_bad_problems(self):
        self.refused(2, "m is -1 but must be >= 0", "gemm", "--m", -1, "--n", 8, "--k", 8)
        self.refused(2, "k is 3000000000 but must be <=", "gemm", "--m", 8, "--n", 8, "--k", 3000000000)
        self.refused(2, "lda is 7 but row-major A with k = 8 needs lda >= 8", "gemm", *self.SIZES, "--lda", 7)
        self.refused(2, "ldc is 7 but row-major C with n = 8 needs ldc >= 8", "gemm", *self.SIZES, "--ldc", 7)
        self.refused(2, "accumulate is f16 with bf16 inputs but must be f32", "gemm", *self.SIZES, "--type", "bf16",
                     "--accumulate", "f16")
        self.refused(2, "no kernel has the name 'nobody'", "gemm", *self.SIZES, "--kernel", "nobody")

    def test_bad_types(self):
        for words, arguments in (
                ("A is e4m3 and B is s8 but they must have the same type, or be e4m3 and e5m2",
                 ("--type", "e4m3", "--type-b", "s8")),
                ("A is f16 and B is e5m2 but they must have the same type", ("--type-b", "e5m2")),
                ("C is f32 with s8 inputs but must be s32", ("--type", "s8", "--out-type", "f32")),
                ("C is s32 with e4m3 inputs but must be f16, bf16 or f32", ("--type", "e4m3", "--out-type", "s32")),
                ("accumulate is f32 with s8 inputs but must be s32", ("--type", "s8", "--accumulate", "f32")),
                ("accumulate is f16 with tf32 inputs but must be f32", ("--type", "tf32", "--accumulate", "f16")),
                ("promote is given but A and B are s8", ("--type", "s8", "--promote")),
                ("promote is given but A and B are f16", ("--promote",)),
                ("scale_a is given but A and B are tf32", ("--type", "tf32", "--scale-a", 2)),
                ("scale_b is given but A and B are bf16", ("--type", "bf16", "--scale-b", 2)),
                ("alpha is 0.5 but with C in s32 must be a whole number", ("--type", "s8", "--alpha", 0.5)),
                ("beta is 3e+09 but with C in s32 must be a whole number", ("--type", "s8", "--beta", 3e9)),
                ("f32 not in", ("--type", "f32")),
                ("s8 not in", ("--out-type", "s8"))):
            self.refused(2, words, "gemm", *self.SIZES, *arguments, "--device", "emulator")

    def test_the_emulator_does_not_time(self):
        self.refused(2, "--bench times a GPU", "gemm", *self.SIZES, "--device", "emulator", "--bench")

    def test_the_emulator_needs_the_ptx(self):
        self.refused(3, "TENON_PTX_PATH is '/nowhere' but", "gemm", *self.SIZES, "--device", "emulator",
                     TENON_PTX_PATH="/nowhere")

    def test_bad_input_comes_before_the_machine(self):
        self.refused(2, "m is -1", "gemm", "--m", -1, "--n", 8, "--k", 8, "--device", "emulator",
                     TENON_PTX_PATH="/nowhere")


class Files(Folder):
    def setUp(self):
        super().setUp()
        self.a, self.b = self.path("A.npy"), self.path("B.npy")
        npy(self.a, 2, 3, [1, 2, 3, 4, 5, 6])
        npy(self.b, 3, 2, [1, 0, 0, 1, 1, 1])

    def gemm_refused(self, words, *more):
        before = sorted(os.listdir(self.folder))
        self.refused(2, words, "gemm", "--a", self.a, "--b", self.b, *more)
        self.assertEqual(sorted(os.listdir(self.folder)), before, "nothing was written")

    def test_missing(self):
        os.remove(self.b)
        self.gemm_refused("B.npy: cannot be read: No such file or directory", "--out", self.path("C.npy"))

    def test_truncated(self):
        with open(self.a, "rb+") as file:
            file.truncate(os.path.getsize(self.a) - 1)
        self.gemm_refused("A.npy: it is truncated", "--out", self.path("C.npy"))

    def test_inner_dimensions(self):
        npy(self.b, 4, 2, [0] * 8)
        self.gemm_refused("the columns of A (3) must be as many as the rows of B (4)", "--out", self.path("C.npy"))

    def test_types(self):
        npy(self.b, 3, 2, [0] * 6, code="d", descr="<f8")
        self.gemm_refused("its elements are '<f8' but must be")
        npy(self.b, 3, 2, [0] * 6, code="H", descr="<V2")
        self.gemm_refused("its elements are bf16 but must be f16, the type of")
        npy(self.b, 3, 2, [0] * 6)
        self.gemm_refused("its elements are f16 but must be bf16 (--type)", "--type", "bf16")
        self.gemm_refused("its elements are f16 but must be s8 (--type)", "--type", "s8")
        npy(self.a, 2, 3, [0] * 6, code="f", descr="<f4")
        self.gemm_refused("B.npy: its elements are f16 but must be e5m2 (--type-b)", "--type", "e4m3", "--type-b",
                          "e5m2")
        npy(self.b, 3, 2, [0] * 6, code="B", descr="|u1")
        self.gemm_refused("its elements are '|u1', which means an 8-bit float only with --type e4m3 or e5m2")
        npy(self.b, 3, 2, [0] * 6, code="b", descr="|i1")
        self.gemm_refused("its elements are s8 but must be tf32 (--type)", "--type", "tf32")
        npy(self.b, 3, 2, [0] * 6, code="i", descr="<i4")
        self.gemm_refused("its elements are s32 but must be s8 (--type)", "--type", "s8")

    def test_type_of_c(self):
        npy(self.path("C0.npy"), 2, 2, [0] * 4, code="i", descr="<i4")
        self.gemm_refused("C0.npy: its elements are s32 but C is f32", "--c", self.path("C0.npy"), "--beta", 1)
        npy(self.a, 2, 3, [0] * 6, code="b", descr="|i1")
        npy(self.b, 3, 2, [0] * 6, code="b", descr="|i1")
        npy(self.path("C0.npy"), 2, 2, [0] * 4)
        self.gemm_refused("C0.npy: its elements are f16 but C is s32", "--c", self.path("C0.npy"), "--beta", 1)

    def test_contradictions(self):
        self.gemm_refused("--m is 5 but the files make it 2", "--m", 5)
        self.gemm_refused("the files say how they lie", "--layout", "tn")
        self.gemm_refused("C is read: give it with --c", "--beta", 1)

    def test_shape_of_c(self):
        npy(self.path("C0.npy"), 3, 3, [0] * 9)
        self.gemm_refused("C must be 2 x 2", "--c", self.path("C0.npy"), "--beta", 1)

    def test_unwritable_output(self):
        self.gemm_refused("cannot be written: No such file or directory", "--out", self.path("no/folder/C.npy"))
        self.gemm_refused("cannot be written: it is a folder", "--out", self.folder)

    def test_an_input_is_kept_when_nothing_can_run(self):
        with open(self.a, "rb") as file:
            before = file.read()
        self.refused(3, "TENON_PTX_PATH", "gemm", "--a", self.a, "--b", self.b, "--out", self.a, "--device", "emulator",
                     TENON_PTX_PATH="/nowhere")
        with open(self.a, "rb") as file:
            self.assertEqual(file.read(), before)
        self.assertEqual(sorted(os.listdir(self.folder)), ["A.npy", "B.npy"])

    def test_without_a_gpu(self):
        if has_gpu():
            self.skipTest("this machine has a GPU")
        for arguments in (("--device", "cuda"), ("--bench",)):
            self.refused(3, "no CUDA device: ", "gemm", "--a", self.a, "--b", self.b, "--out", self.path("C.npy"),
                         *arguments, "--json")
        self.assertFalse(os.path.exists(self.path("C.npy")))
        self.refused(3, "no CUDA device: ", "ladder", "--m", 64)


class Layout(Folder):
    def test_json(self):
        code, out, _ = run("layout", "m16n8k16", "f16", "a", "--json")
        self.assertEqual(code, 0)
        elements = json.loads(out)
        self.assertEqual(len(elements), 256)
        self.assertTrue(all(list(e) == ["lane", "element", "row", "col"] for e in elements))
        self.assertEqual(len({(e["row"], e["col"]) for e in elements}), 256)
        held = {}
        for e in elements:
            held.setdefault(e["lane"], []).append(16 * e["row"] + e["col"])
        # The lanes printed in the founding documents.
        self.assertEqual(held[0], [0, 1, 128, 129, 8, 9, 136, 137])
        self.assertEqual(held[1], [2, 3, 130, 131, 10, 11, 138, 139])
        self.assertEqual(held[31], [118, 119, 246, 247, 126, 127, 254, 255])

    def test_text_and_svg(self):
        code, out, _ = run("layout", "m16n8k16", "f32", "d")
        self.assertEqual(code, 0)
        self.assertIn("lane 31:", out)
        self.assertIn("0:0", run("layout", "m16n8k16", "f32", "c", "--matrix")[1])
        self.assertEqual(run("layout", "m16n8k16", "f16", "b", "--svg", self.path("b.svg"))[0], 0)
        with open(self.path("b.svg")) as file:
            svg = file.read()
        self.assertTrue(svg.startswith("<svg") and svg.endswith("</svg>\n"))

    def test_every_layout_listed_can_be_printed(self):
        names = json.loads(run("layout", "--list", "--json")[1])
        self.assertGreater(len(names), 20)
        for x in names[::5]:
            self.assertEqual(run("layout", x["shape"], x["type"], x["operand"], "--json")[0], 0)

    def test_refusals(self):
        self.refused(2, "no shape is called 'm1n1k1'; there are", "layout", "m1n1k1", "f16", "a")
        self.refused(2, "m16n8k16 has no operand 'z' of type 'f16'; it has", "layout", "m16n8k16", "f16", "z")
        self.refused(2, "give a shape, a type and an operand", "layout", "m16n8k16")
        self.refused(2, "cannot be written", "layout", "m16n8k16", "f16", "a", "--svg", self.path("no/folder/x.svg"))


class ListAndInfo(unittest.TestCase):
    KEYS = ["name", "arch", "tile", "stages", "threads", "registers", "spill_bytes", "shared_bytes",
            "symbol"]

    def test_list(self):
        code, out, _ = run("list", "--json")
        self.assertEqual(code, 0)
        kernels = json.loads(out)
        self.assertGreater(len(kernels), 0)
        for kernel in kernels:
            self.assertEqual(sorted(kernel), sorted(self.KEYS))
            self.assertRegex(kernel["arch"], r"^sm_(80|90a)$")
            self.assertRegex(kernel["tile"], r"^\d+x\d+x\d+$")
            self.assertTrue(0 < kernel["registers"] <= 255, kernel["name"])
            self.assertEqual(kernel["spill_bytes"], 0, kernel["name"])
            if kernel["name"].startswith("module_"):
                self.assertEqual(kernel["symbol"], "tenon_" + kernel["name"])
            else:
                self.assertIn("gemm", kernel["symbol"])
        self.assertEqual(len({kernel["name"] for kernel in kernels}), len(kernels))
        text = run("list")[1]
        for kernel in kernels:
            self.assertIn(kernel["name"], text)

    def test_info(self):
        code, out, _ = run("info", "--json")
        self.assertEqual(code, 0)
        info = json.loads(out)
        emulator = info["can_run"]["emulator"]
        self.assertEqual((emulator["ok"], emulator["why"], emulator["kernels"]), (True, "", info["kernels"]))
        elsewhere = json.loads(run("info", "--json", TENON_PTX_PATH="/nowhere")[1])["can_run"]["emulator"]
        self.assertEqual(elsewhere["ok"], False)
        self.assertIn("/nowhere", elsewhere["why"])
        self.assertEqual(info["can_run"]["cuda"]["ok"], info["can_run"]["cuda"]["why"] == "")
        self.assertEqual(info["kernels"], len(json.loads(run("list", "--json")[1])))
        code, out, _ = run("info")
        self.assertEqual(code, 0)
        self.assertIn("--device cuda: ", out)
        self.assertIn("--device emulator: can run, emulator of sm_90", out)


class Doctor(Folder):
    SIZES = ("--m", 4096, "--n", 4096, "--k", 4096)
    KEYS = ["m", "n", "k", "type", "out_type", "layout", "lda", "ldb", "ldc", "arch", "device", "multiprocessors",
            "tensor_cores", "kernel", "workspace_bytes", "kernel_without_workspace", "tiles", "efficiency", "findings"]

    def diagnose(self, *arguments):
        code, out, err = run("doctor", *arguments, "--json")
        self.assertEqual((code, err), (0, ""))
        answer = json.loads(out)
        self.assertEqual(list(answer), self.KEYS)
        return answer

    def test_the_kernel_is_one_that_the_library_has(self):
        names = [kernel["name"] for kernel in json.loads(run("list", "--json")[1])]
        for arch in ("sm_80", "sm_86", "sm_89", "sm_90"):
            for layout in ("tn", "nn", "tt", "nt"):
                answer = self.diagnose(*self.SIZES, "--layout", layout, "--type", "bf16", "--arch", arch)
                self.assertIn(answer["kernel"], names)
                self.assertIn(f"_{layout}_", answer["kernel"])
                self.assertEqual((answer["arch"], answer["layout"], answer["tensor_cores"]), (arch, layout, True))

    def test_other_types_run_with_k_contiguous(self):
        for type_, out in (("tf32", "f32"), ("e4m3", "f32"), ("e5m2", "f32"), ("s8", "s32")):
            answer = self.diagnose(*self.SIZES, "--type", type_, "--arch", "sm_90")
            self.assertEqual((answer["type"], answer["out_type"], answer["workspace_bytes"]), (type_, out, 0))
            self.assertTrue(answer["kernel"].startswith(f"wgmma_{type_}_{out}_tn_"), answer["kernel"])
            answer = self.diagnose(*self.SIZES, "--type", type_, "--arch", "sm_90", "--layout", "tt")
            self.assertIsNone(answer["kernel_without_workspace"])
            self.assertEqual([(x["kind"], x["remedy"]) for x in answer["findings"]],
                             [("layout", "layout tn: A row-major and B column-major need no copy")])
            answer = self.diagnose(*self.SIZES, "--type", type_, "--arch", "sm_80")
            self.assertEqual((answer["kernel"], answer["findings"][0]["kind"]), (None, "device"))

    def test_findings_keep_their_form(self):
        answer = self.diagnose("--m", 4095, "--n", 4095, "--k", 4095, "--arch", "sm_90")
        self.assertEqual(answer["workspace_bytes"], 2 * 4095 * 4096 * 2)
        self.assertTrue(answer["kernel_without_workspace"].startswith("any_"))
        for finding in answer["findings"]:
            self.assertEqual(list(finding), ["kind", "severity", "message", "remedy"])
        self.assertIn("lda is 4095, no multiple of 8", answer["findings"][0]["message"])

    def test_text(self):
        code, out, _ = run("doctor", *self.SIZES, "--type", "f32", "--arch", "90")
        self.assertEqual(code, 0)
        self.assertIn("\nkernel   none\nagainst  type: A and B are f32", out)
        code, out, _ = run("doctor", *self.SIZES, "--a-offset", 2, "--arch", "sm_90a")
        self.assertIn("against  alignment: A begins 2 bytes past a multiple of 16", out)

    def test_bad_requests(self):
        self.refused(2, "give --m, --n and --k of a problem, or --binary", "doctor", "--m", 8)
        self.refused(2, "m is -1 but must be >= 0", "doctor", "--m", -1, "--n", 8, "--k", 8)
        self.refused(2, "lda is 7 but row-major A with k = 4096", "doctor", *self.SIZES, "--lda", 7)
        self.refused(2, "lda is 7 but row-major A with k = 4096", "doctor", *self.SIZES, "--lda", 7, "--type", "f32")
        self.refused(2, "--a-offset is 16 but must lie in 0..15", "doctor", *self.SIZES, "--a-offset", 16)
        self.refused(2, "--c-offset is 2 but f32 needs a multiple of 4", "doctor", *self.SIZES, "--c-offset", 2)
        self.refused(2, "--arch is 'sm_75' but must be", "doctor", *self.SIZES, "--arch", "sm_75")
        self.refused(2, "diagnosed for one", "doctor", *self.SIZES, "--arch", "80", "90")
        self.refused(2, "s4 not in", "doctor", *self.SIZES, "--type", "s4")
        self.refused(2, "C is f32 with s8 inputs but must be s32", "doctor", *self.SIZES, "--type", "s8", "--out-type",
                     "f32")
        self.refused(2, "--kernel and --tool are for --binary", "doctor", *self.SIZES, "--kernel", "x")
        self.refused(2, "give one of the two", "doctor", *self.SIZES, "--binary", "x")

    def test_a_binary_is_handed_to_the_script(self):
        os.mkdir(self.path("tenon_sass"))
        with open(self.path("binary_doctor"), "w") as script:
            script.write("import json, sys; print(json.dumps(sys.argv[1:])); sys.exit(3)")
        code, out, _ = run("doctor", "--binary", "a file", "--kernel", "x|y", "--arch", "80", "90a", "--json",
                           TENON_SCRIPTS_PATH=self.folder)
        self.assertEqual(code, 3, "the exit status of the script")
        self.assertEqual(json.loads(out), ["--binary=a file", "--kernel=x|y", "--json", "--arch", "80", "90a"])

    def test_without_scripts_or_python(self):
        self.refused(3, "that folder does not hold the scripts", "doctor", "--binary", "x",
                     TENON_SCRIPTS_PATH="/nowhere")
        self.refused(3, "needs python3", "doctor", "--binary", "x", PATH="/nowhere")

    def test_the_scripts_are_found_beside_the_program(self):
        code, out, err = run("doctor", "--binary", self.path("absent"))
        self.assertEqual((code, out), (2, ""))
        self.assertIn("absent: cannot be read", err)


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
        code, out, _ = run("tune", "--shapes", 4096, *self.DRY, "--json", "--kernel", "^cp_async_.*64x64x64")
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
        self.refused(2, "shapes.txt, line 5: 'many' is no shape", "tune", "--shapes-from", self.path("shapes.txt"),
                     *self.DRY)

    def test_bad_requests(self):
        self.refused(2, "give the shapes to tune for", "tune", *self.DRY)
        self.refused(2, "--shapes: '0' is no shape", "tune", "--shapes", 0, *self.DRY)
        self.refused(2, "'fp8' is no type", "tune", "--shapes", 64, "--types", "fp8", *self.DRY)
        self.refused(2, "promote is given but A and B are f16", "tune", "--shapes", 64, "--promote", *self.DRY)
        self.refused(2, "must be a regular expression", "tune", "--shapes", 64, "--kernel", "(", *self.DRY)
        self.refused(2, "give the file for the table with --out", "tune", "--shapes", 64)
        self.refused(2, "kernels are timed on a GPU", "tune", "--shapes", 64, "--device", "emulator", "--json")
        self.refused(2, "cannot be written", "tune", "--shapes", 64, "--out", self.path("no/folder/x.tune"))
        self.assertEqual(os.listdir(self.folder), [])

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


class OnADevice(Folder):
    KEYS = {"kernel", "device", "device_name", "m", "n", "k", "max_error", "error_bound", "ok", "ms", "tflops",
            "findings", "counters"}
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

    def test_every_type_and_layout(self):
        for layout in ("tn", "nn", "tt", "nt"):
            for type_ in ("f16", "bf16"):
                with self.subTest(layout=layout, type=type_):
                    self.assertTrue(self.gemm("--m", 70, "--n", 37, "--k", 30, "--layout", layout, "--type", type_,
                                              "--out-type", type_, "--beta", -0.5, "--alpha", 2, "--check")["ok"])
            with self.subTest(layout=layout, accumulate="f16"):
                self.assertTrue(self.gemm("--m", 40, "--n", 136, "--k", 24, "--layout", layout, "--accumulate", "f16",
                                          "--check")["ok"])

    def test_a_table_chooses_the_kernel(self):
        entry = {"a": "f16", "b": "f16", "accumulate": "f32", "c": "f32", "promote": False, "layout": "tn", "m": 64,
                 "n": 64, "k": 128, "kernel": "any_f16_f32_tn_128x128x32_s2", "microseconds": 1, "documented": "x",
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

    def test_promotion_is_worth_it(self):
        sizes = ("--m", 16, "--n", 16, "--k", 4096, "--type", "e4m3", "--check")
        plain, promoted = self.gemm(*sizes), self.gemm(*sizes, "--promote")
        self.assertLess(4 * promoted["max_error"], plain["max_error"])
        self.assertLess(4 * promoted["error_bound"], plain["error_bound"])

    def test_text_names_both_types_and_promotion(self):
        sizes = ("gemm", "--m", 8, "--n", 8, "--k", 16, *self.DEVICE)
        self.assertIn("e4m3 and e5m2 inputs, f32 accumulate, promoted, bf16 result, layout tn",
                      run(*sizes, "--type", "e4m3", "--type-b", "e5m2", "--promote", "--out-type", "bf16")[1])
        self.assertIn("s8 inputs, s32 accumulate, s32 result", run(*sizes, "--type", "s8")[1])

    def test_files(self):
        npy(self.path("A.npy"), 2, 3, [1, 2, 3, 4, 5, 6])
        npy(self.path("B.npy"), 3, 2, [1, 0, 0, 1, 1, 1])
        self.gemm("--a", self.path("A.npy"), "--b", self.path("B.npy"), "--out", self.path("C.npy"), "--check")
        self.assertEqual(read_npy(self.path("C.npy")), ("<f4", 2, 2, (4, 5, 10, 11)))

    def multiply(self, *more):
        self.gemm("--a", self.path("A.npy"), "--b", self.path("B.npy"), "--out", self.path("C.npy"), "--check", *more)
        return read_npy(self.path("C.npy"))

    def test_files_of_integers(self):
        npy(self.path("A.npy"), 2, 3, [1, -2, 3, 127, -128, 100], code="b", descr="|i1")
        npy(self.path("B.npy"), 3, 2, [1, 0, 0, -128, 1, 1], code="b", descr="|i1")
        self.assertEqual(self.multiply(), ("<i4", 2, 2, (4, 259, 227, 16484)))
        self.assertEqual(self.multiply("--ldc", 5, "--alpha", 3), ("<i4", 2, 2, (12, 777, 681, 49452)))
        npy(self.path("C0.npy"), 2, 2, [1, 2147483647, -2147483648, 16777217], code="i", descr="<i4")
        self.assertEqual(self.multiply("--c", self.path("C0.npy"), "--beta", 1),
                         ("<i4", 2, 2, (5, 258 - 2**31, 227 - 2**31, 16777217 + 16484)))
        # Rounded to the nearest even, and kept within the range.
        npy(self.path("A.npy"), 2, 3, [0.5, 2.5, -1e9, 0, 0, 1e9], code="f", descr="<f4")
        npy(self.path("B.npy"), 3, 2, [100, 1, 1, 100, 1, -1], code="f", descr="<f4")
        self.assertEqual(self.multiply("--type", "s8")[3], (2 - 128, 200 + 128, 127, -127))

    def test_files_of_8_bit_floats(self):
        # 1, 2, 448, -0.5, 2^-9, 3 of e4m3; the same but 57344 and 2^-16 of e5m2.
        e4m3, e5m2 = [0x38, 0x40, 0x7E, 0xB0, 0x01, 0x44], [0x3C, 0x40, 0x7B, 0xB8, 0x01, 0x42]
        for descr in ("|u1", "|V1", "<V1"):
            npy(self.path("A.npy"), 2, 3, e4m3, code="B", descr=descr)
            npy(self.path("B.npy"), 3, 2, [1, 0, 0, 1, 0, 0], code="f", descr="<f4")
            self.assertEqual(self.multiply("--type", "e4m3")[3], (1, 2, -0.5, 2**-9))
            self.assertEqual(self.multiply("--type", "e4m3", "--type-b", "e5m2")[3], (1, 2, -0.5, 2**-9))
        npy(self.path("A.npy"), 2, 3, e5m2, code="B", descr="<f1")  # as ml_dtypes writes it
        self.assertEqual(self.multiply()[3], (1, 2, -0.5, 2**-16))
        npy(self.path("B.npy"), 3, 2, [0, 0, 0, 0, 1e9, 1], code="f", descr="<f4")  # becomes 448
        self.assertEqual(self.multiply("--type", "e5m2", "--type-b", "e4m3", "--scale-b", 0.5)[3],
                         (57344 * 224, 57344 * 0.5, 3 * 224, 1.5))

    def test_files_of_tf32(self):
        npy(self.path("A.npy"), 1, 2, [1 + 2**-10, 1 + 2**-11], code="f", descr="<f4")
        npy(self.path("B.npy"), 2, 2, [1, 0, 0, 1], code="f", descr="<f4")
        self.assertEqual(self.multiply("--type", "tf32"), ("<f4", 1, 2, (1 + 2**-10, 1)))
        self.assertEqual(self.multiply("--type", "tf32", "--out-type", "bf16"), ("<V2", 1, 2, (0x3F80, 0x3F80)))

    def test_more_than_fits(self):
        self.refused(3, "of device memory but", "gemm", "--m", 2000000000, "--n", 2000000000, "--k", 8, *self.DEVICE)

    def test_a_fault_in_a_kernel(self):
        """A wait that lets the copy it is for go on: found, named at its line, status 1, nothing written."""
        shutil.copytree(PTX, self.path("ptx"))
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
        findings = json.loads(out)["findings"]
        self.assertTrue(findings)
        for finding in findings:
            self.assertEqual(list(finding), ["kind", "entry", "ptx_line", "source", "count", "first", "message"])
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

    def test_every_kernel_by_name(self):
        arch = json.loads(run("info", "--json")[1])["devices"][0]["arch"]
        runs = 0
        for kernel in json.loads(run("list", "--json")[1]):
            name = kernel["name"]
            with self.subTest(kernel=name):
                type_, type_b, accumulate, layout = re.search(
                    r"^[a-z_]+?_(f16|bf16|tf32|e4m3|e5m2|s8)(?:_(e4m3|e5m2))?_(f32|f16|s32)_([tn]{2})_", name).groups()
                promote = ("--promote",) if name.endswith("_promoted") else ()
                code, out, err = run("gemm", "--m", 264, "--n", 136, "--k", 200, "--kernel", name, "--type", type_,
                                     "--type-b", type_b or type_, "--out-type", "s32" if type_ == "s8" else "f16",
                                     "--layout", layout, "--accumulate", accumulate, *promote, "--check", "--json")
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
        code, out, err = run("tune", "--shapes", 64, "--kernel", "64x64x64_s5", "--seconds", 0, "--json")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(len(json.loads(out)["entries"]), 1)

    def test_tuned_for_more_than_fits(self):
        self.refused(3, "of device memory but", "tune", "--shapes", "2147479552:64:64", "--out-type", "f32", "--layout",
                     "nn", "--out", self.path("x.tune"))

    def test_more_than_fits(self):
        self.refused(3, "of device memory but", "gemm", "--m", 2000000000, "--n", 2000000000, "--k", 8)

    def test_files(self):
        npy(self.path("A.npy"), 2, 3, [1, 2, 3, 4, 5, 6])
        npy(self.path("B.npy"), 3, 2, [1, 0, 0, 1, 1, 1])
        out = self.path("C.npy")
        arguments = ("--a", self.path("A.npy"), "--b", self.path("B.npy"), "--out", out, "--check")
        self.gemm(*arguments)
        self.assertEqual(read_npy(out), ("<f4", 2, 2, (4, 5, 10, 11)))
        self.gemm(*arguments, "--out-type", "f16", "--ldc", 7)
        self.assertEqual(read_npy(out), ("<f2", 2, 2, (4, 5, 10, 11)))
        self.gemm(*arguments, "--out-type", "bf16")
        self.assertEqual(read_npy(out), ("<V2", 2, 2, (0x4080, 0x40A0, 0x4120, 0x4130)))
        npy(self.path("C0.npy"), 2, 2, [1, 2, 3, 4], code="f", descr="<f4")
        self.gemm(*arguments, "--c", self.path("C0.npy"), "--beta", 10)
        self.assertEqual(read_npy(out)[3], (14, 25, 40, 51))
        self.assertEqual(stat.S_IMODE(os.stat(out).st_mode) & 0o600, 0o600)
        self.assertEqual(sorted(os.listdir(self.folder)), ["A.npy", "B.npy", "C.npy", "C0.npy"])

    def test_fortran_order_and_f32_files(self):
        npy(self.path("A.npy"), 2, 3, [1, 4, 2, 5, 3, 6], code="f", descr="<f4", fortran="True")
        npy(self.path("B.npy"), 3, 2, [1, 0, 0, 1, 1, 1])
        self.gemm("--a", self.path("A.npy"), "--b", self.path("B.npy"), "--out", self.path("C.npy"))
        self.assertEqual(read_npy(self.path("C.npy"))[3], (4, 5, 10, 11))

    def test_a_kernel_that_does_not_fit(self):
        kernels = json.loads(run("list", "--json")[1])
        bf16 = [kernel["name"] for kernel in kernels if "_bf16_" in kernel["name"]]
        if not bf16:
            self.skipTest("no kernel has bf16 in its name")
        self.refused(2, "multiplies bf16 by bf16 but A is f16 and B is f16", "gemm", "--m", 64, "--n", 64, "--k", 64,
                     "--type", "f16", "--kernel", bf16[0])


def main():
    global COMMAND, PTX
    parser = argparse.ArgumentParser()
    parser.add_argument("--command", required=True)
    parser.add_argument("--level", required=True, choices=("L0", "L3", "L4"))
    parser.add_argument("--ptx", required=True)
    arguments = parser.parse_args()
    COMMAND = os.path.abspath(arguments.command)
    PTX = os.path.abspath(arguments.ptx)
    os.environ.pop("TENON_PTX_PATH", None)
    if arguments.level == "L4" and not has_gpu():
        print("skipped: needs a GPU of sm_80 or newer")
        return 77
    cases = {"L0": [Usage, Files, Layout, ListAndInfo, Doctor, Tune], "L3": [InTheEmulator], "L4": [OnTheGpu]}[arguments.level]
    load = unittest.defaultTestLoader.loadTestsFromTestCase
    result = unittest.TextTestRunner(verbosity=2).run(unittest.TestSuite(load(case) for case in cases))
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
