"""microbench/instruction/timed_loop.py on canned listings, and the sanity of the suite's list of cases."""

import csv
import re
import sys
import unittest
from pathlib import Path

FOLDER = Path(sys.argv.pop(1))
TABLE = FOLDER.parents[1] / "ptx" / "instructions.csv"
sys.path[:0] = [str(FOLDER), str(FOLDER.parents[1] / "scripts")]
sys.dont_write_bytecode = True
from cases import suite_of  # noqa: E402
from tenon_ptx.table import load  # noqa: E402
from timed_loop import Unproven, parse, prove  # noqa: E402


def listing(*body):
    """A kernel with an instruction every 16 bytes; an argument that ends in a colon is a label."""
    lines, address = ['\t.section\t.text.kernel,"ax",@progbits', "kernel:"], 0
    for line in body:
        if line.endswith(":"):
            lines.append(line)
        else:
            lines.append(f"        /*{address:04x}*/                   {line} ;")
            address += 16
    return parse("\n".join(lines))["kernel"]


BEGIN, END = "CS2R R6, SR_CLOCKLO", "CS2R R4, SR_CLOCKLO"
MMA = "HMMA.16816.F32 R16, R8, R4, R16"


class TimedLoop(unittest.TestCase):
    def refused(self, code, claim, sentence):
        with self.assertRaisesRegex(Unproven, sentence):
            prove(code, claim)

    def test_counts_between_the_clock_reads(self):
        code = listing(BEGIN, ".L_1:", MMA, MMA, "ISETP.NE.U32.AND P0, PT, RZ, UR5, PT", "@P0 BRA `(.L_1)", END, "EXIT")
        self.assertEqual(prove(code, {"HMMA.16816.F32": 2}), {"BRA": 1, "HMMA.16816.F32": 2, "ISETP.NE.U32.AND": 1})
        self.assertEqual(prove(code, {"HMMA.16816": 2})["HMMA.16816.F32"], 2)

    def test_another_count_or_opcode_is_refused(self):
        code = listing(BEGIN, ".L_1:", MMA, "@P0 BRA `(.L_1)", END, "EXIT")
        self.refused(code, {"HMMA.16816.F32": 2}, "has 1 HMMA.16816.F32 but the claim is 2")
        self.refused(code, {"HMMA.16816.F16": 1}, "none of HMMA.16816.F16")
        self.refused(code, {"HMMA.16816.F3": 1}, "none of")

    def test_instructions_hoisted_out_of_the_loop_are_seen(self):
        hoisted = listing(BEGIN, MMA, ".L_1:", MMA, "@P0 BRA `(.L_1)", END, "EXIT")
        self.refused(hoisted, {"HMMA.16816.F32": 1}, "outside of the loop")
        unrolled = listing(BEGIN, MMA, MMA, END, "EXIT")
        self.refused(unrolled, {"HMMA.16816.F32": 2}, "no loop")
        self.refused(listing(".L_1:", MMA, "BRA `(.L_1)", "EXIT"), {"HMMA": 1}, "reads of the cycle counter")

    def test_a_wait_inside_is_no_timed_loop(self):
        code = listing(BEGIN, ".L_1:", ".L_2:", "SYNCS.PHASECHK R1", "@P1 BRA `(.L_2)", "UBLKCP [UR4]", "@P0 BRA `(.L_1)", END)
        self.assertEqual(prove(code, {"UBLKCP": 1})["SYNCS.PHASECHK"], 1)

    def test_called_subroutines_count(self):
        code = listing(BEGIN, ".L_1:", "CALL.REL.NOINC `($sub)", "CALL.REL.NOINC `($sub)", "@P0 BRA `(.L_1)", END, "EXIT",
                       "$sub:", "IMMA.8816.S8.S8 R1", "IMMA.8816.S8.S8 R2", "RET.REL.NODEC R10")  # fmt: skip
        self.assertEqual(prove(code, {"IMMA.8816": 4})["IMMA.8816.S8.S8"], 4)

    def test_spills_are_refused_unless_ptxas_emulates(self):
        code = listing(BEGIN, ".L_1:", MMA, "LDL R1, [R2]", "@P0 BRA `(.L_1)", END)
        self.refused(code, {"HMMA": 1}, "spills")
        self.assertEqual(prove(code, {"HMMA": 1}, may_spill=True)["LDL"], 1)


class Suite(unittest.TestCase):
    suite = suite_of(TABLE)

    def test_names_are_unique_and_what_matters_most_comes_first(self):
        names = [case["name"] for case in self.suite.cases]
        self.assertEqual(len(names), len(set(names)))
        quick = [case["quick"] for case in self.suite.cases]
        self.assertEqual(quick, sorted(quick, reverse=True))

    def test_every_form_of_the_table_is_measured(self):
        kernels = {k.instruction for kernels in self.suite.files.values() for k in kernels}
        forms = [form.mnemonic for form in load(TABLE) if form.mnemonic.startswith("mma.") and "90a" in form.sass]
        self.assertGreater(len(forms), 180)
        self.assertEqual([form for form in forms if form not in kernels], [])

    def test_wgmma_of_f16_is_measured_at_every_n_from_shared_memory_and_registers(self):
        names = {case["name"] for case in self.suite.cases if case["measure"] == "throughput"}
        for n in range(8, 257, 8):
            for source in ("ss", "rs"):
                wanted = re.compile(rf"wgmma/wgmma_mma_async_m64n{n}k16_f32_f16_f16_{source}_g4w1/throughput/warpgroups:1/")
                self.assertTrue(any(wanted.match(name) for name in names), wanted.pattern)

    def test_every_kernel_claims_something(self):
        for kernels in self.suite.files.values():
            for kernel in kernels:
                self.assertTrue(kernel.claim and all(count > 0 for count in kernel.claim.values()), kernel.name)

    def test_published_rows_name_cases(self):
        names = {case["name"] for case in self.suite.cases}
        with open(FOLDER / "published.csv", newline="", encoding="utf-8") as file:
            self.assertEqual([row["case"] for row in csv.DictReader(file) if row["case"] not in names], [])


if __name__ == "__main__":
    unittest.main()
