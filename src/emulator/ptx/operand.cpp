#include "emulator/ptx/operand.hpp"

#include <iterator>
#include <string_view>

#include "emulator/ptx/expression.hpp"
#include "emulator/ptx/names.hpp"

namespace tenon::emulator::ptx {
namespace {

using Kind = Meaning::Kind;

// 0 to 3 for .x to .w and .r to .a, -1 for others.
int lane_of(const Token& token) {
  if (token.kind != Token::Kind::dotted || token.text.size() != 2) return -1;
  const std::size_t lane = std::string_view("xyzwrgba").find(token.text[1]);
  return lane == std::string_view::npos ? -1 : static_cast<int>(lane % 4);
}

bool takes_labels(const std::string& opcode) {
  return opcode == "bra" || opcode == "brx" || opcode == "call";
}

class Operands {
 public:
  Operands(Cursor& cursor, FunctionNames& names, const std::string& opcode)
      : cursor_(cursor), names_(names), opcode_(opcode) {}

  Operand operand() {
    if (cursor_.peek().is('{')) return {list('{', '}', "a braced list"), false, {}, {}};
    if (cursor_.peek().is('(') && opcode_ == "call")
      return {list('(', ')', "a list of arguments"), false, {}, {}};
    if (cursor_.peek().is('[')) return bracket();
    return simple();
  }

 private:
  // Any operand without brackets and braces.
  Operand simple() {
    Operand result;
    if ((cursor_.peek().is('-') || cursor_.peek().is('!')) &&
        names_.find(cursor_.peek(1).text).kind == Kind::scalar) {
      cursor_.take();
      result.negated = true;
    }
    if (cursor_.peek().kind == Token::Kind::word && !cursor_.peek().is_word("WARP_SZ")) {
      name(result);
    } else if (at_expression(cursor_)) {
      result.value = immediate(constant_expression(cursor_));
    } else {
      cursor_.fail("an operand of `" + opcode_ + "`");
    }
    if (!result.negated && cursor_.peek().is('|')) second_half(result);
    return result;
  }

  // d|p: the predicate that shfl, setp, elect and others write beside d.
  void second_half(Operand& first) {
    if (!std::holds_alternative<Register>(first.value) && !std::holds_alternative<Sink>(first.value))
      cursor_.fail("`,` or `;` after an operand (only registers are written in pairs)");
    cursor_.take();
    if (cursor_.accept_word("_")) return;
    first.predicate = register_operand(cursor_, names_, "the predicate after `|`");
  }

  void name(Operand& result) {
    const Token token = cursor_.take();
    if (token.text == "_") {
      result.value = Sink{};
      return;
    }
    const Meaning meaning = names_.find(token.text);
    if (meaning.kind == Kind::scalar) {
      result.value = Register{meaning.index};
      result.part = part();
    } else if (meaning.kind == Kind::vector) {
      vector_register(meaning, result);
    } else if (meaning.kind == Kind::nothing && token.text[0] == '%' && !is_module_variable(token)) {
      special_register(token, result);
    } else {
      symbol(token, meaning, result);
    }
  }

  // .h0, .b3210: which half-words or bytes of one or two registers, or nothing.
  std::string part() {
    const std::string_view text = cursor_.peek().text;
    if (cursor_.peek().kind != Token::Kind::dotted || text.size() < 3 || (text[1] != 'h' && text[1] != 'b') ||
        text.find_first_not_of("01234567", 2) != std::string_view::npos)
      return {};
    return std::string(cursor_.take().text.substr(1));
  }

  bool is_module_variable(const Token& token) const {
    return names_.module().variables.count(std::string(token.text)) != 0;
  }

  void vector_register(const Meaning& meaning, Operand& result) {
    const int lane = lane_of(cursor_.peek());
    if (lane >= 0 && lane < meaning.count) {
      cursor_.take();
      result.value = Register{meaning.index + lane};
      return;
    }
    Vector all;
    all.elements.resize(static_cast<std::size_t>(meaning.count));
    for (int i = 0; i < meaning.count; ++i) all.elements[i].value = Register{meaning.index + i};
    result.value = std::move(all);
  }

  void special_register(const Token& token, Operand& result) {
    if (!is_special_register(token.text)) {
      throw Error(
          token.line,
          cited(token) + " is neither a register that is declared here nor a special register of PTX");
    }
    std::string name(token.text);
    const int lane = lane_of(cursor_.peek());
    if (lane >= 0 && cursor_.peek().glued) name += cursor_.take().text;
    result.value = SpecialRegister{std::move(name)};
  }

  void symbol(const Token& token, const Meaning& meaning, Operand& result) {
    Symbol symbol = named(token, meaning);
    if (cursor_.peek().is('[')) {
      element(token, meaning, symbol);
      // The value of table[3], except in instructions that take the address itself.
      if (opcode_ != "mov" && opcode_ != "cvta") {
        const std::int64_t offset = symbol.addend;
        symbol.addend = 0;
        result.value = Address{std::move(symbol), offset};
        return;
      }
    } else {
      symbol.addend = addend(cursor_);
    }
    result.value = std::move(symbol);
  }

  // The symbol under its name after scopes are flattened.
  Symbol named(const Token& token, const Meaning& meaning) {
    if (meaning.kind == Kind::variable) return {names_.variable(meaning).name};
    Symbol symbol{std::string(token.text)};
    if (!takes_labels(opcode_)) names_.mention_symbol(symbol.name, token.line);
    return symbol;
  }

  // table[3]: the constant index counts elements.
  void element(const Token& token, const Meaning& meaning, Symbol& symbol) {
    std::int64_t width = 0;
    if (meaning.kind == Kind::variable) {
      width = names_.variable(meaning).element;
    } else if (const auto found = names_.module().variables.find(symbol.name);
               found != names_.module().variables.end()) {
      width = found->second.element;
    } else {
      throw Error(token.line, cited(token) + " is indexed, and no variable of that name is declared before");
    }
    cursor_.take();
    if (!at_expression(cursor_)) cursor_.fail("a constant index of " + cited(token));
    const std::int64_t index = integer_expression(cursor_, "the index of an array");
    if (index < 0 || index > largest_index)
      throw Error(token.line,
                  "the index " + std::to_string(index) + " of " + cited(token) + " is out of range");
    cursor_.expect(']', "after the index of an array");
    symbol.addend = index * width;
  }

  Vector list(char open, char close, const std::string& what) {
    Vector result;
    cursor_.expect(open, "before " + what);
    if (cursor_.accept(close)) return result;
    do {
      result.elements.push_back(simple());
    } while (cursor_.accept(','));
    cursor_.expect(close, "after " + what);
    return result;
  }

  Operand bracket() {
    cursor_.expect('[', "before an address");
    Address address = base();
    address.offset = addend(cursor_);
    Operand result;
    if (cursor_.accept(',')) {
      TensorAddress tensor{std::move(address), {}};
      tensor.coordinates = list('{', '}', "the coordinates of a tensor").elements;
      result.value = std::move(tensor);
    } else {
      result.value = std::move(address);
    }
    cursor_.expect(']', "after an address");
    return result;
  }

  Address base() {
    if (cursor_.peek().kind != Token::Kind::word) {
      if (!at_expression(cursor_)) cursor_.fail("a register, variable or number as an address");
      return {immediate(constant_expression(cursor_)), 0};
    }
    const Token token = cursor_.take();
    const Meaning meaning = names_.find(token.text);
    if (meaning.kind == Kind::scalar) return {Register{meaning.index}, 0};
    if (meaning.kind == Kind::vector) {
      const int lane = lane_of(cursor_.peek());
      if (lane < 0 || lane >= meaning.count) cursor_.fail("one lane of the vector " + cited(token));
      cursor_.take();
      return {Register{meaning.index + lane}, 0};
    }
    if (meaning.kind == Kind::nothing &&
        ((token.text[0] == '%' && !is_module_variable(token)) || token.text == "_")) {
      throw Error(token.line,
                  cited(token) + " is used as an address, but no register of that name is declared");
    }
    return {named(token, meaning), 0};
  }

  static constexpr std::int64_t largest_index = std::int64_t{1} << 40;
  Cursor& cursor_;
  FunctionNames& names_;
  const std::string& opcode_;
};

}  // namespace

Register register_operand(Cursor& cursor, const FunctionNames& names, const std::string& needed) {
  if (cursor.peek().kind != Token::Kind::word) cursor.fail(needed);
  const Token token = cursor.take();
  const Meaning meaning = names.find(token.text);
  if (meaning.kind != Kind::scalar || names.function().registers[meaning.index].type != Type::pred)
    throw Error(token.line, "found " + cited(token) + " where " + needed + ", a .pred register, is needed");
  return {meaning.index};
}

std::vector<Operand> operands(Cursor& cursor, FunctionNames& names, const std::string& opcode) {
  std::vector<Operand> result;
  if (cursor.peek().is(';')) return result;
  Operands parser(cursor, names, opcode);
  do {
    result.push_back(parser.operand());
  } while (cursor.accept(','));
  return result;
}

}  // namespace tenon::emulator::ptx
