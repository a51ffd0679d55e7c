// run_attention_backward() of attention_run.hpp: the forward pass, then the gradients.
#include <memory>
#include <vector>

#include "command_line/attention_backward_check.hpp"
#include "command_line/attention_forward.hpp"
#include "command_line/attention_run.hpp"
#include "command_line/bench.hpp"
#include "command_line/exit_status.hpp"
#include "command_line/operand.hpp"
#include "host/attention_backward_on.hpp"

namespace tenon::command {
namespace {

// A gradient in device memory, poisoned with NaN: what is not written shows.
class Gradient {
 public:
  Gradient(Device& device, const char* name, const HeadTensor& of)
      : tensor_{of.batch, of.rows, of.heads, of.dimension, {}} {
    tensor_.data.assign(2 * tensor_.elements(), 0xff);
    there_ = on_device(device, name, tensor_.data.data(), tensor_.data.size());
  }
  AttentionTensor<void*> there() const { return tensor_.at<void*>(there_->get()); }
  std::vector<float> values(Type type) {
    if (!tensor_.data.empty()) there_->download(tensor_.data.data(), tensor_.data.size());
    return decoded(tensor_, type);
  }

 private:
  HeadTensor tensor_;
  std::unique_ptr<DeviceBuffer> there_;
};

}  // namespace

AttentionAnswer run_attention_backward(const AttentionRequest& request, Device& device) {
  AttentionForward forward(request, device);
  const Type type = request.problem.type;
  const auto d_o = on_device(device, "dO", request.d_o.data.data(), request.d_o.data.size());
  Gradient dq(device, "dQ", request.q), dk(device, "dK", request.k), dv(device, "dV", request.v);

  AttentionBackwardProblem problem;
  problem.forward = forward.problem();
  problem.d_o = request.d_o.at<const void*>(d_o->get());
  problem.dq = dq.there(), problem.dk = dk.there(), problem.dv = dv.there();
  problem.deterministic = request.deterministic;
  Launcher& launcher = device.launcher();
  const char* const named = request.kernel.empty() ? nullptr : request.kernel.c_str();
  problem.workspace_bytes = workspace_size(launcher, problem, named);
  const DeviceBuffer workspace(device, "the workspace", problem.workspace_bytes);
  problem.workspace = workspace.get();
  require(can_implement(launcher, problem, named));  // before the forward pass takes its time

  AttentionAnswer answer = forward.run("");
  answer.forward_kernel = answer.kernel;
  answer.kernel.reset();
  if (const char* kernel = kernel_name(launcher, problem, named)) answer.kernel = kernel;
  require(attention_backward(launcher, problem, named));
  require(device.synchronize());
  if (request.check) {
    AttentionBackwardProblem on_host = problem;
    on_host.forward = forward.on_host();
    on_host.d_o = request.d_o.at<const void*>(request.d_o.data.data());
    answer.backward_check =
        check_gradients(on_host, request, dq.values(type), dk.values(type), dv.values(type));
  }
  if (request.bench && answer.kernel) {
    answer.ms =
        bootstrap_median(time_each([&] { return attention_backward(launcher, problem, named); }, 100));
  }
  return answer;
}

}  // namespace tenon::command
