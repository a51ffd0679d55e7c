// The forward pass of `tenon attention` on a device: the tensors of a request there, and the call.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "command_line/attention_run.hpp"
#include "command_line/operand.hpp"

namespace tenon::command {

// A copy of the bytes in device memory.
std::unique_ptr<DeviceBuffer> on_device(Device& device, const char* purpose, const void* data,
                                        std::size_t bytes);

// The elements of a tensor, which are of the type.
std::vector<float> decoded(const HeadTensor& tensor, Type type);

// The larger of an error and the largest so far, where a NaN is the largest of all and stays.
void raise_to(double* most, double error);

class AttentionForward {
 public:
  // The request must outlive this object.
  AttentionForward(const AttentionRequest& request, Device& device);

  // With pointers to device memory, without a workspace; after run() O and the log-sum-exp are there.
  const AttentionProblem& problem() const { return problem_; }
  // With pointers to the inputs on the host.
  AttentionProblem on_host() const;

  // Computes O, which moves into the answer, and compares it where the request says so. Once only. An empty
  // name: the library chooses. Throws Failure where a call fails.
  AttentionAnswer run(const std::string& kernel);
  // Milliseconds of a call, of 100, by the kernel of run().
  Interval time();

 private:
  const char* named() const { return kernel_.empty() ? nullptr : kernel_.c_str(); }

  const AttentionRequest& request_;
  Device& device_;
  std::string kernel_;
  HeadTensor o_;
  std::vector<float> log_sum_exp_, slopes_;
  std::unique_ptr<DeviceBuffer> q_there_, k_there_, v_there_, o_there_, sums_there_, slopes_there_,
      query_offsets_there_, key_offsets_there_, key_lengths_there_, page_table_there_, sinks_there_,
      workspace_;
  AttentionProblem problem_;
};

}  // namespace tenon::command
