// One computation of `tenon attention`: tensors from files or random numbers, run, and compared with float64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "command_line/bootstrap.hpp"
#include "device/device.hpp"
#include "tenon/attention/problem.hpp"

namespace tenon::command {

// The product, of numbers >= 0. Throws std::bad_alloc where it is more than memory holds.
std::size_t count_of(std::initializer_list<std::int64_t> sizes);

// A dense tensor of batch x rows x heads x dimension on the host, in f16, bf16 or e4m3.
struct HeadTensor {
  std::int64_t batch = 0, rows = 0, heads = 0;
  int dimension = 0;
  std::vector<std::uint8_t> data;

  std::vector<std::int64_t> shape() const { return {batch, rows, heads, dimension}; }
  // Throws std::bad_alloc where no memory holds so many.
  std::size_t elements() const { return count_of({batch, rows, heads, dimension}); }
  template <class Pointer>
  AttentionTensor<Pointer> at(Pointer memory) const {
    return {memory, heads * dimension, dimension, rows * heads * dimension};
  }
};

// "2 x 17 x 64".
std::string shape_text(const std::vector<std::int64_t>& shape);

// N(0, 1) values.
HeadTensor random_tensor(std::uint64_t seed, std::int64_t batch, std::int64_t rows, std::int64_t heads,
                         int dimension, Type type);

// From a .npy file of 3 dimensions (rows, heads, dimension) or 4 (with the batch before them), C order:
// float16, bfloat16 ('<V2' or '|V2'), bytes of e4m3 or float32, which is rounded to `type`. Throws
// Failure(bad_input).
HeadTensor read_tensor(const std::string& path, Type type);

struct AttentionCheck {
  double max_error = 0, rms_error = 0, error_bound = 0, log_sum_exp_error = 0;
  bool ok = true;
};

// The largest error of a gradient, and the largest share that an error has of its bound: 1 or less is right.
struct GradientCheck {
  double max_error = 0, rms_error = 0, share_of_bound = 0;
  bool ok() const { return share_of_bound <= 1; }
};
struct BackwardCheck {
  GradientCheck dq, dk, dv;
  bool ok() const { return dq.ok() && dk.ok() && dv.ok(); }
};

struct AttentionRequest {
  AttentionProblem problem;  // without pointers; alibi: slopes of 2^(-8 (h + 1) / heads)
  HeadTensor q, k, v;        // as the tensors lie in memory: batch and rows of *_extents()
  // Host copies of what the problem has in device memory; empty: it has none.
  std::vector<std::int32_t> query_offsets, key_offsets, key_lengths, page_table;
  std::vector<float> sinks;
  bool alibi = false;
  std::string kernel;  // empty: the library chooses
  bool check = false, bench = false;
  // The gradients by Q, K and V are wanted too; kernel, bench and what follows are of the backward pass.
  bool backward = false, deterministic = false;
  HeadTensor d_o;  // as O
};

struct AttentionAnswer {
  std::optional<std::string> kernel;
  std::optional<AttentionCheck> check;
  std::optional<Interval> ms;
  HeadTensor o;
  // With `backward`: kernel and ms are of the backward pass, check is of the forward pass.
  std::optional<std::string> forward_kernel;
  std::optional<BackwardCheck> backward_check;

  bool right() const { return (!check || check->ok) && (!backward_check || backward_check->ok()); }
};

// The problem's sizes of a request whose tensors are there, of batches of equal lengths.
void set_shape(AttentionRequest* request);

// Lengths of each batch, one after the other: offsets of rows that follow each other.
std::vector<std::int32_t> offsets_of(const std::vector<std::int64_t>& lengths);

// Queries of a batch of a request, and keys.
std::int64_t queries_of_batch(const AttentionRequest& request, std::int64_t batch);
std::int64_t keys_of_batch(const AttentionRequest& request, std::int64_t batch);

// Throw Failure where a call fails.
AttentionAnswer run_attention(const AttentionRequest& request, Device& device);
AttentionAnswer run_attention_backward(const AttentionRequest& request, Device& device);

}  // namespace tenon::command
