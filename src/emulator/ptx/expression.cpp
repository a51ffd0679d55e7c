#include "emulator/ptx/expression.hpp"

#include <cstring>
#include <limits>

namespace tenon::emulator::ptx {
namespace {

constexpr int deepest_expression = 64;  // brackets, signs and ?: in one another
constexpr int additive = 9;             // binding strength of + and -

double as_real(const Constant& value) {
  double result = 0;
  std::memcpy(&result, &value.bits, sizeof(result));
  return result;
}

Constant real(double value) {
  Constant result;
  result.kind = Immediate::Kind::f64_bits;
  std::memcpy(&result.bits, &value, sizeof(value));
  return result;
}

Constant integer(std::uint64_t bits, bool is_unsigned) {
  return {Immediate::Kind::integer, is_unsigned, bits};
}

Constant truth(bool value) {
  return integer(value ? 1 : 0, false);
}

bool is_true(const Constant& value) {
  return value.kind == Immediate::Kind::integer ? value.bits != 0 : as_real(value) != 0;
}

int strength(const Token& token) {
  if (token.kind != Token::Kind::mark) return 0;
  static constexpr std::string_view levels[] = {"||", "&&", "|", "^", "&"};
  for (int i = 0; i < 5; ++i) {
    if (token.text == levels[i]) return i + 1;
  }
  if (token.text == "==" || token.text == "!=") return 6;
  if (token.text == "<" || token.text == ">" || token.text == "<=" || token.text == ">=") return 7;
  if (token.text == "<<" || token.text == ">>") return 8;
  if (token.text == "+" || token.text == "-") return additive;
  if (token.text == "*" || token.text == "/" || token.text == "%") return 10;
  return 0;
}

bool compare(std::string_view mark, bool less, bool equal) {
  if (mark == "<") return less;
  if (mark == "<=") return less || equal;
  if (mark == ">") return !less && !equal;
  if (mark == ">=") return !less;
  return mark == "==" ? equal : !equal;
}

Constant shift(const Token& mark, const Constant& left, std::uint64_t amount) {
  const bool far = amount > 63;
  if (mark.text == "<<") return integer(far ? 0 : left.bits << amount, left.is_unsigned);
  if (left.is_unsigned) return integer(far ? 0 : left.bits >> amount, true);
  const auto value = static_cast<std::int64_t>(left.bits);
  return integer(static_cast<std::uint64_t>(value >> (far ? 63 : amount)), false);
}

Constant divide(const Token& mark, const Constant& left, const Constant& right, bool is_unsigned) {
  if (right.bits == 0) throw Error(mark.line, "a constant expression divides by zero");
  const bool quotient = mark.text == "/";
  if (is_unsigned) return integer(quotient ? left.bits / right.bits : left.bits % right.bits, true);
  const auto a = static_cast<std::int64_t>(left.bits), b = static_cast<std::int64_t>(right.bits);
  if (b == -1) return integer(quotient ? 0 - left.bits : 0, false);  // -2^63 / -1 traps in C++
  return integer(static_cast<std::uint64_t>(quotient ? a / b : a % b), false);
}

Constant combine_integers(const Token& mark, const Constant& left, const Constant& right) {
  const bool is_unsigned = left.is_unsigned || right.is_unsigned;
  const std::string_view m = mark.text;
  if (m == "<<" || m == ">>") return shift(mark, left, right.bits);
  if (m == "/" || m == "%") return divide(mark, left, right, is_unsigned);
  if (m == "+") return integer(left.bits + right.bits, is_unsigned);
  if (m == "-") return integer(left.bits - right.bits, is_unsigned);
  if (m == "*") return integer(left.bits * right.bits, is_unsigned);
  if (m == "&") return integer(left.bits & right.bits, is_unsigned);
  if (m == "|") return integer(left.bits | right.bits, is_unsigned);
  if (m == "^") return integer(left.bits ^ right.bits, is_unsigned);
  const bool less = is_unsigned
                        ? left.bits < right.bits
                        : static_cast<std::int64_t>(left.bits) < static_cast<std::int64_t>(right.bits);
  return truth(compare(m, less, left.bits == right.bits));
}

Constant combine_reals(const Token& mark, double left, double right) {
  const std::string_view m = mark.text;
  if (m == "+") return real(left + right);
  if (m == "-") return real(left - right);
  if (m == "*") return real(left * right);
  if (m == "/") return real(left / right);
  if (strength(mark) == 6 || strength(mark) == 7) return truth(compare(m, left < right, left == right));
  throw Error(mark.line, "the operator " + cited(mark) + " takes integers, and its operands are reals");
}

void need_combinable(const Token& mark, const Constant& value) {
  if (value.kind == Immediate::Kind::f32_bits)
    throw Error(mark.line,
                "a 0f number stands alone; the operator " + cited(mark) + " takes no such operand");
}

Constant combine(const Token& mark, const Constant& left, const Constant& right) {
  need_combinable(mark, left);
  need_combinable(mark, right);
  if (mark.text == "&&") return truth(is_true(left) && is_true(right));
  if (mark.text == "||") return truth(is_true(left) || is_true(right));
  if (left.kind != right.kind) {
    throw Error(mark.line,
                "the operator " + cited(mark) + " has an integer and a real; two of a kind are needed");
  }
  if (left.kind == Immediate::Kind::f64_bits) return combine_reals(mark, as_real(left), as_real(right));
  return combine_integers(mark, left, right);
}

Constant unary(Cursor& cursor, int depth);
Constant ternary(Cursor& cursor, int depth);

// (1 + 2), (.s64) 1, (.u64) 1
Constant bracketed(Cursor& cursor, int depth) {
  cursor.expect('(', "before a constant expression");
  if (!cursor.peek().is_dotted(".s64") && !cursor.peek().is_dotted(".u64")) {
    const Constant value = ternary(cursor, depth + 1);
    cursor.expect(')', "after a constant expression");
    return value;
  }
  const Token type = cursor.take();
  cursor.expect(')', "after the type of a cast");
  Constant value = unary(cursor, depth + 1);
  if (value.kind != Immediate::Kind::integer)
    throw Error(type.line, "a real is cast to " + cited(type) + "; an integer is needed");
  value.is_unsigned = type.text == ".u64";
  return value;
}

Constant unary(Cursor& cursor, int depth) {
  if (depth > deepest_expression) {
    throw Error(cursor.line(), "a constant expression is nested more than " +
                                   std::to_string(deepest_expression) + " deep; a simpler one is needed");
  }
  const Token first = cursor.peek();
  if (first.kind == Token::Kind::number) return literal(cursor.take());
  if (cursor.accept_word("WARP_SZ")) return integer(32, false);
  if (first.is('(')) return bracketed(cursor, depth);
  if (!first.is('+') && !first.is('-') && !first.is('!') && !first.is('~'))
    cursor.fail("a number or a constant expression");
  cursor.take();
  Constant value = unary(cursor, depth + 1);
  need_combinable(first, value);
  if (first.is('!')) return truth(!is_true(value));
  if (first.is('+')) return value;
  if (value.kind == Immediate::Kind::integer) {
    value.bits = first.is('-') ? 0 - value.bits : ~value.bits;
    return value;
  }
  if (first.is('~')) throw Error(first.line, "the operator `~` takes an integer, and its operand is a real");
  return real(-as_real(value));
}

// Operators that bind at least as strongly as `least`.
Constant binary(Cursor& cursor, int least, int depth) {
  Constant left = unary(cursor, depth);
  for (int s = strength(cursor.peek()); s >= least && s > 0; s = strength(cursor.peek())) {
    const Token mark = cursor.take();
    left = combine(mark, left, binary(cursor, s + 1, depth));
  }
  return left;
}

Constant ternary(Cursor& cursor, int depth) {
  const Constant condition = binary(cursor, 1, depth);
  if (!cursor.peek().is('?')) return condition;
  need_combinable(cursor.take(), condition);
  const Constant yes = ternary(cursor, depth + 1);
  cursor.expect(':', "between the two values of a `?`");
  const Constant no = ternary(cursor, depth + 1);
  return is_true(condition) ? yes : no;
}

}  // namespace

Constant constant_expression(Cursor& cursor) {
  return ternary(cursor, 0);
}

std::int64_t integer_expression(Cursor& cursor, const std::string& what) {
  const int line = cursor.line();
  const Constant value = constant_expression(cursor);
  if (value.kind != Immediate::Kind::integer)
    throw Error(line, "found a real where " + what + " is needed, an integer");
  if (value.is_unsigned && value.bits > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    throw Error(line,
                "found " + std::to_string(value.bits) + " where " + what + " is needed, less than 2^63");
  return static_cast<std::int64_t>(value.bits);
}

std::int64_t addend(Cursor& cursor) {
  std::uint64_t sum = 0;
  while (cursor.peek().is('+') || cursor.peek().is('-')) {
    const Token mark = cursor.take();
    const Constant term = binary(cursor, additive + 1, 0);
    if (term.kind != Immediate::Kind::integer)
      throw Error(mark.line, "found a real where the offset of an address is needed, an integer");
    sum = mark.is('+') ? sum + term.bits : sum - term.bits;
  }
  return static_cast<std::int64_t>(sum);
}

bool at_expression(const Cursor& cursor) {
  const Token& token = cursor.peek();
  return token.kind == Token::Kind::number || token.is_word("WARP_SZ") || token.is('+') || token.is('-') ||
         token.is('!') || token.is('~') || token.is('(');
}

Immediate immediate(const Constant& constant) {
  return {constant.bits, constant.kind};
}

}  // namespace tenon::emulator::ptx
