// See attention_run.hpp.
#include "command_line/attention_run.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <utility>

#include "command_line/attention_forward.hpp"
#include "command_line/bench.hpp"
#include "command_line/exit_status.hpp"
#include "command_line/npy.hpp"
#include "command_line/operand.hpp"
#include "command_line/random.hpp"
#include "host/attention_on.hpp"
#include "reference/attention_cpu.hpp"
#include "reference/cpu.hpp"

namespace tenon::command {
namespace {

std::vector<float> slopes_of(std::int64_t heads) {
  std::vector<float> slopes;
  for (std::int64_t head = 0; head < heads; ++head)
    slopes.push_back(std::exp2(-8.0F * static_cast<float>(head + 1) / static_cast<float>(heads)));
  return slopes;
}

// The tensor cores add the products of an instruction, 32 of e4m3, with 13 bits behind the point of the
// largest. Each product loses up to one unit of the last of these bits.
double e4m3_score_error(const AttentionRequest& request, const AttentionProblem& on_host) {
  const auto largest = [](const HeadTensor& tensor) {
    std::vector<float> values(tensor.elements());
    reference::decode(Type::e4m3, tensor.data.data(), values.size(), values.data());
    float most = 0;
    for (const float value : values) most = std::max(most, std::abs(value));
    return static_cast<double>(most);
  };
  const int steps = (on_host.head_dimension + 31) / 32;
  return std::abs(static_cast<double>(on_host.scale)) * steps * 33 * 0x1p-12 * largest(request.q) *
         largest(request.k);
}

// Rounding P and O to their type, and the scores' own error, against the largest value of V.
AttentionCheck compare(const AttentionRequest& request, const AttentionProblem& on_host, const HeadTensor& o,
                       const std::vector<float>& log_sum_exp) {
  const Type type = on_host.type, output_type = type_of_output(on_host);
  const reference::HostAttention expected = reference::attention(on_host);
  // Of the rows that O has: those of batches of variable lengths follow each other.
  std::vector<double> wanted_o;
  const std::int64_t row = on_host.heads * on_host.value_dimension;
  for (std::int64_t b = 0; b < on_host.batch; ++b) {
    const auto first = expected.value.begin() + b * on_host.queries * row;
    wanted_o.insert(wanted_o.end(), first, first + queries_of_batch(request, b) * row);
  }
  float largest = 0;
  for (const float value : decoded(request.v, type)) largest = std::max(largest, std::abs(value));
  double score = 0;
  for (const double value : expected.log_sum_exp) {
    if (std::isfinite(value)) score = std::max(score, std::abs(value));
  }
  AttentionCheck check;
  const double unit = output_type == Type::f16 ? 0x1p-11 : 0x1p-8;
  check.error_bound = static_cast<double>(largest) * (2 * unit + (score + 16) * 0x1p-19);
  // P of e4m3 is within 2^-4, and a score is a sum of products to 13 bits behind the point.
  const double score_error = type == Type::e4m3 ? e4m3_score_error(request, on_host) : 0;
  if (type == Type::e4m3) check.error_bound += static_cast<double>(largest) * (0x1p-4 + 2 * score_error);
  const std::vector<float> found = decoded(o, output_type);
  double squares = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double error = std::abs(static_cast<double>(found[i]) - wanted_o.at(i));
    raise_to(&check.max_error, error);
    squares += error * error;
  }
  check.rms_error = found.empty() ? 0 : std::sqrt(squares / static_cast<double>(found.size()));
  bool sums_ok = true;
  for (std::size_t i = 0; i < log_sum_exp.size(); ++i) {
    const double wanted = expected.log_sum_exp[i], got = log_sum_exp[i];
    if (std::isnan(wanted)) {  // of a query that the batch does not have: not written
      sums_ok = sums_ok && std::isnan(got);
      continue;
    }
    if (std::isinf(wanted)) {
      sums_ok = sums_ok && got == wanted;
      continue;
    }
    const double error = std::abs(got - wanted);
    raise_to(&check.log_sum_exp_error, error);
    sums_ok = sums_ok && error <= 1e-5 * (10 + std::abs(wanted)) + score_error;
  }
  check.ok = sums_ok && check.max_error <= check.error_bound;
  return check;
}

}  // namespace

std::size_t count_of(std::initializer_list<std::int64_t> sizes) {
  double product = 1;
  for (const std::int64_t size : sizes) product *= static_cast<double>(size);
  if (product > 0x1p60) throw std::bad_alloc();
  std::size_t count = 1;
  for (const std::int64_t size : sizes) count *= static_cast<std::size_t>(size);
  return count;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const std::int64_t size : shape) text += (text.empty() ? "" : " x ") + std::to_string(size);
  return text;
}

std::unique_ptr<DeviceBuffer> on_device(Device& device, const char* purpose, const void* data,
                                        std::size_t bytes) {
  auto buffer = std::make_unique<DeviceBuffer>(device, purpose, bytes);
  if (bytes > 0) buffer->upload(data, bytes);
  return buffer;
}

void raise_to(double* most, double error) {
  if (!std::isnan(*most) && !(error <= *most)) *most = error;
}

std::vector<float> decoded(const HeadTensor& tensor, Type type) {
  std::vector<float> values(tensor.elements());
  reference::decode(type, tensor.data.data(), values.size(), values.data());
  return values;
}

HeadTensor random_tensor(std::uint64_t seed, std::int64_t batch, std::int64_t rows, std::int64_t heads,
                         int dimension, Type type) {
  HeadTensor tensor{batch, rows, heads, dimension, {}};
  std::vector<float> values(tensor.elements());
  for (std::size_t i = 0; i < values.size(); i += 2) {
    const NormalPair pair = random_normals(seed, i / 2);
    values[i] = pair.first;
    if (i + 1 < values.size()) values[i + 1] = pair.second;
  }
  tensor.data.resize(bytes(type) * values.size());
  reference::encode(type, values.data(), values.size(), tensor.data.data());
  return tensor;
}

HeadTensor read_tensor(const std::string& path, Type type) {
  const NpyArray array = read_npy_array(path);
  const std::size_t axes = array.shape.size();
  if (axes != 3 && axes != 4)
    refuse(path + ": its shape is " + shape_text(array.shape) +
           " but must be rows x heads x dimension, or batch x rows x heads x dimension");
  if (array.fortran_order) refuse(path + ": it is in Fortran order but must be in C order");
  const std::int64_t dimension = array.shape[axes - 1];
  if (dimension > std::numeric_limits<int>::max())
    refuse(path + ": its head dimension is " + std::to_string(dimension) + ", which is too large");
  HeadTensor tensor{axes == 4 ? array.shape[0] : 1,
                    array.shape[axes - 3],
                    array.shape[axes - 2],
                    static_cast<int>(dimension),
                    {}};
  tensor.data.resize(bytes(type) * tensor.elements());
  const bool bf16 = array.descr == "<V2" || array.descr == "|V2";
  if (array.descr == "<f4") {
    std::vector<float> values(tensor.elements());
    std::memcpy(values.data(), array.data.data(), array.data.size());
    reference::encode(type, values.data(), values.size(), tensor.data.data());
    return tensor;
  }
  const bool e4m3 = array.descr == "|u1" || array.descr == "|V1" || array.descr == "<V1";
  if (!bf16 && !e4m3 && array.descr != "<f2")
    refuse(path + ": its elements are '" + array.descr +
           "' but must be '<f2', '<V2' (bfloat16), '|V1' or '|u1' (e4m3) or '<f4'");
  const Type found = bf16 ? Type::bf16 : e4m3 ? Type::e4m3 : Type::f16;
  if (found != type) refuse(path + ": its elements are " + name(found) + " but --type is " + name(type));
  std::memcpy(tensor.data.data(), array.data.data(), array.data.size());
  return tensor;
}

void set_shape(AttentionRequest* request) {
  AttentionProblem& p = request->problem;
  const HeadTensor &q = request->q, &k = request->k, &v = request->v;
  if (q.batch != k.batch || k.batch != v.batch || k.rows != v.rows || k.heads != v.heads)
    refuse("Q is " + shape_text(q.shape()) + ", K " + shape_text(k.shape()) + " and V " +
           shape_text(v.shape()) + ": batches must be alike, and rows and heads of K and V");
  if (q.dimension != k.dimension)
    refuse("the head dimension of Q is " + std::to_string(q.dimension) + " but that of K " +
           std::to_string(k.dimension) + ": they must be alike");
  p.batch = q.batch, p.heads = q.heads, p.key_heads = k.heads;
  p.queries = q.rows, p.keys = k.rows;
  p.head_dimension = q.dimension, p.value_dimension = v.dimension;
}

std::vector<std::int32_t> offsets_of(const std::vector<std::int64_t>& lengths) {
  std::vector<std::int32_t> offsets{0};
  for (const std::int64_t length : lengths)
    offsets.push_back(static_cast<std::int32_t>(offsets.back() + length));
  return offsets;
}

std::int64_t queries_of_batch(const AttentionRequest& request, std::int64_t batch) {
  const auto& offsets = request.query_offsets;
  const auto b = static_cast<std::size_t>(batch);
  return offsets.empty() ? request.problem.queries : offsets.at(b + 1) - offsets.at(b);
}
std::int64_t keys_of_batch(const AttentionRequest& request, std::int64_t batch) {
  const auto& offsets = request.key_offsets;
  const auto b = static_cast<std::size_t>(batch);
  if (!offsets.empty()) return offsets.at(b + 1) - offsets.at(b);
  return request.key_lengths.empty() ? request.problem.keys : request.key_lengths.at(b);
}

AttentionForward::AttentionForward(const AttentionRequest& request, Device& device)
    : request_(request), device_(device), problem_(request.problem) {
  AttentionProblem& p = problem_;
  o_ = {request.q.batch, request.q.rows, p.heads, p.value_dimension, {}};
  o_.data.assign(2 * o_.elements(), 0xff);  // NaN: what is not written shows
  log_sum_exp_.assign(count_of({p.batch, p.heads, p.queries}), std::numeric_limits<float>::quiet_NaN());
  slopes_ = slopes_of(p.heads);
  const auto there = [&](const char* purpose, const auto& values) {
    return on_device(device, purpose, values.data(), sizeof(values[0]) * values.size());
  };
  q_there_ = there("Q", request.q.data), k_there_ = there("K", request.k.data);
  v_there_ = there("V", request.v.data), o_there_ = there("O", o_.data);
  sums_there_ = there("the log-sum-exp", log_sum_exp_);
  slopes_there_ = there("the slopes", slopes_);
  query_offsets_there_ = there("the offsets of queries", request.query_offsets);
  key_offsets_there_ = there("the offsets of keys", request.key_offsets);
  key_lengths_there_ = there("the lengths of keys", request.key_lengths);
  page_table_there_ = there("the page table", request.page_table);
  sinks_there_ = there("the sinks", request.sinks);
  const auto if_any = [](const auto& values, const auto& memory) {
    using Value = typename std::decay_t<decltype(values)>::value_type;
    return values.empty() ? nullptr : static_cast<const Value*>(memory->get());
  };
  p.query_offsets = if_any(request.query_offsets, query_offsets_there_);
  p.key_offsets = if_any(request.key_offsets, key_offsets_there_);
  p.key_lengths = if_any(request.key_lengths, key_lengths_there_);
  p.pages.table = if_any(request.page_table, page_table_there_);
  p.sinks = if_any(request.sinks, sinks_there_);
  p.q = request.q.at<const void*>(q_there_->get()), p.k = request.k.at<const void*>(k_there_->get());
  p.v = request.v.at<const void*>(v_there_->get()), p.o = o_.at<void*>(o_there_->get());
  p.log_sum_exp = static_cast<float*>(sums_there_->get());
  p.alibi_slopes = request.alibi ? static_cast<const float*>(slopes_there_->get()) : nullptr;
}

AttentionProblem AttentionForward::on_host() const {
  AttentionProblem p = problem_;
  p.q = request_.q.at<const void*>(request_.q.data.data());
  p.k = request_.k.at<const void*>(request_.k.data.data());
  p.v = request_.v.at<const void*>(request_.v.data.data());
  p.alibi_slopes = request_.alibi ? slopes_.data() : nullptr;
  if (p.query_offsets != nullptr) p.query_offsets = request_.query_offsets.data();
  if (p.key_offsets != nullptr) p.key_offsets = request_.key_offsets.data();
  if (p.key_lengths != nullptr) p.key_lengths = request_.key_lengths.data();
  if (p.pages.table != nullptr) p.pages.table = request_.page_table.data();
  if (p.sinks != nullptr) p.sinks = request_.sinks.data();
  return p;
}

AttentionAnswer AttentionForward::run(const std::string& kernel) {
  kernel_ = kernel;
  AttentionAnswer answer;
  AttentionProblem& p = problem_;
  Launcher& launcher = device_.launcher();
  p.workspace_bytes = workspace_size(launcher, p, named());
  workspace_ = std::make_unique<DeviceBuffer>(device_, "the workspace", p.workspace_bytes);
  p.workspace = workspace_->get();
  require(can_implement(launcher, p, named()));
  if (const char* chosen = kernel_name(launcher, p, named())) answer.kernel = chosen;
  require(attention(launcher, p, named()));
  require(device_.synchronize());
  if (!o_.data.empty()) o_there_->download(o_.data.data(), o_.data.size());
  if (!log_sum_exp_.empty()) sums_there_->download(log_sum_exp_.data(), 4 * log_sum_exp_.size());
  if (request_.check) answer.check = compare(request_, on_host(), o_, log_sum_exp_);
  answer.o = std::move(o_);
  return answer;
}

Interval AttentionForward::time() {
  Launcher& launcher = device_.launcher();
  return bootstrap_median(time_each([&] { return attention(launcher, problem_, named()); }, 100));
}

AttentionAnswer run_attention(const AttentionRequest& request, Device& device) {
  AttentionForward forward(request, device);
  AttentionAnswer answer = forward.run(request.kernel);
  if (request.bench && answer.kernel) answer.ms = forward.time();
  return answer;
}

}  // namespace tenon::command
