// Parses the text of an --arg: parse_argument of emulate_arguments.hpp.
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>

#include "command_line/emulate_arguments.hpp"
#include "command_line/exit_status.hpp"
#include "command_line/split.hpp"
#include "command_line/text_file.hpp"
#include "reference/float_bits.hpp"

namespace tenon::command {
namespace {

using Kind = ArgumentText::Kind;

[[noreturn]] void refuse(const std::string& text, const std::string& what) {
  constexpr std::size_t longest = 300;
  throw Failure(Exit::bad_input,
                (text.size() <= longest ? text : text.substr(0, longest) + "...") + ": " + what);
}

// Digits, or 0x and hexadecimal digits. False if the text is neither, or exceeds 64 bits.
bool read_unsigned(const std::string& text, std::uint64_t& value) {
  const bool is_hex = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  const char* digits = text.c_str() + (is_hex ? 2 : 0);
  if (*digits == '\0' ||
      std::strspn(digits, is_hex ? "0123456789abcdefABCDEF" : "0123456789") != std::strlen(digits))
    return false;
  errno = 0;
  value = std::strtoull(digits, nullptr, is_hex ? 16 : 10);
  return errno == 0;
}

std::uint64_t unsigned_of(const ArgumentText& a, const std::string& part, const std::string& what) {
  std::uint64_t value = 0;
  if (!read_unsigned(part, value)) refuse(a.text, what + " is '" + part + "' but must be a number");
  return value;
}

// "64x128"
template <class Integer>
std::vector<Integer> sizes_of(const ArgumentText& a, const std::string& part, const std::string& what) {
  std::vector<Integer> sizes;
  for (const std::string& size : split(part, 'x')) {
    const std::uint64_t value = unsigned_of(a, size, what);
    if (value > std::uint64_t{1} << 40) {
      std::string sentence = what;
      refuse(a.text, sentence.append(" has the size ").append(size).append(", which is too large"));
    }
    sizes.push_back(static_cast<Integer>(value));
  }
  return sizes;
}

struct ScalarType {
  const char* name;
  int bytes;
  const char* descr;  // as numpy has it
};
constexpr ScalarType scalar_types[] = {
    {"u8", 1, "|u1"},  {"u16", 2, "<u2"},  {"u32", 4, "<u4"}, {"u64", 8, "<u8"},
    {"s8", 1, "|i1"},  {"s16", 2, "<i2"},  {"s32", 4, "<i4"}, {"s64", 8, "<i8"},
    {"b8", 1, "|u1"},  {"b16", 2, "<u2"},  {"b32", 4, "<u4"}, {"b64", 8, "<u8"},
    {"f16", 2, "<f2"}, {"bf16", 2, "<u2"}, {"f32", 4, "<f4"}, {"f64", 8, "<f8"}};

const ScalarType* scalar_type(const std::string& name) {
  for (const ScalarType& type : scalar_types)
    if (name == type.name) return &type;
  return nullptr;
}

std::string scalar_names() {
  std::string names;
  for (const ScalarType& type : scalar_types) names += (names.empty() ? "" : " ") + std::string(type.name);
  return names;
}

void set_integer(ArgumentText& a, const ScalarType& type, const std::string& value) {
  const int bits = 8 * type.bytes;
  const bool is_signed = type.name[0] == 's', is_negative = value[0] == '-';
  const std::uint64_t most =
      is_signed ? (std::uint64_t{1} << (bits - 1)) - (is_negative ? 0 : 1) : ~std::uint64_t{0} >> (64 - bits);
  std::uint64_t number = 0;
  if (!read_unsigned(value.substr(is_negative ? 1 : 0), number) || number > most ||
      (is_negative && !is_signed)) {
    refuse(a.text, "the value must be " + std::string(is_signed ? "a signed" : "an unsigned") +
                       " integer of " + std::to_string(bits) + " bits");
  }
  if (is_negative) number = 0 - number;
  a.bytes.resize(static_cast<std::size_t>(type.bytes));
  std::memcpy(a.bytes.data(), &number, a.bytes.size());
}

template <class T>
void set_bytes(ArgumentText& a, const T& value) {
  a.bytes.resize(sizeof(T));
  std::memcpy(a.bytes.data(), &value, sizeof(T));
}

void set_real(ArgumentText& a, const ScalarType& type, const std::string& value) {
  char* end = nullptr;
  // Each type is rounded once from the decimal digits. The 16-bit types are rounded through f32, which is
  // precise enough except for numbers of more than nine digits next to a tie.
  const double wide = std::strtod(value.c_str(), &end);
  if (value.empty() || *end != '\0' || std::isspace(static_cast<unsigned char>(value[0])) != 0)
    refuse(a.text, "the value must be a number such as 1.5, -2e-3, inf or nan");
  const float narrow = std::strtof(value.c_str(), nullptr);
  bool is_infinite = std::isinf(narrow);
  switch (type.name[0] == 'b' ? 0 : type.bytes) {
    case 0:
      set_bytes(a, reference::bf16_from_float(narrow));
      is_infinite = (a.bytes[1] & 0x7F) == 0x7F && a.bytes[0] == 0x80;
      break;
    case 2:
      set_bytes(a, reference::f16_from_float(narrow));
      is_infinite = (a.bytes[1] & 0x7F) == 0x7C && a.bytes[0] == 0;
      break;
    case 4:
      set_bytes(a, narrow);
      break;
    default:
      set_bytes(a, wide);
      is_infinite = std::isinf(wide);
  }
  const bool names_infinity = value.find_first_of("0123456789") == std::string::npos;
  if (is_infinite && !names_infinity)
    refuse(a.text,
           "the value would become infinite in " + std::string(type.name) + "; infinity is written inf");
}

void set_hex(ArgumentText& a, const std::string& digits) {
  if (digits.empty() || digits.size() % 2 != 0 ||
      digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)
    refuse(a.text, "bytes are pairs of hexadecimal digits, in the order of memory");
  for (std::size_t i = 0; i < digits.size(); i += 2)
    a.bytes.push_back(static_cast<std::uint8_t>(std::stoul(digits.substr(i, 2), nullptr, 16)));
}

// PATH:TYPE:SHAPE, parsed from the right: a path may hold colons.
void set_output(ArgumentText& a, const std::string& rest) {
  const std::size_t before_shape = rest.rfind(':');
  const std::size_t before_type = before_shape == std::string::npos || before_shape == 0
                                      ? std::string::npos
                                      : rest.rfind(':', before_shape - 1);
  if (before_type == std::string::npos || before_type == 0)
    refuse(a.text, "an output is out:PATH:TYPE:SHAPE, for example out:C.npy:f32:128x128");
  a.out_path = rest.substr(0, before_type);
  const std::string name = rest.substr(before_type + 1, before_shape - before_type - 1);
  const ScalarType* type = scalar_type(name);
  if (type == nullptr) refuse(a.text, "the type is '" + name + "' but must be one of " + scalar_names());
  a.type = type->descr;
  a.shape = sizes_of<std::int64_t>(a, rest.substr(before_shape + 1), "the shape");
  a.size = static_cast<std::uint64_t>(type->bytes);
  for (const std::int64_t size : a.shape) {
    const auto factor = static_cast<std::uint64_t>(size);
    if (factor != 0 && a.size > (std::uint64_t{1} << 48) / factor) refuse(a.text, "the shape is too large");
    a.size *= factor;
  }
}

BufferNumber buffer_number(const ArgumentText& a, const std::string& part) {
  const bool is_argument = part.empty() || part[0] != 'b';
  std::uint64_t number = 0;
  if (!read_unsigned(part.substr(is_argument ? 0 : 1), number) || number < 1 || number > 4096)
    refuse(a.text, "'" + part + "' must be the number of an argument, from 1, or of a --buffer, from b1");
  return {is_argument, static_cast<int>(number)};
}

struct Choice {
  const char* name;
  int value;
};
template <std::size_t n>
int chosen(const ArgumentText& a, const std::string& what, const std::string& name,
           const Choice (&choices)[n]) {
  std::string names;
  for (const Choice& choice : choices) {
    if (name == choice.name) return choice.value;
    names += (names.empty() ? "" : " ") + std::string(choice.name);
  }
  refuse(a.text, what + " is '" + name + "' but must be one of " + names);
}

// BUFFER:TYPE:SHAPE:box=SHAPE[:option=value]...
void set_map(ArgumentText& a, const std::string& rest) {
  using Type = emulator::TensorMapType;
  constexpr Choice types[] = {{"u8", static_cast<int>(Type::uint8)},
                              {"u16", static_cast<int>(Type::uint16)},
                              {"u32", static_cast<int>(Type::uint32)},
                              {"s32", static_cast<int>(Type::int32)},
                              {"u64", static_cast<int>(Type::uint64)},
                              {"s64", static_cast<int>(Type::int64)},
                              {"f16", static_cast<int>(Type::float16)},
                              {"f32", static_cast<int>(Type::float32)},
                              {"f64", static_cast<int>(Type::float64)},
                              {"bf16", static_cast<int>(Type::bfloat16)},
                              {"f32_ftz", static_cast<int>(Type::float32_ftz)},
                              {"tf32", static_cast<int>(Type::tfloat32)},
                              {"tf32_ftz", static_cast<int>(Type::tfloat32_ftz)}};
  constexpr int bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};  // by TensorMapType
  constexpr Choice swizzles[] = {{"none", 0}, {"32B", 1}, {"64B", 2}, {"128B", 3}};
  constexpr Choice interleaves[] = {{"none", 0}, {"16B", 1}, {"32B", 2}};
  constexpr Choice fills[] = {{"zeros", 0}, {"nan", 1}};
  const std::vector<std::string> parts = split(rest, ':');
  if (parts.size() < 4)
    refuse(a.text, "a tensor map is map:BUFFER:TYPE:SHAPE:box=SHAPE, for example map:1:f16:64x128:box=64x64");
  MapText& m = a.map;
  m.over = buffer_number(a, parts[0]);
  m.type = static_cast<Type>(chosen(a, "the type", parts[1], types));
  m.element_bytes = bytes[static_cast<int>(m.type)];
  m.dimensions = sizes_of<std::uint64_t>(a, parts[2], "the shape");
  for (std::size_t i = 3; i < parts.size(); ++i) {
    const std::size_t equals = parts[i].find('=');
    const std::string option = parts[i].substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : parts[i].substr(equals + 1);
    if (option == "box") {
      m.box = sizes_of<std::uint64_t>(a, value, "the box");
    } else if (option == "strides") {
      m.strides = sizes_of<std::uint64_t>(a, value, "the strides");
    } else if (option == "steps") {
      m.steps = sizes_of<std::uint64_t>(a, value, "the steps");
    } else if (option == "offset") {
      m.offset = unsigned_of(a, value, "the offset");
    } else if (option == "swizzle") {
      m.swizzle = static_cast<emulator::TensorMapSwizzle>(chosen(a, "the swizzle", value, swizzles));
    } else if (option == "interleave") {
      m.interleave =
          static_cast<emulator::TensorMapInterleave>(chosen(a, "the interleave", value, interleaves));
    } else if (option == "fill") {
      m.fill = static_cast<emulator::TensorMapFill>(chosen(a, "the fill", value, fills));
    } else {
      refuse(a.text, "'" + option +
                         "' is not an option of a tensor map; there are box strides steps offset swizzle "
                         "interleave fill");
    }
  }
  const std::size_t rank = m.dimensions.size();
  if (m.steps.empty()) m.steps.assign(rank, 1);
  if (m.strides.empty()) {
    std::uint64_t stride = static_cast<std::uint64_t>(m.element_bytes);
    for (std::size_t i = rank; i-- > 1;) m.strides.insert(m.strides.begin(), stride *= m.dimensions[i]);
  }
  const struct {
    const char* what;
    std::size_t found, needed;
  } counts[] = {
      {"box", m.box.size(), rank}, {"steps", m.steps.size(), rank}, {"strides", m.strides.size(), rank - 1}};
  for (const auto& count : counts) {
    if (count.found == count.needed) continue;
    refuse(a.text, std::string(count.what) + " has " + std::to_string(count.found) + " sizes but needs " +
                       std::to_string(count.needed) + ", as the shape has " + std::to_string(rank));
  }
}

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(' '), last = text.find_last_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

// "{a,{b,c},d}": the texts "a", "{b,c}" and "d".
std::vector<std::string> field_texts(const std::string& text) {
  std::vector<std::string> fields(1);
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '}' && --depth == 0 && i + 1 != text.size())
      refuse(text, "something follows the struct's last }");
    if (c == ',' && depth == 1)
      fields.emplace_back();
    else if (depth > 0)
      fields.back() += c;
    if (c == '{') ++depth;
  }
  if (depth != 0) refuse(text, "the struct's last } is missing");
  return fields;
}

ArgumentText parse(const std::string& text, int depth);

void set_fields(ArgumentText& a, const std::string& whole, int depth) {
  constexpr int most = 16;
  a.text = shortened(whole);
  if (depth == most) refuse(a.text, "structs in structs can be " + std::to_string(most) + " deep at most");
  for (const std::string& field : field_texts(whole)) {
    const std::string text = trimmed(field);
    if (text.empty()) refuse(a.text, "a field of the struct is empty");
    a.fields.push_back(parse(text, depth + 1));
  }
}

// pad:BYTES and align:BYTES
void set_place(ArgumentText& a, const std::string& rest) {
  a.size = unsigned_of(a, rest, "the number of bytes");
  if (a.kind == Kind::padding && (a.size < 1 || a.size > 4096))
    refuse(a.text, "padding is of 1 to 4096 bytes");
  if (a.kind == Kind::alignment && (a.size < 1 || a.size > 4096 || (a.size & (a.size - 1)) != 0))
    refuse(a.text, "an alignment is a power of two, up to 4096 bytes");
}

// `depth`: how many structs enclose it.
ArgumentText parse(const std::string& text, int depth) {
  ArgumentText a;
  a.text = text;
  if (!text.empty() && text[0] == '{') {
    a.kind = Kind::structure;
    set_fields(a, text, depth);
    return a;
  }
  const std::size_t colon = text.find(':');
  const std::string word = text.substr(0, colon);
  if (colon == std::string::npos || colon + 1 == text.size())
    refuse(text, "an argument is KIND:VALUE, for example u32:5, zeros:4096 or file:A.npy");
  const std::string rest = text.substr(colon + 1);
  if (const ScalarType* type = scalar_type(word)) {
    a.type = word;
    const bool is_real = word[0] == 'f' || word == "bf16";
    is_real ? set_real(a, *type, rest) : set_integer(a, *type, rest);
  } else if (word == "bytes") {
    set_hex(a, rest);
  } else if (word == "zeros" || word == "unwritten") {
    a.kind = word == "zeros" ? Kind::zeros : Kind::unwritten;
    a.size = unsigned_of(a, rest, "the number of bytes");
  } else if (word == "file") {
    a.kind = Kind::file;
    a.in_path = rest;
  } else if (word == "out") {
    a.kind = Kind::out;
    set_output(a, rest);
  } else if (word == "inout") {
    a.kind = Kind::inout;
    const std::size_t between = rest.rfind(':');
    if (between == std::string::npos || between == 0 || between + 1 == rest.size())
      refuse(text, "an input that is also an output is inout:IN.npy:OUT.npy");
    a.in_path = rest.substr(0, between);
    a.out_path = rest.substr(between + 1);
  } else if (word == "same") {
    a.kind = Kind::same;
    const std::size_t plus = rest.find('+');
    a.other = buffer_number(a, rest.substr(0, plus));
    if (plus != std::string::npos) a.offset = unsigned_of(a, rest.substr(plus + 1), "the offset");
  } else if (word == "map") {
    a.kind = Kind::map;
    set_map(a, rest);
  } else if (depth > 0 && (word == "pad" || word == "align")) {
    a.kind = word == "pad" ? Kind::padding : Kind::alignment;
    set_place(a, rest);
  } else {
    refuse(text, "'" + word + "' is not a kind of argument; there are " + scalar_names() +
                     " bytes zeros unwritten file out inout same map, {FIELD,FIELD} for a struct" +
                     (depth > 0 ? ", and in it pad align" : ""));
  }
  return a;
}

}  // namespace

ArgumentText parse_argument(const std::string& text) {
  return parse(text, 0);
}

const char* argument_help() {
  return R"(Arguments, one --arg for each parameter of the kernel, in their order:
  u32:5  s64:-3  b32:0x3f800000  f16:0.5  bf16:1  f32:1.5  f64:-2e-3   a value (u8 to u64, s8 to s64,
                           b8 to b64, f16, bf16, f32, f64)
  bytes:0500000000000000   bytes as they lie in memory
  zeros:4096               the address of a buffer of so many bytes, all 0
  unwritten:4096           the same, but to read what the kernel has not written is a finding
  file:A.npy               the address of a buffer with the array of a file, in the file's order
  out:C.npy:f32:128x128    the address of an unwritten buffer that is written to the file at the end, in
                           C order; bf16 becomes uint16, b32 uint32
  inout:A.npy:B.npy        a buffer that is read from the first file and written to the second
  same:1  same:1+256       the address of the buffer of argument 1, or one so many bytes behind it
  map:1:f16:64x128:box=64x64:swizzle=128B   a tensor map (CUtensorMap) over the buffer of argument 1:
                           type and shape of the tensor, outermost dimension first as in numpy, and
                           options: box=SHAPE (needed); strides=BYTESxBYTES of all dimensions but the
                           last (default: dense); offset=BYTES into the buffer;
                           swizzle=none|32B|64B|128B; interleave=none|16B|32B; fill=zeros|nan;
                           steps=SHAPE (element strides). Passed by address where the parameter has 8
                           bytes, else by value.
  '{s32:64,file:A.npy}'    a struct by value: its fields between commas, each an argument of a kind above
                           or a struct. They lie where C++ puts them: a number or an address on a
                           multiple of its size, a tensor map (by value) on a multiple of 64 bytes, or of
                           128 where the parameter is aligned to that, as the CUtensorMap of CUDA 13 is.
                           pad:BYTES is unused bytes. align:BYTES aligns the next field, and the struct,
                           as alignas does: a float4 is '{align:16,f32:1,f32:2,f32:3,f32:4}'. A path in a
                           field has no comma and no brace.
A buffer that no parameter takes, for a tensor map over it or for several fields, is made by --buffer
(zeros, unwritten, file, out, inout); the first is b1, the second b2: map:b1:..., same:b2
)";
}

emulator::Dim3 parse_size(const std::string& option, const std::string& text) {
  const std::vector<std::string> parts = split(text, ',');
  std::uint32_t sizes[3] = {1, 1, 1};
  bool is_right = parts.size() <= 3;
  for (std::size_t i = 0; is_right && i < parts.size(); ++i) {
    std::uint64_t value = 0;
    is_right =
        read_unsigned(parts[i], value) && value >= 1 && value <= std::numeric_limits<std::uint32_t>::max();
    sizes[i] = static_cast<std::uint32_t>(value);
  }
  if (!is_right)
    throw Failure(Exit::bad_input,
                  option + " is '" + text + "' but must be one to three sizes from 1 on, as 128 or 32,4,1");
  return {sizes[0], sizes[1], sizes[2]};
}

}  // namespace tenon::command
