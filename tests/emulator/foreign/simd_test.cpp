// The SIMD intrinsics of CUDA as nvcc compiles them, against their definitions in the CUDA math API, part by
// part.
#include <algorithm>
#include <functional>
#include <map>
#include <random>

#include "emulator/foreign/run.hpp"

namespace tenon::emulator {
namespace {

using testing::Compiled;
using Integer = std::int64_t;
using Word = std::uint32_t;

struct Parts {
  int width;
  bool is_signed;
  Integer least() const { return is_signed ? -(Integer{1} << (width - 1)) : 0; }
  Integer most() const { return (Integer{1} << (is_signed ? width - 1 : width)) - 1; }
  Integer saturated(Integer value) const { return std::clamp(value, least(), most()); }
};

// A function of the parts of three operands; results that are too wide are truncated.
using OfParts = std::function<Integer(const Parts&, Integer, Integer, Integer)>;

struct Intrinsic {
  bool is_signed = false;
  OfParts of_parts;
  bool is_sum = false;  // of all parts
};

// By name, without the number of parts.
const std::map<std::string, Intrinsic>& intrinsics() {
  static const std::map<std::string, Intrinsic> all = [] {
    std::map<std::string, Intrinsic> list;
    const auto add = [&](const std::string& name, bool is_signed, OfParts of_parts, bool is_sum = false) {
      list[name] = {is_signed, std::move(of_parts), is_sum};
    };
    const auto absolute = [](Integer a) { return a < 0 ? -a : a; };
    add("__vabs", true, [=](const Parts&, Integer a, Integer, Integer) { return absolute(a); });
    add("__vabsss", true,
        [=](const Parts& p, Integer a, Integer, Integer) { return p.saturated(absolute(a)); });
    add("__vneg", true, [](const Parts&, Integer a, Integer, Integer) { return -a; });
    add("__vnegss", true, [](const Parts& p, Integer a, Integer, Integer) { return p.saturated(-a); });
    add("__vadd", false, [](const Parts&, Integer a, Integer b, Integer) { return a + b; });
    add("__vsub", false, [](const Parts&, Integer a, Integer b, Integer) { return a - b; });
    add("__vhaddu", false, [](const Parts&, Integer a, Integer b, Integer) { return (a + b) / 2; });
    for (const bool is_signed : {true, false}) {
      const std::string s = is_signed ? "s" : "u";
      const auto difference = [=](const Parts&, Integer a, Integer b, Integer) { return absolute(a - b); };
      add("__vabsdiff" + s, is_signed, difference);
      add("__vsad" + s, is_signed, difference, true);
      add("__vadd" + s + "s", is_signed,
          [](const Parts& p, Integer a, Integer b, Integer) { return p.saturated(a + b); });
      add("__vsub" + s + "s", is_signed,
          [](const Parts& p, Integer a, Integer b, Integer) { return p.saturated(a - b); });
      // Rounds half away from zero.
      add("__vavg" + s, is_signed, [](const Parts&, Integer a, Integer b, Integer) {
        return a + b >= 0 ? (a + b + 1) / 2 : (a + b - 1) / 2;
      });
      add("__vmax" + s, is_signed,
          [](const Parts&, Integer a, Integer b, Integer) { return std::max(a, b); });
      add("__vmin" + s, is_signed,
          [](const Parts&, Integer a, Integer b, Integer) { return std::min(a, b); });
    }
    const auto add_comparisons = [&](const std::string& name, bool is_signed,
                                     bool (*holds)(Integer, Integer)) {
      add("__vset" + name, is_signed,
          [=](const Parts&, Integer a, Integer b, Integer) { return holds(a, b) ? 1 : 0; });
      add("__vcmp" + name, is_signed,
          [=](const Parts&, Integer a, Integer b, Integer) { return holds(a, b) ? -1 : 0; });
    };
    add_comparisons("eq", false, [](Integer a, Integer b) { return a == b; });
    add_comparisons("ne", false, [](Integer a, Integer b) { return a != b; });
    for (const bool is_signed : {true, false}) {
      const std::string s = is_signed ? "s" : "u";
      add_comparisons("ge" + s, is_signed, [](Integer a, Integer b) { return a >= b; });
      add_comparisons("gt" + s, is_signed, [](Integer a, Integer b) { return a > b; });
      add_comparisons("le" + s, is_signed, [](Integer a, Integer b) { return a <= b; });
      add_comparisons("lt" + s, is_signed, [](Integer a, Integer b) { return a < b; });
    }
    return list;
  }();
  return all;
}

// The sum wraps before the maximum is taken.
Integer wrapped(const Parts& p, Integer value) {
  const Integer span = Integer{1} << p.width;
  value = (value % span + span) % span;
  return value > p.most() ? value - span : value;
}

const std::map<std::string, OfParts>& dpx() {
  static const std::map<std::string, OfParts> all = {
      {"__viaddmax",
       [](const Parts& p, Integer a, Integer b, Integer c) { return std::max(wrapped(p, a + b), c); }},
      {"__viaddmin",
       [](const Parts& p, Integer a, Integer b, Integer c) { return std::min(wrapped(p, a + b), c); }},
      {"__vimax3",
       [](const Parts&, Integer a, Integer b, Integer c) {
         return std::max({a, b, c});
       }},
      {"__vimin3",
       [](const Parts&, Integer a, Integer b, Integer c) {
         return std::min({a, b, c});
       }},
      {"__vimax", [](const Parts&, Integer a, Integer b, Integer) { return std::max(a, b); }},
      {"__vimin", [](const Parts&, Integer a, Integer b, Integer) { return std::min(a, b); }}};
  return all;
}

Word apply(const Parts& p, const OfParts& of_parts, bool is_sum, const Word (&operands)[3]) {
  const Word mask = p.width == 32 ? ~Word{0} : (Word{1} << p.width) - 1;
  Word result = 0, sum = 0;
  for (int shift = 0; shift < 32; shift += p.width) {
    Integer parts[3];
    for (int i = 0; i < 3; ++i) parts[i] = wrapped(p, operands[i] >> shift & mask);
    const auto part = static_cast<Word>(of_parts(p, parts[0], parts[1], parts[2]));
    result |= (part & mask) << shift;
    sum += part;
  }
  return is_sum ? sum : result;
}

Word expected(const std::string& kernel, const Word (&operands)[3]) {
  const std::string name = kernel.substr(4);  // after "simd"
  const std::size_t underscore = name.find('_', 2);
  if (underscore == std::string::npos) {
    const Intrinsic& intrinsic = intrinsics().at(name.substr(0, name.size() - 1));
    return apply({name.back() == '2' ? 16 : 8, intrinsic.is_signed}, intrinsic.of_parts, intrinsic.is_sum,
                 operands);
  }
  const OfParts& of_parts = dpx().at(name.substr(0, underscore));
  const bool is_relu = name.find("_relu") != std::string::npos;
  const Parts parts{name.find("16x2") != std::string::npos ? 16 : 32, name[underscore + 1] == 's'};
  return apply(
      parts,
      [&](const Parts& p, Integer a, Integer b, Integer c) {
        const Integer value = of_parts(p, a, b, c);
        return is_relu ? std::max<Integer>(value, 0) : value;
      },
      false, operands);
}

TEST(Simd, every_intrinsic_is_what_it_is_defined_as) {
  std::vector<Word> values = {0,          ~0U,        0x80808080, 0x7f7f7f7f, 0x80007fff, 0x7fff8000,
                              0x00ff00ff, 0xff00ff00, 0x01010101, 0x80000000, 0x7fffffff, 0x00010001};
  std::mt19937 random(9);
  constexpr std::size_t n = 512;
  std::vector<Word> operands[3];
  for (std::vector<Word>& list : operands)
    while (list.size() < n)
      list.push_back(random() % 3 == 0 ? values[random() % values.size()] : static_cast<Word>(random()));
  Compiled compiled("simd");
  const Address a = compiled.upload(operands[0]), b = compiled.upload(operands[1]),
                c = compiled.upload(operands[2]);
  const std::vector<std::string> kernels = compiled.entries();
  EXPECT_EQ(kernels.size(), 2 * (4 + 37) + 4 * 6 + 4U);
  for (const std::string& kernel : kernels) {
    SCOPED_TRACE(kernel);
    const Address to = compiled.allocate<Word>(n);
    compiled.run(kernel, {{1}, {n}}, {a, b, c, to});
    const std::vector<Word> found = compiled.download<Word>(to, n);
    for (std::size_t i = 0; i < n; ++i) {
      const Word of_i[3] = {operands[0][i], operands[1][i], operands[2][i]};
      ASSERT_EQ(found[i], expected(kernel, of_i))
          << std::hex << "of 0x" << of_i[0] << ", 0x" << of_i[1] << ", 0x" << of_i[2];
    }
  }
}

}  // namespace
}  // namespace tenon::emulator
