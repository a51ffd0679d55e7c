"""dlpack.c on tensors that numpy exports: which matrix it makes of them, said to be on a GPU, and what it refuses.

  test_dlpack.py <C compiler> <folder to write into>
"""
import ctypes
import pathlib
import subprocess
import sys
import unittest

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE))
from test_torch import structs_alone  # noqa: E402  (the lines above make it importable)

C = structs_alone()
ROW_MAJOR, COLUMN_MAJOR = 0, 1
CUDA, MANAGED = 2, 13
NAME = b"dltensor_versioned"
pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


class Tensor(ctypes.Structure):
    """DLManagedTensorVersioned of DLPack 1, with the members of its structs."""

    _fields_ = [
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("manager_ctx", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64), ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64),
    ]  # fmt: skip


class DLPack(unittest.TestCase):
    def call(self, function, matrix, array, **fields):
        """function of what numpy exports, with other values in some fields: status, matrix, size."""
        capsule = array.__dlpack__(max_version=(1, 0))  # owns the tensor, and ends it
        tensor = Tensor.from_address(pointer_of(capsule, NAME))
        found = {name: getattr(tensor, name) for name in fields}
        for name, value in fields.items():
            setattr(tensor, name, value)
        rows, columns = ctypes.c_int64(-1), ctypes.c_int64(-1)
        status = function(ctypes.byref(tensor), 0, ctypes.byref(matrix), ctypes.byref(rows), ctypes.byref(columns))
        for name, value in found.items():
            setattr(tensor, name, value)
        self.assertEqual(status.code == 0, status.message == b"")
        return status, matrix, (rows.value, columns.value)

    def operand(self, array, **fields):
        return self.call(self.library.dlpack_operand, C.ConstMatrix(), array, **{"device_type": CUDA, **fields})

    def result(self, array, **fields):
        return self.call(self.library.dlpack_result, C.Matrix(), array, **{"device_type": CUDA, **fields})

    def test_orders_and_leading_dimensions(self):
        x = np.zeros((12, 20), np.float16)
        for array, order, ld in ((x, ROW_MAJOR, 20), (x.T, COLUMN_MAJOR, 20), (x[2:5, 3:9], ROW_MAJOR, 20), (x[::2], ROW_MAJOR, 40),
                                 (x.T[4:], COLUMN_MAJOR, 20), (x[:1, 3:9], ROW_MAJOR, 6), (x[:, :1], ROW_MAJOR, 20),
                                 (x[:1, ::2], COLUMN_MAJOR, 2), (x[:0], ROW_MAJOR, 20)):  # fmt: skip
            status, matrix, size = self.operand(array)
            self.assertEqual(status.message, b"")
            found = matrix.data, matrix.order, matrix.ld, matrix.type, size
            self.assertEqual(found, (array.ctypes.data, order, ld, 0, array.shape))

    def test_offset_and_packed_strides(self):
        x = np.zeros((12, 20), np.float32)
        _, matrix, _ = self.operand(x, byte_offset=160, strides=ctypes.POINTER(ctypes.c_int64)())
        self.assertEqual((matrix.data, matrix.order, matrix.ld, matrix.type), (x.ctypes.data + 160, ROW_MAJOR, 20, 2))

    def test_types(self):
        for dtype, wanted in ((np.float16, 0), (np.float32, 2), (np.int8, 6), (np.int32, 7), (np.float64, 8)):
            self.assertEqual(self.operand(np.zeros((2, 2), dtype))[1].type, wanted)
        for code, bits, wanted in ((4, 16, 1), (10, 8, 4), (12, 8, 5)):  # bf16, e4m3fn, e5m2, which numpy lacks
            self.assertEqual(self.operand(np.zeros((2, 2), np.int8), code=code, bits=bits)[1].type, wanted)

    def test_a_result(self):
        x = np.zeros((12, 20), np.float16)
        for device in (CUDA, MANAGED):
            status, matrix, size = self.result(x[:, 4:], device_type=device)
            self.assertEqual((status.code, matrix.data, matrix.ld, matrix.type, size), (0, x.ctypes.data + 8, 20, 0, (12, 16)))

    def refused(self, sentence, array, function=None, **fields):
        status, *_ = (function or self.operand)(array, **fields)
        self.assertEqual((status.code, status.message.decode()), (1, sentence))

    def test_refusals(self):
        x = np.zeros((12, 20), np.float16)
        self.refused("the tensor's device type is 1 but must be 2 (CUDA) or 13 (managed by CUDA)", x, device_type=1)  # numpy's own
        self.refused("the tensor is on CUDA device 1 but must be on 0, as the stream is", x, device_id=1)
        self.refused("the tensor is of DLPack 2.3 but must be of 1.x", x, major=2, minor=3)
        self.refused("the tensor has 3 dimensions but must have 2", x[None])
        types = "but must be f16, bf16, f32, f64, e4m3, e5m2, s8 or s32"
        self.refused(f"the tensor's elements have type code 5, 64 bits and 1 lanes {types}", np.zeros((2, 2), np.complex64))
        self.refused(f"the tensor's elements have type code 2, 16 bits and 2 lanes {types}", x, lanes=2)
        strides = "but one must be 1 and the other at least the size beside it"
        self.refused(f"the tensor of 12 x 10 has strides 20 and 2 {strides}", x[:, ::2])
        self.refused(f"the tensor of 12 x 20 has strides 20 and -1 {strides}", x[:, ::-1])
        self.refused(f"the tensor of 12 x 20 has strides -20 and 1 {strides}", x[::-1])
        broadcast = np.lib.stride_tricks.as_strided(x, (12, 20), (0, 2))
        self.refused(f"the tensor of 12 x 20 has strides 0 and 1 {strides}", broadcast)
        self.refused("the tensor is read-only but a result is written to it", x, self.result, flags=1)
        self.refused("the tensor is column-major, with strides 1 and 20, but a result must be row-major", x.T, self.result)
        self.refused("the tensor's device type is 1 but must be 2 (CUDA) or 13 (managed by CUDA)", x, self.result, device_type=1)


def main(compiler, folder):
    library = pathlib.Path(folder).resolve() / "libdlpack.so"
    library.parent.mkdir(parents=True, exist_ok=True)
    # The inline functions of the headers need tenon's library, which nothing here calls.
    subprocess.run([compiler, "-std=c99", "-pedantic-errors", "-Wall", "-Wextra", "-Werror", "-O1", "-fPIC", "-shared",
                    f"-I{HERE.parents[1] / 'include'}", HERE / "dlpack.c", "-o", library], check=True)  # fmt: skip
    DLPack.library = ctypes.CDLL(str(library))
    DLPack.library.dlpack_operand.restype = DLPack.library.dlpack_result.restype = C.Status
    unittest.main(argv=sys.argv[:1], verbosity=2)


if __name__ == "__main__":
    main(*sys.argv[1:])
