#include "microbench/suites.hpp"

#include <algorithm>
#include <initializer_list>

namespace tenon::microbench {
namespace {

// "256:4096:4096,512:4096:4096" of {256, 512} and ":4096:4096".
std::string joined(const std::vector<int>& sizes, const std::string& before, const std::string& after) {
  std::string text;
  for (const int size : sizes) text += (text.empty() ? "" : ",") + before + std::to_string(size) + after;
  return text;
}

// Powers of two, evenly spaced on a logarithmic axis.
std::vector<int> powers(int first, int last) {
  std::vector<int> sizes;
  for (int size = first; size <= last; size *= 2) sizes.push_back(size);
  return sizes;
}

// A layer's product: the activations of m tokens (A, m x k) times the weights (B, stored n x k,
// k-contiguous).
struct Layer {
  int n, k;
  std::vector<int> tokens;  // m: up to 128 in decoding, more in prefill
};

std::string shapes_of(std::initializer_list<Layer> layers) {
  std::string text;
  for (const Layer& layer : layers) {
    text += (text.empty() ? "" : ",") +
            joined(layer.tokens, "", ":" + std::to_string(layer.n) + ":" + std::to_string(layer.k));
  }
  return text;
}

std::string model_shapes() {
  return shapes_of({
      // Llama 3 8B: query, key and value; output; gate and up; down
      {6144, 4096, {1, 16, 2048}},
      {4096, 4096, {2, 128, 1000}},
      {28672, 4096, {8, 64, 4096}},
      {4096, 14336, {4, 32, 8192}},
      // Llama 3 70B
      {10240, 8192, {1, 512}},
      {8192, 8192, {32, 2048}},
      {57344, 8192, {16, 1000}},
      {8192, 28672, {128, 4096}},
      // Llama 3 70B, a GPU's part of 8
      {1280, 8192, {4, 4096}},
      {8192, 1024, {64}},
      {7168, 8192, {2, 8192}},
      {8192, 3584, {16}},
      // Mixtral 8x7B, an expert
      {14336, 4096, {8, 1000}},
      // DeepSeek V3: latent attention, its output, an expert
      {2112, 7168, {1, 128, 4096}},
      {24576, 1536, {32, 2048}},
      {32768, 512, {64, 512}},
      {7168, 16384, {8, 1000}},
      {4096, 7168, {16}},
      {7168, 2048, {2}},
      // Qwen 2.5 7B
      {4608, 3584, {1, 512}},
      {3584, 3584, {8}},
      {37888, 3584, {64, 8192}},
      {3584, 18944, {32}},
      // GPT-2
      {2304, 768, {1, 1000}},
      {3072, 768, {128}},
      {768, 3072, {4, 8192}},
      // BERT large
      {1024, 4096, {512}},
      {4096, 1024, {4096}},
      // Vocabularies: Llama 3, Qwen 2.5, GPT-2, Llama with a token of its own for padding
      {128256, 4096, {1, 64}},
      {152064, 3584, {16, 128}},
      {50257, 768, {2, 512}},
      {32001, 4096, {1, 1000}},
  });
}

// Token counts of batched requests, most of them no multiple of a tile's rows: Llama 3 8B's output,
// gate and up, down.
std::string tokens_shapes() {
  const std::initializer_list<int> tokens = {136, 176, 200, 264, 300, 330, 400, 520, 600, 700, 900, 1100};
  return shapes_of({{4096, 4096, tokens}, {28672, 4096, tokens}, {4096, 14336, tokens}});
}

constexpr Ways bursts{true, false, false, false}, in_streams{true, true, false, false},
    sustained{true, false, false, true}, every_warm_way{true, true, false, true};

}  // namespace

const std::vector<Suite>& suites() {
  static const std::vector<Suite> all = {
      {"main", "2048 to 16384 cubed in every 16-bit type, both operands contiguous along k",
       "2048,4096,8192,16384", "bf16,f16,f16_f32_f32,f16_f16", "tn", true, every_warm_way},
      {"types", "4096 and 8192 cubed in fp8, with fast and with promoted accumulation, s8 and tf32",
       "4096,8192", "e4m3_f32_bf16,e4m3_f32p_bf16,s8,tf32", "tn", true, every_warm_way},
      {"models", "60 products of language models, from one token to 8192", model_shapes(), "bf16", "tn", true,
       in_streams},
      {"tokens", "36 products of a language model, of 136 to 1100 tokens", tokens_shapes(), "bf16", "tn",
       true, in_streams},
      {"layouts", "the other orders of A and B", "4096,8192", "bf16", "nn,tt,nt", true, sustained},
      {"shapes", "small, thin and odd products",
       "512,1024,2048,64:4096:4096,128:7168:4096,4096:7168:2048,8192:1024:8192,1023", "bf16", "tn", true,
       in_streams},
      {"unaligned", "4095 cubed, and ten other products whose rows cannot be copied 16 bytes at a time",
       "4095:4095:4095:4095,2047,4097,8191,4096:4096:4095,4096:4096:4096:4097:4097:4096,4096:4095:4096,"
       "511:4095:4095,4095:511:4095,1000:4001:3001,12289:1023:2049",
       "bf16,f16", "tn", true, sustained},
      {"ladder", "every kernel at 4096 cubed, the naive ones included", "4096", "f16", "tn", false,
       sustained},
      {"sweep_size", "m = n = k from 256 to 16384",
       joined({256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384}, "", ""), "bf16",
       "tn", true, bursts},
      {"sweep_k", "k from 64 to 16384 at m = n = 4096", joined(powers(64, 16384), "4096:4096:", ""), "bf16",
       "tn", true, bursts},
      {"sweep_m", "m from 16 to 16384 at n = k = 4096", joined(powers(16, 16384), "", ":4096:4096"), "bf16",
       "tn", true, bursts},
  };
  return all;
}

const Suite* find_suite(const std::string& name) {
  const auto found =
      std::find_if(suites().begin(), suites().end(), [&](const Suite& suite) { return suite.name == name; });
  return found == suites().end() ? nullptr : &*found;
}

}  // namespace tenon::microbench
