// Matrices and arrays in .npy files: a small, strict reader and a writer that leaves either a whole file or
// none.
//
// Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html, versions 1.0, 2.0 and 3.0.
// Element types of matrices: '<f2', '<f4', '|i1', '<i4'; bfloat16 as '<V2' / '|V2' (what numpy writes for
// ml_dtypes.bfloat16) or '<u2'; e5m2 as '<f1' (for ml_dtypes.float8_e5m2); and e4m3 or e5m2 as '<V1' / '|V1'
// (for ml_dtypes.float8_e4m3fn) or '|u1': the caller of the reader says which.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tenon/gemm.hpp"

namespace tenon::command {

// A matrix as it is stored in a file: dense, in the file's order.
struct NpyMatrix {
  std::int64_t rows = 0, columns = 0;
  Order order = row_major;  // column_major for fortran_order: True
  Type type = Type::f16;
  std::vector<unsigned char> data;  // rows * columns elements
};

// Reads a 2-dimensional file. bits: the type that '<u2' (bf16) or '|u1' and '|V1' (e4m3, e5m2) stand for;
// without it such files are refused. Throws Failure(bad_input) with a sentence that starts with the path if
// the file is not readable, not .npy, truncated or too long, not 2-dimensional, or of another type or byte
// order.
NpyMatrix read_npy(const std::string& path, std::optional<Type> bits = std::nullopt);
// The same without the elements: `data` is empty. Refuses only files that read_npy() refuses too.
NpyMatrix read_npy_header(const std::string& path, std::optional<Type> bits = std::nullopt);

// An array of any shape, as it is stored in a file.
struct NpyArray {
  std::string descr;  // '<f4'
  std::size_t element_bytes = 0;
  std::vector<std::int64_t> shape;
  bool fortran_order = false;
  std::vector<unsigned char> data;
};

// The same for arrays: integers, booleans, reals, complex numbers and raw bytes ('V'), little-endian.
NpyArray read_npy_array(const std::string& path);

// A file that is replaced as a whole. The constructor fails (bad_input) if the path cannot be written, before
// the caller does any work. The content goes to an unnamed file in the same folder, which gets its name in
// commit(). If the object is destroyed before, or the program is killed, the file at the path stays as it was
// and nothing else remains. The new file has the permissions of the one that it replaces. A symbolic link
// stays; its target is replaced.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(const void* data,
             std::size_t bytes);  // throws Failure(machine_cannot), for instance on a full disk
  void commit();
  const std::string& path() const noexcept { return path_; }  // without links and dots: equal for equal files

 private:
  [[noreturn]] void fail(const char* action, int error);
  std::string name_it();

  std::string given_, path_;
  int descriptor_ = -1;
};

// The whole of a file.
void write_file(const std::string& path, const std::string& text);

// The header of a version 1.0 file with a C-order matrix or array: its length is a multiple of 64 bytes.
std::string npy_header(Type type, std::int64_t rows, std::int64_t columns);
std::string npy_header(const std::string& descr, const std::vector<std::int64_t>& shape);

}  // namespace tenon::command
