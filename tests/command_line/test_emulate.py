"""`tenon emulate` as scripts see it: exit status, JSON and text on stdout, sentences on stderr, .npy in and out."""
import json
import math
import os
import random
import pathlib
import subprocess
import sys

import tenon_command
from tenon_command import Folder, npy, read_npy, run

FAULTS = pathlib.Path(__file__).parents[1] / "emulator" / "faults"  # modules, each with a planted fault

STRUCTS = os.environ["TENON_STRUCT_KERNELS"]  # the PTX of struct_kernels.cu

SCALE = """.version 8.0
.target sm_80
.address_size 64
// y[i] = a * x[i]
.visible .entry scale(.param .u64 x, .param .u64 y, .param .f32 a, .param .u32 n) {
  .reg .b32 %r<6>;
  .reg .b64 %rd<6>;
  .reg .f32 %f<4>;
  .reg .pred %p<2>;
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.u32 %r3, %r0, %r1, %r2;
  ld.param.u32 %r4, [n];
  setp.ge.u32 %p0, %r3, %r4;
  @%p0 bra END;
  ld.param.u64 %rd0, [x];
  ld.param.u64 %rd1, [y];
  mul.wide.u32 %rd2, %r3, 4;
  add.u64 %rd3, %rd0, %rd2;
  add.u64 %rd4, %rd1, %rd2;
  ld.global.f32 %f0, [%rd3];
  ld.param.f32 %f1, [a];
  mul.f32 %f2, %f0, %f1;
  st.global.f32 [%rd4], %f2;
END:
  ret;
}
.visible .entry nothing() { ret; }
"""

# TMA loads the box at column 4 of a tensor of 8 x 8 f32 to shared memory; the threads copy it out.
BOX = """.version 8.3
.target sm_90a
.address_size 64
.shared .align 128 .b8 tile[128];
.shared .align 8 .b8 full[8];
.visible .entry box(.param .align 64 .b8 map[128], .param .u64 y) {
  .reg .b32 %r<9>;
  .reg .b64 %rd<6>;
  .reg .pred %p<3>;
  mov.u32 %r0, %tid.x;
  setp.eq.u32 %p0, %r0, 0;
  mov.u32 %r1, tile;
  mov.u32 %r2, full;
  mov.b64 %rd0, map;
  cvta.param.u64 %rd1, %rd0;
  @%p0 mbarrier.init.shared::cta.b64 [%r2], 1;
  bar.sync 0;
  mov.u32 %r3, 4;
  mov.u32 %r4, 0;
  @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 128;
  @%p0 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r3, %r4}], [%r2];
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], 0;
  @!%p1 bra WAIT;
  shl.b32 %r5, %r0, 2;
  add.u32 %r6, %r1, %r5;
  ld.shared.u32 %r7, [%r6];
  ld.param.u64 %rd2, [y];
  mul.wide.u32 %rd3, %r0, 4;
  add.u64 %rd4, %rd2, %rd3;
  st.global.u32 [%rd4], %r7;
  ret;
}
"""

# printf("hello\\n") of every thread.
HELLO = """.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
.global .align 1 .b8 format[7] = {104, 101, 108, 108, 111, 10, 0};
.visible .entry hello() {
  .reg .b64 %rd<3>;
  mov.u64 %rd0, format;
  cvta.global.u64 %rd1, %rd0;
  mov.u64 %rd2, 0;
  {
    .param .b64 a;
    .param .b64 b;
    .param .b32 r;
    st.param.b64 [a], %rd1;
    st.param.b64 [b], %rd2;
    call.uni (r), vprintf, (a, b);
  }
  ret;
}
"""


def emulate(*arguments):
    return run("emulate", *arguments)


class Modules(Folder):
    def setUp(self):
        super().setUp()
        self.scale, self.x, self.y = self.path("scale.ptx"), self.path("x.npy"), self.path("y.npy")
        self.write("scale.ptx", SCALE)
        npy(self.x, (2, 3), [1, 2, 3, 4, 5, 6], "f", "<f4")

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)
        return self.path(name)

    def scaled(self, *more, n=6, a="f32:2"):
        return (self.scale, "--entry", "scale", "--grid", 2, "--block", 4, "--arg", "file:" + self.x, "--arg",
                "out:%s:f32:2x3" % self.y, "--arg", a, "--arg", "u32:%d" % n, *more)

    def refused(self, words, *arguments):
        """Status 2, one line with the words on stderr, nothing on stdout, nothing written."""
        before = sorted(os.listdir(self.folder))
        code, out, err = emulate(*arguments)
        self.assertEqual((code, out), (2, ""), err)
        self.assertTrue(err.startswith("tenon: "), err)
        self.assertIn(words, err)
        self.assertEqual(sorted(os.listdir(self.folder)), before)


class Emulate(Modules):
    def test_a_kernel_computes(self):
        code, out, err = emulate(*self.scaled())
        self.assertEqual((code, err), (0, ""))
        self.assertIn("findings     0", out)
        self.assertEqual(read_npy(self.y), ("<f4", (2, 3), (2, 4, 6, 8, 10, 12)))

    def test_json(self):
        code, out, _ = emulate(*self.scaled("--json"))
        self.assertEqual(code, 0)
        result = json.loads(out)
        self.assertEqual(sorted(result), ["counters", "findings", "outputs", "printed", "unprinted_bytes"])
        self.assertEqual(result["outputs"], [{"path": self.y, "bytes": 24, "unwritten_bytes": 0}])
        self.assertEqual(result["findings"], [])
        counters = result["counters"]
        self.assertEqual(sorted(counters), ["by_class", "lines", "total"])
        total = counters["total"]
        # Two warps of 4 lanes. The branch is executed by 2 lanes of the second, and 9 of the 17 instructions by the others.
        self.assertEqual(total["instructions"], 16 + 17)
        self.assertEqual(total["thread_instructions"], 4 * 16 + 4 * 7 + 2 + 2 * 9)
        self.assertEqual(sum(line["instructions"] for line in counters["lines"]), total["instructions"])
        self.assertEqual(sum(of["instructions"] for of in counters["by_class"].values()), total["instructions"])
        load = [line for line in counters["lines"] if line["instruction"] == "ld.global.f32"]
        self.assertEqual([(line["ptx_line"], line["class"], line["global_sectors"]) for line in load], [(22, "memory", 2)])

    def test_what_the_kernel_prints(self):
        code, out, err = emulate(self.write("hello.ptx", HELLO), "--grid", 2, "--block", 2)
        self.assertEqual((code, err), (0, ""))
        self.assertIn("\nprinted      24 bytes\n" + 4 * "hello\n" + "instructions", out)
        self.assertNotIn("lost", out)
        code, out, _ = emulate(self.path("hello.ptx"), "--grid", 1000, "--block", 256, "--json")
        result = json.loads(out)
        self.assertEqual((code, result["printed"][:12], len(result["printed"]), result["unprinted_bytes"]),
                         (0, "hello\nhello\n", 1 << 20, 256000 * 6 - (1 << 20)))
        _, out, _ = emulate(self.path("hello.ptx"), "--grid", 1000, "--block", 256)
        self.assertIn("\n  and %d bytes more, which are lost\n" % (256000 * 6 - (1 << 20)), out)

    def test_findings(self):
        code, out, err = emulate(*self.scaled("--json", n=8))
        self.assertEqual((code, err.count("\n")), (1, 1))
        self.assertIn("2 findings, the first: out_of_bounds at PTX line 22", err)
        findings = json.loads(out)["findings"]
        self.assertEqual([(f["kind"], f["entry"], f["ptx_line"], f["source"], f["count"]) for f in findings],
                         [("out_of_bounds", "scale", 22, "", 2), ("out_of_bounds", "scale", 25, "", 2)])
        for finding in findings:
            self.assertEqual(list(finding), ["kind", "entry", "ptx_line", "source", "count", "first", "message", "lines"])
            self.assertEqual(finding["first"]["block"], [1, 0, 0])
            self.assertEqual(finding["first"]["thread"], [2, 0, 0])
            self.assertGreater(finding["first"]["address"], 0)
            self.assertIn("24 bytes", finding["message"])
        self.assertEqual(read_npy(self.y)[2], (2, 4, 6, 8, 10, 12), "results are written with findings too")

    def test_findings_as_text(self):
        code, out, _ = emulate(*self.scaled(n=8))
        self.assertEqual(code, 1)
        for words in ("findings     2", "out_of_bounds in scale at PTX line 22", "ptx      ld.global.f32 %f0, [%rd3];",
                      "count    2", "thread (2,0,0) of block (1,0,0), address 0x"):
            self.assertIn(words, out)

    def test_source_lines(self):
        ptx = SCALE.replace("  ld.global.f32", "  .loc 1 12 3\n  ld.global.f32") + '.file 1 "scale.cu"\n'
        self.write("scale.ptx", ptx)
        out = emulate(*self.scaled("--json", n=8))[1]
        self.assertEqual(json.loads(out)["findings"][0]["source"], "scale.cu:12")

    def test_unwritten_memory_is_a_finding_unless_switched_off(self):
        arguments = (self.scale, "--entry", "scale", "--block", 4, "--arg", "unwritten:16", "--arg",
                     "out:%s:f32:4" % self.y, "--arg", "f32:1", "--arg", "u32:4")
        code, out, _ = emulate(*arguments, "--json")
        self.assertEqual((code, json.loads(out)["findings"][0]["kind"]), (1, "uninitialized"))
        self.assertEqual(emulate(*arguments, "--no-findings")[0], 0)
        self.assertEqual(emulate(*(str(a).replace("unwritten", "zeros") for a in arguments))[0], 0)

    def test_outputs_that_the_kernel_did_not_fill(self):
        code, out, _ = emulate(*self.scaled(n=4))
        self.assertEqual(code, 0)
        self.assertIn("y.npy: the kernel never wrote 8 of its 24 bytes\n", out)
        for more in ((), ("--no-findings",)):
            out = emulate(*self.scaled("--json", *more, n=1))[1]
            self.assertEqual(json.loads(out)["outputs"], [{"path": self.y, "bytes": 24, "unwritten_bytes": 20}])

    def test_inout_and_same(self):
        arguments = (self.scale, "--entry", "scale", "--block", 8, "--arg", "inout:%s:%s" % (self.x, self.y), "--arg",
                     "same:1", "--arg", "f32:-1", "--arg", "u32:6")
        self.assertEqual(emulate(*arguments)[0], 0)
        self.assertEqual(read_npy(self.y), ("<f4", (2, 3), (-1, -2, -3, -4, -5, -6)))

    def test_the_only_entry_needs_no_name(self):
        only = self.write("only.ptx", SCALE.replace(".visible .entry nothing() { ret; }", ""))
        self.assertEqual(emulate(only, *self.scaled()[3:])[0], 0)

    def test_an_entry_by_its_name_in_cpp_or_a_part_of_one(self):
        renamed = SCALE.replace("entry scale(", "entry _ZN2ns5scaleIfEEvPKT_PS1_S1_j(")
        path = self.write("renamed.ptx", renamed)
        for name in ("ns::scale<float>", "scale<float>", "scale", "_ZN2ns5"):
            code, out, err = emulate(path, "--entry", name, *self.scaled()[3:])
            self.assertEqual((code, err), (0, ""), name)
            self.assertIn("kernel       _ZN2ns5scaleIfEEvPKT_PS1_S1_j, ", out)
        self.refused("`n` may be any of 2 kernels of the module: `_ZN2ns5scaleIfEEvPKT_PS1_S1_j` (void "
                     "ns::scale<float>(float const*, float*, float, unsigned int)), `nothing`", path, "--entry", "n", "--block", 4)

    def test_tensor_maps(self):
        box = self.write("box.ptx", BOX)
        npy(self.x, (8, 8), list(range(64)), "I", "<u4")
        wanted = tuple(8 * row + column for row in range(8) for column in range(4, 8))
        for schedule in ("early", "late", "random:3"):
            code, out, err = emulate(box, "--block", 32, "--buffer", "file:" + self.x, "--arg", "map:b1:u32:8x8:box=8x4",
                                 "--arg", "out:%s:u32:8x4" % self.y, "--schedule", schedule)
            self.assertEqual((code, err), (0, ""), out)
            self.assertEqual(read_npy(self.y), ("<u4", (8, 4), wanted))

    def test_every_planted_fault_has_the_status_of_findings(self):
        for name, arguments in (("race_missing_barrier", ("--block", 64)), ("misaligned", ("--block", 32)),
                                ("barrier_with_too_few", ("--block", 64)),
                                ("wgmma_missing_fence", ("--block", 128)),
                                ("tensor_store_missing_proxy_fence", ("--block", 64)),
                                ("remote_shared_race", ("--block", 32, "--grid", 2, "--cluster", 2))):
            path = FAULTS / (name + ".ptx")
            with open(path) as file:
                lines = file.read().split("\n")
            (line,) = [i + 1 for i, text in enumerate(lines) if "finding: " in text]
            given = []
            if "map[128]" in "".join(lines):
                given = ["--buffer", "zeros:1024", "--arg", "map:b1:f32:16x16:box=16x16"]
            given += ["--arg", "zeros:4096"] * "".join(lines).count(".param .u64")
            for schedule in ("early", "late", "random:1"):
                with self.subTest(name=name, schedule=schedule):
                    code, out, _ = emulate(path, *arguments, *given, "--json", "--schedule", schedule, "--threads", 1)
                    found = [(f["kind"], f["ptx_line"]) for f in json.loads(out)["findings"]]
                    self.assertEqual((code, found), (1, [(lines[line - 1].split("finding: ")[1], line)]))


    def test_paths_that_are_not_utf_8(self):
        """The answer is printed even if the name of a file is not UTF-8."""
        path = os.fsencode(self.folder) + b"/\xe9t\xe9.npy"
        done = subprocess.run([tenon_command.COMMAND, "emulate", *map(str, self.scaled()[:5]), "--block", "4", "--arg",
                               "file:" + self.x, "--arg", b"out:" + path + b":f32:2x3", "--arg", "f32:2", "--arg", "u32:6",
                               "--json"], capture_output=True)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertTrue(json.loads(done.stdout)["outputs"][0]["path"].endswith("/\ufffdt\ufffd.npy"))
        self.assertTrue(os.path.exists(path))

    def test_of_many_wasteful_lines_the_worst_are_named(self):
        loads = "".join("  ld.global.u32 %%r1, [%%rd1+%d];\n" % (4 * i) for i in range(30))
        strided = self.write("strided.ptx", SCALE[:SCALE.index("// y")] + (
            ".visible .entry strided(.param .u64 x) {\n  .reg .b32 %r<3>;\n  .reg .b64 %rd<3>;\n  ld.param.u64 %rd1, [x];\n"
            "  mov.u32 %r2, %tid.x;\n  mul.wide.u32 %rd2, %r2, 128;\n  add.u64 %rd1, %rd1, %rd2;\n" + loads + "  ret;\n}\n"))
        code, out, err = emulate(strided, "--block", 32, "--arg", "zeros:8192")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(out.count("is not coalesced: 32 sectors, ideally 4"), 20)
        self.assertIn("  and 10 more lines with no more in excess; --json has all\n", out)

    def test_a_struct_passed_by_value(self):
        """Numbers, pointers and structs in a struct, where nvcc expects them."""
        a, b, c, seen = (self.path(name + ".npy") for name in ("a", "b", "c", "seen"))
        npy(a, (3, 5), [i % 4 - 1 for i in range(15)])
        npy(b, (2, 5), [i % 3 - 1 for i in range(10)])
        npy(self.path("scale.npy"), (1,), [2], "f", "<f4")
        for half, name, descr in ((0, "f32", "<f4"), (1, "f16", "<f2")):
            output = "{out:%s:%s:3x2,s64:2,s32:3,s32:2,u8:%d}" % (c, name, half)
            problem = "{s32:3,s32:2,s32:5, file:%s,s64:5, file:%s,s64:5, %s, f32:0.5, %s, file:%s, align:16,u16:7}" % (
                a, b, output, "{s32:9,{u32:10,u8:11},{u32:12,u8:13}}", self.path("scale.npy"))
            code, out, err = emulate(STRUCTS, "--entry", "product", "--block", 32, "--arg", problem, "--arg",
                                     "out:%s:u32:6" % seen)
            self.assertEqual((code, err), (0, ""), out)
            product = [sum((i * 5 + x) % 4 * ((j * 5 + x) % 3 - 1) - ((j * 5 + x) % 3 - 1) for x in range(5))
                       for i in range(3) for j in range(2)]
            self.assertEqual(read_npy(c), (descr, (3, 2), tuple(product)))
            self.assertEqual(read_npy(seen)[2], (7, 9, 10, 11, 12, 13))

    def test_a_struct_whose_layout_is_another(self):
        self.refused("the parameter product_param_0 (b8, 128 bytes) has 128 bytes but this argument has 24, its fields at 0 8 16",
                     STRUCTS, "--entry", "product", "--block", 32, "--arg", "{s32:3,zeros:8,s32:1}", "--arg", "zeros:24")

    def test_two_tensor_maps_in_one_parameter(self):
        npy(self.x, (8, 8), list(range(64)), "f", "<f4")
        wanted = tuple(2 * (8 * row + column + 8 * (row + 4) + column - 4 if row < 4 else 8 * row + column)
                       for row in range(8) for column in range(4, 8))
        for schedule in ("early", "late", "random:3"):
            code, out, err = emulate(
                STRUCTS, "--entry", "sum_of_boxes", "--block", 32, "--buffer", "file:" + self.x, "--arg",
                "{f32:2,map:b1:f32:8x8:box=8x4,map:b1:f32:8x8:box=8x4}", "--arg", "out:%s:f32:8x4" % self.y, "--schedule", schedule)
            self.assertEqual((code, err), (0, ""), out)
            self.assertEqual(read_npy(self.y), ("<f4", (8, 4), wanted))

    ENDLESS = (".version 8.3\n.target sm_80\n.address_size 64\n.visible .entry endless() {\n  .reg .b32 %r0;\n"
               "  mov.u32 %r0, 0;\nAGAIN:\n  add.u32 %r0, %r0, 1;\n  bra AGAIN;\n}\n")

    def test_a_terminal_sees_that_it_works(self):
        ours, theirs = os.openpty()
        process = subprocess.Popen([tenon_command.COMMAND, "emulate", self.write("endless.ptx", self.ENDLESS), "--block",
                                    "32", "--threads", "1"], stderr=theirs)
        os.close(theirs)
        seen = b""
        while b", 2 s" not in seen:
            seen += os.read(ours, 100)
        process.kill()
        process.wait()
        os.close(ours)
        self.assertIn(b"\remulating endless, 1 s\remulating endless, 2 s", seen)

    def test_a_large_grid_is_announced(self):
        process = subprocess.Popen([tenon_command.COMMAND, "emulate", self.scale, "--entry", "nothing", "--block", "64", "--grid",
                                    "2000,10000,3"], stderr=subprocess.PIPE, text=True)
        line = process.stderr.readline()
        process.kill()
        process.wait()
        process.stderr.close()
        self.assertEqual(line, "tenon: a grid of 60000000 blocks takes the emulator at least 2 minutes of CPU time\n")
        code, _, err = emulate(self.scale, "--entry", "nothing", "--block", 32, "--grid", 10000)
        self.assertEqual((code, err), (0, ""))

    def test_a_launch_limit_ends_the_largest_grid(self):
        code, out, err = emulate(self.scale, "--entry", "nothing", "--block", 32, "--grid", "2147483647,65535,65535",
                                 "--launch-limit", 1000)
        self.assertEqual((code, err), (1, "tenon: 1 finding: limit at PTX line 29\n"))
        self.assertIn("instructions 1000 of warps", out)

    def test_an_endless_kernel_ends_at_the_limit(self):
        endless = self.write("endless.ptx", self.ENDLESS)
        for option in ("--limit", "--launch-limit"):
            code, out, err = emulate(endless, "--block", 32, option, 10000, "--json")
            self.assertEqual(code, 1, err)
            result = json.loads(out)
            self.assertEqual([f["kind"] for f in result["findings"]], ["limit"])
            self.assertEqual(result["counters"]["total"]["instructions"], 10000)

    def test_limits_are_exact(self):
        """Two blocks of one warp each: the first executes 16 instructions, the second 17."""
        def instructions(*options):
            code, out, err = emulate(*self.scaled("--json", *options))
            result = json.loads(out)
            self.assertEqual((code, len(result["findings"])), (1, 1) if "limit" in err else (0, 0), err)
            return result["counters"]["total"]["instructions"]
        self.assertEqual(instructions("--limit", 1), 2)
        self.assertEqual(instructions("--limit", 16), 32)
        self.assertEqual(instructions("--limit", 17), 33)
        self.assertEqual(instructions("--launch-limit", 1), 1)
        self.assertEqual(instructions("--launch-limit", 32), 32)
        self.assertEqual(instructions("--launch-limit", 33), 33)
        code, out, err = emulate(*self.scaled("--limit", 1))
        self.assertEqual((code, err), (1, "tenon: 1 finding: limit at PTX line 11\n"))
        self.assertIn("limit in scale at PTX line 11", out)
        self.assertIn("the warps of its block have executed 1 instruction, the limit of a cluster", out)


def divisor(of):
    """The fields of tenon::Divisor."""
    shift = (of - 1).bit_length()
    return "{u32:%d,s32:%d}" % (((1 << (31 + shift)) + of - 1) // of, shift)


class LibraryKernels(Modules):
    """A kernel of attention from the PTX that is installed with the command."""
    BATCH, HEADS, QUERIES, KEYS, D = 1, 2, 20, 37, 32

    def setUp(self):
        super().setUp()
        self.ptx = os.path.join(tenon_command.PTX, "attention_mma_f16.ptx")

    def test_list(self):
        code, out, err = emulate(self.ptx, "--list", "--json")
        self.assertEqual((code, err), (0, ""))
        kernels = json.loads(out)
        self.assertEqual(len({kernel["name"] for kernel in kernels}), len(kernels))
        plain = [x for x in kernels if "AttentionMmaConfig<__half, 32, 32," in x["demangled"] and "PlainScore" in x["demangled"]]
        self.assertEqual([[p["bytes"] for p in x["parameters"]][1:] for x in plain], [[4]])  # the scale
        text = emulate(self.ptx, "--list")[1]
        self.assertIn("%s\n  void tenon::attention_mma<" % plain[0]["name"], text)
        self.assertEqual(emulate(self.scale, "--list")[:2],
                         (0, "scale\n  scale\n  bytes of its parameters: 8, 8, 4, 4\nnothing\n  nothing\n  bytes of its parameters: none\n"))
        self.refused("gone.ptx: cannot be read", self.path("gone.ptx"), "--list")

    def tensor(self, argument, rows):
        row = self.HEADS * self.D
        return "{%s,s64:%d,s64:%d,s64:%d}" % (argument, row, self.D, rows * row)

    def arguments(self):
        """tenon::AttentionArguments of a causal mask."""
        q, k, v = (self.tensor("file:" + self.path(name + ".npy"), rows)
                   for name, rows in (("q", self.QUERIES), ("k", self.KEYS), ("v", self.KEYS)))
        o = self.tensor("out:%s:f16:%dx%dx%d" % (self.path("o.npy"), self.QUERIES, self.HEADS, self.D), self.QUERIES)
        log_sum_exp = "out:%s:f32:%dx%d" % (self.path("l.npy"), self.HEADS, self.QUERIES)
        raster = "{s32:1,s32:2,s32:2,u8:1,%s,%s,%s}" % (divisor(2), divisor(2), divisor(2))  # one tile, two heads
        lengths = "{u64:0,u64:0,u64:0,s32:0,s32:0,u64:0,s32:0,s32:1,s32:0,%s,u64:0}" % divisor(1)
        return "{%s,%s,%s,%s,%s,u64:0,s32:%d,s32:%d,s32:%d,%s,%s,%s,s32:%d,s32:0,%s,u64:0,u64:0}" % (
            q, k, v, o, log_sum_exp, self.QUERIES, self.KEYS, self.HEADS, raster, divisor(2), divisor(1), 1 << 29, lengths)

    def test_attention(self):
        draw = random.Random(1)
        values = {}
        for name, rows in (("q", self.QUERIES), ("k", self.KEYS), ("v", self.KEYS)):
            shape = (rows, self.HEADS, self.D)
            values[name] = [draw.randrange(-16, 17) / 8 for _ in range(math.prod(shape))]  # exact in f16
            npy(self.path(name + ".npy"), shape, values[name])
        scale = 0.1875
        (entry,) = (x["name"] for x in json.loads(emulate(self.ptx, "--list", "--json")[1])
                    if "AttentionMmaConfig<__half, 32, 32," in x["demangled"] and "PlainScore" in x["demangled"])
        code, out, err = emulate(self.ptx, "--entry", entry, "--grid", self.HEADS, "--block", 128, "--shared", 49152,
                                 "--arg", self.arguments(), "--arg", "f32:%g" % scale, "--schedule", "late", "--json")
        self.assertEqual((code, err), (0, ""))
        answer = json.loads(out)
        self.assertEqual([file["unwritten_bytes"] for file in answer["outputs"]], [0, 0])
        self.assertGreater(answer["counters"]["total"]["matrix_operations"], 0)
        o, logs = read_npy(self.path("o.npy"))[2], read_npy(self.path("l.npy"))[2]

        def row(name, head, index):
            first = (index * self.HEADS + head) * self.D
            return values[name][first:first + self.D]

        for head in range(self.HEADS):
            for query in range(self.QUERIES):
                seen = range(query + self.KEYS - self.QUERIES + 1)
                weights = [math.exp(scale * sum(a * b for a, b in zip(row("q", head, query), row("k", head, key)))) for key in seen]
                total = sum(weights)
                self.assertAlmostEqual(logs[head * self.QUERIES + query], math.log(total), delta=1e-4)
                wanted = [sum(w * x for w, x in zip(weights, column)) / total
                          for column in zip(*(row("v", head, key) for key in seen))]
                found = o[(query * self.HEADS + head) * self.D:][:self.D]
                for x, y in zip(found, wanted):
                    self.assertAlmostEqual(x, y, delta=0.004)


class Refusals(Modules):
    def test_help_has_examples(self):
        code, out, _ = emulate("--help")
        self.assertEqual(code, 0)
        for words in ("Examples:\n  tenon emulate", "--arg", "zeros:4096", "map:1:f16:64x128:box=64x64:swizzle=128B"):
            self.assertIn(words, out)

    def test_files(self):
        self.refused("gone.ptx: cannot be read: No such file", self.path("gone.ptx"), "--block", 32)
        self.refused("cannot be read: it is a folder", self.folder, "--block", 32)
        self.refused("file is required", "--block", 32)
        self.refused("/dev/zero: it has more than the 67108864 bytes", "/dev/zero", "--block", 32)
        self.refused("y.npy is the same file, but each needs its own", *self.scaled(a="out:%s/./y.npy:f32:1" % self.folder))
        self.refused("x.npy: cannot be read", *(str(a).replace("x.npy", "no/x.npy") for a in self.scaled()))
        self.refused("cannot be written", *(str(a).replace("y.npy", "no/y.npy") for a in self.scaled()))

    def test_ptx(self):
        self.refused("bad.ptx: line 5: ", self.write("bad.ptx", SCALE.replace("scale(", "scale((")), "--block", 32)
        self.refused("scale.ptx: line 23: ", self.write("scale.ptx", SCALE.replace("ld.param.f32 %f1, [a]", "frob.f32 %f1")),
                     "--entry", "scale", "--block", 32)
        self.refused("it has no kernel", self.write("none.ptx", SCALE[:SCALE.index(".visible")]), "--block", 32)

    def test_entries(self):
        self.refused("there is no kernel `shrink` in the module; it has `scale`, `nothing`", self.scale, "--entry", "shrink", "--block", 32)
        self.refused("has 2 kernels: choose one by --entry: scale, nothing", self.scale, "--block", 32)

    def test_arguments(self):
        self.refused("the kernel scale has 4 parameters: x (u64), y (u64), a (f32), n (u32); --arg is given 0 times",
                     self.scale, "--entry", "scale", "--block", 32)
        self.refused("u32:2: the parameter a (f32) takes a real number", *self.scaled(a="u32:2"))
        self.refused("f64:2: the parameter a (f32) has 4 bytes but this argument has 8", *self.scaled(a="f64:2"))
        self.refused("two:2: 'two' is not a kind of argument", *self.scaled(a="two:2"))
        self.refused("{f32:2}: the parameter a (f32) takes no struct", *self.scaled(a="{f32:2}"))
        self.refused("structs in structs can be 16 deep at most", *self.scaled(a="{" * 10000 + "u8:1" + "}" * 10000))

    def test_sizes(self):
        self.refused("--block is required", self.scale, "--entry", "nothing")
        self.refused("absent.ptx: cannot be read: No such file or directory", "absent.ptx")
        nothing = (self.scale, "--entry", "nothing")
        self.assertEqual(emulate(*nothing, "--block", "8,8,2", "--grid", "3,2,1")[0], 0)
        self.refused("--block is 'wide' but must be one to three sizes", *nothing, "--block", "wide")
        self.refused("--grid is '0' but must be", *nothing, "--block", 32, "--grid", 0)
        self.refused("the block is 1025x1x1: its x must be from 1 to 1024", *nothing, "--block", 1025)
        self.refused("2048 threads; it can have at most 1024", *nothing, "--block", "64,32")
        self.refused("clusters need sm_90", *nothing, "--block", 32, "--grid", 2, "--cluster", 2)
        self.refused("a grid of 9.22e+18 blocks takes the emulator at least 292263 years of CPU time, more than the day that "
                     "is allowed: make --grid smaller, or stop the launch by --launch-limit",
                     *nothing, "--block", 32, "--grid", "2147483647,65535,65535")
        self.refused("the grid is 2147483648x1x1: its x must be from 1 to 2147483647", *nothing, "--block", 32, "--grid", 2**31)
        self.refused("dynamic shared memory are more than", *nothing, "--block", 32, "--shared", 1 << 20)

    def test_options(self):
        nothing = (self.scale, "--entry", "nothing", "--block", 32)
        for schedule in ("soon", "random", "random:", "random:x"):
            self.refused("--schedule is '%s' but must be early, late or random:SEED" % schedule, *nothing, "--schedule",
                         schedule)
        self.refused("sm_70 not in", *nothing, "--numerics", "sm_70")
        self.refused("--threads", *nothing, "--threads", 0)
        self.refused("--limit: '0' is not a whole number from 1", *nothing, "--limit", 0)
        self.refused("--shared: '4294967296' is not a whole number from 0 to 4294967295", *nothing, "--shared", 2**32)
        for numerics in ("target", "sm_75", "sm_80", "sm_89", "sm_90", "ieee"):
            self.assertEqual(emulate(*nothing, "--numerics", numerics)[0], 0)


if __name__ == "__main__":
    sys.exit(tenon_command.main({"L3": [Emulate, LibraryKernels, Refusals]}))
