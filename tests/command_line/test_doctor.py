"""`tenon doctor` as scripts see it: the diagnosis of a product, and of a binary."""
import json
import os
import sys

import tenon_command
from tenon_command import Folder, run


class Doctor(Folder):
    SIZES = ("--m", 4096, "--n", 4096, "--k", 4096)
    KEYS = ["m", "n", "k", "type", "type_b", "accumulate", "promote", "out_type", "layout", "lda", "ldb", "ldc", "arch", "device", "multiprocessors",
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
            self.assertEqual((answer["type"], answer["out_type"]), (type_, out))
            self.assertEqual(answer["workspace_bytes"] > 0, "streamk" in answer["kernel"])
            self.assertTrue(answer["kernel"].startswith(f"wgmma_{type_}_{out}_tn_"), answer["kernel"])
            answer = self.diagnose(*self.SIZES, "--type", type_, "--arch", "sm_90", "--layout", "tt")
            self.assertIsNone(answer["kernel_without_workspace"])
            self.assertEqual([(x["kind"], x["remedy"]) for x in answer["findings"]],
                             [("layout", "layout tn: A row-major and B column-major need no copy")])
            # Older chips multiply tf32 and s8 by mma.sync, fp8 from sm_89 on. A faster kernel is noted.
            answer = self.diagnose(*self.SIZES, "--type", type_, "--arch", "sm_80")
            self.assertEqual(answer["findings"][0]["kind"], "device")
            if type_ in ("tf32", "s8"):
                self.assertTrue(answer["kernel"].startswith(f"cp_async_{type_}_{out}_tn_"), answer["kernel"])
            else:
                self.assertIsNone(answer["kernel"])

    def test_findings_keep_their_form(self):
        answer = self.diagnose("--m", 4095, "--n", 4095, "--k", 4095, "--out-type", "f16", "--arch", "sm_90")
        self.assertTrue(answer["kernel"].endswith("_unaligned_tailsplit"), answer["kernel"])
        self.assertEqual(answer["workspace_bytes"], 0)
        self.assertIn("row-interleaved (stride-8) views", answer["findings"][1]["message"])
        answer = self.diagnose("--m", 4095, "--n", 4095, "--k", 4095, "--arch", "sm_80")
        self.assertEqual(answer["workspace_bytes"], 2 * 4095 * 4096 * 2)
        self.assertRegex(answer["kernel_without_workspace"], "^cp_async_.*_unaligned$")
        for finding in answer["findings"]:
            self.assertEqual(list(finding), ["kind", "severity", "message", "remedy"])
        self.assertIn("lda is 4095, not a multiple of 8", answer["findings"][0]["message"])

    def test_what_gemm_takes(self):
        answer = self.diagnose(*self.SIZES, "--type", "e4m3", "--type-b", "e5m2", "--promote", "--out-type", "bf16", "--arch",
                               "sm_90")
        self.assertEqual([answer[key] for key in ("type", "type_b", "accumulate", "promote", "out_type")],
                         ["e4m3", "e5m2", "f32", True, "bf16"])
        self.assertRegex(answer["kernel"], "^wgmma_e4m3_e5m2_f32_tn_.*_promoted$")
        self.assertIn("_f16_f16_tn_", self.diagnose(*self.SIZES, "--accumulate", "f16", "--out-type", "f16")["kernel"])
        self.assertIn(", e4m3 x e5m2 -> f32, promoted, tn, ",
                      run("doctor", *self.SIZES, "--type", "e4m3", "--type-b", "e5m2", "--promote")[1])
        self.assertIn(", f16 -> f32, f16 accumulators, tn, ", run("doctor", *self.SIZES, "--accumulate", "f16")[1])
        self.refused(2, "A is f16 and B is e5m2 but they must have the same type", "doctor", *self.SIZES, "--type-b", "e5m2")
        self.refused(2, "promote is given but A and B are f16", "doctor", *self.SIZES, "--promote")
        self.refused(2, "A and B are f32, whose accumulators are f32", "doctor", *self.SIZES, "--type", "f32", "--promote")
        self.refused(2, "give one of the two", "doctor", "--binary", "x", "--promote")

    def test_text(self):
        code, out, _ = run("doctor", *self.SIZES, "--type", "f32", "--arch", "90")
        self.assertEqual(code, 0)
        self.assertIn("\nkernel   none\nagainst  type: A and B are f32", out)
        code, out, _ = run("doctor", *self.SIZES, "--a-offset", 2, "--arch", "sm_90a")
        self.assertIn("against  alignment: A begins 2 bytes past a multiple of 16", out)

    def test_bad_requests(self):
        self.refused(2, "give --m, --n and --k of a problem, or --binary", "doctor", "--m", 8)
        self.refused(2, "--m: '-1' is not a whole number from 0", "doctor", "--m", -1, "--n", 8, "--k", 8)
        self.refused(2, "lda is 7 but row-major A with k = 4096", "doctor", *self.SIZES, "--lda", 7)
        self.refused(2, "lda is 7 but row-major A with k = 4096", "doctor", *self.SIZES, "--lda", 7, "--type", "f32")
        self.refused(2, "--a-offset: '16' is not a whole number from 0 to 15", "doctor", *self.SIZES, "--a-offset", 16)
        self.refused(2, "--c-offset is 2 but f32 needs a multiple of 4", "doctor", *self.SIZES, "--c-offset", 2)
        self.refused(2, "--arch is 'sm_75' but must be", "doctor", *self.SIZES, "--arch", "sm_75")
        self.refused(2, "diagnosed for one", "doctor", *self.SIZES, "--arch", "80", "90")
        self.refused(2, "s4 not in", "doctor", *self.SIZES, "--type", "s4")
        self.refused(2, "C is f64 with s8 inputs but must be s32, f16, bf16, f32, e4m3, e5m2 or s8", "doctor", *self.SIZES, "--type", "s8",
                     "--out-type", "f64")
        self.refused(2, "--kernel and --tool are for --binary", "doctor", *self.SIZES, "--kernel", "x")
        self.refused(2, "give one of the two", "doctor", *self.SIZES, "--binary", "x")

    def test_a_binary_is_passed_to_the_script(self):
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
        code, out, err = run("doctor", "--binary", self.path("absent"), "--json")
        error = json.loads(out)["error"]
        self.assertEqual((code, error["code"]), (2, "bad_input"))
        self.assertIn(error["message"], err)


if __name__ == "__main__":
    sys.exit(tenon_command.main({"L0": [Doctor]}))
