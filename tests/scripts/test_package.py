"""scripts/pyproject.toml: the tools for machine code as a package, installed away from the tree, and its workflows for CI.

Needs nvcc, a disassembler, and pip, setuptools and PyYAML of scripts/setup; a machine without one fails here, it does not skip.
"""

import ast
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import unittest
import zipfile
from pathlib import Path

import page_code

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SCRIPTS = ROOT / "scripts"
sys.path.insert(0, str(SCRIPTS))
sys.dont_write_bytecode = True
from tenon_docs import pages  # noqa: E402
from tenon_sass import __version__  # noqa: E402
from tenon_sass.disassemble import find_tool  # noqa: E402

_temporary = tempfile.TemporaryDirectory(prefix="tenon package ")  # behind a space: pip then writes another first line
FOLDER = Path(_temporary.name).resolve()
SOURCE, VENV, EDITABLE = FOLDER / "source", FOLDER / "venv", FOLDER / "editable"
CUBIN = FOLDER / "my_kernels.cubin"
COMMANDS = {  # name in place: name when installed
    "sass_check": "tenon-sass-check",
    "kernel_report": "tenon-kernel-report",
    "sass_diff": "tenon-sass-diff",
    "binary_doctor": "tenon-binary-doctor",
    "tensor_utilisation": "tenon-tensor-utilisation",
}
# What pip asks of setuptools for FOLDER, --editable FOLDER and ARCHIVE, in one process: each start of pip costs a second.
BUILD = """
import glob, os, tarfile
from setuptools import build_meta
build_meta.build_wheel("../of_folder")
build_meta.build_editable("../of_editable")
tarfile.open(os.path.join("..", build_meta.build_sdist(".."))).extractall("..")
os.chdir(*glob.glob("../tenon_sass-*/"))
build_meta.build_wheel("../of_archive")
"""


def run(*command, **options):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, **options)


def done(*command, **options):
    found = run(*command, **options)
    if found.returncode:
        raise AssertionError(f"{shlex.join(map(str, command))}: {found.stdout}{found.stderr}")
    return found.stdout


def fresh_venv(folder):
    """Its folder of packages. Without pip, whose copy would take seconds."""
    done(sys.executable, "-m", "venv", "--without-pip", folder)
    (packages,) = folder.glob("lib/python3*/site-packages")
    return packages


def outside(command, *arguments, venv=VENV):
    """Runs a program of a venv away from the tree, without a toolkit in the environment."""
    variables = {"PATH": f"{venv}/bin:/usr/bin:/bin", "HOME": str(FOLDER)}
    return run(venv / "bin" / command, *arguments, env=variables, cwd=FOLDER)


def write_stand_in(path):
    """In the place of PyPI's disassembler: the tree's. It runs once for the same kernels, because a start takes half a second."""
    path.parent.mkdir(parents=True)
    path.write_text(f'#!/bin/sh\n[ -f "$0.$3" ] || {shlex.quote(find_tool())} "$@" >"$0.$3" || exit\ncat "$0.$3"\n')
    path.chmod(0o755)
    return path


def setUpModule():
    global STAND_IN
    SOURCE.mkdir()
    for name in ("pyproject.toml", "LICENSE", "README.md"):
        shutil.copy(SCRIPTS / name, SOURCE)
    shutil.copytree(SCRIPTS / "tenon_sass", SOURCE / "tenon_sass", ignore=shutil.ignore_patterns("__pycache__"))
    (SOURCE / "tenon_ptx").mkdir()  # other packages of the folder, which must stay out
    (SOURCE / "tenon_ptx" / "__init__.py").touch()
    done(sys.executable, "-B", "-c", BUILD, cwd=SOURCE)
    packages = fresh_venv(VENV)
    # The pip of the Python that runs the tests installs into the other, with no network.
    variables = {**os.environ, "PYTHONPATH": sysconfig.get_path("purelib")}
    options = ("--no-index", "--no-compile", "--quiet", "--disable-pip-version-check")
    done(VENV / "bin" / "python3", "-m", "pip", "install", *options, wheel("of_folder"), env=variables, cwd=FOLDER)
    STAND_IN = write_stand_in(packages / "nvidia" / "cu13" / "bin" / Path(find_tool()).name)
    nvcc = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin") or "nvcc"
    (FOLDER / "my_kernels.cu").write_text((HERE / "kernels.cu").read_text().replace("tensor", "my_gemm"))
    for command in workflows()[0]:
        if command[0] == "nvcc":
            done(nvcc, *command[1:], cwd=FOLDER)


def tearDownModule():
    _temporary.cleanup()


def workflows():
    """The commands of each workflow in the page."""
    return [page_code.commands_of_workflow(block.text) for block in pages.Page(SCRIPTS / "README.md").of("yaml")]


def wheel(folder):
    (found,) = (FOLDER / folder).glob("*.whl")
    return found


def contents(path):
    """{name in the wheel: bytes}"""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


class Form(unittest.TestCase):
    def test_wheel_holds_the_package_alone_and_is_for_every_machine(self):
        self.assertEqual(wheel("of_folder").name, f"tenon_sass-{__version__}-py3-none-any.whl")
        found, about = contents(wheel("of_folder")), f"tenon_sass-{__version__}.dist-info"
        modules = {f"tenon_sass/{path.name}": path.read_bytes() for path in (SOURCE / "tenon_sass").glob("*.py")}
        self.assertGreater(len(modules), 20)
        self.assertEqual({name: data for name, data in found.items() if not name.startswith(about)}, modules)
        self.assertIn(f"{about}/licenses/LICENSE", found)
        metadata = found[f"{about}/METADATA"].decode()
        required = re.findall(r"^Requires-Dist: (.*)$", metadata, re.MULTILINE)
        self.assertEqual([line for line in required if "extra ==" not in line], [])
        self.assertRegex("\n".join(required), 'nvidia-cuda-nvdisasm.*extra == "nvdisasm"')

    def test_wheel_of_the_source_archive_is_the_same(self):
        self.assertEqual(contents(wheel("of_archive")), contents(wheel("of_folder")))

    def test_version_and_license_are_those_of_the_tree(self):
        self.assertIn(f"project(tenon VERSION {__version__} ", (ROOT / "CMakeLists.txt").read_text())
        self.assertEqual((SCRIPTS / "LICENSE").read_text(), (ROOT / "LICENSE").read_text())

    def test_modules_need_no_newer_python_than_the_package_says(self):
        self.assertIn('requires-python = ">=3.9"', (SCRIPTS / "pyproject.toml").read_text())
        for path in (SCRIPTS / "tenon_sass").glob("*.py"):
            ast.parse(path.read_text(), path.name, feature_version=(3, 9))

    def test_editable(self):
        packages = fresh_venv(EDITABLE)
        with zipfile.ZipFile(wheel("of_editable")) as archive:
            archive.extractall(packages)
        found = outside("python3", "-c", "from tenon_sass import check; print(check.__file__)", venv=EDITABLE)
        self.assertEqual(found.stdout.strip(), str(SOURCE / "tenon_sass" / "check.py"), found.stderr)
        (commands,) = packages.glob("*.dist-info/entry_points.txt")
        self.assertIn("tenon-sass-check = tenon_sass.check:main", commands.read_text())


class Commands(unittest.TestCase):
    def same(self, status, script, *arguments):
        """What the script in place says, word for word but for its name."""
        installed = outside(COMMANDS[script], *arguments)
        in_place = run(sys.executable, SCRIPTS / script, *arguments, "--tool", STAND_IN, cwd=FOLDER)
        self.assertEqual(installed.returncode, status, installed.stdout + installed.stderr)
        self.assertEqual((installed.returncode, installed.stdout), (in_place.returncode, in_place.stdout))
        name = "tenon doctor" if script == "binary_doctor" else script
        self.assertEqual(installed.stderr, in_place.stderr.replace(f"{name}: ", f"{COMMANDS[script]}: "))
        return installed

    def test_a_cubin_gets_the_answer_of_the_script_in_place(self):
        good = ("--expect", "HMMA.16816.F32==8", "--forbid", "HGMMA", "--spill-free", "--max-registers", "64")
        found = json.loads(self.same(1, "sass_check", CUBIN, "--kernel", ".", *good, "--json").stdout)
        self.assertEqual([kernel["ok"] for kernel in found["kernels"]].count(True), 1)
        (row,) = json.loads(self.same(0, "kernel_report", CUBIN, "--kernel", "my_gemm", "--json").stdout)
        self.assertEqual(row["opcodes"]["HMMA.16816.F32"], 8)
        self.assertIn("3 identical", self.same(0, "sass_diff", CUBIN, CUBIN).stdout)
        self.assertIn("1 of 3 kernels use tensor cores", self.same(0, "binary_doctor", CUBIN).stdout)

    def test_bad_input_is_a_sentence(self):
        source = "my_kernels.cu"
        self.same(2, "sass_check", source, "--kernel", ".", "--spill-free")
        for status, sentence, command, *arguments in (
            (2, "my_kernels.cu: neither an ELF file", "tenon-sass-check", source, "--kernel", ".", "--spill-free"),
            (2, "required: FILE; put it before the options", "tenon-sass-check", "--kernel", ".", "--expect", "HMMA", CUBIN),
            (2, "my_kernels.cu: neither an ELF file", "tenon-kernel-report", source),
            (2, "absent.cubin: cannot be read", "tenon-sass-diff", CUBIN, "absent.cubin"),
            (2, "absent.cubin: cannot be read", "tenon-binary-doctor", "absent.cubin"),
            (2, "absent.cubin: cannot be read", "tenon-binary-doctor", "--binary", "absent.cubin"),
            (2, "not allowed with argument FILE", "tenon-binary-doctor", CUBIN, "--binary", CUBIN),
            (3, "/absent/ncu cannot be run", "tenon-tensor-utilisation", "--ncu", "/absent/ncu", "--", "true"),
        ):
            found = outside(command, *arguments)
            self.assertEqual((found.returncode, found.stdout), (status, ""), found.stderr)
            self.assertRegex(found.stderr, rf"(?m)^{command}: (error: )?.*{re.escape(sentence)}")

    def test_help_and_version_have_the_installed_name(self):
        for script, command in COMMANDS.items():
            found = outside(command, "--help")
            self.assertEqual(found.returncode, 0, found.stderr)
            self.assertRegex(found.stdout, rf"^usage: {command} (FILE|OLD|\[options\] --)")
            examples = re.findall(r"^  (\S+)", found.stdout.split("examples:\n")[1].split("\n\n")[0], re.MULTILINE)
            self.assertEqual(set(examples), {command}, found.stdout)
            self.assertNotRegex(found.stdout, rf"(?<![\w-])({script}|tenon doctor)\b")
        self.assertEqual(outside("tenon-sass-check", "--version").stdout, f"tenon-sass-check {__version__}\n")
        self.assertEqual(done(sys.executable, SCRIPTS / "sass_check", "--version"), f"sass_check {__version__}\n")


class Disassembler(unittest.TestCase):
    def find(self, line):
        return outside("python3", "-c", f"from tenon_sass import disassemble as d; {line}; print(d.find_tool())")

    def test_of_pypi_is_found_beside_the_package(self):
        self.assertTrue(Path(self.find("pass").stdout.strip()).is_relative_to(VENV))

    def test_without_one_the_sentence_says_how_to_install_it(self):
        found = self.find("d.shutil.which = lambda *a, **k: None")
        self.assertIn(f"`{VENV}/bin/python3 -m pip install nvidia-cuda-nvdisasm`", found.stderr)
        self.assertNotIn("scripts/setup", found.stderr)


class Workflows(unittest.TestCase):
    """The workflows of the page, on a kernel with the name that stands there."""

    def test_their_commands_pass_a_good_kernel_and_refuse_a_bad_one(self):
        self.assertEqual(len(workflows()), 2)
        for commands in workflows():
            self.assertEqual([words[0] for words in commands], ["nvcc", "pip", "tenon-sass-check"])
        self.assertEqual(*workflows())
        *_, (command, *arguments) = workflows()[0]
        found = outside(command, *arguments)
        self.assertEqual(found.returncode, 0, found.stdout + found.stderr)
        bad = outside(command, *("spilling" if word == "my_gemm" else word for word in arguments))
        self.assertEqual(bad.returncode, 1, bad.stderr)
        self.assertRegex(bad.stdout, r"FAIL  HMMA >= 8 +found 0\n(.*\n)* +FAIL  no spills")


if __name__ == "__main__":
    unittest.main()
