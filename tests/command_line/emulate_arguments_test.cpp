// What --arg means, the kernel arguments made of it, and the sentences of refusals.
#include "command_line/emulate_arguments.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "command_line/exit_status.hpp"
#include "command_line/temporary_folder.hpp"

namespace tenon::command {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Kind = ArgumentText::Kind;
using test::TemporaryFolder;

template <class Function>
std::string refusal(Function&& function) {
  try {
    function();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.status(), Exit::bad_input);
    return failure.what();
  }
  return "accepted";
}
std::string refusal_of(const std::string& text) {
  return refusal([&] { parse_argument(text); });
}

TEST(ParseArgument, ValuesAreTheBytesOfTheirType) {
  EXPECT_EQ(parse_argument("u32:5").bytes, (Bytes{5, 0, 0, 0}));
  EXPECT_EQ(parse_argument("u64:0x1122334455667788").bytes,
            (Bytes{0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11}));
  EXPECT_EQ(parse_argument("s64:-3").bytes, (Bytes{0xfd, 255, 255, 255, 255, 255, 255, 255}));
  EXPECT_EQ(parse_argument("s8:-128").bytes, (Bytes{0x80}));
  EXPECT_EQ(parse_argument("u16:65535").bytes, (Bytes{255, 255}));
  EXPECT_EQ(parse_argument("b32:0x3f800000").bytes, (Bytes{0, 0, 0x80, 0x3f}));
  EXPECT_EQ(parse_argument("f32:1.5").bytes, (Bytes{0, 0, 0xc0, 0x3f}));
  EXPECT_EQ(parse_argument("f64:-2").bytes, (Bytes{0, 0, 0, 0, 0, 0, 0, 0xc0}));
  EXPECT_EQ(parse_argument("f16:-1").bytes, (Bytes{0, 0xbc}));
  EXPECT_EQ(parse_argument("bf16:1").bytes, (Bytes{0x80, 0x3f}));
  EXPECT_EQ(parse_argument("f32:inf").bytes, (Bytes{0, 0, 0x80, 0x7f}));
  EXPECT_EQ(parse_argument("bytes:0aFF00").bytes, (Bytes{0x0a, 0xff, 0}));
}

TEST(ParseArgument, ValuesThatDoNotFitAreRefused) {
  EXPECT_EQ(refusal_of("u8:256"), "u8:256: the value must be an unsigned integer of 8 bits");
  EXPECT_EQ(refusal_of("s8:128"), "s8:128: the value must be a signed integer of 8 bits");
  EXPECT_EQ(refusal_of("s8:-129"), "s8:-129: the value must be a signed integer of 8 bits");
  EXPECT_EQ(refusal_of("u32:-1"), "u32:-1: the value must be an unsigned integer of 32 bits");
  EXPECT_EQ(refusal_of("u64:18446744073709551616"),
            "u64:18446744073709551616: the value must be an unsigned integer of 64 bits");
  for (const std::string text : {"f16:1e9", "bf16:1e39", "f32:1e99", "f64:-1e999"}) {
    const std::string type = text.substr(0, text.find(':'));
    EXPECT_EQ(refusal_of(text),
              text + ": the value would become infinite in " + type + "; infinity is written inf");
    EXPECT_EQ(refusal_of(type + ":-inf"), "accepted");
    EXPECT_EQ(refusal_of(type + ":nan"), "accepted");
    EXPECT_EQ(refusal_of(type + ":65504"), "accepted");
  }
  EXPECT_NE(refusal_of("s32:1.5"), "accepted");
  EXPECT_NE(refusal_of("s32:--5"), "accepted");
  EXPECT_NE(refusal_of("u32:0x"), "accepted");
  EXPECT_NE(refusal_of("u32: 5"), "accepted");
  EXPECT_NE(refusal_of("f32:1.5f"), "accepted");
  EXPECT_NE(refusal_of("f32: 1"), "accepted");
  EXPECT_NE(refusal_of("bytes:123"), "accepted");
  EXPECT_NE(refusal_of("bytes:0g"), "accepted");
}

TEST(ParseArgument, Buffers) {
  EXPECT_EQ(parse_argument("zeros:4096").kind, Kind::zeros);
  EXPECT_EQ(parse_argument("unwritten:0x10").size, 16u);
  EXPECT_EQ(parse_argument("file:a:b.npy").in_path, "a:b.npy");
  const ArgumentText out = parse_argument("out:a:b.npy:f16:4x8");
  EXPECT_EQ(out.out_path, "a:b.npy");
  EXPECT_EQ(out.type, "<f2");
  EXPECT_EQ(out.shape, (std::vector<std::int64_t>{4, 8}));
  EXPECT_EQ(out.size, 64u);
  const ArgumentText inout = parse_argument("inout:A.npy:B.npy");
  EXPECT_EQ(inout.in_path, "A.npy");
  EXPECT_EQ(inout.out_path, "B.npy");
  const ArgumentText same = parse_argument("same:b2+256");
  EXPECT_FALSE(same.other.is_argument);
  EXPECT_EQ(same.other.number, 2);
  EXPECT_EQ(same.offset, 256u);
  EXPECT_NE(refusal_of("zeros:many"), "accepted");
  EXPECT_NE(refusal_of("out:C.npy"), "accepted");
  EXPECT_NE(refusal_of("out:C.npy:128"), "accepted");
  EXPECT_NE(refusal_of("out:C.npy:f31:128"), "accepted");
  EXPECT_NE(refusal_of("out:C.npy:f32:128x"), "accepted");
  EXPECT_NE(refusal_of("out:C.npy:f32:1000000000x1000000000"), "accepted");
  EXPECT_NE(refusal_of("inout:A.npy"), "accepted");
  EXPECT_NE(refusal_of("same:0"), "accepted");
  EXPECT_EQ(refusal_of("nothing"),
            "nothing: an argument is KIND:VALUE, for example u32:5, zeros:4096 or file:A.npy");
  EXPECT_NE(refusal_of("zeros:"), "accepted");
  EXPECT_EQ(refusal_of("u33:5").find("u33:5: 'u33' is not a kind of argument; there are u8 u16"), 0u);
}

TEST(ParseArgument, TensorMaps) {
  const ArgumentText a = parse_argument("map:1:f16:4x64x128:box=1x64x64:swizzle=128B:fill=nan:offset=512");
  EXPECT_EQ(a.kind, Kind::map);
  EXPECT_EQ(a.map.over.number, 1);
  EXPECT_EQ(a.map.type, emulator::TensorMapType::float16);
  EXPECT_EQ(a.map.dimensions, (std::vector<std::uint64_t>{4, 64, 128}));
  EXPECT_EQ(a.map.box, (std::vector<std::uint64_t>{1, 64, 64}));
  EXPECT_EQ(a.map.strides, (std::vector<std::uint64_t>{16384, 256}));  // dense
  EXPECT_EQ(a.map.steps, (std::vector<std::uint64_t>{1, 1, 1}));
  EXPECT_EQ(a.map.swizzle, emulator::TensorMapSwizzle::bytes_128);
  EXPECT_EQ(a.map.fill, emulator::TensorMapFill::nan_request_zero_fma);
  EXPECT_EQ(a.map.offset, 512u);
  EXPECT_EQ(parse_argument("map:b1:u8:64:box=64").map.strides.size(), 0u);
  EXPECT_NE(refusal_of("map:1:f16:64x128"), "accepted");
  EXPECT_NE(refusal_of("map:1:f17:64x128:box=64x64"), "accepted");
  EXPECT_NE(refusal_of("map:1:f16:64x128:swizzle=128B"), "accepted");
  EXPECT_NE(refusal_of("map:1:f16:64x128:box=64x64:twist=1"), "accepted");
  EXPECT_EQ(refusal_of("map:1:f16:64x128:box=64"),
            "map:1:f16:64x128:box=64: box has 1 sizes but needs 2, as the shape has 2");
}

// The layouts of structs, against C++'s own.
TEST(ParseArgument, StructsAreLaidOutAsCppDoes) {
  const auto layout = [](const char* text) { return layout_of(parse_argument(text)); };
  struct Inner {
    double x;
    std::uint8_t y;
  };
  struct Mixed {
    std::uint8_t a;
    std::uint16_t b;
    std::uint8_t c;
    std::uint64_t d;
    Inner e;
    float f;
    const void* g;
    std::uint8_t h;
  };
  const StructLayout mixed = layout("{u8:1, u16:1,u8:1, u64:1, {f64:1, u8:1}, f32:1, zeros:8, u8:1}");
  EXPECT_EQ(mixed.size, sizeof(Mixed));
  EXPECT_EQ(mixed.alignment, alignof(Mixed));
  EXPECT_EQ(mixed.offsets,
            (std::vector<std::uint64_t>{offsetof(Mixed, a), offsetof(Mixed, b), offsetof(Mixed, c),
                                        offsetof(Mixed, d), offsetof(Mixed, e), offsetof(Mixed, f),
                                        offsetof(Mixed, g), offsetof(Mixed, h)}));
  struct Small {
    std::uint16_t a;
    std::uint8_t b;
  };
  EXPECT_EQ(layout("{u16:1,u8:1}").size, sizeof(Small));
  struct alignas(16) Vector {
    float x, y, z;
  };
  struct WithVector {
    std::uint8_t a;
    Vector b;
    std::uint8_t c;
  };
  const StructLayout vector = layout("{u8:1,{align:16,f32:1,f32:1,f32:1},u8:1}");
  EXPECT_EQ(vector.offsets[1], offsetof(WithVector, b));
  EXPECT_EQ(vector.offsets[2], offsetof(WithVector, c));
  EXPECT_EQ(vector.size, sizeof(WithVector));
  struct Maps {
    std::uint8_t a;
    emulator::TensorMap b, c;
    std::uint8_t d;
  };
  const StructLayout maps = layout("{u8:1,map:b1:u8:64:box=64,map:b1:u8:64:box=64,u8:1}");
  EXPECT_EQ(maps.offsets[1], offsetof(Maps, b));
  EXPECT_EQ(maps.offsets[2], offsetof(Maps, c));
  EXPECT_EQ(maps.size, sizeof(Maps));
  const ArgumentText two = parse_argument("{u8:1,map:b1:u8:64:box=64,map:b1:u8:64:box=64}");
  EXPECT_EQ(layout_of(two, 64).offsets, (std::vector<std::uint64_t>{0, 64, 192}));
  EXPECT_EQ(layout_of(two, 128).offsets, (std::vector<std::uint64_t>{0, 128, 256})) << "CUDA 13";
  EXPECT_EQ(layout("{u8:1,pad:3,bytes:0102,u8:1}").offsets, (std::vector<std::uint64_t>{0, 1, 4, 6}));
  EXPECT_EQ(layout("{u8:1,pad:3,bytes:0102,u8:1}").size, 7u);
}

TEST(ParseArgument, StructsThatAreNoneAreRefused) {
  EXPECT_EQ(refusal_of("{u8:1"), "{u8:1: the struct's last } is missing");
  EXPECT_EQ(refusal_of("{u8:1},"), "{u8:1},: something follows the struct's last }");
  EXPECT_EQ(refusal_of("{}"), "{}: a field of the struct is empty");
  EXPECT_EQ(refusal_of("{u8:1,,u8:1}"), "{u8:1,,u8:1}: a field of the struct is empty");
  EXPECT_EQ(refusal_of("{u8:1, {s8:200}}"), "s8:200: the value must be a signed integer of 8 bits");
  EXPECT_EQ(refusal_of("{align:3,u8:1}"), "align:3: an alignment is a power of two, up to 4096 bytes");
  EXPECT_EQ(refusal_of("{pad:0,u8:1}"), "pad:0: padding is of 1 to 4096 bytes");
  EXPECT_NE(refusal_of("pad:4").find("'pad' is not a kind of argument"), std::string::npos);
  const auto nested = [](int depth) {
    const auto count = static_cast<std::size_t>(depth);
    return std::string(count, '{') + "u8:1" + std::string(count, '}');
  };
  EXPECT_EQ(refusal_of(nested(16)), "accepted");
  EXPECT_NE(refusal_of(nested(17)).find("16 deep at most"), std::string::npos);
  const std::string long_refusal = refusal_of(nested(100000));
  EXPECT_NE(long_refusal.find("16 deep at most"), std::string::npos);
  EXPECT_LT(long_refusal.size(), 1000u) << "the sentence must shorten a long argument";
}

TEST(ParseSize, OneToThreeNumbers) {
  const emulator::Dim3 size = parse_size("--grid", "32,4,2");
  EXPECT_EQ(size.x, 32u);
  EXPECT_EQ(size.y, 4u);
  EXPECT_EQ(size.z, 2u);
  EXPECT_EQ(parse_size("--grid", "7").count(), 7u);
  for (const char* text : {"", "0", "1,0", "1,2,3,4", "1,,2", "a", "-1", "4294967296"})
    EXPECT_EQ(refusal([&] { parse_size("--grid", text); }).find("--grid is '"), 0u) << text;
}

// Parameters as a module would have them.
class Arguments : public ::testing::Test {
 protected:
  EmulatedArguments make(const std::vector<emulator::Parameter>& parameters,
                         const std::vector<std::string>& arguments,
                         const std::vector<std::string>& buffers = {}) {
    return EmulatedArguments(emulator_, "k", parameters, arguments, buffers);
  }
  std::string refusal_of(const std::vector<emulator::Parameter>& parameters,
                         const std::vector<std::string>& arguments,
                         const std::vector<std::string>& buffers = {}) {
    return refusal([&] { make(parameters, arguments, buffers); });
  }
  static emulator::Address address(const emulator::Argument& argument) {
    emulator::Address value = 0;
    EXPECT_EQ(argument.bytes.size(), sizeof value);
    std::memcpy(&value, argument.bytes.data(), sizeof value);
    return value;
  }

  const emulator::Parameter pointer_{"p", "u64", 8, 8}, number_{"n", "u32", 4, 4}, real_{"x", "f32", 4, 4},
      map_{"m", "b8", 128, 64};
  emulator::Emulator emulator_;
  TemporaryFolder folder_;
};

TEST_F(Arguments, NumberAndTypesMustBeThoseOfTheParameters) {
  EXPECT_EQ(refusal_of({pointer_, number_, map_}, {"zeros:4"}),
            "the kernel k has 3 parameters: p (u64), n (u32), m (b8, 128 bytes); --arg is given 1 time");
  EXPECT_EQ(refusal_of({number_}, {"u64:5"}),
            "u64:5: the parameter n (u32) has 4 bytes but this argument has 8");
  EXPECT_EQ(refusal_of({number_}, {"zeros:4"}),
            "zeros:4: the parameter n (u32) has 4 bytes but this argument has 8");
  EXPECT_EQ(refusal_of({real_}, {"u32:5"}),
            "u32:5: the parameter x (f32) takes a real number; b32 passes bits as they are");
  EXPECT_EQ(refusal_of({number_}, {"f32:5"}),
            "f32:5: the parameter n (u32) takes an integer; b32 passes bits as they are");
  EXPECT_EQ(refusal_of({real_}, {"b32:5"}), "accepted");
  EXPECT_EQ(refusal_of({number_}, {"s32:-5"}), "accepted");
}

TEST_F(Arguments, BuffersHoldWhatWasAsked) {
  const std::string content("\x93NUMPY\x01\x00", 8);
  const std::string header = "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 1), }\n";
  const std::string path = folder_.write(
      "a.npy", content + static_cast<char>(header.size()) + '\0' + header + std::string("\1\0\2\0", 4));
  EmulatedArguments arguments = make({pointer_, pointer_, pointer_},
                                     {"zeros:8", "inout:" + path + ":" + folder_ / "b.npy", "same:1+4"});
  const emulator::Address zeros = address(arguments.values()[0]), file = address(arguments.values()[1]);
  EXPECT_EQ(address(arguments.values()[2]), zeros + 4);
  std::uint64_t value = 1;
  emulator_.copy_out(&value, zeros, 8);
  EXPECT_EQ(value, 0u);
  std::uint16_t values[2] = {};
  emulator_.copy_out(values, file, 4);
  EXPECT_EQ(values[0], 1);
  EXPECT_EQ(values[1], 2);
  emulator_.fill(file, 7, 1);
  const std::vector<EmulatedArguments::Written> written = arguments.write_outputs();
  ASSERT_EQ(written.size(), 1u);
  EXPECT_EQ(written[0].path, folder_ / "b.npy");
  EXPECT_EQ(written[0].bytes, 4u);
  EXPECT_EQ(written[0].unwritten_bytes, 0u) << "the file has filled it";
  const NpyArray back = read_npy_array(folder_ / "b.npy");
  EXPECT_EQ(back.descr, "<i2");
  EXPECT_TRUE(back.fortran_order);
  EXPECT_EQ(back.shape, (std::vector<std::int64_t>{2, 1}));
  EXPECT_EQ(back.data, (std::vector<unsigned char>{7, 0, 2, 0}));
}

TEST_F(Arguments, NothingIsWrittenWithoutALaunch) {
  { make({pointer_}, {"out:" + folder_ / "c.npy" + ":f32:4"}); }
  EXPECT_EQ(folder_.files(), 0u);
  EXPECT_NE(refusal_of({pointer_}, {"out:" + folder_ / "no/c.npy" + ":f32:4"}), "accepted");
}

TEST_F(Arguments, TwoOutputsAreTwoFiles) {
  const std::string path = folder_ / "c.npy";
  EXPECT_EQ(
      refusal_of({pointer_, pointer_}, {"out:" + path + ":f32:4", "out:" + folder_ / "./c.npy" + ":f32:8"}),
      "out:" + folder_ / "./c.npy" + ":f32:8: the output " + path +
          " is the same file, but each needs its own");
}

TEST_F(Arguments, TensorMapsByValueAndByAddress) {
  EmulatedArguments by_value = make({map_}, {"map:b1:f32:16x16:box=16x16"}, {"zeros:1024"});
  ASSERT_EQ(by_value.values()[0].bytes.size(), 128u);
  EmulatedArguments by_address = make({pointer_, pointer_}, {"map:2:f32:16x16:box=16x16", "zeros:1024"});
  Bytes bytes(128);
  emulator_.copy_out(bytes.data(), address(by_address.values()[0]), 128);
  emulator::TensorMap expected = emulator::encode_tiled(
      emulator::TensorMapType::float32, 2, address(by_address.values()[1]),
      std::vector<std::uint64_t>{16, 16}.data(), std::vector<std::uint64_t>{64}.data(),
      std::vector<std::uint32_t>{16, 16}.data(), std::vector<std::uint32_t>{1, 1}.data(),
      emulator::TensorMapInterleave::none, emulator::TensorMapSwizzle::none,
      emulator::TensorMapL2Promotion::none, emulator::TensorMapFill::zeros);
  EXPECT_EQ(std::memcmp(bytes.data(), expected.bytes, 128), 0);

  EXPECT_EQ(refusal_of({map_}, {"map:2:f32:16x16:box=16x16"}),
            "map:2:f32:16x16:box=16x16: there is no argument 2");
  EXPECT_EQ(refusal_of({map_, number_}, {"map:2:f32:16x16:box=16x16", "u32:1"}),
            "map:2:f32:16x16:box=16x16: argument 2 is not a buffer");
  EXPECT_EQ(refusal_of({pointer_}, {"same:b1"}), "same:b1: there is no buffer b1");
  EXPECT_EQ(refusal_of({}, {}, {"u32:1"}),
            "--buffer u32:1: a buffer is one of zeros, unwritten, file, out, inout");
  const std::string box = refusal_of({map_}, {"map:b1:f32:16x16:box=16x300"}, {"zeros:1024"});
  EXPECT_EQ(box.find("map:b1:f32:16x16:box=16x300: "), 0u) << box;
}

TEST_F(Arguments, StructsHoldNumbersAddressesAndTensorMaps) {
  const emulator::Parameter structure{"p", "b8", 24, 8};
  EmulatedArguments made =
      make({structure, pointer_}, {"{u8:9,{zeros:8,same:2+4}}", "out:" + folder_ / "c.npy" + ":f32:4"});
  struct {
    std::uint8_t a;
    emulator::Address b, c;
  } value;
  ASSERT_EQ(made.values()[0].bytes.size(), sizeof value);
  std::memcpy(&value, made.values()[0].bytes.data(), sizeof value);
  EXPECT_EQ(value.a, 9);
  EXPECT_EQ(value.c, address(made.values()[1]) + 4);
  std::uint64_t zeros = 1;
  emulator_.copy_out(&zeros, value.b, 8);
  EXPECT_EQ(zeros, 0u);
  for (std::size_t i = 1; i < 8; ++i) EXPECT_EQ(made.values()[0].bytes[i], 0) << "padding";

  EmulatedArguments output = make({structure}, {"{u64:0,{out:" + folder_ / "d.npy" + ":u8:2,u64:0}}"});
  EXPECT_EQ(output.write_outputs().size(), 1u);

  EXPECT_EQ(
      refusal_of({structure}, {"{u8:1,u32:2}"}),
      "{u8:1,u32:2}: the parameter p (b8, 24 bytes) has 24 bytes but this argument has 8, its fields at 0 4");
  EXPECT_EQ(refusal_of({structure, pointer_}, {"{u64:1,zeros:8,u64:1}", "same:1"}),
            "same:1: argument 1 is a struct: --buffer makes a buffer that others refer to");
  EXPECT_EQ(refusal_of({pointer_}, {"{u64:1}"}), "{u64:1}: the parameter p (u64) takes no struct");
  EXPECT_NE(refusal_of({structure}, {"{zeros:0xffffffffffff,u64:0,u64:0}"}).find("more memory than this"),
            std::string::npos);
}

TEST_F(Arguments, BuffersBeyondTheMachineAreRefused) {
  EXPECT_NE(refusal_of({pointer_}, {"zeros:0xffffffffffff"}).find("more memory than this machine has"),
            std::string::npos);
  // Refused before any byte is read: the file is sparse.
  const std::string path = folder_.write("large.npy", "");
  std::filesystem::resize_file(path, std::uintmax_t{1} << 42);
  EXPECT_NE(refusal_of({pointer_}, {"file:" + path}).find("more memory than this machine has"),
            std::string::npos);
}

}  // namespace
}  // namespace tenon::command
