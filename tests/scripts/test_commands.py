"""scripts/setup, run and test: their arguments, the summary line, and the main job against a stand-in for `tenon`."""

import importlib.machinery
import itertools
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts"


def run(*command, **options):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, **options)


class Arguments(unittest.TestCase):
    def assert_refused(self, sentence, script, *arguments):
        done = run("bash", SCRIPTS / script, *arguments)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn(sentence, done.stderr)
        self.assertIn("--help", done.stderr)

    def test_bad_usage(self):
        for script in ("setup", "run", "test"):
            self.assert_refused("unknown argument '--fast'", script, "--fast")
        self.assert_refused("--filter needs a value", "test", "--filter")

    def test_level(self):
        done = run("bash", SCRIPTS / "test", "--level", "L9")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--level is 'L9' but must be", done.stderr)

    def test_what_ctest_would_join_or_drop_or_not_understand_is_refused_before_the_build(self):
        self.assert_refused("--level is given twice, L0 and L2", "test", "--level", "L0", "--level", "L2")
        self.assert_refused("--filter is given twice: join the patterns, 'a|b'", "test", "--filter", "a", "--filter", "b")
        self.assert_refused("--filter is empty", "test", "--filter", "")
        for pattern in ("[", "(", "*a"):
            self.assert_refused(f"--filter is '{pattern}', which is not a regular expression", "test", "--filter", pattern)

    def test_a_bare_debian_is_named_by_its_suite(self):
        for arguments, sentence in (
            ((), "the suite is missing, such as bookworm"),
            (("Debian",), "the suite is 'Debian' but must be the name of a Debian or Ubuntu"),
            (("bookworm", "trixie"), "the suites are 'bookworm' and 'trixie' but must be one"),
            (("--fast", "bookworm"), "unknown argument '--fast'"),
            (("bookworm", "--mirror"), "--mirror needs a value"),
            (("--certificate", "/absent.crt", "bookworm"), "--certificate is '/absent.crt' but must be a file named *.crt"),
        ):
            self.assert_refused(sentence, "bare_debian", *arguments)


class BareDebian(unittest.TestCase):
    """scripts/bare_debian with stand-ins for debootstrap, git, and unshare, behind which the bare system would be."""

    SYSTEM = 'mkdir -p "$3/etc" "$3/root"; echo PRETTY_NAME=\\"Debian 12\\" >"$3/etc/os-release"; echo 12.9 >"$3/etc/debian_version"'

    def call(self, unshare, debootstrap=SYSTEM, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("debootstrap", debootstrap), ("git", 'echo git "$@" >>$SAID'), ("unshare", f'echo "$*" >>$SAID; {unshare}')):
                program = Path(folder, "bin", name)
                program.parent.mkdir(exist_ok=True)
                program.write_text(f"#!/bin/sh\n{text}\n")
                program.chmod(0o755)
            said = Path(folder, "said")
            said.write_text("")
            kept = Path(folder, "temporary")
            kept.mkdir()
            suites = Path(folder, "scripts")
            suites.mkdir()
            (suites / "noble").write_text("default_mirror http://archive.ubuntu.com/ubuntu\n")
            done = run("bash", SCRIPTS / "bare_debian", *(arguments or ["bookworm"]),
                       env={**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}", "SAID": str(said), "TMPDIR": str(kept),
                            "DEBOOTSTRAP_DIR": folder})  # fmt: skip
            self.assertEqual(list(kept.iterdir()), [], "the root file system is removed")
            return done, said.read_text()

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_both_calls_are_timed_and_a_failure_shows_what_was_said(self):
        done, said = self.call("echo correct")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = done.stdout.splitlines()
        self.assertRegex(lines[0], r"^Debian 12, debian_version 12\.9, \d+ cores$")
        self.assertRegex(lines[1], r"^scripts/run: \d+ s, processors \d+ s \+ \d+ s$")
        self.assertRegex(lines[2], r"^scripts/run again, without a network: \d+ s, ")
        self.assertEqual(len(lines), 3)
        self.assertRegex(said, r"(?s)^git clone .*/a tree\n--mount bash .*\n--mount --net bash ")
        done, said = self.call('echo "what failed"; [ "$2" != --net ]')
        self.assertEqual((done.returncode, done.stdout.splitlines()[3:]), (1, ["what failed"]), done.stdout)
        done, said = self.call("", "echo 'E: no such suite'; exit 1")
        sentence = "bare_debian: debootstrap cannot make bookworm of http://deb.debian.org/debian\n"
        self.assertEqual((done.returncode, done.stderr, said), (3, "E: no such suite\n" + sentence, ""))
        for arguments, options, mirror in (
            (["noble"], "--variant=minbase --components=main,universe noble ", "http://archive.ubuntu.com/ubuntu"),
            (["trixie", "--mirror", "http://a.mirror"], "--variant=minbase trixie ", "http://a.mirror"),
        ):
            done, said = self.call("", 'echo "$@" >>$SAID; exit 1', *arguments)
            self.assertIn(f"cannot make {arguments[0]} of {mirror}\n", done.stderr)
            self.assertTrue(said.startswith(options), said)


class Selection(unittest.TestCase):
    """scripts/test in a tree that is already built."""

    def test_no_test_is_no_success_and_no_failure(self):
        with tempfile.TemporaryDirectory() as folder:
            scripts, build = Path(folder, "scripts"), Path(folder, "build")
            scripts.mkdir()
            build.mkdir()
            for name in ("test", "test_summary"):
                shutil.copy(SCRIPTS / name, scripts)
            (scripts / "tenon_sass").symlink_to(SCRIPTS / "tenon_sass")
            (scripts / "build.sh").write_text("tenon_build() { return 0; }\n")
            (build / "CTestTestfile.cmake").write_text(
                'add_test(fragment true)\nset_tests_properties(fragment PROPERTIES LABELS "L0")\n'
            )
            for arguments, status, last in (
                (("--filter", "frag", "--level", "L0"), 0, "1 passed, 0 failed, 0 skipped"),
                (("--filter", "absent"), 2, "0 passed, 0 failed, 0 skipped"),
                (("--filter", "frag", "--level", "L2"), 2, "0 passed, 0 failed, 0 skipped"),
            ):
                done = run("bash", scripts / "test", *arguments)
                self.assertEqual((done.returncode, done.stdout.rstrip().split("\n")[-1]), (status, last), done.stderr)
            self.assertIn("no test of level L2 whose name holds 'frag': nothing was tested", done.stderr)


class Build(unittest.TestCase):
    """What scripts/run and scripts/test ask of set-up and CMake, which only write it down."""

    cache = ()  # lines of the CMakeCache.txt of an earlier configuration

    def asked(self, script, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            scripts, python, tools = Path(folder, "scripts"), Path(folder, ".tools", "venv", "bin", "python3"), Path(folder, "bin")
            for cached, build in itertools.product(self.cache, ("build", "build-run")):
                Path(folder, build).mkdir(exist_ok=True)
                with open(Path(folder, build, "CMakeCache.txt"), "a", encoding="utf-8") as cache:
                    cache.write(cached.replace("TREE", folder) + "\n")
            for made in (scripts, python.parent, tools):
                made.mkdir(parents=True)
            for name in ("run", "test", "build.sh"):
                shutil.copy(SCRIPTS / name, scripts)
            (scripts / "environment.sh").write_text(f'PATH="{tools}:$PATH"\n')
            said = Path(folder, "said")
            for program, text in (
                (scripts / "setup", f'printf "%s|" setup "$@" >>{said}; echo >>{said}'),
                (tools / "nvcc", "exit 0"),
                (tools / "cmake", f'printf "%s|" cmake "$@" >>{said}; echo >>{said}; [[ "$1" != --build ]] || [[ -z "$FAIL" ]]'),
                (python, f'printf "%s|" python "$@" >>{said}; echo >>{said}'),
            ):
                program.write_text(f"#!/usr/bin/env bash\n{text}\n")
                program.chmod(0o755)
            done = run("bash", scripts / script, *arguments, env={**os.environ, "FAIL": "1" if script == "test" else ""})
            return done, said.read_text().replace(folder, "TREE").splitlines()

    def test_run_builds_a_few_kernels_in_a_folder_of_its_own(self):
        done, (prepared, configured, built, job) = self.asked("run")
        self.assertEqual((done.returncode, prepared), (0, "setup|run|"), done.stderr)
        self.assertIn("|-B|TREE/build-run|", configured)
        for option in ("-DTENON_TYPES=f16_f32", "-DTENON_LAYOUTS=tn;tt", "-DTENON_TILES=core", "-DTENON_BUILD_TESTS=OFF"):
            self.assertIn(f"|{option}|", configured)
        self.assertRegex(built, r"^cmake\|--build\|TREE/build-run\|-j\|\d+\|--target\|tenon_command\|$")
        self.assertIn("|TREE/scripts/main_job|TREE/build-run/bin/tenon|TREE/build-run/run|", job)

    def test_test_builds_everything(self):
        done, (prepared, configured, built) = self.asked("test")
        self.assertEqual(prepared, "setup|test|")
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1]), (1, "0 passed, 1 failed, 0 skipped"))
        self.assertRegex(configured, r"\|-B\|TREE/build\|-DTENON_PYTHON=[^|]*\|-DCMAKE_CUDA_COMPILER=TREE/bin/nvcc\|$")
        self.assertRegex(built, r"^cmake\|--build\|TREE/build\|-j\|\d+\|--\|-k\|0\|$")

    def test_other_compilers_than_before_configure_afresh(self):
        same = "CMAKE_CUDA_COMPILER:STRING=TREE/bin/nvcc"
        for cache, fresh in (
            ((same, "CMAKE_CXX_COMPILER:FILEPATH=/bin/sh"), False),
            ((same, "CMAKE_CXX_COMPILER:FILEPATH=/absent/c++"), True),
            (("CMAKE_CUDA_COMPILER:FILEPATH=/opt/cuda/bin/nvcc", "CMAKE_CXX_COMPILER:FILEPATH=/bin/sh"), True),
        ):
            self.cache = cache
            self.assertEqual("|--fresh|" in self.asked("run")[1][1], fresh, cache)


class Environment(unittest.TestCase):
    def test_a_script_that_sources_it_keeps_its_variables(self):
        """build.sh holds the build folder in `folder`; a loop of environment.sh once put another path there."""
        with tempfile.TemporaryDirectory(prefix="a b") as root:
            Path(root, ".tools").mkdir()
            Path(root, ".tools", "path").write_text("venv/bin\n/opt/cuda/bin\n")
            source = f'root="{root}"; source "{SCRIPTS}/environment.sh"'
            script = f'{source}; compgen -v | grep -v "^BASH\\|^_$\\|^PIPESTATUS$"'
            known = run("bash", "-c", script.replace(f'source "{SCRIPTS}/environment.sh"; ', "")).stdout.split()
            self.assertEqual(set(run("bash", "-c", script).stdout.split()) - set(known), set())
            done = run("bash", "-c", f"set -eu; folder=mine; PATH=/bin:/opt/cuda/bin; {source}; {source}; echo $folder; echo $PATH")
            self.assertEqual(done.stdout, f"mine\n{root}/.tools/venv/bin:/opt/cuda/bin:/bin:/opt/cuda/bin\n", done.stderr)
            Path(root, ".tools", "path").unlink()
            done = run("bash", "-c", f"set -eu; PATH=/bin; {source}; echo $PATH")
            self.assertEqual(done.stdout, "/bin\n", done.stderr)


GTEST_SKIP = "[ RUN      ] A.b\n/x/a.cpp:12: Skipped\nneeds a GPU of sm_80 or newer\n[  SKIPPED ] A.b (0 ms)\n"
SAYS_SO = '<skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>'


def case(name, status, body="", output=""):
    return f'<testcase name="{name}" status="{status}">{body}<system-out>{output}</system-out></testcase>'


class Summary(unittest.TestCase):
    def summary(self, *cases):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "junit.xml")
            file.write_text(f'<?xml version="1.0"?><testsuite>{"".join(cases)}</testsuite>')
            done = run(sys.executable, SCRIPTS / "test_summary", file)
            return done.returncode, done.stdout.rstrip("\n").split("\n")

    def test_all_passed(self):
        self.assertEqual(self.summary(case("a", "run"), case("b", "run")), (0, ["2 passed, 0 failed, 0 skipped"]))

    def test_reasons_are_grouped(self):
        found = self.summary(
            case("a", "run"),
            case("g1", "notrun", SAYS_SO, GTEST_SKIP),
            case("g2", "notrun", SAYS_SO, GTEST_SKIP),
            case("r", "notrun", '<skipped message="SKIP_RETURN_CODE=77"/>'),
            case("d", "disabled"),
        )
        reasons = ["skipped 1: SKIP_RETURN_CODE=77", "skipped 1: disabled", "skipped 2: needs a GPU of sm_80 or newer"]
        self.assertEqual(found, (0, [*reasons, "1 passed, 0 failed, 4 skipped"]))

    def test_failures(self):
        found = self.summary(case("a", "run"), case("b", "fail", '<failure message=""/>'))
        self.assertEqual(found, (1, ["failed: b", "1 passed, 1 failed, 0 skipped"]))

    def test_a_crash_after_a_skip_has_failed(self):
        found = self.summary(
            case("a", "run"),
            case("missing", "notrun", '<skipped message="Unable to find executable: /x/prog"/>'),
            case("fixture", "notrun", '<skipped message="Fixture dependency failed"/>'),
            case("crashed", "notrun", SAYS_SO, GTEST_SKIP + "[  FAILED  ] A.b\n"),
        )
        names = [f"failed: {name}" for name in ("missing", "fixture", "crashed")]
        self.assertEqual(found, (1, [*names, "1 passed, 3 failed, 0 skipped"]))

    def test_nothing_ran(self):
        self.assertEqual(self.summary(), (1, ["0 passed, 0 failed, 0 skipped"]))
        only_skipped = self.summary(case("g", "notrun", SAYS_SO, GTEST_SKIP))
        self.assertEqual(only_skipped[0], 1)

    def test_unreadable(self):
        self.assertEqual(run(sys.executable, SCRIPTS / "test_summary", "/absent.xml").returncode, 2)

    def test_files_of_the_installed_ctest(self):
        # ctest may change the format of its file, so this uses the installed ctest.
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "CMakeLists.txt").write_text(
                textwrap.dedent(
                    """
                    cmake_minimum_required(VERSION 3.25)
                    project(sample NONE)
                    enable_testing()
                    add_test(NAME good COMMAND ${CMAKE_COMMAND} -E true)
                    add_test(NAME bad COMMAND ${CMAKE_COMMAND} -E false)
                    add_test(NAME absent COMMAND /absent/program)
                    add_test(NAME skipped COMMAND ${CMAKE_COMMAND} -E echo "a.cpp:1: Skipped\nneeds a GPU")
                    set_tests_properties(skipped PROPERTIES SKIP_REGULAR_EXPRESSION Skipped)
                    add_test(NAME disabled COMMAND ${CMAKE_COMMAND} -E true)
                    set_tests_properties(disabled PROPERTIES DISABLED TRUE)
                    """
                )
            )
            self.assertEqual(run("cmake", "-S", folder, "-B", f"{folder}/build", "-G", "Ninja").returncode, 0)
            run("ctest", "--test-dir", f"{folder}/build", "--output-junit", "junit.xml")
            done = run(sys.executable, SCRIPTS / "test_summary", f"{folder}/build/junit.xml")
        self.assertEqual(done.returncode, 1)
        lines = done.stdout.rstrip("\n").split("\n")
        self.assertEqual(lines[-1], "1 passed, 2 failed, 2 skipped")
        self.assertIn("skipped 1: needs a GPU", lines)


# A stand-in for the command line: gemm on .npy files through numpy, with the faults that the environment asks for.
# Its first lines start Python from the shell, because a path with spaces cannot stand after #!.
STAND_IN = """\
#!/bin/sh
'exec' "{python}" "$0" "$@"
import json, os, sys
case, arguments = os.environ["CASE"], sys.argv[1:]
option = lambda name: arguments[arguments.index(name) + 1]
no_gpu = case in ("no_gpu", "no_gpu_wrong", "fault")
if arguments == ["info", "--json"]:
    print(json.dumps(dict(can_run=dict(cuda=dict(ok=not no_gpu, why="this machine has no CUDA device" if no_gpu else "")))))
elif arguments[0] == "gemm":
    device = option("--device") if "--device" in arguments else "cuda"
    assert device == ("emulator" if no_gpu else "cuda")
    common = dict(kernel="cp_async_x", device=device, device_name="the " + device, findings=None, counters=None)
    if device == "emulator":
        names = ("matrix_operations", "shared_wavefronts", "ideal_shared_wavefronts", "global_sectors", "ideal_global_sectors")
        common.update(findings=[], counters=dict.fromkeys(names, 12))
    if case == "bad_usage":
        print("lda is too small", file=sys.stderr)
        sys.exit(2)
    if case == "files_not_ok" and "--a" in arguments:
        print(json.dumps(dict(common, max_error=None, error_bound=1e-3, ok=False)))
        print("the result is wrong: C[5][7]", file=sys.stderr)
        sys.exit(1)
    if case == "fault":
        print(json.dumps(dict(common, max_error=0, error_bound=1e-3, ok=True, findings=[dict(kind="race")])))
        print("the emulator found a fault in the kernel: race", file=sys.stderr)
        sys.exit(1)
    if "--a" in arguments:
        import numpy
        a, b = numpy.load(option("--a")).astype("f4"), numpy.load(option("--b")).astype("f4")
        c = a @ b
        if case in ("wrong", "no_gpu_wrong"):
            c[5, 7] += 1
        numpy.save(option("--out"), c)
    answer = dict(common, m=1, n=1, k=1, max_error=1e-4, error_bound=1e-3, ok=True, ms=1, tflops=2)
    if case == "not_ok" and "--bench" in arguments:
        answer["ok"] = False
    print(json.dumps(answer))
    sys.exit(0 if answer["ok"] else 1)
elif arguments[0] == "list" and "--json" in arguments:
    rows = [dict(name="cp_async_x", symbol="_Z5plainPf", types="f16_f32"), dict(name="module_y", symbol="tenon_module_y", types="f16_f32"),
            dict(name="cp_async_z", symbol="_Z5otherPf", types="s8_s32")]
    if case == "no_symbols":
        rows = [dict(name="cp_async_x", symbol=None)]
    print(json.dumps(rows[1:] if case == "unlisted" else rows))
else:
    print("shown:", *arguments)
"""


class MainJob(unittest.TestCase):
    """scripts/main_job; sass_check is a stand-in too, which prints the expectations and fails if the environment says so."""

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.folder = Path(self._folder.name)
        (self.folder / "scripts").mkdir()
        shutil.copy(SCRIPTS / "main_job", self.folder / "scripts")
        (self.folder / "scripts" / "tenon_sass").symlink_to(SCRIPTS / "tenon_sass")
        self.program("tenon", STAND_IN.format(python=sys.executable))
        text = "import os, sys; print('SASS', open(sys.argv[3]).read()); sys.exit(int(os.environ['SASS']))\n"
        self.program("scripts/sass_check", text)

    def program(self, name, text):
        path = self.folder / name
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def job(self, case, sass=0):
        environment = {**os.environ, "CASE": case, "SASS": str(sass)}
        arguments = (self.folder / "tenon", self.folder / "work")
        return run(sys.executable, self.folder / "scripts" / "main_job", *arguments, env=environment)

    def test_correct(self):
        done = self.job("good")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("numpy: 0 of", done.stdout)
        self.assertIn("kernel cp_async_x", done.stdout)
        rows = json.loads(done.stdout.split("SASS ")[1].split("\n")[0])
        expected = {"kernel": "^_Z5plainPf$", "expect": ["HMMA.16816", "LDGSTS", "LDSM"], "spill_free": True}
        self.assertEqual(rows, [expected])
        self.assertTrue(done.stdout.endswith("correct\n"))

    def test_each_family_of_kernels_has_its_own_machine_code(self):
        job = importlib.machinery.SourceFileLoader("main_job", str(SCRIPTS / "main_job")).load_module()
        expected = {
            "tma_f16_f32_tn_128x256x64_s4": ["HMMA.16816", "UTMALDG", "LDSM"],
            "cp_async_f16_f32_nn_64x64x64_s5": ["HMMA.16816", "LDGSTS", "LDSM"],
            "cp_async_f16_f32_tn_128x128x32_s2_unaligned": ["HMMA.16816"],
            "cp_async_f16_f32_nn_64x64x32_s5_rounded": ["HMMA.16816", "LDGSTS", "F2FP"],
            "wgmma_f16_f32_tn_256x192x64_s3_c2x1_tailsplit": ["HGMMA", "UTMALDG", "UTMASTG"],
            "wgmma_f16_f32_tn_64x128x64_s7_fused": ["HGMMA", "UTMALDG", "UTMASTG"],
            "wgmma_f16_f32_tt_128x256x64_s4_c1x2_rowinterleaved": ["HGMMA", "UTMALDG", "STG"],
            "wgmma_f16_f32_tn_256x128x64_s4_c1x2_unaligned_tailsplit": ["HGMMA", "UTMALDG", "STG"],
        }
        for name, machine_code in expected.items():
            self.assertEqual(job.expectations_of({"name": name, "symbol": "s"})["expect"], machine_code, name)

    def test_a_program_that_is_missing_or_says_something_else(self):
        self.program("tenon", "#!/bin/sh\necho hello\n")
        done = self.job("good")
        self.assertEqual((done.returncode, done.stderr), (2, "run: `tenon info --json` exits with 0 and prints no JSON: \n"))
        self.program("tenon", "#!/bin/sh\necho '{}'\n")
        done = self.job("good")
        self.assertEqual((done.returncode, done.stderr), (2, "run: what `tenon info --json` prints lacks can_run\n"))
        (self.folder / "tenon").unlink()
        done = self.job("good")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, f"run: {self.folder}/tenon cannot be run: No such file or directory\n")

    def test_a_wrong_product_is_found_by_numpy(self):
        done = self.job("wrong")
        self.assertEqual(done.returncode, 1)
        self.assertIn("numpy: 1 of", done.stdout)
        self.assertIn("WRONG RESULT", done.stdout)

    def test_a_wrong_product_found_by_tenon(self):
        self.assertEqual(self.job("not_ok").returncode, 1)

    def test_a_wrong_product_that_tenon_did_not_write(self):
        done = self.job("files_not_ok")
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertIn("largest error inf", done.stdout)
        self.assertIn("the result is wrong: C[5][7]", done.stdout)
        self.assertIn("WRONG RESULT", done.stdout)

    def test_unexpected_machine_code(self):
        self.assertEqual(self.job("good", sass=1).returncode, 1)

    def test_a_kernel_that_is_not_listed(self):
        done = self.job("unlisted")
        self.assertEqual(done.returncode, 1)
        self.assertIn("tenon list does not have cp_async_x", done.stdout)

    def test_a_list_without_symbols_hides_nothing(self):
        done = self.job("no_symbols")
        self.assertEqual(done.returncode, 1)
        self.assertIn("one without its symbol", done.stderr)

    def test_without_a_gpu(self):
        done = self.job("no_gpu")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("No GPU that tenon can use here (this machine has no CUDA device)", done.stdout)
        self.assertIn("on the emulator: kernel cp_async_x", done.stdout)
        self.assertIn("emulator: 0 findings; 12 matrix operations", done.stdout)
        self.assertIn("numpy: 0 of", done.stdout)
        self.assertIn("\ncorrect\n", done.stdout)
        for shown in ("shown: info", "shown: list", "shown: list --parts", "shown: layout m16n8k16 f16 a", "SASS [", "module_y is compiled by the driver"):
            self.assertIn(shown, done.stdout)
        self.assertNotIn("_Z5otherPf", done.stdout)  # the kernels for the product's type alone
        self.assertEqual(self.job("no_gpu", sass=1).returncode, 1)

    def test_a_wrong_product_without_a_gpu(self):
        done = self.job("no_gpu_wrong")
        self.assertEqual(done.returncode, 1)
        self.assertIn("numpy: 1 of", done.stdout)
        self.assertIn("WRONG RESULT", done.stdout)

    def test_a_fault_that_the_emulator_finds(self):
        done = self.job("fault")
        self.assertEqual(done.returncode, 1)
        self.assertIn("emulator: 1 findings", done.stdout)
        self.assertIn("the emulator found a fault in the kernel: race", done.stdout)
        self.assertIn("FAULT IN THE KERNEL", done.stdout)

    def test_other_failures_are_passed_on(self):
        done = self.job("bad_usage")
        self.assertEqual(done.returncode, 1)
        self.assertIn("lda is too small", done.stderr)


if __name__ == "__main__":
    unittest.main()
