// What the library knows about each compiled kernel for grouped products, and the choice among them.
#pragma once

#include <string>
#include <vector>

#include "tenon/gemm/launch_plan.hpp"
#include "tenon/gemm_grouped.hpp"

namespace tenon {

struct GroupedKernel {
  std::string name;
  const char* ptx;  // the file of its PTX, without folder and extension
  Type type;        // of A and B
  Order a_order, b_order;
  bool divides_k;
  int tile_m, tile_n, cluster;
  // The part of the peak that the main loop reaches.
  double efficiency;
  // Fills function, grid and arguments of a launch for a valid problem with rows.
  Status (*fill)(const GroupedGemm& problem, const DeviceDescription& device, Launcher& launcher,
                 Launch* launch);
};

// Every kernel for grouped products.
const std::vector<GroupedKernel>& grouped_kernels();

// The kernel with the lowest estimated time, or the one that the problem names; nullptr, with the reason, if
// there is none.
const GroupedKernel* choose_grouped(const std::vector<GroupedKernel>& list, const GroupedGemm& problem,
                                    const DeviceDescription& device, Status* why);

// The parts of the list, a source each.
void append_grouped_f16(std::vector<GroupedKernel>& list);
void append_grouped_bf16(std::vector<GroupedKernel>& list);
void append_grouped_e4m3(std::vector<GroupedKernel>& list);

}  // namespace tenon
