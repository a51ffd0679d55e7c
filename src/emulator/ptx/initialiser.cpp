// The initial values of a variable: numbers, addresses, nested braces (PTX ISA 5.4.4).
#include <algorithm>
#include <cstring>

#include "emulator/ptx/declaration.hpp"
#include "emulator/ptx/expression.hpp"

namespace tenon::emulator::ptx {
namespace {

// Addresses wrap around; signed numbers of C++ must not.
std::int64_t wrapping_sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

class Initialiser {
 public:
  Initialiser(Cursor& cursor, ModuleNames& names, Variable& variable, std::vector<std::int64_t> dimensions)
      : cursor_(cursor),
        names_(names),
        variable_(variable),
        dimensions_(std::move(dimensions)),
        width_(bytes(variable.type)) {}

  // Returns the number of elements up to the last one given.
  std::int64_t run() {
    if (dimensions_.empty()) {
      value(0);
      return 1;
    }
    cursor_.expect('{', "before the values of an array");
    return level(0, 0);
  }

 private:
  // Elements of one unit of dimension d: 3 for int x[2][3] and d = 0.
  std::int64_t stride(std::size_t d) const {
    std::int64_t product = 1;
    for (std::size_t i = d + 1; i < dimensions_.size(); ++i) product *= dimensions_[i];
    return product;
  }

  // The values of a brace that fills dimension d from element `begin` on, after the brace has been taken.
  std::int64_t level(std::size_t d, std::int64_t begin) {
    const std::int64_t unit = stride(d);
    const std::int64_t end = dimensions_[d] < 0 ? largest_variable / width_ : begin + unit * dimensions_[d];
    std::int64_t position = begin;
    if (cursor_.accept('}')) return position;
    do {
      if (position >= end) {
        throw Error(cursor_.line(), "the initialiser of `" + variable_.name + "` has more values than the " +
                                        std::to_string(end - begin) + " elements there");
      }
      if (cursor_.accept('{')) {
        if (d + 1 == dimensions_.size() || unit == 0 || (position - begin) % unit != 0)
          throw Error(cursor_.line(), "a brace begins where a value of `" + variable_.name + "` is needed");
        level(d + 1, position);
        position += unit;
      } else {
        value(position++);
      }
    } while (cursor_.accept(','));
    cursor_.expect('}', "after the values of an array");
    return position;
  }

  void value(std::int64_t element) {
    const std::int64_t offset = element * width_;
    if (cursor_.peek().kind == Token::Kind::word && !cursor_.peek().is_word("WARP_SZ")) {
      address(offset, 8, 0, true);
      return;
    }
    const Token first = cursor_.peek();
    const Constant constant = first.kind == Token::Kind::number && cursor_.peek(1).is('(')
                                  ? literal(cursor_.take())
                                  : constant_expression(cursor_);
    if (cursor_.accept('(')) {
      masked_address(first, constant, offset);
    } else {
      store(first, constant, offset);
    }
  }

  // 0xff00(symbol): one byte of an address.
  void masked_address(const Token& first, const Constant& mask, std::int64_t offset) {
    int shift = 0;
    while (shift < 64 && mask.bits != std::uint64_t{0xff} << shift) shift += 8;
    if (shift == 64 || mask.kind != Immediate::Kind::integer || width_ != 1) {
      throw Error(first.line, "found the mask " + cited(first) +
                                  " before an address; 0xff, 0xff00, ... in an array of bytes is needed");
    }
    address(offset, 1, shift, false);
    cursor_.expect(')', "after a masked address");
  }

  // symbol, generic(symbol), each with an addend.
  void address(std::int64_t offset, int length, int shift, bool whole) {
    const int line = cursor_.line();
    if (whole && width_ != 8) {
      throw Error(line, "the address " + cited(cursor_.peek()) + " initialises elements of " +
                            std::to_string(width_) + " bytes; 8 are needed");
    }
    Variable::Address address;
    address.offset = offset;
    address.bytes = length;
    address.shift = shift;
    address.is_generic = cursor_.peek().is_word("generic") && cursor_.peek(1).is('(');
    if (address.is_generic) {
      cursor_.take();
      cursor_.take();
    }
    address.symbol = cursor_.name("the name of a variable or function");
    address.addend = addend(cursor_);
    if (address.is_generic) {
      cursor_.expect(')', "after the name in generic()");
      address.addend = wrapping_sum(address.addend, addend(cursor_));
    }
    names_.mentions.emplace(address.symbol, line);
    reserve(line, offset + length);
    variable_.addresses.push_back(std::move(address));
  }

  void store(const Token& first, Constant constant, std::int64_t offset) {
    using Kind = Immediate::Kind;
    const bool is_real = variable_.type == Type::f32 || variable_.type == Type::f64;
    const bool is_bits = variable_.type == Type::b32 || variable_.type == Type::b64;
    if ((constant.kind == Kind::integer) ? is_real : !(is_real || is_bits)) {
      throw Error(first.line, std::string("found ") + (is_real ? "an integer" : "a real") +
                                  " as a value of `" + variable_.name + "`, whose type needs " +
                                  (is_real ? "a real" : "an integer"));
    }
    if (constant.kind == Kind::f64_bits && width_ == 4) {
      double value = 0;
      std::memcpy(&value, &constant.bits, sizeof(value));
      const auto narrow = static_cast<float>(value);
      constant.bits = 0;
      std::memcpy(&constant.bits, &narrow, sizeof(narrow));
    } else if (constant.kind == Kind::f32_bits && width_ == 8) {
      float value = 0;
      std::memcpy(&value, &constant.bits, sizeof(value));
      const double wide = value;
      std::memcpy(&constant.bits, &wide, sizeof(wide));
    }
    reserve(first.line, offset + width_);
    const std::int64_t stored = std::min<std::int64_t>(width_, sizeof(constant.bits));
    std::memcpy(variable_.initial.data() + offset, &constant.bits, static_cast<std::size_t>(stored));
    const bool is_negative = !constant.is_unsigned && static_cast<std::int64_t>(constant.bits) < 0;
    if (width_ > stored) {
      std::memset(variable_.initial.data() + offset + stored, is_negative ? 0xff : 0,
                  static_cast<std::size_t>(width_ - stored));
    }
  }

  // Sparse braces could request terabytes: the stored bytes are limited to a multiple of the text's length.
  void reserve(int line, std::int64_t end) {
    const auto size = static_cast<std::size_t>(end);
    if (size <= variable_.initial.size()) return;
    const std::size_t more = size - variable_.initial.size();
    if (more > names_.initial_bytes_left)
      throw Error(line, "the initialiser of `" + variable_.name + "` reaches byte " + std::to_string(end) +
                            ", too far for a text of this length");
    names_.initial_bytes_left -= more;
    variable_.initial.resize(size);
  }

  Cursor& cursor_;
  ModuleNames& names_;
  Variable& variable_;
  std::vector<std::int64_t> dimensions_;
  std::int64_t width_;
};

}  // namespace

void initialiser(Cursor& cursor, const DeclarationPrefix& prefix, const Declarator& declarator,
                 ModuleNames& names, Variable& variable) {
  if (variable.space != Space::global && variable.space != Space::constant)
    throw Error(cursor.line(),
                "`" + variable.name + "` has an initialiser; only .global and .const variables have one");
  std::vector<std::int64_t> dimensions = declarator.dimensions;
  if (prefix.lanes > 1) dimensions.push_back(prefix.lanes);
  const std::int64_t given = Initialiser(cursor, names, variable, dimensions).run();
  if (dimensions.empty() || dimensions[0] >= 0) return;
  std::int64_t unit = 1;
  for (std::size_t i = 1; i < dimensions.size(); ++i) unit *= dimensions[i];
  if (unit > 0) variable.count = (given + unit - 1) / unit * unit;
}

}  // namespace tenon::emulator::ptx
