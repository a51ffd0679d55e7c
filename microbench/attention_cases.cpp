// See attention_cases.hpp.
#include "microbench/attention_cases.hpp"

namespace tenon::microbench {
namespace {

// 16384 tokens in all, and heads of 2048 elements together, as FlashAttention's own benchmark has them.
AttentionRow square(std::int64_t length, int head_dimension, bool causal) {
  AttentionRow row{};
  row.type = Type::bf16;
  row.batch = 16384 / length, row.heads = row.key_heads = 2048 / head_dimension;
  row.queries = row.keys = length;
  row.head_dimension = row.value_dimension = head_dimension;
  row.causal = causal;
  return row;
}

// One query token.
AttentionRow decode(std::int64_t batch, std::int64_t keys) {
  AttentionRow row{};
  row.type = Type::bf16;
  row.batch = batch, row.heads = 32, row.key_heads = 8, row.queries = 1, row.keys = keys;
  row.head_dimension = row.value_dimension = 128;
  row.cold = true;
  return row;
}

}  // namespace

double AttentionRow::flop() const {
  const double pairs = static_cast<double>(batch * heads) * static_cast<double>(queries) *
                       static_cast<double>(keys) * (causal ? 0.5 : 1);
  return 2 * pairs * (head_dimension + value_dimension) * (backward ? 2.5 : 1);
}

std::int64_t AttentionRow::key_bytes() const {
  const std::int64_t columns = latent ? head_dimension : head_dimension + value_dimension;
  return batch * keys * key_heads * columns * static_cast<std::int64_t>(bytes(type));
}

std::string AttentionRow::describe() const {
  std::string text = causal ? "causal" : "full";
  text += " heads=" + std::to_string(heads) + "/" + std::to_string(key_heads);
  text += " d=" + std::to_string(head_dimension);
  if (value_dimension != head_dimension) text += "/" + std::to_string(value_dimension);
  return text + (cold ? " cold" : "");
}

const std::vector<std::string>& attention_groups() {
  static const std::vector<std::string> all = {"forward", "mma",   "e4m3", "backward",
                                               "decode",  "chunk", "mla"};
  return all;
}

std::vector<AttentionRow> attention_rows(const std::string& group) {
  std::vector<AttentionRow> rows;
  if (group == "chunk") {
    for (const std::int64_t queries : {64, 256}) {
      for (const std::int64_t keys : {4096, 32768}) {
        AttentionRow row = decode(1, keys);
        row.heads = 8, row.queries = queries;
        rows.push_back(row);
      }
    }
    return rows;
  }
  if (group == "decode" || group == "mla") {
    for (const std::int64_t heads : {16, 128}) {
      for (const std::int64_t batch : {1, 16, 64}) {
        for (const std::int64_t keys : {4096, 32768}) {
          AttentionRow row = decode(batch, keys);
          if (group == "mla") {
            row.heads = heads, row.key_heads = 1, row.latent = true;
            row.head_dimension = 576, row.value_dimension = 512;
          }
          rows.push_back(row);
        }
      }
      if (group == "decode") break;
    }
    return rows;
  }
  for (const int head_dimension : {64, 128, 256}) {
    if (group == "backward" && head_dimension == 256) continue;
    for (const bool causal : {true, false}) {
      for (const std::int64_t length : {2048, 4096, 8192, 16384}) {
        if (group == "backward" && length != 4096 && length != 16384) continue;
        AttentionRow row = square(length, head_dimension, causal);
        row.backward = group == "backward";
        if (group == "e4m3") row.type = Type::e4m3;
        if (group == "mma") row.prefix = "attention_mma_bf16_" + std::to_string(head_dimension) + "_";
        rows.push_back(row);
      }
    }
  }
  return rows;
}

}  // namespace tenon::microbench
