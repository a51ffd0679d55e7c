// Runs every pattern once on a GPU, in the order of the list, under ncu. record.py does both.
//   bank_patterns_on_gpu            launches
//   bank_patterns_on_gpu --list     prints one line per pattern, "entry<tab>name", in the same order
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "patterns.hpp"

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "bank_patterns_on_gpu: %s\n", cudaGetErrorString(error));
  std::exit(3);
}

}  // namespace

int main(int argc, char** argv) {
  const auto patterns = bank_patterns::all();
  if (argc == 2 && std::strcmp(argv[1], "--list") == 0) {
    for (const auto& p : patterns)
      std::printf("%s\t%s\n", bank_patterns::entries[static_cast<int>(p.access)], p.name.c_str());
    return 0;
  }
  if (argc != 2) {
    std::fprintf(stderr, "usage: bank_patterns_on_gpu --list | PATTERNS.ptx\n");
    return 2;
  }
  std::ifstream file(argv[1], std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  if (text.empty()) {
    std::fprintf(stderr, "bank_patterns_on_gpu: cannot read '%s'\n", argv[1]);
    return 2;
  }
  cudaLibrary_t library = nullptr;
  check(cudaLibraryLoadData(&library, text.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  std::int32_t* offsets = nullptr;
  std::uint32_t* out = nullptr;
  check(cudaMalloc(&offsets, 32 * sizeof(*offsets)));
  check(cudaMalloc(&out, 32 * sizeof(*out)));
  for (const auto& p : patterns) {
    cudaKernel_t kernel = nullptr;
    check(cudaLibraryGetKernel(&kernel, library, bank_patterns::entries[static_cast<int>(p.access)]));
    check(cudaMemcpy(offsets, p.offset.data(), 32 * sizeof(*offsets), cudaMemcpyHostToDevice));
    void* arguments[] = {&offsets, &out};
    check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(32), arguments, 0, nullptr));
    check(cudaDeviceSynchronize());
  }
  return 0;
}
