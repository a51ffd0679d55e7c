// The list of every GEMM kernel of this build: those of kernels.csv, and the hand-written PTX module.
#include <unordered_map>

#include "gemm/kernel.hpp"
#include "gemm/kernel_sources.hpp"
#include "gemm/module/module.hpp"

namespace tenon {

const std::vector<Kernel>& kernels() {
  static const std::vector<Kernel> all = [] {
    std::vector<Kernel> list;
    for (std::size_t s = 0; s < kernel_source_count; ++s) {
      const KernelSource& source = kernel_sources[s];
      const std::size_t before = list.size();
      source.append(list);
      for (std::size_t i = 0; i < source.kernels; ++i) {
        Kernel& kernel = list[before + i];
        kernel.ptx = source.ptx;
        kernel.part = source.part;
        kernel.efficiency = source.costs[i].efficiency;
        kernel.resident = source.costs[i].resident;
      }
    }
    list.push_back(module_kernel());
    return list;
  }();
  return all;
}

const Kernel* find_kernel(std::string_view name) {
  static const std::unordered_map<std::string_view, const Kernel*> by_name = [] {
    std::unordered_map<std::string_view, const Kernel*> map;
    for (const Kernel& kernel : kernels()) map.emplace(kernel.name, &kernel);
    return map;
  }();
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

}  // namespace tenon
