"""What the code blocks of the pages must do, language by language. Each check gives sentences about what is wrong.

  cpp, c   compiles by itself, without a warning
  cuda     consists of consecutive lines of a source below tests/, which is compiled and run there
  sh       every command runs, or is known with all its options: see Shell
  cmake    calls what exists, with arguments that exist; options, targets, components and version of tenon are those of the tree
  json     is JSON
  yaml     is a workflow of GitHub or GitLab, whose commands of this tree are known with all their options
"""

import json
import os
import re
import shlex
import struct
import subprocess
import sys
from pathlib import Path

DONE, CANNOT = 0, 3  # exit statuses of tenon
SEPARATORS = ("&&", ";", "|")
CMAKE_COMMANDS = {"add_executable", "add_subdirectory", "enable_testing", "find_package", "include", "list", "set", "target_link_libraries"}


def run(*command, **options):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, errors="replace", check=False, **options)


def options_of(words):
    return [word.split("=")[0] for word in words if re.match(r"--?[A-Za-z]", word)]


def commands_of(text):
    """[words] of each command of a block; ValueError if a line cannot be read."""
    found = []
    for line in text.replace("\\\n", " ").splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars="&|;<>")
        lexer.whitespace_split = True
        words = []
        for token in [*lexer, ";"]:
            if token in SEPARATORS:
                found += [words] if words else []
                words = []
            elif re.fullmatch(r"[&|;<>]+", token):
                raise ValueError(f"'{line.strip()}' holds {token}, which no check understands")
            elif words or not re.match(r"[A-Z_]+=", token):  # variables of the environment
                words.append(token)
    return found


def write_npy(path, description, letter, *shape):
    count = 1
    for extent in shape:
        count *= extent
    header = f"{{'descr': '{description}', 'fortran_order': False, 'shape': {shape}, }}\n"
    values = [(i * 7 % 11 - 5) / 4 for i in range(count)]
    content = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
    path.write_bytes(content + struct.pack(f"<{count}{letter}", *values))


def check_host(block, compiler, folders, language="c++", standard="c++17"):
    flags = [f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-x", language, "-"]
    done = run(compiler, *folders, *flags, input=block.text)
    return [done.stderr] if done.returncode != 0 else []


def check_cuda(block, root):
    if not block.text.strip():
        return ["the block is empty"]
    for path in sorted(Path(root, "tests").rglob("*.cu")):
        if "\n" + block.text in "\n" + path.read_text(encoding="utf-8"):
            return []
    return ["no source below tests/ has these lines"]


def check_cmake(block, root):
    text, sentences = re.sub(r'"[^"]*"', '""', block.text), []
    modules = "".join(path.read_text(encoding="utf-8") for path in sorted(Path(root, "scripts/cmake").glob("*.cmake")))
    functions = set(re.findall(r"^function\((\w+)", modules, re.MULTILINE))
    keywords = set(";".join(re.findall(r'"([A-Z_;]+)"', modules)).split(";"))
    calls = re.findall(r"^\s*(\w+)\(([^)]*)\)", text, re.MULTILINE)
    if not calls:
        sentences.append("the block calls nothing")
    for name, arguments in calls:
        if name not in functions | CMAKE_COMMANDS:
            sentences.append(f"no module of scripts/cmake has the function {name}")
        if name in functions:
            used = {word for word in arguments.split() if re.fullmatch(r"[A-Z_]{4,}", word)}
            opcodes = {word for word in used if re.match(r"(HMMA|LDSM)", word)}
            sentences += [f"{name} has no argument {word}" for word in sorted(used - keywords - opcodes)]
    for name in re.findall(r"include\((Tenon\w*)\)", text):
        if not Path(root, "scripts/cmake", name + ".cmake").exists():
            sentences.append(f"scripts/cmake has no {name}.cmake")
    return sentences + _names_of_tenon(text, calls, root)


def _names_of_tenon(text, calls, root):
    """Sentences about what a block of CMake names of tenon and the tree does not have."""
    sentences = []
    for name in (arguments.split()[0] for command, arguments in calls if command == "set" and arguments.startswith("TENON_")):
        if not cmake_mentions(root, option_pattern(name)):
            sentences.append(f"no CMakeLists.txt has the option {name}")
    for name in sorted(set(re.findall(r"\btenon::\w+", text))):
        if not cmake_mentions(root, rf"\badd_library\({name} ALIAS\b"):
            sentences.append(f"no CMakeLists.txt has the target {name}")
    packages = [arguments.split() for command, arguments in calls if command == "find_package"]
    for words in (words for words in packages if words[:1] == ["tenon"]):
        if version := next((word for word in words if re.fullmatch(r"[\d.]+", word)), None):
            if not cmake_mentions(root, rf"^project\(tenon VERSION {re.escape(version)}\b"):
                sentences.append(f"the project has not the version {version}")
        config = Path(root, "src/tenonConfig.cmake.in").read_text(encoding="utf-8")
        known = re.search(r"component MATCHES \"\^\(([\w|]+)\)", config)[1].split("|")
        named = words[words.index("COMPONENTS") + 1 :] if "COMPONENTS" in words else []
        sentences += [f"tenon has no component {word}" for word in named if word not in known]
    return sentences


def option_pattern(name):
    return rf"\b(option\({name}\b|set\({name}\b.*\bCACHE\b)"


def cmake_mentions(root, pattern):
    """Whether a CMakeLists.txt of the tree has a match."""
    folders = [Path(root), *(Path(root, name) for name in ("src", "tests", "microbench"))]
    files = [folders[0] / "CMakeLists.txt", *(path for folder in folders[1:] for path in folder.rglob("CMakeLists.txt"))]
    return any(re.search(pattern, path.read_text(encoding="utf-8"), re.MULTILINE) for path in files if path.exists())


def commands_of_workflow(text):
    """[words] of each command that a workflow of GitHub or GitLab runs; ValueError if there is none."""
    import yaml  # here: scripts/setup installs it, and what has no workflow needs none

    try:
        jobs = yaml.safe_load(text)
        if "jobs" in jobs:
            lines = [step["run"] for job in jobs["jobs"].values() for step in job["steps"] if "run" in step]
        else:
            lines = [line for job in jobs.values() if "script" in job for line in job["script"]]
        found = [words for line in lines for words in commands_of(line)]
    except (yaml.YAMLError, AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"no workflow of GitHub or GitLab: {error!r}") from None
    if not found:
        raise ValueError("no job runs a command")
    return found


def check_workflow(block, shell):
    try:
        commands = commands_of_workflow(block.text)
    except ValueError as error:
        return [str(error)]
    return [sentence for words in commands if words[0] != "nvcc" for sentence in shell.check_command(words)]


def check_json(block):
    try:
        json.loads(block.text)
    except ValueError as error:
        return [f"not JSON: {error}"]
    return []


class Shell:
    """Commands of a page, in a folder of its own: `tenon` and nvcc are run there. Scripts and measuring programs, which would
    take minutes or need a GPU, must be there and show each option in their --help."""

    def __init__(self, root, program, build, folder, nvcc="nvcc", has_benchmarks=True):
        self.root, self.program, self.build, self.folder, self.nvcc = Path(root), program, Path(build), Path(folder), nvcc
        self.has_benchmarks = has_benchmarks  # in the build folder
        self.folder.joinpath("tenon").symlink_to(self.root)  # "the folder that holds your checkout"
        write_npy(self.folder / "A.npy", "<f2", "e", 24, 40)
        write_npy(self.folder / "B.npy", "<f2", "e", 40, 56)
        write_npy(self.folder / "X.npy", "<f4", "f", 1000)

    def check(self, block):
        try:
            commands = commands_of(block.text)
        except ValueError as error:
            return [str(error)]
        if not commands:
            return ["the block holds no command"]
        return [f"`{shlex.join(words)}`: {sentence}" for words in commands for sentence in self.check_command(words)]

    def check_command(self, words):
        rules = {"tenon": self.run_tenon, "nvcc": self.run_nvcc, "cmake": self.check_cmake, "git": self.check_paths, "cd": self.check_folder,
                 "pip": self.check_pip}
        if words[0] in rules:
            return rules[words[0]](words[1:])
        path = self.executable(words[0])
        if path is None and not self.has_benchmarks and re.match(r"(\./|build/microbench/)tenon_\w+$", words[0]):
            return []
        if path is None:
            return [f"there is no {words[0]}, or it cannot be executed"]
        if path == Path(self.program):
            return self.run_tenon(words[1:])
        if self.build in path.parents and (self.build / "tests") in path.parents:
            return self.failure(run(path, *words[1:], "--gtest_list_tests", cwd=self.folder))
        if any(word.startswith("--benchmark_") for word in words):
            return self.failure(run(path, *words[1:], "--benchmark_list_tests=true", cwd=self.folder))
        return self.check_options(words)

    def executable(self, word):
        """A script of the tree, in place or as pip installs it, or a program of the build: build/bin/tenon,
        ./tenon_gemm_benchmark."""
        name = word.removeprefix("./")
        places = [self.root / name]
        if name.startswith("tenon-"):
            places = [self.root / "scripts" / name.removeprefix("tenon-").replace("-", "_")]
        if name.startswith("build/"):
            places = [self.build / name.removeprefix("build/")]
        elif name.startswith("tenon_"):
            places = [folder / name for folder in (self.build / "microbench", *sorted(self.build.glob("microbench/*/")))]
        return next((path for path in places if path.is_file() and os.access(path, os.X_OK)), None)

    def check_options(self, words):
        """Of a command that runs other commands, an option may be of any of them."""
        named = [path for path in map(self.executable, words) if path]
        wanted = [option for option in options_of(words) if option not in ("--help", "-h")]
        if not wanted:
            return []
        text = "".join(run(*([sys.executable, "-B"] if self.is_python(path) else []), path, "--help").stdout for path in named)
        return [f"no --help shows {option}" for option in wanted if not re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", text)]

    def is_python(self, path):
        with open(path, "rb") as file:
            return b"python3" in file.readline()

    def failure(self, done, allowed=(DONE,)):
        return [] if done.returncode in allowed else [f"exit status {done.returncode}: {(done.stderr or done.stdout).strip()}"]

    def run_tenon(self, words):
        """To the end on a machine with a GPU. Elsewhere the emulator takes the small products. The large ones would take it
        minutes, so they go up to the missing device, past all checks of the input."""
        command = words[0] if words else ""
        large = command in ("gemm", "precision") and any(len(word) > 3 for word in words if word.isdigit())
        done = run(self.program, *words, *(["--device", "cuda"] if large else []), cwd=self.folder)
        if done.returncode == CANNOT and command in ("gemm", "attention", "ladder", "precision", "tune") and "no CUDA device" in done.stderr:
            return []
        return self.failure(done)

    def run_nvcc(self, words):
        # PTX goes on to the emulator; nothing runs an object.
        faster = ["--Ofast-compile=max"] if "-c" in words else []
        return self.failure(run(self.nvcc, *faster, *words, cwd=self.folder))

    def check_cmake(self, words):
        presets = json.loads((self.root / "CMakePresets.json").read_text(encoding="utf-8"))
        known = {preset["name"] for kind in ("configurePresets", "buildPresets") for preset in presets.get(kind, ())}
        sentences = []
        for option, value in zip(words, words[1:]):
            if option == "--preset" and value not in known:
                sentences.append(f"CMakePresets.json has no preset {value}")
            if option == "--target" and not cmake_mentions(self.root, rf"\b{re.escape(value)}\b"):
                sentences.append(f"no CMakeLists.txt has the target {value}")
        for name in (match[1] for word in words if (match := re.match(r"-D(TENON_\w+)", word))):
            if not cmake_mentions(self.root, option_pattern(name)):
                sentences.append(f"no CMakeLists.txt has the option {name}")
        return sentences

    def check_pip(self, words):
        """./FOLDER[EXTRA] or NAME[EXTRA] @ ADDRESS#subdirectory=FOLDER, with a project of that name and extra in the folder."""
        if len(words) != 2 or words[0] != "install":
            return ["no check understands more than `pip install PROJECT`"]
        found = re.fullmatch(r"(?:\./(?P<place>[\w/]+)|(?P<name>[\w-]+))(?:\[(?P<extra>\w+)\])?(?: @ \S+#subdirectory=(?P<below>\S+))?", words[1])
        place = found and (found["place"] or found["below"])
        if not place or not (self.root / place / "pyproject.toml").is_file():
            return ["names no folder with a pyproject.toml"]
        project = (self.root / place / "pyproject.toml").read_text(encoding="utf-8")
        sentences = []
        for value, line in ((found["name"], f'name = "{found["name"]}"'), (found["extra"], f"{found['extra']} = [")):
            if value and not re.search(rf"^{re.escape(line)}", project, re.MULTILINE):
                sentences.append(f"the project in {place} has no `{line}`")
        return sentences

    def check_paths(self, words):
        return [f"there is no {word}" for word in words if "/" in word and not (self.root / word).exists()]

    def check_folder(self, words):
        (word,) = words
        place = self.build / word.removeprefix("build/") if word.startswith("build/") else self.root / word
        return [] if place.is_dir() else [f"there is no folder {word}"]
