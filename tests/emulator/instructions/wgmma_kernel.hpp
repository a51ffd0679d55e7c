// A kernel of one wgmma whose operands the host places in shared memory or registers, and the product by its
// definition. Layouts here are transcribed from the figures of the PTX ISA, independently of the emulator.
#pragma once

#include <random>

#include "emulator/instructions/run_ptx.hpp"
#include "emulator/numerics/formats.hpp"

namespace tenon::emulator::testing {

struct WgmmaCase {
  std::string d = "f32", a = "f16", b = "f16";
  int n = 16;
  int span = 0;  // bytes of the swizzle; 0: none
  bool a_mn_major = false, b_mn_major = false, a_in_registers = false, sparse = false;
  bool negate_a = false, negate_b = false, accumulate = true;
  int selector = 0;
};

inline int bits_of_type(const std::string& type) {
  if (type == "tf32") return 32;
  if (type == "f16" || type == "bf16") return 16;
  return type == "b1" ? 1 : 8;
}
inline int k_of(const WgmmaCase& c) {
  return 256 / bits_of_type(c.a) * (c.sparse ? 2 : 1);
}

// A small integer as an element of a type.
inline std::uint32_t element(const std::string& type, int value) {
  const auto real = [&](const numerics::Format& format) {
    return static_cast<std::uint32_t>(numerics::from_float(format, static_cast<float>(value)));
  };
  if (type == "f16") return real(numerics::f16);
  if (type == "bf16") return real(numerics::bf16);
  if (type == "tf32") return real(numerics::f32);
  if (type == "e4m3") return real(numerics::e4m3);
  if (type == "e5m2") return real(numerics::e5m2);
  return static_cast<std::uint32_t>(value) & (type == "b1" ? 1 : 0xff);
}

// The bit offset of a row-and-column position from the start of the operand, and the operand's descriptor.
struct OperandLayout {
  int span, bits;
  bool mn_major;
  int mn, k;
  int chunks() const { return span == 0 ? 1 : span / 16; }
  int leading() const {
    if (mn_major) return span == 0 ? 128 * (mn / 8) : 128 * span / 16 * 8 / 8 * (k / 8) * 0 + span * k;
    return 128;
  }
  int stride() const {
    if (mn_major) return span == 0 ? 128 : 8 * span;
    return span == 0 ? 128 * (k * bits / 128) : 8 * span;
  }
  int bytes() const { return mn * std::max(k * bits / 8, span); }
  long bit(int row, int column) const {  // row: m or n; column: k
    long byte = 0, rest = 0;
    if (!mn_major) {
      const int at = column * bits / 8;
      rest = column * bits % 8;
      if (span == 0) {
        byte = row / 8 * stride() + at / 16 * leading() + row % 8 * 16 + at % 16;
      } else {
        byte = at / span * leading() + row * span + at % span;
      }
    } else {
      const int at = row * bits / 8;
      if (span == 0) {
        byte = at / 16 * stride() + column / 8 * leading() + column % 8 * 16 + at % 16;
      } else {
        byte = at / span * leading() + column * span + at % span;
      }
    }
    const long line = byte / 128;
    const long chunk = byte / 16 % chunks();
    const long swapped = chunk ^ (line % chunks());
    byte += (swapped - chunk) * 16;
    return byte * 8 + rest;
  }
  std::uint64_t descriptor(int start) const {
    const std::uint64_t mode = span == 128 ? 1 : span == 64 ? 2 : span == 32 ? 3 : 0;
    return static_cast<std::uint64_t>(start) >> 4 | static_cast<std::uint64_t>(leading()) >> 4 << 16 |
           static_cast<std::uint64_t>(stride()) >> 4 << 32 | mode << 62;
  }
};

inline void put_bits(std::vector<std::uint8_t>& bytes, long at, int bits, std::uint32_t value) {
  for (int i = 0; i < bits; ++i) {
    const auto mask = static_cast<std::uint8_t>(1u << (at + i) % 8);
    std::uint8_t& byte = bytes[static_cast<std::size_t>((at + i) / 8)];
    byte = static_cast<std::uint8_t>((value >> i & 1) != 0 ? byte | mask : byte & ~mask);
  }
}

struct WgmmaData {
  WgmmaCase form;
  int k, stored;                                     // of the full matrix; of A
  std::vector<int> a, b, c;                          // a: 64 x stored, b: n x k, c: 64 x n
  std::vector<int> column;                           // of sparse A: 64 x stored
  std::vector<std::uint8_t> image;                   // shared memory
  std::vector<std::uint32_t> a_registers, metadata;  // [thread][4], [thread]
  std::uint64_t a_descriptor, b_descriptor;

  explicit WgmmaData(const WgmmaCase& form_, unsigned seed = 1) : form(form_), k(k_of(form)) {
    stored = form.sparse ? k / 2 : k;
    std::mt19937 random(seed);
    const bool is_signed = form.a != "u8" && form.b != "u8" && form.a != "b1";
    const auto draw = [&] {
      const int value = static_cast<int>(random() % 4);
      return form.a == "b1" ? value & 1 : is_signed ? value - 2 : value;
    };
    for (int i = 0; i < 64 * stored; ++i) a.push_back(draw());
    for (int i = 0; i < form.n * k; ++i) b.push_back(draw());
    for (int i = 0; i < 64 * form.n; ++i) c.push_back(static_cast<int>(random() % 16) - 8);
    metadata.assign(128, 0);
    if (form.sparse) make_metadata(random);
    const int bits = bits_of_type(form.a);
    const OperandLayout layout_a{form.span, bits, form.a_mn_major, 64, stored};
    const OperandLayout layout_b{form.span, bits, form.b_mn_major, form.n, k};
    const int b_start = (layout_a.bytes() + 1023) / 1024 * 1024;
    image.resize(static_cast<std::size_t>(b_start + (layout_b.bytes() + 1023) / 1024 * 1024));
    for (int row = 0; row < 64; ++row) {
      for (int i = 0; i < stored; ++i) {
        put_bits(image, layout_a.bit(row, i), bits,
                 element(form.a, a[static_cast<std::size_t>(row * stored + i)]));
      }
    }
    for (int column = 0; column < form.n; ++column) {
      for (int i = 0; i < k; ++i) {
        put_bits(image, b_start * 8L + layout_b.bit(column, i), bits,
                 element(form.b, b[static_cast<std::size_t>(column * k + i)]));
      }
    }
    a_descriptor = layout_a.descriptor(0);
    b_descriptor = layout_b.descriptor(b_start);
    make_a_registers(bits);
  }

  // Rows of A: of each group of four of k (tf32: two), two (one) are kept.
  void make_metadata(std::mt19937& random) {
    column.resize(static_cast<std::size_t>(64 * stored));
    const bool tf32 = form.a == "tf32";
    const int group = tf32 ? 2 : 4, nibbles_a_word = 8;
    const int bits = bits_of_type(form.a);
    for (int row = 0; row < 64; ++row) {
      for (int g = 0; g < k / group; ++g) {
        static const int pairs[6][2] = {{0, 1}, {0, 2}, {1, 2}, {0, 3}, {1, 3}, {2, 3}};
        const int* pair = pairs[random() % 6];
        const int half = static_cast<int>(random() % 2);
        const int nibble = tf32 ? (half == 0 ? 0x4 : 0xe) : pair[0] | pair[1] << 2;
        if (tf32) {
          column[static_cast<std::size_t>(row * stored + g)] = g * 2 + half;
        } else {
          column[static_cast<std::size_t>(row * stored + 2 * g)] = g * 4 + pair[0];
          column[static_cast<std::size_t>(row * stored + 2 * g + 1)] = g * 4 + pair[1];
        }
        // PTX ISA 9.7.14.6.1: with 16 groups of four lanes, lane q of a quad has...
        const int quad = row % 8, within = row % 16;
        int lane, at;
        if (bits >= 16) {  // 8 nibbles a row: 4 in each of two lanes, rows g and g + 8 in halves of the word
          lane = quad * 4 + 2 * form.selector + g / 4;
          at = g % 4 + (within / 8) * 4;
        } else {  // 16 nibbles a row: 8 in each of two lanes; odd lanes hold row g + 8
          lane = quad * 4 + 2 * (g / 8) + within / 8;
          at = g % nibbles_a_word;
        }
        metadata[static_cast<std::size_t>(row / 16 * 32 + lane)] |= static_cast<std::uint32_t>(nibble)
                                                                    << 4 * at;
      }
    }
  }

  // Register r of a lane: row g + 8 * (r & 1), a word of elements from byte 4 * t + 16 * (r >> 1) of the row.
  void make_a_registers(int bits) {
    a_registers.assign(128 * 4, 0);
    for (int thread = 0; thread < 128; ++thread) {
      const int lane = thread % 32, elements = 32 / bits;
      for (int r = 0; r < 4; ++r) {
        const int row = thread / 32 * 16 + lane / 4 + 8 * (r & 1);
        const int first = (lane % 4) * elements + (r >> 1) * 4 * elements;
        for (int e = 0; e < elements; ++e) {
          a_registers[static_cast<std::size_t>(thread * 4 + r)] |=
              element(form.a, a[static_cast<std::size_t>(row * stored + first + e)]) << e * bits;
        }
      }
    }
  }

  int accumulator_registers() const { return form.d == "f16" ? form.n / 4 : form.n / 2; }

  // Row and column of accumulator element i of a thread.
  static int row_of(int thread, int i) { return thread / 32 * 16 + thread % 32 / 4 + 8 * (i >> 1 & 1); }
  static int column_of(int thread, int i) { return 8 * (i >> 2) + 2 * (thread % 4) + (i & 1); }

  std::uint32_t accumulator(int value) const {
    if (form.d == "s32") return static_cast<std::uint32_t>(value);
    if (form.d == "f16")
      return static_cast<std::uint32_t>(numerics::from_float(numerics::f16, static_cast<float>(value)));
    return numerics::bits_of(static_cast<float>(value));
  }
  template <class Value>
  std::vector<std::uint32_t> registers(Value&& value) const {
    const int elements = form.n / 2, count = accumulator_registers();
    std::vector<std::uint32_t> all(static_cast<std::size_t>(128 * count));
    for (int thread = 0; thread < 128; ++thread) {
      for (int i = 0; i < elements; ++i) {
        const std::uint32_t bits = accumulator(value(row_of(thread, i), column_of(thread, i)));
        if (form.d == "f16") {
          all[static_cast<std::size_t>(thread * count + i / 2)] |= bits << 16 * (i % 2);
        } else {
          all[static_cast<std::size_t>(thread * count + i)] = bits;
        }
      }
    }
    return all;
  }
  std::vector<std::uint32_t> start() const {
    return registers([&](int row, int column) { return c[static_cast<std::size_t>(row * form.n + column)]; });
  }
  int product(int row, int col) const {
    int sum = 0;
    for (int i = 0; i < stored; ++i) {
      const int at = form.sparse ? column[static_cast<std::size_t>(row * stored + i)] : i;
      sum += a[static_cast<std::size_t>(row * stored + i)] * b[static_cast<std::size_t>(col * k + at)];
    }
    return form.negate_a != form.negate_b ? -sum : sum;
  }
  std::vector<std::uint32_t> result() const {
    return registers([&](int row, int col) {
      return product(row, col) + (form.accumulate ? c[static_cast<std::size_t>(row * form.n + col)] : 0);
    });
  }

  std::string accumulators() const {
    std::string list;
    for (int i = 0; i < accumulator_registers(); ++i) list += (i == 0 ? "%c" : ", %c") + std::to_string(i);
    return "{" + list + "}";
  }
  std::string instruction() const {
    std::string text = "wgmma.mma_async";
    if (form.sparse) text += ".sp";
    text += ".sync.aligned.m64n" + std::to_string(form.n) + "k" + std::to_string(k) + "." + form.d + "." +
            form.a + "." + form.b;
    if (form.a == "b1") text += ".and.popc";
    text += " " + accumulators() + ", " + (form.a_in_registers ? "{%a0, %a1, %a2, %a3}" : "%d4") + ", %d5, ";
    if (form.sparse) text += "%r7, " + std::to_string(form.selector) + ", ";
    text += form.accumulate ? "1" : "0";
    if (form.d != "s32") {
      text += form.negate_a ? ", -1" : ", 1";
      text += form.negate_b ? ", -1" : ", 1";
    }
    if (form.a == "f16" || form.a == "bf16") {
      if (!form.a_in_registers) text += form.a_mn_major ? ", 1" : ", 0";
      text += form.b_mn_major ? ", 1" : ", 0";
    }
    return text + ";";
  }

  // The whole body. The lines that faulty versions change have names: PROXY, FENCE, MMA, COMMIT, WAIT.
  std::string body() const {
    const int count = accumulator_registers();
    const std::string type = form.d == "f16" ? "b32" : form.d;
    std::string text = R"(
  .shared .align 1024 .b8 tile[)" +
                       std::to_string(image.size()) + R"(];
  .reg .b32 %r<10>; .reg .b64 %d<12>; .reg .pred %p<4>; .reg .b32 %a<4>; .reg .)" +
                       type + " %c<" + std::to_string(count) + R"(>;
  ld.param.u64 %d0, [image]; ld.param.u64 %d1, [registers]; ld.param.u64 %d2, [start]; ld.param.u64 %d3, [to];
  ld.param.u64 %d4, [a]; ld.param.u64 %d5, [b]; ld.param.u64 %d6, [metadata];
  mov.u32 %r0, %tid.x; mov.u32 %r1, tile;
  and.b32 %r2, %r1, 0x3ffff; shr.u32 %r2, %r2, 4; cvt.u64.u32 %d7, %r2;
  add.s64 %d4, %d4, %d7; add.s64 %d5, %d5, %d7;
  mov.u32 %r3, %r0;
COPY:
  setp.ge.u32 %p0, %r3, )" +
                       std::to_string(image.size() / 4) + R"(;
  @%p0 bra COPIED;
  shl.b32 %r4, %r3, 2; cvt.u64.u32 %d8, %r4; add.s64 %d8, %d0, %d8; add.s32 %r5, %r1, %r4;
  ld.global.b32 %r6, [%d8]; st.shared.b32 [%r5], %r6;
  add.s32 %r3, %r3, 128;
  bra COPY;
COPIED:
  mul.wide.u32 %d8, %r0, 16; add.s64 %d8, %d1, %d8; ld.global.v4.b32 {%a0, %a1, %a2, %a3}, [%d8];
  mul.wide.u32 %d8, %r0, 4; add.s64 %d8, %d6, %d8; ld.global.b32 %r7, [%d8];
  mul.wide.u32 %d9, %r0, )" +
                       std::to_string(count * 4) + R"(; add.s64 %d2, %d2, %d9; add.s64 %d3, %d3, %d9;
)";
    for (int i = 0; i < count; ++i) {
      text += "  ld.global." + type + " %c" + std::to_string(i) + ", [%d2+" + std::to_string(4 * i) + "];\n";
    }
    text +=
        "  fence.proxy.async.shared::cta;  // PROXY\n  bar.sync 0;\n  wgmma.fence.sync.aligned;  // FENCE\n "
        " " +
        instruction() + "  // MMA\n  wgmma.commit_group.sync.aligned;  // COMMIT\n" +
        "  wgmma.wait_group.sync.aligned 0;  // WAIT\n";
    for (int i = 0; i < count; ++i) {
      text += "  st.global." + type + " [%d3+" + std::to_string(4 * i) + "], %c" + std::to_string(i) +
              (i == 0 ? ";  // USE\n" : ";\n");
    }
    return text + "  ret;\n";
  }
};

constexpr char wgmma_parameters[] =
    ".param .u64 image, .param .u64 registers, .param .u64 start, .param .u64 to, .param .u64 a, .param .u64 "
    "b, "
    ".param .u64 metadata";

struct WgmmaKernel {
  WgmmaKernel(const WgmmaData& data, const std::string& body) : kernel(wgmma_parameters, body) {
    count = static_cast<std::size_t>(128 * data.accumulator_registers());
    to = kernel.zeros<std::uint32_t>(count);
    kernel.grid(1, 128)
        .argument(0, kernel.upload(data.image))
        .argument(1, kernel.upload(data.a_registers))
        .argument(2, kernel.upload(data.start()))
        .argument(3, to)
        .argument(4, data.a_descriptor)
        .argument(5, data.b_descriptor)
        .argument(6, kernel.upload(data.metadata));
  }
  PtxKernel kernel;
  std::uint64_t to;
  std::size_t count;
};

}  // namespace tenon::emulator::testing
