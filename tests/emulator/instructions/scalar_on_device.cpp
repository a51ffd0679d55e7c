// L4: every scalar instruction on this machine's GPU and on the emulator, with the same operands: bit for
// bit, or, for the approximations, within the tolerance of scalar_cases.hpp. One test prints the measured
// distances of approximations.
#include <cuda_runtime.h>

#include <iostream>
#include <sstream>
#include <stdexcept>

#include "emulator/instructions/scalar_operands.hpp"
#include "tenon/emulator/emulator.hpp"

namespace tenon::emulator::testing {
namespace {

constexpr std::size_t threads = 1 << 15, block = 256, bytes = 8 * threads;

// Compute capability of device 0 as 10 * major + minor; 0 without one.
int device_architecture() {
  int count = 0, major = 0, minor = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) return 0;
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
  cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0);
  return 10 * major + minor;
}

// Both machines with the module loaded and arrays for a result and the operands.
class Machines {
 public:
  explicit Machines(const std::string& text) : module_(emulator_.load(text)) {
    check(cudaLibraryLoadData(&library_, text.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
          "loading the module");
    for (Address& array : emulated_) array = emulator_.allocate(bytes);
    for (void*& array : device_) check(cudaMalloc(&array, bytes), "allocating");
  }
  ~Machines() {
    for (void* array : device_) cudaFree(array);
    cudaLibraryUnload(library_);
  }
  Machines(const Machines&) = delete;
  Machines& operator=(const Machines&) = delete;

  void set(int operand, const std::vector<Bits>& values) {
    emulator_.copy_in(emulated_[1 + operand], values.data(), bytes);
    check(cudaMemcpy(device_[1 + operand], values.data(), bytes, cudaMemcpyHostToDevice), "copying in");
  }
  void run(const std::string& entry, std::vector<Bits>& expected, std::vector<Bits>& found) {
    const Result result =
        emulator_.launch(module_, entry, {{threads / block}, {block}},
                         {emulated_[0], emulated_[1], emulated_[2], emulated_[3], emulated_[4]});
    for (const Finding& finding : result.findings) ADD_FAILURE() << finding.message;
    emulator_.copy_out(expected.data(), emulated_[0], bytes);

    cudaKernel_t kernel = nullptr;
    check(cudaLibraryGetKernel(&kernel, library_, entry.c_str()), "finding " + entry);
    void* arguments[] = {&device_[0], &device_[1], &device_[2], &device_[3], &device_[4]};
    check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(threads / block), dim3(block),
                           arguments, 0, nullptr),
          "launching " + entry);
    check(cudaDeviceSynchronize(), "executing " + entry);
    check(cudaMemcpy(found.data(), device_[0], bytes, cudaMemcpyDeviceToHost), "copying out");
  }

 private:
  static void check(cudaError_t error, const std::string& what) {
    if (error != cudaSuccess) throw std::runtime_error(what + ": " + cudaGetErrorString(error));
  }

  Emulator emulator_;
  Module module_;
  Address emulated_[1 + scalar_operands];
  cudaLibrary_t library_ = nullptr;
  void* device_[1 + scalar_operands] = {};
};

std::string hexadecimal(Bits bits) {
  std::ostringstream text;
  text << "0x" << std::hex << bits;
  return text.str();
}

TEST(ScalarOnDevice, AgreesWithTheEmulator) {
  if (device_architecture() != 90) GTEST_SKIP() << "needs a GPU of sm_90, as the emulated one is";
  const std::vector<ScalarCase> cases = scalar_cases();
  Machines machines(scalar_module(cases));
  std::vector<Bits> operands[scalar_operands], expected(threads), found(threads);
  for (auto& operand : operands) operand.resize(threads);
  std::size_t compared = 0, differing_cases = 0;
  for (std::size_t index = 0; index < cases.size(); ++index) {
    const ScalarCase& one = cases[index];
    OperandSource source(index);
    for (std::size_t thread = 0; thread < threads; ++thread) {
      const std::vector<Bits> own = source(one.operands, thread);
      for (std::size_t i = 0; i < own.size(); ++i) operands[i][thread] = own[i];
    }
    for (std::size_t i = 0; i < one.operands.size(); ++i) machines.set(static_cast<int>(i), operands[i]);
    machines.run("case_" + std::to_string(index), expected, found);
    double worst = 0;
    std::size_t differences = 0;
    std::string examples;
    for (std::size_t thread = 0; thread < threads; ++thread) {
      if (agrees(one, expected[thread], found[thread], worst) || ++differences > 8) continue;
      examples += "\n  of";
      for (std::size_t i = 0; i < one.operands.size(); ++i) {
        examples += " " + hexadecimal(truncated(operands[i][thread], letter(one.operands[i])));
      }
      examples +=
          ": the GPU gives " + hexadecimal(found[thread]) + ", the emulator " + hexadecimal(expected[thread]);
    }
    compared += threads;
    if (worst > 0) std::cout << one.text << " is at most " << worst << " units away\n";
    if (differences == 0) continue;
    ++differing_cases;
    ADD_FAILURE() << one.text << " differs in " << differences << " of " << threads << examples;
  }
  std::cout << compared << " results of " << cases.size() << " instructions compared, " << differing_cases
            << " instructions differ\n";
}

}  // namespace
}  // namespace tenon::emulator::testing
