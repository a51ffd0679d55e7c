// .npy files: what is read, each sentence of what is not, and output that is whole or absent.
#include "command_line/npy.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>

#include "command_line/exit_status.hpp"
#include "command_line/temporary_folder.hpp"

namespace tenon::command {
namespace {

using test::TemporaryFolder;

// A file of the given version around a header text.
std::string npy(const std::string& header, const std::string& data, int major = 1) {
  std::string file("\x93NUMPY", 6);
  file += static_cast<char>(major);
  file += '\0';
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i) file += static_cast<char>(header.size() >> (8 * i) & 0xFF);
  return file + header + data;
}

std::string header(const std::string& descr, const std::string& shape, const std::string& order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

class Npy : public ::testing::Test {
 protected:
  // The sentence with which the file is refused, without the path.
  std::string refusal(const std::string& content, std::optional<Type> bits = std::nullopt) {
    const std::string path = folder_.write("x.npy", content);
    try {
      read_npy(path, bits);
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.status(), Exit::bad_input);
      const std::string sentence = failure.what();
      EXPECT_EQ(sentence.compare(0, path.size() + 2, path + ": "), 0) << sentence;
      return sentence.substr(path.size() + 2);
    }
    return "accepted";
  }
  NpyMatrix accepted(const std::string& content, std::optional<Type> bits = std::nullopt) {
    return read_npy(folder_.write("x.npy", content), bits);
  }

  TemporaryFolder folder_;
};

TEST_F(Npy, ReadsEveryVersionAndType) {
  for (const int major : {1, 2, 3}) {
    const NpyMatrix x = accepted(npy(header("<f2", "(2, 3)"), "abcdefghijkl", major));
    EXPECT_EQ(x.rows, 2);
    EXPECT_EQ(x.columns, 3);
    EXPECT_EQ(x.order, row_major);
    EXPECT_EQ(x.type, Type::f16);
    EXPECT_EQ(std::string(x.data.begin(), x.data.end()), "abcdefghijkl");
  }
  EXPECT_EQ(accepted(npy(header("<f4", "(1, 1)"), "abcd")).type, Type::f32);
  EXPECT_EQ(accepted(npy(header("<V2", "(1, 2)"), "abcd")).type, Type::bf16);
  EXPECT_EQ(accepted(npy(header("|V2", "(1, 2)"), "abcd")).type, Type::bf16);
  EXPECT_EQ(accepted(npy(header("<u2", "(1, 2)"), "abcd"), Type::bf16).type, Type::bf16);
  EXPECT_EQ(accepted(npy(header("|i1", "(2, 2)"), "abcd")).type, Type::s8);
  EXPECT_EQ(accepted(npy(header("<i4", "(1, 1)"), "abcd")).type, Type::s32);
  EXPECT_EQ(accepted(npy(header("<f1", "(2, 2)"), "abcd")).type, Type::e5m2);
  EXPECT_EQ(accepted(npy(header("<f8", "(1, 1)"), "abcdefgh")).type, Type::f64);
}

// The files do not say which 8-bit float they hold.
TEST_F(Npy, BytesAreTheFloatsThatTheyAreSaidToBe) {
  for (const char* descr : {"|u1", "|V1", "<V1"}) {
    for (const Type type : {Type::e4m3, Type::e5m2}) {
      const NpyMatrix x = accepted(npy(header(descr, "(2, 2)"), "abcd"), type);
      EXPECT_EQ(x.type, type);
      EXPECT_EQ(std::string(x.data.begin(), x.data.end()), "abcd");
    }
    for (const std::optional<Type> other :
         {std::optional<Type>(), std::optional(Type::s8), std::optional(Type::bf16)}) {
      EXPECT_EQ(refusal(npy(header(descr, "(2, 2)"), "abcd"), other),
                std::string("its elements are '") + descr +
                    "', which means an 8-bit float only with --type e4m3 or e5m2");
    }
  }
}

TEST_F(Npy, FortranOrderIsColumnMajor) {
  EXPECT_EQ(accepted(npy(header("<f2", "(2, 1)", "True"), "abcd")).order, column_major);
}

TEST_F(Npy, KeysInAnyOrderAndSpacing) {
  const NpyMatrix x = accepted(npy("{\"shape\":(2,1),'fortran_order' :False , 'descr':'<f2'}   \n", "abcd"));
  EXPECT_EQ(x.rows, 2);
  EXPECT_EQ(x.columns, 1);
}

TEST_F(Npy, EmptyMatrices) {
  EXPECT_EQ(accepted(npy(header("<f2", "(0, 7)"), "")).columns, 7);
  EXPECT_EQ(accepted(npy(header("<f2", "(7, 0)"), "")).rows, 7);
}

TEST_F(Npy, NotAFile) {
  for (const std::string& path : {folder_ / "missing.npy", folder_ / "."}) {
    try {
      read_npy(path);
      FAIL() << path << " was read";
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.status(), Exit::bad_input);
      EXPECT_NE(std::string(failure.what()).find("cannot be read: "), std::string::npos) << failure.what();
    }
  }
}

TEST_F(Npy, NotNpy) {
  const std::string sentence = "it is not a .npy file: it does not start with \\x93NUMPY and a version";
  EXPECT_EQ(refusal(""), sentence);
  EXPECT_EQ(refusal("\x93NUMPY"), sentence);
  EXPECT_EQ(refusal("PK\x03\x04 a zip file"), sentence);
  EXPECT_EQ(refusal(npy(header("<f2", "(1, 2)"), "abcd", 4)),
            "its .npy version is 4.0 but must be 1.0, 2.0 or 3.0");
}

TEST_F(Npy, TruncatedAnywhere) {
  const std::string whole = npy(header("<f2", "(2, 3)"), "abcdefghijkl");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(refusal(whole.substr(0, size)), "accepted") << "of " << size << " bytes";
  }
  EXPECT_EQ(refusal(whole.substr(0, 20)), "it is truncated: it ends inside its header");
  EXPECT_EQ(refusal(whole.substr(0, whole.size() - 1)),
            "it is truncated: it holds 11 bytes of data, but 2 x 3 elements of f16 need more");
  EXPECT_EQ(refusal(whole + "m"),
            "it is too long: it holds 13 bytes of data, but 2 x 3 elements of f16 need 12");
}

TEST_F(Npy, NotTwoDimensional) {
  EXPECT_EQ(refusal(npy(header("<f2", "(6,)"), "abcdefghijkl")), "it has 1 dimensions but a matrix needs 2");
  EXPECT_EQ(refusal(npy(header("<f2", "()"), "ab")), "it has 0 dimensions but a matrix needs 2");
  EXPECT_EQ(refusal(npy(header("<f2", "(1, 2, 3)"), "abcdefghijkl")),
            "it has 3 dimensions but a matrix needs 2");
}

TEST_F(Npy, OtherTypes) {
  EXPECT_EQ(refusal(npy(header("<i8", "(1, 1)"), "abcdefgh")),
            "its elements are '<i8' but must be '<f2' (float16), '<f4' (float32), '<f8' (float64), '<V2' "
            "(bfloat16), '|V1' or '|u1' (8-bit floats), '|i1' (int8) or '<i4' (int32)");
  EXPECT_EQ(refusal(npy(header(">i4", "(1, 1)"), "abcd")),
            "its elements are big-endian ('>i4') but must be little-endian ('<i4')");
  EXPECT_EQ(refusal(npy(header(">f2", "(1, 1)"), "ab")),
            "its elements are big-endian ('>f2') but must be little-endian ('<f2')");
  EXPECT_EQ(refusal(npy(header("<u2", "(1, 1)"), "ab")),
            "its elements are '<u2', which means bfloat16 only with --type bf16");
  EXPECT_EQ(refusal(npy("{'descr': [('x', '<f2')], 'fortran_order': False, 'shape': (1, 1)}", "ab")),
            "its elements are records, but they must be numbers, as '<f2' or '|i1'");
}

TEST_F(Npy, MalformedHeaders) {
  for (const char* text :
       {"", "{", "{}", "[]", "{'descr': '<f2'}", "{'descr': '<f2', 'fortran_order': False, 'shape': (1, -1)}",
        "{'descr': '<f2', 'fortran_order': Maybe, 'shape': (1, 1)}",
        "{'descr': '<f2', 'fortran_order': False, 'shape': (1, 1), 'more': 'x'}",
        "{'descr': '<f2', 'descr': '<f2', 'fortran_order': False, 'shape': (1, 1)}",
        "{'descr': '<f2', 'fortran_order': False, 'shape': (1, 1)} + 1",
        "{'descr': '<f2', 'fortran_order': False, 'shape': (1 1)}", "{'descr': '<f2",
        "{'descr': '<f2', 'fortran_order': False, 'shape': (1, 99999999999999999999)}"}) {
    EXPECT_NE(refusal(npy(text, "ab")), "accepted") << text;
  }
}

TEST_F(Npy, ForgedShapesDoNotOverflow) {
  // 2^33 * 2^31 elements are 2^65 bytes, which is 0 in 64 bits.
  EXPECT_EQ(
      refusal(npy(header("<f2", "(8589934592, 2147483648)"), "")),
      "it is truncated: it holds 0 bytes of data, but 8589934592 x 2147483648 elements of f16 need more");
  std::string file = npy(header("<f2", "(1, 1)"), "ab", 2);
  file[11] = '\x7F';  // a header of 2 GB
  EXPECT_EQ(refusal(file), "it is truncated: it ends inside its header");
}

TEST_F(Npy, TheHeaderAlone) {
  const TemporaryFolder folder;
  const std::string path = folder.write("x.npy", npy(header("<f2", "(1, 2)"), "abcd"));
  const NpyMatrix x = read_npy_header(path);
  EXPECT_EQ(x.rows, 1);
  EXPECT_EQ(x.columns, 2);
  EXPECT_EQ(x.type, Type::f16);
  EXPECT_TRUE(x.data.empty());
  EXPECT_THROW(read_npy_header(folder.write("short.npy", npy(header("<f2", "(1, 2)"), "abc"))), Failure);
}

TEST_F(Npy, HeaderRoundTrip) {
  for (const Type type : all_types) {
    const std::string head = npy_header(type, 3, 2);
    EXPECT_EQ(head.size() % 64, 0U);
    const NpyMatrix x = accepted(head + std::string(6 * bytes(type), 'x'), type);
    EXPECT_EQ(x.rows, 3);
    EXPECT_EQ(x.columns, 2);
    EXPECT_EQ(x.type, type == Type::tf32 ? Type::f32 : type);
    EXPECT_EQ(x.order, row_major);
  }
  EXPECT_EQ(npy_header(Type::f16, 1234567890, 1234567890).size() % 64, 0U);
}

TEST(OutputFile, AppearsOnlyWhenCommitted) {
  const TemporaryFolder folder;
  folder.write("out", "old");
  {
    OutputFile file(folder / "out");
    file.write("new", 3);
    EXPECT_EQ(folder.read("out"), "old");
  }
  EXPECT_EQ(folder.read("out"), "old");
  EXPECT_EQ(folder.files(), 1U) << "the temporary file is gone";
  OutputFile file(folder / "out");
  file.write("new", 3);
  file.commit();
  EXPECT_EQ(folder.read("out"), "new");
  EXPECT_EQ(folder.files(), 1U);
}

TEST(OutputFile, RefusesWhatCannotBeWrittenAtOnce) {
  const TemporaryFolder folder;
  for (const std::string& path : {folder / "no/such/folder", folder / ".", std::string("/dev/null")}) {
    try {
      OutputFile file(path);
      FAIL() << path << " was opened";
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.status(), Exit::bad_input);
      EXPECT_NE(std::string(failure.what()).find("cannot be written: "), std::string::npos) << failure.what();
    }
  }
  EXPECT_EQ(folder.files(), 0U);
}

TEST(OutputFile, WritesThroughALink) {
  const TemporaryFolder folder;
  folder.write("target", "old");
  std::filesystem::create_symlink("target", folder / "link");
  OutputFile file(folder / "link");
  file.write("new", 3);
  file.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(folder.read("target"), "new");
}

TEST(OutputFile, ALinkToAMissingFileStays) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "deep");
  std::filesystem::create_symlink("deep/second", folder / "first");
  std::filesystem::create_symlink("target", folder / "deep/second");
  write_file(folder / "first", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "first"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "deep/second"));
  EXPECT_EQ(folder.read("deep/target"), "new");
  std::filesystem::create_symlink("circle", folder / "circle");
  EXPECT_THROW(OutputFile(folder / "circle"), Failure);
}

TEST(OutputFile, NothingHasANameBeforeItIsComplete) {
  const TemporaryFolder folder;
  OutputFile file(folder / "out");
  file.write("new", 3);
  EXPECT_EQ(folder.files(), 0U) << "a signal would leave it behind";
  file.commit();
  EXPECT_EQ(folder.read("out"), "new");
}

TEST(OutputFile, KeepsThePermissionsOfWhatItReplaces) {
  namespace files = std::filesystem;
  const TemporaryFolder folder;
  folder.write("out", "old");
  files::permissions(folder / "out", files::perms::owner_read | files::perms::owner_write);
  write_file(folder / "out", "new");
  EXPECT_EQ(files::status(folder / "out").permissions(),
            files::perms::owner_read | files::perms::owner_write);
}

TEST(OutputFile, OneFileHasOnePath) {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("x", folder / "link");
  EXPECT_EQ(OutputFile(folder / "x").path(), OutputFile(folder / "./x").path());
  EXPECT_EQ(OutputFile(folder / "x").path(), OutputFile(folder / "link").path());
  EXPECT_NE(OutputFile(folder / "x").path(), OutputFile(folder / "y").path());
}

}  // namespace
}  // namespace tenon::command
