// The kernel list of a build without src/gemm/CMakeLists.txt: empty, so that the host side builds and tests
// alone.
#include "gemm/kernel.hpp"

namespace tenon {

const std::vector<Kernel>& kernels() {
  static const std::vector<Kernel> none;
  return none;
}

const Kernel* find_kernel(const std::string&) {
  return nullptr;
}

}  // namespace tenon
