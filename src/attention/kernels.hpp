// The list of compiled attention kernels: what each takes, and how its launch looks. Internal to the compiled
// library.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/attention/problem.hpp"
#include "tenon/gemm/launch_plan.hpp"

namespace tenon {

struct AttentionKernel {
  std::string name;  // unique, lower case: "attention_mma_f16_128_128x64"
  std::string ptx;   // the file of its PTX, without folder and extension
  Type type = Type::f16;
  int head_dimension = 0, value_dimension = 0;
  // Whether the kernel computes the problem, which check_problem() takes and which is not empty, and if not
  // why.
  Status (*takes)(const AttentionProblem& problem, const DeviceDescription& device);
  // Whether the library chooses it for a problem that it takes; null: always. It is then passed over for a
  // later one of the list, and can still be named.
  bool (*suits)(const AttentionProblem& problem, const DeviceDescription& device) = nullptr;
  // Whether the library chooses it before any other, of a problem that it takes; null: never.
  bool (*goes_first)(const AttentionProblem& problem, const DeviceDescription& device) = nullptr;
  // Bytes of workspace with which the kernel is fastest, of a problem that it takes; null: none. With such a
  // workspace, and where they are not 0, `combine` is launched behind the kernel.
  std::size_t (*workspace)(const AttentionProblem& problem, const DeviceDescription& device) = nullptr;
  // It may name another file of PTX.
  void (*combine)(const AttentionProblem& problem, const DeviceDescription& device, Launch* launch) = nullptr;
  // Fills function, grid, block, shared memory and arguments. `launcher` makes tensor maps.
  Status (*fill)(const AttentionProblem& problem, const DeviceDescription& device, Launcher& launcher,
                 Launch* launch);

  Status configure(const AttentionProblem& problem, const DeviceDescription& device, Launcher& launcher,
                   Launch* launch) const {
    launch->what = name.c_str();
    launch->ptx = ptx.c_str();
    return fill(problem, device, launcher, launch);
  }
  bool is_for(const AttentionProblem& p) const {
    return p.type == type && p.head_dimension == head_dimension && p.value_dimension == value_dimension;
  }
  std::size_t workspace_bytes(const AttentionProblem& problem, const DeviceDescription& device) const {
    return workspace == nullptr ? 0 : workspace(problem, device);
  }
};

// The most query tokens for which the library chooses the decode kernels, and the most rows: tiles of 16 rows
// read K and V again.
inline constexpr int most_decode_queries = 16, most_decode_rows = 64;
inline bool has_few_queries(const AttentionProblem& p) noexcept {
  return p.queries <= most_decode_queries && p.queries * (p.heads / p.key_heads) <= most_decode_rows;
}

// All of this build, in the order in which the library tries them, after those that go first: the first that
// takes a problem and suits it computes it.
const std::vector<AttentionKernel>& attention_kernels();

// nullptr if there is none of that name.
const AttentionKernel* find_attention_kernel(std::string_view name);

// The launch that merges splits of the keys, of a kernel of the type; part of the decode kernels' sources.
void combine_attention_splits_f16(const AttentionProblem& problem, int splits, Launch* launch);
void combine_attention_splits_bf16(const AttentionProblem& problem, int splits, Launch* launch);

// The sources of the kernels: each appends its kernels, best first.
void append_attention_decode_f16(std::vector<AttentionKernel>& list);
void append_attention_decode_bf16(std::vector<AttentionKernel>& list);
void append_attention_decode_wgmma_f16(std::vector<AttentionKernel>& list);
void append_attention_decode_wgmma_bf16(std::vector<AttentionKernel>& list);
void append_attention_mma_f16(std::vector<AttentionKernel>& list);
void append_attention_mma_bf16(std::vector<AttentionKernel>& list);
void append_attention_wgmma_f16(std::vector<AttentionKernel>& list);
void append_attention_wgmma_bf16(std::vector<AttentionKernel>& list);
void append_attention_wgmma_e4m3(std::vector<AttentionKernel>& list);

}  // namespace tenon
