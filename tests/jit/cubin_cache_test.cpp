// The cubin cache: what is stored comes back, and nothing that is damaged does.
#include "tenon/jit/cubin_cache.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <thread>

#include "jit/scratch_folder.hpp"

namespace tenon::jit {
namespace {

// The examples of FIPS 180-4, and lengths about the end of a block.
TEST(Sha256, IsThatOfTheStandard) {
  const auto of = [](std::string_view text) { return hexadecimal(Sha256().add(text).digest()); };
  EXPECT_EQ(of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(of(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}
TEST(Sha256, DoesNotDependOnThePieces) {
  for (const std::size_t size : {55U, 56U, 63U, 64U, 65U, 200U}) {
    const std::string text(size, 'x');
    Sha256 pieces;
    for (const char c : text) pieces.add({&c, 1});
    EXPECT_EQ(pieces.digest(), Sha256().add(text).digest()) << size;
  }
}
TEST(Sha256, TellsFieldsApart) {
  EXPECT_NE(Sha256().add_field("ab").add_field("c").digest(),
            Sha256().add_field("a").add_field("bc").digest());
}

class Cache : public ::testing::Test {
 protected:
  const test::ScratchFolder folder_;
  const CubinCache cache_{folder_.path("below/cache")};
  const Digest key_ = Sha256().add("key").digest();
  const Cubin cubin_{std::string("\x7f"
                                 "ELF\0and more",
                                 13),
                     {"first", "second"}};
  std::string file_ = "below/cache/" + hexadecimal(key_) + ".cubin";
  Cubin got_;
  std::string note_;

  bool loads(const Digest& key) { return cache_.load(key, 2, &got_, &note_); }
  void expect_damaged(const std::string& text) {
    folder_.write(file_, text);
    note_.clear();
    EXPECT_FALSE(loads(key_));
    EXPECT_NE(note_.find("is damaged: the kernel is compiled again"), std::string::npos) << note_;
  }
};

TEST_F(Cache, GivesBackWhatWasStored) {
  EXPECT_FALSE(loads(key_));
  EXPECT_EQ(note_, "");
  cache_.store(key_, cubin_, &note_);
  ASSERT_TRUE(loads(key_));
  EXPECT_EQ(note_, "");
  EXPECT_EQ(got_.bytes, cubin_.bytes);
  EXPECT_EQ(got_.symbols, cubin_.symbols);
  EXPECT_EQ(folder_.files().size(), 1U) << "the temporary file is still there";
  EXPECT_FALSE(loads(Sha256().add("another key").digest()));
  EXPECT_EQ(note_, "");
}
TEST_F(Cache, IsForItsUserAlone) {
  cache_.store(key_, cubin_, &note_);
  for (const char* name : {"below", "below/cache"}) {
    struct stat found;
    ASSERT_EQ(stat(folder_.path(name).c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777U, 0700U) << name;
  }
}
TEST_F(Cache, TakesNoFileThatIsCut) {
  const std::string whole = CubinCache::pack(key_, cubin_);
  for (std::size_t size = 0; size < whole.size(); ++size) expect_damaged(whole.substr(0, size));
  expect_damaged(whole + '\0');
}
TEST_F(Cache, TakesNoFileInWhichABitIsFlipped) {
  const std::string whole = CubinCache::pack(key_, cubin_);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x10);
    expect_damaged(flipped);
  }
}
// With a right checksum.
TEST_F(Cache, TakesNoFileOfAnotherKeyOrFormatOrNumberOfKernels) {
  expect_damaged(CubinCache::pack(Sha256().add("another key").digest(), cubin_));
  expect_damaged(CubinCache::pack(key_, {cubin_.bytes, {"first"}}));
  expect_damaged(CubinCache::pack(key_, {cubin_.bytes, {"first", "second", "third"}}));
  std::string older = CubinCache::pack(key_, cubin_);
  older.resize(older.size() - sizeof(Digest));
  older[older.find('1')] = '0';
  const Digest checksum = Sha256().add(older).digest();
  older.append(reinterpret_cast<const char*>(checksum.data()), checksum.size());
  expect_damaged(older);
  expect_damaged("something else\n");
}
TEST_F(Cache, ReplacesWhatIsDamaged) {
  expect_damaged("something else\n");
  cache_.store(key_, cubin_, &note_);
  EXPECT_TRUE(loads(key_));
}
TEST_F(Cache, SaysThatItsFolderCannotBeWritten) {
  folder_.write("file", "");
  const CubinCache below_a_file(folder_.path("file/cache"));
  below_a_file.store(key_, cubin_, &note_);
  EXPECT_EQ(note_, "the kernel cannot be stored in the cubin cache " + folder_.path("file/cache") +
                       ": Not a directory");
  note_.clear();
  EXPECT_FALSE(below_a_file.load(key_, 2, &got_, &note_));
  EXPECT_NE(note_.find("cannot be read: Not a directory"), std::string::npos) << note_;
}
// Where the file should be is a folder: it is neither read nor replaced, and no temporary file stays.
TEST_F(Cache, SaysThatAFolderIsInTheWay) {
  folder_.write(file_ + "/inside", "");
  EXPECT_FALSE(loads(key_));
  EXPECT_NE(note_.find("cannot be read: Is a directory"), std::string::npos) << note_;
  cache_.store(key_, cubin_, &note_);
  EXPECT_NE(note_.find("cannot be stored"), std::string::npos) << note_;
  EXPECT_EQ(folder_.files(), std::vector<std::string>{"inside"});
}
TEST_F(Cache, WithoutAFolderIsNone) {
  const CubinCache none("");
  none.store(key_, cubin_, &note_);
  EXPECT_FALSE(none.load(key_, 2, &got_, &note_));
  EXPECT_EQ(note_, "");
}
// A reader beside writers sees the file whole, always.
TEST_F(Cache, IsReplacedAtOnce) {
  const Cubin large{std::string(1 << 18, 'x'), {"first", "second"}};
  cache_.store(key_, large, &note_);
  std::atomic<bool> done{false};
  std::thread writer([&] {
    std::string note;
    for (int i = 0; i < 50; ++i) cache_.store(key_, large, &note);
    done = true;
  });
  bool whole = true;
  while (!done && whole) whole = loads(key_);
  writer.join();
  EXPECT_TRUE(whole) << note_;
}
TEST(UserCacheFolder, IsTheOneThatUsersExpect) {
  setenv("XDG_CACHE_HOME", "/caches", 1);
  EXPECT_EQ(user_cache_folder(), "/caches/tenon");
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", "/home/user", 1);
  EXPECT_EQ(user_cache_folder(), "/home/user/.cache/tenon");
  unsetenv("HOME");
  EXPECT_EQ(user_cache_folder(), "");
}

}  // namespace
}  // namespace tenon::jit
