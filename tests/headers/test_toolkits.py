"""The headers compile with the oldest and the newest CUDA version of PyPI, and say so in one sentence where a version is too old.

Skipped only where PyPI does not answer and nothing is kept in .tools. Prints the versions that ran.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
sys.dont_write_bytecode = True
from tenon_sass.errors import BadInput, NoTool  # noqa: E402
from tenon_toolkit import fetch, headers, wgmma  # noqa: E402


def toolkit(*arguments):
    return subprocess.run([sys.executable, "-B", ROOT / "scripts/toolkit", *arguments], capture_output=True, text=True)


class Toolkits(unittest.TestCase):
    def check(self, version):
        done = toolkit("headers", version, "--json")
        if done.returncode == 3:
            self.skipTest(done.stderr.strip())
        self.assertIn(done.returncode, (0, 1), done.stderr)
        results = json.loads(done.stdout)
        for result in results:
            print(f"CUDA {version}, {result['target']}: {result['compiled']} headers, {result['refused']} refused")
            self.assertEqual(result["failures"], {})
            self.assertGreater(result["compiled"], 40 if result["target"] == "host" else 100)
        return {result["target"]: result for result in results}

    def test_the_oldest(self):
        results = self.check(fetch.versions()[0])
        self.assertEqual(list(results), ["sm_80", "sm_89", "sm_90a", "host"])
        self.assertGreater(results["sm_90a"]["refused"], 0)  # its <cuda/ptx> has no copies of TMA
        self.assertGreater(results["host"]["refused"], 0)  # its runtime cannot load the kernels of tenon/jit

    def test_the_newest(self):
        results = self.check(fetch.versions()[-1])
        self.assertEqual({target: result["refused"] for target, result in results.items()},
                         dict.fromkeys(("sm_80", "sm_89", "sm_90a", "sm_100a", "sm_120a", "host"), 0))

    def test_the_newest_does_not_serialise_wgmma(self):
        done = toolkit("wgmma", fetch.versions()[-1], "--json")
        if done.returncode == 3:
            self.skipTest(done.stderr.strip())
        notes = json.loads(done.stdout)[0]["notes"]
        self.assertGreaterEqual(len(notes), 3)
        self.assertEqual((done.returncode, {what: found for what, found in notes.items() if found}), (0, {}))

    def check_host(self, compiler):
        try:
            oldest = fetch.fetch(fetch.versions()[0])
        except NoTool as error:
            self.skipTest(str(error))
        with mock.patch.dict(os.environ, CXX=str(compiler)):
            return headers.check(oldest, "host")["failures"]

    def test_what_does_not_compile_for_the_host_and_what_is_not_refused_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            compiler = pathlib.Path(folder) / "compiler"
            compiler.write_text('#!/bin/sh\ncase "$(cat)" in *tenon/jit/sha256.hpp*) echo planted >&2; exit 1;; esac\n')
            compiler.chmod(0o755)
            failures = self.check_host(compiler)
        self.assertEqual(failures.pop("tenon/jit/sha256.hpp"), "planted")
        self.assertEqual(failures.pop("tenon/jit/compiled_kernel.hpp"), "is not refused with one sentence:\n")
        self.assertEqual([name for name, said in failures.items() if "is not refused" not in said], [])

    def test_a_missing_compiler_is_a_sentence(self):
        with self.assertRaisesRegex(NoTool, "/absent/g[+][+] does not run, but a C[+][+] compiler must compile the headers for the host: No"):
            self.check_host("/absent/g++")

    def test_notes_of_ptxas_are_found(self):
        log = ("ptxas info    : (C7515) Potential Performance Loss: wgmma.mma_async instructions are serialized due to ... stage in "
               "function 'f'\nptxas info    : (C7517) warpgroup.wait is injected in around line 9 by compiler in function 'f'\n")
        with mock.patch.object(wgmma, "load"), mock.patch.object(wgmma, "Program") as program:
            program.return_value.__enter__.return_value = mock.Mock(error=None, log=log)
            found = wgmma.notes(mock.Mock(libraries=None, includes=[]))
        self.assertEqual(found["attention"], [
            "(C7515) Potential Performance Loss: wgmma.mma_async instructions are serialized due to ... stage",
            "(C7517) warpgroup.wait is injected in around line 9 by compiler"])

    def test_a_version_that_pypi_lacks_is_refused(self):
        done = toolkit("headers", "12.7")
        self.assertEqual(done.returncode, 2)
        self.assertIn("the version is '12.7' but must be one of 12.4, ", done.stderr)

    def fetched(self, said_by_pip):
        with tempfile.TemporaryDirectory() as kept, mock.patch.object(fetch, "KEPT", pathlib.Path(kept)), mock.patch.object(
                subprocess, "run", return_value=subprocess.CompletedProcess([], 1, "", said_by_pip)):
            try:
                fetch.fetch("12.4")
            finally:
                self.assertEqual([path.name for path in pathlib.Path(kept).iterdir()], ["lock"])

    def test_a_package_with_another_hash_is_an_error_and_no_reason_to_skip(self):
        with self.assertRaisesRegex(BadInput, r"another hash than scripts/requirements/toolkits/12.4.txt says: Got 12ab"):
            self.fetched("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.\n    Got 12ab\n")

    def test_a_network_that_does_not_reach_pypi_is_said(self):
        with self.assertRaisesRegex(NoTool, "does the network reach PyPI"):
            self.fetched("ERROR: No matching distribution found for nvidia-cuda-nvcc-cu12\n")


if __name__ == "__main__":
    unittest.main(verbosity=2)
