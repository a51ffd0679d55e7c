"""What the tests of the executable `tenon` share: calls of it, matrices in files, and the choice of tests by level.

Level L0 runs no kernel; level L3 runs them in the emulator; level L4 on a GPU, and exits with 77 where `tenon info`
finds none.
"""
import argparse
import json
import math
import os
import struct
import subprocess
import tempfile
import unittest

COMMAND = None
PTX = None  # the folder of the kernels' PTX


def run(*arguments, **environment):
    """Exit status, stdout and stderr of one call."""
    done = subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True, timeout=300,
                          env={**os.environ, **environment})
    return done.returncode, done.stdout, done.stderr


def has_gpu():
    return json.loads(run("info", "--json")[1])["can_run"]["cuda"]["ok"]


def npy(path, shape, values, code="e", descr="<f2", fortran="False"):
    """Writes an array; code is struct's letter of an element (e: half, f: float, d: double, H: 16 bits, b, B: 8 bits, i, I: 32)."""
    text = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n" % (descr, fortran, shape)
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode())
        file.write(struct.pack("<%d%s" % (len(values), code), *values))


def read_npy(path):
    """descr, shape and values of a file that `tenon` wrote."""
    with open(path, "rb") as file:
        content = file.read()
    assert content[:8] == b"\x93NUMPY\x01\x00"
    (length,) = struct.unpack("<H", content[8:10])
    header = eval(content[10:10 + length], {"__builtins__": {}})  # a Python literal by definition of the format
    assert (10 + length) % 64 == 0 and header["fortran_order"] is False
    code = {"<f2": "e", "<f4": "f", "<f8": "d", "<V2": "H", "<i4": "i", "<u4": "I"}[header["descr"]]
    values = struct.unpack("<%d%s" % (math.prod(header["shape"]), code), content[10 + length:])
    return header["descr"], header["shape"], values


class Folder(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def refused(self, status, words, *arguments, **environment):
        """The call ends with the status, says the words in one line on stderr and nothing on stdout, or with --json
        the error."""
        code, out, err = run(*arguments, **environment)
        self.assertEqual(code, status, err)
        self.assertTrue(err.startswith("tenon: "), err)
        self.assertIn(words, err)
        if "--json" not in arguments:
            self.assertEqual(out, "")
            return
        answer = json.loads(out)
        self.assertEqual((list(answer), list(answer["error"])), (["error"], ["code", "message"]))
        self.assertEqual(answer["error"]["code"], {1: "wrong_result", 2: "bad_input", 3: "machine_cannot"}[status])
        self.assertEqual(answer["error"]["message"], err.splitlines()[0][len("tenon: "):])


def main(cases_of_level):
    """Runs the cases of the level that the command line names; returns the exit status."""
    global COMMAND, PTX
    parser = argparse.ArgumentParser()
    parser.add_argument("--command", required=True)
    parser.add_argument("--level", required=True, choices=sorted(cases_of_level))
    parser.add_argument("--ptx", required=True)
    arguments = parser.parse_args()
    COMMAND = os.path.abspath(arguments.command)
    PTX = os.path.abspath(arguments.ptx)
    os.environ.pop("TENON_PTX_PATH", None)
    if arguments.level == "L4" and not has_gpu():
        print("skipped: needs a GPU of sm_80 or newer")
        return 77
    load = unittest.defaultTestLoader.loadTestsFromTestCase
    cases = cases_of_level[arguments.level]
    result = unittest.TextTestRunner(verbosity=2).run(unittest.TestSuite(load(case) for case in cases))
    return 0 if result.wasSuccessful() else 1
