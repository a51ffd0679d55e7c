"""Runs a test that compares with a record of what one CUDA version made; skips it, with 77, where another one compiles.

  recorded_with.py <version of the record> <version here> <command>...    versions as 13.0 or 13.0.88, of which major and minor count
"""

import subprocess
import sys


def release(version):
    return ".".join(version.split(".")[:2])


def main(recorded, here, *command):
    if release(recorded) != release(here):
        print(f"skipped: the record is of CUDA {release(recorded)}, but CUDA {release(here)} compiles here, and makes other machine code")
        return 77
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
