// Reading .npy: see npy.hpp. The header is a Python dictionary literal; the parser accepts what numpy writes
// and refuses the rest with a sentence.
#include "command_line/npy.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <utility>

#include "command_line/exit_status.hpp"

namespace tenon::command {
namespace {

struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

// Reads {'descr': '<f2', 'fortran_order': False, 'shape': (3, 4), } in any order of keys.
class HeaderParser {
 public:
  HeaderParser(const std::string& path, const std::string& text) : path_(path), text_(text) {}

  Header parse() {
    Header header;
    bool seen_descr = false, seen_order = false, seen_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr" && !seen_descr) {
        if (peek() == '[') fail("its elements are records, but they must be numbers, as '<f2' or '|i1'");
        header.descr = string();
        seen_descr = true;
      } else if (key == "fortran_order" && !seen_order) {
        header.fortran_order = boolean();
        seen_order = true;
      } else if (key == "shape" && !seen_shape) {
        header.shape = shape();
        seen_shape = true;
      } else {
        fail("its header has the key '" + key +
             "' where each of descr, fortran_order and shape must occur once");
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (!seen_descr || !seen_order || !seen_shape) {
      fail("its header lacks one of the keys descr, fortran_order and shape");
    }
    if (peek() != '\0') fail("its header goes on after the closing '}'");
    return header;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Failure(Exit::bad_input, path_ + ": " + what);
  }

  char peek() {
    while (at_ < text_.size() && std::strchr(" \t\r\n", text_[at_]) != nullptr) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) {
      fail("its header is malformed: '" + std::string(1, c) + "' is needed at character " +
           std::to_string(at_));
    }
  }
  std::string string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') {
      fail("its header is malformed: a string is needed at character " + std::to_string(at_));
    }
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string::npos) fail("its header is malformed: a string does not end");
    std::string value = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return value;
  }
  bool boolean() {
    peek();
    for (const bool value : {false, true}) {
      const char* word = value ? "True" : "False";
      if (text_.compare(at_, std::strlen(word), word) == 0) {
        at_ += std::strlen(word);
        return value;
      }
    }
    fail("its header is malformed: fortran_order must be True or False");
  }
  std::int64_t integer() {
    peek();
    std::int64_t value = 0;
    const std::size_t first = at_;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      const int digit = text_[at_] - '0';
      if (value > (std::numeric_limits<std::int64_t>::max() - digit) / 10)
        fail("its shape does not fit 64 bits");
      value = 10 * value + digit;
    }
    if (at_ == first) fail("its header is malformed: the shape must be a tuple of numbers >= 0");
    return value;
  }
  std::vector<std::int64_t> shape() {
    std::vector<std::int64_t> values;
    expect('(');
    while (!accept(')')) {
      values.push_back(integer());
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return values;
  }

  const std::string& path_;
  const std::string& text_;
  std::size_t at_ = 0;
};

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw Failure(Exit::bad_input, path + ": " + what);
}

Type type_of(const std::string& path, const std::string& descr, std::optional<Type> bits) {
  if (descr == "<f2") return Type::f16;
  if (descr == "<f4") return Type::f32;
  if (descr == "<f1" || descr == "|f1") return Type::e5m2;
  if (descr == "|i1" || descr == "<i1") return Type::s8;
  if (descr == "<i4") return Type::s32;
  if (descr == "<f8") return Type::f64;
  if (descr == "<V2" || descr == "|V2") return Type::bf16;
  if (descr == "<u2") {
    if (bits == Type::bf16) return Type::bf16;
    fail(path, "its elements are '<u2', which means bfloat16 only with --type bf16");
  }
  if (descr == "|u1" || descr == "<u1" || descr == "|V1" || descr == "<V1") {
    if (bits && is_fp8(*bits)) return *bits;
    fail(path, "its elements are '" + descr + "', which means an 8-bit float only with --type e4m3 or e5m2");
  }
  if (descr == ">f2" || descr == ">f4" || descr == ">f8" || descr == ">i4" || descr == ">u2" ||
      descr == ">V2") {
    fail(path, "its elements are big-endian ('" + descr + "') but must be little-endian ('<" +
                   descr.substr(1) + "')");
  }
  fail(
      path,
      "its elements are '" + descr +
          "' but must be '<f2' (float16), '<f4' (float32), '<f8' (float64), '<V2' (bfloat16), '|V1' or '|u1' "
          "(8-bit floats), '|i1' (int8) or '<i4' (int32)");
}

// '<f4': the bytes of an element; 0: not one of the types that read_npy_array takes.
std::size_t bytes_of(const std::string& descr) {
  if (descr.size() < 3 || descr.size() > 5) return 0;
  if (std::strchr("<|", descr[0]) == nullptr || std::strchr("biufcV", descr[1]) == nullptr) return 0;
  std::size_t bytes = 0;
  for (std::size_t i = 2; i < descr.size(); ++i) {
    if (descr[i] < '0' || descr[i] > '9') return 0;
    bytes = 10 * bytes + static_cast<std::size_t>(descr[i] - '0');
  }
  return descr[0] == '|' && bytes > 1 && descr[1] != 'V' ? 0 : bytes;
}

// Reads a file, with or without its elements. `element(header)` returns the bytes and the name of an element,
// or refuses the header.
struct Element {
  std::size_t bytes;
  std::string name;
};
enum class Part { header, whole };
NpyArray read_array(const std::string& path, Part part,
                    const std::function<Element(const Header&)>& element) {
  errno = 0;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff file_bytes = file ? static_cast<std::streamoff>(file.tellg()) : -1;
  // A folder can be opened, but its size is one that no file has.
  if (!file || file_bytes < 0 || file_bytes == std::numeric_limits<std::int64_t>::max()) {
    fail(path, std::string("cannot be read: ") + (errno != 0 ? std::strerror(errno) : "it is not a file"));
  }
  file.seekg(0);

  unsigned char prefix[12] = {};
  file.read(reinterpret_cast<char*>(prefix), 8);
  if (file.gcount() < 8 || std::memcmp(prefix, "\x93NUMPY", 6) != 0) {
    fail(path, "it is not a .npy file: it does not start with \\x93NUMPY and a version");
  }
  const int major = prefix[6], minor = prefix[7];
  if (major < 1 || major > 3 || minor != 0) {
    fail(path, "its .npy version is " + std::to_string(major) + "." + std::to_string(minor) +
                   " but must be 1.0, 2.0 or 3.0");
  }
  const int length_bytes = major == 1 ? 2 : 4;
  file.read(reinterpret_cast<char*>(prefix) + 8, length_bytes);
  if (file.gcount() < length_bytes) fail(path, "it is truncated: it ends inside its header");
  std::uint64_t header_bytes = 0;
  for (int i = length_bytes - 1; i >= 0; --i) header_bytes = header_bytes << 8 | prefix[8 + i];
  const std::uint64_t data_start = 8 + static_cast<unsigned>(length_bytes) + header_bytes;
  const auto total_bytes = static_cast<std::uint64_t>(file_bytes);
  if (data_start > total_bytes) fail(path, "it is truncated: it ends inside its header");
  std::string text(header_bytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(header_bytes));
  if (text.find('\0') != std::string::npos) fail(path, "its header is malformed: it holds a zero byte");

  const Header header = HeaderParser(path, text).parse();
  const Element one = element(header);
  // Divides instead of multiplying: the product of a forged shape may overflow.
  const std::uint64_t data_bytes = total_bytes - data_start;
  const std::uint64_t elements_there = data_bytes / one.bytes;
  std::string shape;
  bool is_empty = false;
  for (const std::int64_t size : header.shape) {
    shape += (shape.empty() ? "" : " x ") + std::to_string(size);
    is_empty = is_empty || size == 0;
  }
  const std::string found = std::to_string(data_bytes) + " bytes of data, but " +
                            (shape.empty() ? "1" : shape) + " elements of " + one.name + " need ";
  std::uint64_t elements = is_empty ? 0 : 1;
  for (std::size_t i = 0; i < header.shape.size() && !is_empty; ++i) {
    const auto size = static_cast<std::uint64_t>(header.shape[i]);
    if (elements > elements_there / size) fail(path, "it is truncated: it holds " + found + "more");
    elements *= size;
  }
  const std::uint64_t needed = elements * one.bytes;
  if (needed > data_bytes) fail(path, "it is truncated: it holds " + found + "more");
  if (needed < data_bytes) fail(path, "it is too long: it holds " + found + std::to_string(needed));
  NpyArray array{header.descr, one.bytes, header.shape, header.fortran_order, {}};
  if (part == Part::header) return array;
  array.data.resize(needed);
  file.read(reinterpret_cast<char*>(array.data.data()), static_cast<std::streamsize>(needed));
  if (static_cast<std::uint64_t>(file.gcount()) != needed) fail(path, "it cannot be read to its end");
  return array;
}

NpyMatrix read_matrix(const std::string& path, std::optional<Type> bits, Part part) {
  NpyMatrix matrix;
  NpyArray array = read_array(path, part, [&](const Header& header) {
    if (header.shape.size() != 2) {
      fail(path, "it has " + std::to_string(header.shape.size()) + " dimensions but a matrix needs 2");
    }
    matrix.type = type_of(path, header.descr, bits);
    return Element{bytes(matrix.type), name(matrix.type)};
  });
  matrix.rows = array.shape[0];
  matrix.columns = array.shape[1];
  matrix.order = array.fortran_order ? column_major : row_major;
  matrix.data = std::move(array.data);
  return matrix;
}

}  // namespace

NpyMatrix read_npy(const std::string& path, std::optional<Type> bits) {
  return read_matrix(path, bits, Part::whole);
}

NpyMatrix read_npy_header(const std::string& path, std::optional<Type> bits) {
  return read_matrix(path, bits, Part::header);
}

NpyArray read_npy_array(const std::string& path) {
  return read_array(path, Part::whole, [&](const Header& header) {
    const std::size_t bytes = bytes_of(header.descr);
    if (bytes == 0) {
      fail(path, "its elements are '" + header.descr +
                     "' but must be little-endian numbers or bytes, as '<f4', '<i8', '|u1' or '<V2'");
    }
    return Element{bytes, "'" + header.descr + "'"};
  });
}

std::string npy_header(Type type, std::int64_t rows, std::int64_t columns) {
  const auto descr = [type] {
    switch (type) {
      case Type::f16:
        return "<f2";
      case Type::bf16:
        return "<V2";
      case Type::f32:
      case Type::tf32:
        return "<f4";
      case Type::e4m3:
        return "<V1";
      case Type::e5m2:
        return "<f1";
      case Type::s8:
        return "|i1";
      case Type::f64:
        return "<f8";
      case Type::s32:
        break;
    }
    return "<i4";
  };
  return npy_header(descr(), {rows, columns});
}

std::string npy_header(const std::string& descr, const std::vector<std::int64_t>& shape) {
  std::string text = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  text += shape.size() == 1 ? ",), }" : "), }";
  text.append(63 - (10 + text.size()) % 64, ' ');
  text += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(text.size() & 0xFF);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

}  // namespace tenon::command
