// What is compiled and what comes from the cache, by a stub of NVRTC (STUB_NVRTC) that counts.
#include "tenon/jit/compile.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>

#include "jit/scratch_folder.hpp"

namespace tenon::jit {
namespace {

class Compile : public ::testing::Test {
 protected:
  void SetUp() override {
    unsetenv("STUB_NVRTC_VERSION");
    folder_.write("include/a.hpp", "#include \"part/b.hpp\"\n");
    folder_.write("include/part/b.hpp", "#if 0\n#  include <c.hpp>\n#endif\n#include \"d.hpp\"\n");
    folder_.write("include/part/d.hpp", "beside b.hpp\n");
    folder_.write("include/cccl/c.hpp", "in cccl\n");
    options_.nvrtc = STUB_NVRTC;
    options_.include_folders = {folder_.path("include")};
    options_.cache_folder = folder_.path("cache");
    program_.source = "#include <a.hpp>\n#include <built_in>\ntext\n";
    program_.architecture = "sm_90a";
    program_.kernels = {"kernel<int>", "other"};
    program_.options = {"-std=c++17"};
  }
  static int compilations() {
    void* const stub = dlopen(STUB_NVRTC, RTLD_NOW);
    return *static_cast<int*>(dlsym(stub, "stub_nvrtc_compiled"));
  }
  // Whether it was compiled; it may have come from the cache instead.
  bool compiles() {
    const int before = compilations();
    const Status status = compile(program_, options_, &cubin_, &report_);
    EXPECT_TRUE(status) << status.message();
    EXPECT_EQ(cubin_.bytes, "cubin of " + program_.source);
    EXPECT_EQ(cubin_.symbols.size(), program_.kernels.size());
    if (!cubin_.symbols.empty()) {
      EXPECT_EQ(cubin_.symbols[0], "symbol of " + program_.kernels[0]);
    }
    const bool compiled = compilations() != before;
    EXPECT_EQ(report_.from_cache, !compiled);
    EXPECT_EQ(report_.seconds > 0, compiled) << report_.seconds;
    return compiled;
  }

  const test::ScratchFolder folder_;
  CompileOptions options_;
  Program program_;
  Cubin cubin_;
  CompileReport report_;
};

TEST_F(Compile, TakesTheSecondFromTheCache) {
  EXPECT_TRUE(compiles());
  EXPECT_EQ(report_.note, "");
  EXPECT_FALSE(compiles());
  EXPECT_EQ(report_.note, "");
  options_.cache_folder.clear();
  EXPECT_TRUE(compiles());
  EXPECT_TRUE(compiles());
}
TEST_F(Compile, AgainWhereAnythingIsAnother) {
  EXPECT_TRUE(compiles());
  const std::pair<const char*, std::function<void()>> changes[] = {
      {"the source", [&] { program_.source += "more\n"; }},
      {"an option", [&] { program_.options = {"-std=c++20"}; }},
      {"one more option", [&] { program_.options.emplace_back("-G"); }},
      {"the architecture", [&] { program_.architecture = "sm_80"; }},
      {"a kernel", [&] { program_.kernels[1] = "another"; }},
      {"fewer kernels", [&] { program_.kernels.pop_back(); }},
      {"a header", [&] { folder_.write("include/a.hpp", "#include \"part/b.hpp\"\nchanged\n"); }},
      {"a header of a header", [&] { folder_.write("include/part/d.hpp", "changed"); }},
      {"a header that is not read", [&] { folder_.write("include/cccl/c.hpp", "changed"); }},
      {"a header that was not there", [&] { folder_.write("include/built_in", "new"); }},
      {"a folder that comes first",
       [&] {
         folder_.write("first/a.hpp", "another");
         options_.include_folders.insert(options_.include_folders.begin(), folder_.path("first"));
       }},
      {"the version of NVRTC", [&] { setenv("STUB_NVRTC_VERSION", "13.1", 1); }},
  };
  for (const auto& [what, change] : changes) {
    change();
    EXPECT_TRUE(compiles()) << what;
    EXPECT_FALSE(compiles()) << what;
  }
}
TEST_F(Compile, NotAgainWhereTheFoldersHaveMovedAsTheyAre) {
  EXPECT_TRUE(compiles());
  std::filesystem::rename(folder_.path("include"), folder_.path("moved"));
  options_.include_folders = {folder_.path("moved")};
  EXPECT_FALSE(compiles());
  folder_.write("moved/unrelated.hpp", "text");
  EXPECT_FALSE(compiles());
}
TEST_F(Compile, FollowsHeadersThatIncludeEachOther) {
  folder_.write("include/a.hpp",
                "#include <a.hpp>\n#include \"part/b.hpp\"\n#include NAME\n#include \"open\n");
  EXPECT_TRUE(compiles());
  program_.include_folders = with_cccl(options_.include_folders);
  EXPECT_EQ(HeaderText(program_).count(), 4U);
}
TEST_F(Compile, DoesWithoutACacheThatCannotBeUsed) {
  folder_.write("file", "");
  options_.cache_folder = folder_.path("file");
  EXPECT_TRUE(compiles());
  EXPECT_NE(report_.note.find("cannot be stored in the cubin cache"), std::string::npos) << report_.note;
}
TEST_F(Compile, AgainWhereTheCacheIsDamaged) {
  EXPECT_TRUE(compiles());
  folder_.write("cache/" + folder_.files("cache").at(0), "garbage");
  EXPECT_TRUE(compiles());
  EXPECT_NE(report_.note.find("is damaged"), std::string::npos) << report_.note;
  EXPECT_FALSE(compiles());
}
TEST_F(Compile, SaysWhatDoesNotCompile) {
  program_.source = "this does not compile";
  const Status status = compile(program_, options_, &cubin_, &report_);
  EXPECT_EQ(status.code(), StatusCode::invalid_argument);
  EXPECT_STREQ(status.message(), "NVRTC: epilogue(2): error: this line 1 error detected");
  EXPECT_EQ(report_.log, "epilogue(1): warning: a remark\nepilogue(2): error: this line\n1 error detected");
  EXPECT_FALSE(std::filesystem::exists(folder_.path("cache")));
}
TEST_F(Compile, SaysThatNvrtcIsMissingOrTooOld) {
  const auto message = [&] {
    const Status status = compile(program_, options_, &cubin_, &report_);
    EXPECT_EQ(status.code(), StatusCode::device_unsupported);
    return std::string(status.message());
  };
  setenv("STUB_NVRTC_VERSION", "12.4", 1);
  EXPECT_EQ(message(), std::string(STUB_NVRTC) + " is NVRTC 12.4 but the kernels need 13.0 or newer");
  options_.nvrtc = "libnowhere.so.13";
  EXPECT_EQ(
      message().find("kernels are compiled by NVRTC 13.0 or newer but libnowhere.so.13 cannot be opened: "),
      0U)
      << message();
  options_.nvrtc = "libm.so.6";
  EXPECT_EQ(message(), "libm.so.6 has no nvrtcVersion but kernels are compiled by NVRTC 13.0 or newer");
}

}  // namespace
}  // namespace tenon::jit
