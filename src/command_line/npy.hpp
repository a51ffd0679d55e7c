// Matrices and arrays in .npy files: a small, strict reader and a writer that leaves either a whole file or
// none.
//
// Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html, versions 1.0, 2.0 and 3.0.
// Element types of matrices: '<f2', '<f4', '|i1', '<i4'; bfloat16 as '<V2' / '|V2' (what numpy writes for
// ml_dtypes.bfloat16) or '<u2'; e5m2 as '<f1' (for ml_dtypes.float8_e5m2); and e4m3 or e5m2 as '<V1' / '|V1'
// (for ml_dtypes.float8_e4m3fn) or '|u1', bytes that only the reader knows to be of either.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tenon/gemm.hpp"

namespace tenon::command {

// A matrix as it lies in a file: dense, in the file's order.
struct NpyMatrix {
  std::int64_t rows = 0, columns = 0;
  Order order = row_major;  // column_major for fortran_order: True
  Type type = Type::f16;
  std::vector<unsigned char> data;  // rows * columns elements
};

// Reads a 2-dimensional file. bits: what '<u2' (bf16), '|u1' and '|V1' (e4m3, e5m2) stand for; refused if it
// is none of these.
// Throws Failure(bad_input) with a sentence that starts with the path: not readable, not .npy, truncated or
// too long, not 2-dimensional, another type or byte order.
NpyMatrix read_npy(const std::string& path, std::optional<Type> bits = std::nullopt);
// The same, but without the elements: `data` is empty. What it refuses read_npy() would refuse.
NpyMatrix read_npy_header(const std::string& path, std::optional<Type> bits = std::nullopt);

// An array of any shape, as it lies in a file.
struct NpyArray {
  std::string descr;  // '<f4'
  std::size_t element_bytes = 0;
  std::vector<std::int64_t> shape;
  bool fortran_order = false;
  std::vector<unsigned char> data;
};

// The same for arrays: integers, booleans, reals, complex numbers and raw bytes ('V'), little-endian.
NpyArray read_npy_array(const std::string& path);

// A file being written. The constructor fails (bad_input) where the path cannot be written, before any work
// is done for it; the content goes to a file without a name in the same folder, which takes the name only in
// commit(). An object that dies before, or a program that is killed, leaves nothing behind, and what stood at
// the path untouched. A file that is replaced hands on its rights; a symbolic link stays, and what it leads
// to is written.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(const void* data,
             std::size_t bytes);  // throws Failure(machine_cannot), for instance on a full disk
  void commit();
  const std::string& path() const noexcept { return path_; }  // without links and dots: the same for one file

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
