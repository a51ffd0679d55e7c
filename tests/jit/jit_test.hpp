// What tests of kernels that NVRTC compiles share: how they are compiled, and launched in the emulator by the
// PTX of the same program. TENON_NVRTC, TENON_INCLUDE and CUDA_INCLUDE: where they lie.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "jit/scratch_folder.hpp"
#include "support/device.hpp"
#include "tenon/jit/compiled_kernel.hpp"

namespace tenon::jit {

inline CompileOptions options_with(const std::string& cache_folder) {
  CompileOptions options;
  options.include_folders = {TENON_INCLUDE, CUDA_INCLUDE};
  options.cache_folder = cache_folder;
  options.nvrtc = TENON_NVRTC;
  options.sm = test::emulated() ? 80 : test::gpu_sm();
  return options;
}
inline bool has_nvrtc() {
  Nvrtc nvrtc;
  return static_cast<bool>(Nvrtc::open(TENON_NVRTC, &nvrtc));
}

class JitTest : public test::DeviceTest {
 protected:
  void SetUp() override {
    if (!has_nvrtc()) GTEST_SKIP() << "needs " TENON_NVRTC;
    DeviceTest::SetUp();
  }
  // Compiled once a process, by the first test that asks.
  template <class Kernel>
  Kernel made(const StructText& given) {
    if (test::emulated()) {
      const Status written = write_ptx<Kernel>(given);
      EXPECT_TRUE(written) << written.message();
    }
    Kernel kernel;
    const Status status = Kernel::make(given, options_with(cache()), &kernel);
    EXPECT_TRUE(status) << status.message() << "\n" << kernel.report().log;
    EXPECT_EQ(kernel.report().note, "");
    EXPECT_TRUE(kernel.report().from_cache || !test::emulated());
    return kernel;
  }
  // Launches in the emulator: the PTX of the program, and the kernel of that number in it.
  template <class Kernel>
  Status emulate(const Kernel& kernel, const StructText& given, std::size_t number, Launch plan) {
    if (Status s = write_ptx<Kernel>(given); !s) return s;
    const std::string file = folder_.path(given.name);
    plan.function = &kernel;  // not null: that stands for the library's module
    plan.ptx = file.c_str();
    plan.entry = kernel.cubin().symbols.at(number).c_str();
    return test::launcher().launch(plan);
  }
  static std::string cache() {
    static const test::ScratchFolder folder;
    return folder.path();
  }

 private:
  // Compiles the program as make() does, which then finds it in the cache, and keeps the PTX to emulate.
  template <class Kernel>
  Status write_ptx(const StructText& given) {
    if (access(folder_.path(given.name + ".ptx").c_str(), R_OK) == 0) return {};
    const CompileOptions options = options_with(cache());
    Program program = Kernel::program_of(given, options);
    program.include_folders = with_cccl(options.include_folders);
    Nvrtc nvrtc;
    Cubin cubin;
    std::string log, ptx, note;
    if (Status s = Nvrtc::open(options.nvrtc, &nvrtc); !s) return s;
    if (Status s = nvrtc.compile(program, &cubin, &log, &ptx); !s) return s;
    EXPECT_EQ(log, "");
    const Digest key = key_of(program, nvrtc.major(), nvrtc.minor(), HeaderText(program).digest());
    CubinCache(options.cache_folder).store(key, cubin, &note);
    EXPECT_EQ(note, "");
    folder_.write(given.name + ".ptx", ptx);
    return {};
  }
  const test::ScratchFolder folder_;
};

// Base of tests of make() and launch() on the host alone.
class JitHostTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!test::emulated()) GTEST_SKIP() << "needs no GPU: run with --device=emulator";
    if (!has_nvrtc()) GTEST_SKIP() << "needs " TENON_NVRTC;
  }
  // The sentence of a kernel that cannot be made.
  template <class Kernel>
  std::string refused(const StructText& given, Kernel* kernel) {
    const Status status = Kernel::make(given, options_, kernel);
    EXPECT_EQ(status.code(), StatusCode::invalid_argument);
    EXPECT_TRUE(kernel->cubin().bytes.empty());
    return status.message();
  }
  static void expect_in(const std::string& part, const std::string& text) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
  // Takes a stub, which compiles nothing, for the NVRTC of this version.
  void take_stub() {
    Nvrtc nvrtc;
    ASSERT_TRUE(Nvrtc::open(TENON_NVRTC, &nvrtc));
    const std::string version = std::to_string(nvrtc.major()) + "." + std::to_string(nvrtc.minor());
    setenv("STUB_NVRTC_VERSION", version.c_str(), 1);
    options_.nvrtc = STUB_NVRTC;
  }

  const test::ScratchFolder folder_;
  CompileOptions options_ = options_with(folder_.path("cache"));
};

}  // namespace tenon::jit
