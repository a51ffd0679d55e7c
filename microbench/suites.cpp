#include "microbench/suites.hpp"

#include <algorithm>

namespace tenon::microbench {
namespace {

// "256:4096:4096,512:4096:4096" of {256, 512} and ":4096:4096".
std::string joined(const std::vector<int>& sizes, const std::string& before, const std::string& after) {
  std::string text;
  for (const int size : sizes) text += (text.empty() ? "" : ",") + before + std::to_string(size) + after;
  return text;
}

// Powers of two, so that a curve is even on a logarithmic axis.
std::vector<int> powers(int first, int last) {
  std::vector<int> sizes;
  for (int size = first; size <= last; size *= 2) sizes.push_back(size);
  return sizes;
}

}  // namespace

const std::vector<Suite>& suites() {
  static const std::vector<Suite> all = {
      {"main", "4096 and 8192 cubed in every type, both operands contiguous along k", "4096,8192",
       "bf16,f16,f16_f32_f32,f16_f16", "tn", true, true},
      {"layouts", "the other orders of A and B", "4096,8192", "bf16", "nn,tt,nt", true, true},
      {"shapes", "small, thin and odd products",
       "512,1024,2048,64:4096:4096,128:7168:4096,4096:7168:2048,8192:1024:8192,1023", "bf16", "tn", true,
       false},
      {"unaligned", "4095 cubed with leading dimensions of 4095", "4095:4095:4095:4095", "bf16,f16", "tn",
       true, true},
      {"ladder", "every kernel at 4096 cubed, the naive ones among them", "4096", "f16", "tn", false, true},
      {"sweep_size", "m = n = k from 256 to 16384",
       joined({256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384}, "", ""), "bf16",
       "tn", true, false},
      {"sweep_k", "k from 64 to 16384 at m = n = 4096", joined(powers(64, 16384), "4096:4096:", ""), "bf16",
       "tn", true, false},
      {"sweep_m", "m from 16 to 16384 at n = k = 4096", joined(powers(16, 16384), "", ":4096:4096"), "bf16",
       "tn", true, false},
  };
  return all;
}

const Suite* find_suite(const std::string& name) {
  const auto found =
      std::find_if(suites().begin(), suites().end(), [&](const Suite& suite) { return suite.name == name; });
  return found == suites().end() ? nullptr : &*found;
}

}  // namespace tenon::microbench
