// The list of the kernels for batches, of the types that the build has (TENON_TYPES).
#include <algorithm>

#include "gemm/batched_kernels.hpp"
#include "gemm/batched_sources.hpp"

namespace tenon {
namespace {

// The order in which the library tries them, as measured on an H200: a problem of up to 32 in each dimension
// is best held by one warp; a larger one is best multiplied by wgmma, if its batch is stacked.
int rank(const BatchedKernel& kernel) {
  if (kernel.whole_k && kernel.tile_k < 64) return 0;
  if (kernel.stacked) return 1;
  return kernel.whole_k ? 2 : 3;
}

}  // namespace

const std::vector<BatchedKernel>& batched_kernels() {
  static const std::vector<BatchedKernel> all = [] {
    std::vector<BatchedKernel> list;
#ifdef TENON_BATCHES_OF_F16
    append_small_f16(list);
#ifdef TENON_BATCHES_ON_90
    append_wgmma_batched_f16(list);
#endif
    append_cp_async_batched_f16(list);
#endif
#ifdef TENON_BATCHES_OF_BF16
    append_small_bf16(list);
#ifdef TENON_BATCHES_ON_90
    append_wgmma_batched_bf16(list);
#endif
    append_cp_async_batched_bf16(list);
#endif
    std::stable_sort(list.begin(), list.end(),
                     [](const BatchedKernel& x, const BatchedKernel& y) { return rank(x) < rank(y); });
    return list;
  }();
  return all;
}

const BatchedKernel* find_batched_kernel(std::string_view name) {
  for (const BatchedKernel& kernel : batched_kernels()) {
    if (kernel.name == name) return &kernel;
  }
  return nullptr;
}

}  // namespace tenon
