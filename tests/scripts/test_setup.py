"""scripts/setup, with stand-ins for the toolkit, the compilers, apt-get, and a Python whose pip has no network."""

import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
LISTS = sorted((SCRIPTS / "requirements").glob("*.txt"))

# `python3 -m venv` and `pip install --target`, whose packages hold what set-up looks for in them. PIP_FAILS=<list> fails as pip
# does without a network.
PYTHON = """\
#!/bin/bash
case "$1 $2" in
  "-m venv") mkdir -p "$3/bin" "$3/lib/python3.11/site-packages"; cp "$0" "$3/bin/python3" ;;
  "-m pip")
    while (($#)); do
      case "$1" in
        --target) target="$2" ;;
        --requirement) name="$(basename "$2" .txt)" ;;
        --require-hashes) hashes=yes ;;
      esac
      shift
    done
    echo "$name" >>"$SAID"
    [[ "$hashes" == yes && "$name" != "$PIP_FAILS" ]] || { mkdir "$target"; exit 1; }
    mkdir -p "$target/nvidia/cu13/bin" "$target/nvidia/cu13/lib" "$target/clang_format/data/bin" "$target/clang_tidy/data/bin"
    case "$name" in
      cuda) touch "$target/nvidia/cu13/lib/libcudart.so.13"; cp "$PYPI_NVCC" "$target/nvidia/cu13/bin/nvcc" ;;
      nvrtc) touch "$target/nvidia/cu13/lib/libnvrtc.so.13" ;;
      nvdisasm) cp "$PYPI_NVCC" "$target/nvidia/cu13/bin/nvdisasm" ;;
      numpy)
        mkdir "$target/numpy.dist-info"
        echo 5 >"$target/number.py"
        printf '%s\\n' number.py,sha256=x,2 ../../bin/f2py,sha256=x,9 numpy.dist-info/RECORD,, >"$target/numpy.dist-info/RECORD"
        ;;
    esac
    ;;
  "-c "*RECORD*) exec "$REAL_PYTHON" "$@" ;;
  "-c "*platform*) echo "(3, 11) x86_64" ;;
esac
"""


def program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text if text.startswith("#!") else f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def tree(folder):
    """Every file and link below it, with what it holds."""
    found = {}
    for path in sorted(folder.rglob("*")):
        found[str(path.relative_to(folder))] = os.readlink(path) if path.is_symlink() else path.is_file() and path.read_bytes()
    return found


class Setup(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="a b ")  # the path has spaces
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.tools = self.folder / "tree" / ".tools"
        scripts = self.folder / "tree" / "scripts"
        scripts.mkdir(parents=True)
        shutil.copytree(SCRIPTS / "requirements", scripts / "requirements")
        text = (SCRIPTS / "setup").read_text()
        self.assertIn("/usr/local/cuda", text)
        system = tempfile.TemporaryDirectory(prefix="cuda")
        self.addCleanup(system.cleanup)
        self.system = Path(system.name)  # in place of /usr/local/cuda, where this machine may have a toolkit
        # The libraries of the system may be missing here, and are not the matter.
        text = text.replace("/usr/local/cuda", str(self.system)).replace("need_file() {", "need_file() { return 0;")
        self.setup = program(scripts / "setup", text)
        self.bin = self.folder / "bin"
        self.bin.mkdir()
        for name in ("bash", "dirname", "basename", "cat", "sha256sum", "cut", "readlink", "grep", "head", "sort", "sed", "paste",
                     "mkdir", "mv", "rm", "ln", "cp", "touch", "flock", "env", "uniq"):
            (self.bin / name).symlink_to(shutil.which(name))
        program(self.bin / "python3", PYTHON)
        program(self.bin / "cmake", "echo cmake version 3.25.1")
        program(self.bin / "ninja", "exit 1")
        program(self.bin / "pkg-config", "exit 1")
        program(self.bin / "g++", "echo 12")
        program(self.bin / "uname", "echo x86_64")
        program(self.bin / "chromium", "")
        self.pypi = program(self.folder / "pypi nvcc", "echo 'release 13.0, V13.0.88'")
        self.said = self.folder / "said"

    def toolkit(self, folder, version, newest_gcc=15):
        program(folder / "bin" / "nvcc", f"echo 'Cuda compilation tools, release {version}, V{version}.88'")
        program(folder / "bin" / "nvdisasm", f"echo 'release {version}'")
        (folder / "include" / "crt").mkdir(parents=True)
        (folder / "include" / "crt" / "host_config.h").write_text(f"#if __GNUC__ > {newest_gcc}\n\n#error -- unsupported\n")
        return folder

    def call(self, *arguments, path="", **environment):
        """Runs set-up from another folder; (exit status, stdout, stderr, the lists that pip was asked for)."""
        self.said.write_text("")
        environment = {"PATH": f"{path}{self.bin}", "SAID": str(self.said), "PYPI_NVCC": str(self.pypi),
                       "REAL_PYTHON": sys.executable, **environment}  # fmt: skip
        done = subprocess.run([self.setup, *arguments], capture_output=True, text=True, check=False, cwd="/", env=environment)
        return done.returncode, done.stdout, done.stderr, self.said.read_text().split()

    def path(self):
        return [re.sub("-[0-9a-f]{12}/", "/", line) for line in (self.tools / "path").read_text().splitlines()]

    def test_without_a_toolkit_it_comes_from_pypi_and_once_only(self):
        status, out, err, fetched = self.call("run")
        self.assertEqual((status, err), (0, "setup: no CUDA Toolkit of 13.0 or newer is installed: taking PyPI's\n"))
        self.assertEqual(fetched, ["numpy", "cuda", "nvdisasm"])  # neither matplotlib nor clang tools
        self.assertEqual(self.path(), ["nvdisasm/nvidia/cu13/bin", "venv/bin", "cuda/nvidia/cu13/bin"])
        self.assertRegex(out, r"\nsetup: ready \(CUDA 13\.0 of PyPI: .*/tree/\.tools/cuda-\w+/nvidia/cu13/bin/nvcc; nvdisasm 13\.0\)\n$")
        (cuda,) = self.tools.glob("cuda-*/nvidia/cu13")
        self.assertEqual((os.readlink(cuda / "lib64"), os.readlink(cuda / "lib" / "libcudart.so")), ("lib", "libcudart.so.13"))
        (pth,) = self.tools.glob("venv/lib/python3.11/site-packages/tenon.pth")
        self.assertTrue((pth.parent / pth.read_text().rstrip("\n")).is_dir())
        before = tree(self.tools)
        for _ in range(2):
            self.assertEqual(self.call("run", PIP_FAILS="any"), (0, "", "", []))
        self.assertEqual(tree(self.tools), before)

    def test_the_tests_need_more_which_a_run_keeps(self):
        fetched = self.call()[3]
        self.assertEqual(sorted(fetched[:4]), ["docs", "numpy", "packaging", "plot"])  # side by side
        self.assertEqual(fetched[4:], ["clang-format", "clang-tidy", "cuda", "nvrtc", "nvdisasm"])
        (link,) = self.tools.glob("cuda-*/nvidia/cu13/lib/libnvrtc.so.13")
        self.assertTrue(link.exists())
        before = tree(self.tools)
        self.assertEqual(self.call("run"), (0, "", "", []))
        self.assertEqual(tree(self.tools), before)
        self.assertIn("clang_tidy/data/bin", "".join(self.path()))

    def test_an_old_toolkit_is_named_and_passed_over(self):
        self.toolkit(self.folder / "old", "12.4")
        status, out, err, fetched = self.call("run", path=f"{self.folder}/old/bin:")
        sentence = f"setup: {self.folder}/old/bin/nvcc is of CUDA 12.4 but must be of 13.0 or newer; looking further\n"
        self.assertEqual((status, err), (0, sentence + "setup: no CUDA Toolkit of 13.0 or newer is installed: taking PyPI's\n"))
        self.assertIn("cuda", fetched)
        # The next best is one that is installed.
        self.toolkit(self.system, "13.2")
        status, out, err, fetched = self.call("run", path=f"{self.folder}/old/bin:")
        self.assertEqual((status, err, fetched), (0, sentence, []))
        self.assertEqual(out, f"setup: ready (CUDA 13.2 of {self.system}: {self.system}/bin/nvcc; nvdisasm 13.2)\n")
        self.assertEqual(self.path(), ["venv/bin", f"{self.system}/bin"])

    def test_cuda_home_wins_over_path_and_says_so(self):
        mine, other = self.toolkit(self.folder / "mine", "13.1"), self.toolkit(self.folder / "other", "13.2")
        status, out, err, fetched = self.call("run", path=f"{other}/bin:", CUDA_HOME=str(mine))
        self.assertEqual((status, err, fetched), (0, "", ["numpy"]))
        self.assertIn(f"setup: ready (CUDA 13.1 of CUDA_HOME: {mine}/bin/nvcc; nvdisasm 13.1)\n", out)
        self.assertEqual(self.path()[-1], f"{mine}/bin")
        status, out, err, fetched = self.call("run", path=f"{other}/bin:")
        self.assertEqual((status, out, fetched), (0, f"setup: ready (CUDA 13.2 of PATH: {other}/bin/nvcc; nvdisasm 13.2)\n", []))
        status, out, err, fetched = self.call("run", path=f"{other}/bin:", CUDA_HOME="/absent")
        self.assertEqual((status, out, err), (0, "", "setup: CUDA_HOME is '/absent', which has no bin/nvcc; looking further\n"))

    def test_a_failure_leaves_what_works_as_it_was(self):
        self.call("run")
        before = tree(self.tools)
        status, _, err, fetched = self.call("test", PIP_FAILS="plot")
        self.assertEqual(status, 3)
        self.assertLessEqual(set(fetched), {"plot", "packaging", "docs"})  # side by side, and what has begun is stopped
        self.assertIn("requirements/plot.txt names: does the network reach PyPI?", err)
        self.assertEqual(tree(self.tools), before)
        # The lists have changed: what the new ones pin replaces the old, once all of it is there.
        for name in ("numpy", "nvdisasm"):
            with open(self.setup.parent / "requirements" / f"{name}.txt", "a", encoding="utf-8") as file:
                file.write("# changed\n")
        status, _, err, fetched = self.call("run", PIP_FAILS="nvdisasm")
        self.assertEqual((status, fetched), (3, ["numpy", "nvdisasm"]))
        after = tree(self.tools)
        self.assertEqual({name: after.get(name) for name in before}, before)
        self.assertEqual(self.call("run")[3], ["nvdisasm"])
        self.assertEqual([len(list(self.tools.glob(f"{name}-*"))) for name in ("numpy", "cuda", "nvdisasm")], [1, 1, 1])

    def test_what_is_damaged_is_fetched_again(self):
        self.call("run")
        before = tree(self.tools)
        (cuda,), (numpy,) = self.tools.glob("cuda-*"), self.tools.glob("numpy-*")
        nvcc, number = cuda / "nvidia" / "cu13" / "bin" / "nvcc", numpy / "number.py"
        for damage in (nvcc.unlink, lambda: nvcc.write_text(""), lambda: nvcc.write_text("#!/bin/sh\nexit 1\n")):
            damage()
            broken = tree(self.tools)
            sentence = f"setup: .tools/{cuda.name} is damaged (nvidia/cu13/bin/nvcc); fetching it again\n"
            status, out, err, fetched = self.call("run", PIP_FAILS="cuda")
            self.assertEqual((status, fetched, tree(self.tools)), (3, ["cuda"], broken), "no network: as it was")
            self.assertIn(sentence, err)
            status, out, err, fetched = self.call("run")
            self.assertEqual((status, err, fetched), (0, sentence, ["cuda"]))
            self.assertEqual(tree(self.tools), before)
        for damage in (number.unlink, lambda: number.write_text("")):
            damage()
            sentence = f"setup: .tools/{numpy.name} is damaged (number.py); fetching it again\n"
            status, out, err, fetched = self.call("run")
            self.assertEqual((status, err, fetched), (0, sentence, ["numpy"]))
            self.assertEqual(tree(self.tools), before)

    def test_a_private_folder_that_cannot_be_used(self):
        self.tools.write_text("")
        status, out, err, fetched = self.call("run")
        self.assertEqual((status, err, fetched), (3, f"setup: {self.tools} is a file but must be a folder: move it away\n", []))
        self.tools.unlink()
        self.tools.symlink_to("/nowhere/at all")
        self.assertEqual(self.call("run")[::2], (3, f"setup: {self.tools} cannot be made: its folder must be writable\n"))
        self.tools.unlink()
        self.tools.mkdir()
        (self.tools / "lock").mkdir()  # root writes into any folder, but not into this
        self.assertEqual(self.call("run")[::2], (3, f"setup: {self.tools} cannot be written: make it writable, or move it away\n"))

    def test_a_private_python_of_another_layout_is_replaced_when_all_is_there(self):
        old = program(self.tools / "venv" / "bin" / "python3", PYTHON)
        (self.tools / "setup.stamp").write_text("")
        before = tree(self.tools)
        self.assertEqual(self.call("run", PIP_FAILS="cuda")[0], 3)
        after = tree(self.tools)
        self.assertEqual({name: after.get(name) for name in before}, before)
        old.with_name("clang-format").write_text("")
        self.assertEqual(self.call("run")[0], 0)
        self.assertFalse(old.with_name("clang-format").exists() or (self.tools / "setup.stamp").exists())
        self.assertEqual([path.name for path in self.tools.glob("*.part")], [])

    def test_a_compiler_that_nvcc_does_not_accept(self):
        self.toolkit(self.system, "13.0")
        program(self.bin / "g++", "echo 17")
        status, _, err, _ = self.call("run")
        self.assertEqual(status, 3)
        self.assertIn("g++ is of version 17 but CUDA 13.0 takes 15 at most: install g++-15, or a CUDA Toolkit that takes it\n", err)
        self.assertFalse((self.tools / "path").exists())
        for name in ("g++-13", "gcc-13", "g++-14"):  # 14 has no gcc
            program(self.bin / name, "exit 0")
        status, _, err, _ = self.call("run")
        self.assertEqual((status, err), (0, "setup: g++ is of version 17 but CUDA 13.0 takes 15 at most: taking g++-13\n"))
        self.assertEqual(self.path()[0], "compiler")
        self.assertEqual(os.readlink(self.tools / "compiler" / "c++"), str(self.bin / "g++-13"))
        program(self.bin / "g++", "echo 15")
        self.assertEqual(self.call("run")[2], "")
        self.assertFalse((self.tools / "compiler").exists())
        self.assertEqual(self.path()[0], "venv/bin")

    def test_packages_of_the_system_that_cannot_be_installed(self):
        (self.bin / "ninja").unlink()
        status, _, err, fetched = self.call("run")
        sentence = "setup: missing: ninja-build (Debian names); install them with your system's package manager\n"
        self.assertEqual((status, err.splitlines(True)[-1], fetched), (3, sentence, []))
        self.assertFalse(self.tools.exists())
        line = "apt-get install --no-install-recommends ninja-build"
        if os.geteuid() != 0:
            program(self.bin / "apt-get", "exit 1")
            sentence = f"setup: missing: ninja-build; installing them needs root or sudo: as root, {line}\n"
            self.assertEqual(self.call("run")[::2], (3, sentence))
        said_by_apt = "".join(f"echo 'E: Failed to fetch {i}' >&2; " for i in range(90))
        program(self.bin / "apt-get", f'echo "$@" >>"$SAID"; [ "$1" = update ] && exit; echo "debconf: delaying" >&2; {said_by_apt} exit 100')
        program(self.bin / "sudo", 'exec "$@"')
        status, _, err, said = self.call("run")
        sentence = f"setup: apt-get could not install ninja-build: does the network reach the system's packages? As root, try {line}"
        self.assertEqual((status, err.splitlines()), (3, [f"E: Failed to fetch {i}" for i in range(3)] + [sentence]))
        self.assertIn("ninja-build", said)

    def test_the_tests_ask_the_system_for_more(self):
        (self.bin / "pkg-config").unlink()
        self.assertEqual(self.call("run")[0], 0)
        status, _, err, fetched = self.call("test")
        sentence = "setup: missing: pkg-config (Debian names); install them with your system's package manager\n"
        self.assertEqual((status, err, fetched), (3, sentence, []))

    def test_browser(self):
        (self.bin / "chromium").unlink()
        program(self.bin / "sudo", '[ "$1" = -n ] && shift\nexec "$@"')
        program(self.bin / "apt-get", 'echo "apt-get $*" >>"$SAID"; [ "$1" = update ]')
        program(self.bin / "true", "")
        self.assertNotIn("apt-get", str(self.call("run")), "for the tests only")
        status, out, err, said = self.call("test")
        line = "apt-get install --no-install-recommends chromium-headless-shell"
        reason = f"apt-get could not install chromium-headless-shell: does the network reach the system's packages? As root, try {line}"
        self.assertEqual((status, err.splitlines()[-1]), (0, f"setup: no Chromium: the test scripts.phone will be skipped ({reason})"))
        self.assertIn("setup: installing chromium-headless-shell\n", out)
        self.assertIn("apt-get install -y -qq --no-install-recommends chromium-headless-shell", " ".join(said))
        self.assertEqual(self.call("test"), (0, "", "", []), "set-up does not try again")
        (self.tools / "no_browser").unlink()
        program(self.bin / "apt-get", f'[ "$1" = update ] || ln -s true "{self.bin}/chromium-headless-shell"')
        status, out, err, said = self.call("test")
        self.assertEqual((status, out, err), (0, "setup: installing chromium-headless-shell\n", ""))
        self.assertEqual(self.call("test"), (0, "", "", []))


class Requirements(unittest.TestCase):
    def test_each_package_has_one_version_and_hashes(self):
        self.assertEqual({path.stem for path in LISTS},
                         {"clang-format", "clang-tidy", "cmake", "cuda", "docs", "jax", "numpy", "nvdisasm", "nvrtc", "packaging", "plot", "torch"})
        for path in LISTS:
            lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
            for entry in "\n".join(lines).replace("\\\n", " ").splitlines():
                self.assertRegex(entry, r'^[a-z0-9-]+==[0-9.]+( ; python_version [<>]=? "3\.\d+")?( +--hash=sha256:[0-9a-f]{64})+$', path.name)


if __name__ == "__main__":
    unittest.main()
