// `tenon attention`: softmax(scale * Q K^T) V of files or random numbers, run, checked, timed and written,
// and its gradients.
//
// Every error in the request is found before the device is used, and the output file is opened before
// anything is computed.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "command_line/attention_run.hpp"
#include "command_line/commands.hpp"
#include "command_line/emulator_report.hpp"
#include "command_line/exit_status.hpp"
#include "command_line/npy.hpp"
#include "command_line/options.hpp"
#include "command_line/print_json.hpp"
#include "command_line/random.hpp"
#include "command_line/type_named.hpp"
#include "tenon/attention/check_problem.hpp"

namespace tenon::command {
namespace {

struct AttentionOptions {
  std::optional<std::int64_t> batch, heads, key_heads, queries, keys, head_dimension, value_dimension, left,
      right;
  std::optional<std::int64_t> page_size;
  std::vector<std::int64_t> query_lengths, key_lengths;
  std::optional<std::uint64_t> seed;
  std::optional<float> scale;
  float soft_cap = 0;
  std::string type = "f16", output_type = "bf16", q_path, k_path, v_path, d_o_path, out_path, device = "auto",
              kernel;
  bool causal = false, alibi = false, sinks = false, check = false, bench = false, json = false;
  bool backward = false, deterministic = false;
  bool output_type_given = false;

  bool from_files() const { return !q_path.empty(); }
};

void check_lengths_usage(const AttentionOptions& o) {
  if (!o.query_lengths.empty() && o.queries)
    refuse("--query-lengths says the queries of each batch: it does not go with --queries");
  if (!o.key_lengths.empty() && o.keys)
    refuse("--key-lengths says the keys of each batch: it does not go with --keys");
  for (const auto* lengths : {&o.query_lengths, &o.key_lengths}) {
    const std::int64_t rows = std::accumulate(lengths->begin(), lengths->end(), std::int64_t{0});
    if (rows > most_offset_rows)
      refuse("the lengths have " + std::to_string(rows) + " rows but offsets hold " +
             std::to_string(most_offset_rows));
  }
  const std::size_t queries = o.query_lengths.size(), keys = o.key_lengths.size();
  if (queries > 0 && keys > 0 && queries != keys)
    refuse("--query-lengths has " + std::to_string(queries) + " batches but --key-lengths has " +
           std::to_string(keys));
  const auto batches = static_cast<std::int64_t>(std::max(queries, keys));
  if (batches > 0 && o.batch && *o.batch != batches)
    refuse("--batch is " + std::to_string(*o.batch) + " but there are lengths of " + std::to_string(batches) +
           " batches");
}

void check_backward_usage(const AttentionOptions& o) {
  if (!o.backward && (o.deterministic || !o.d_o_path.empty()))
    refuse(std::string(o.deterministic ? "--deterministic" : "--d-o") + " is for --backward");
  if (o.backward && !o.out_path.empty())
    refuse("--out writes O of the forward pass: it does not go with --backward");
  const std::pair<const char*, bool> forward_alone[] = {{"--query-lengths", !o.query_lengths.empty()},
                                                        {"--key-lengths", !o.key_lengths.empty()},
                                                        {"--page-size", o.page_size.has_value()},
                                                        {"--sinks", o.sinks}};
  for (const auto& [option, is_given] : forward_alone) {
    if (o.backward && is_given)
      refuse(std::string(option) + " is for the forward pass alone: it does not go with --backward");
  }
}

void check_attention_usage(const AttentionOptions& o) {
  if (o.q_path.empty() != o.k_path.empty() || o.q_path.empty() != o.v_path.empty())
    refuse("--q, --k and --v must be given together");
  const struct {
    const char* name;
    bool given;
  } of_random[] = {{"--batch", o.batch.has_value()},
                   {"--heads", o.heads.has_value()},
                   {"--key-heads", o.key_heads.has_value()},
                   {"--queries", o.queries.has_value()},
                   {"--keys", o.keys.has_value()},
                   {"--head-dimension", o.head_dimension.has_value()},
                   {"--value-dimension", o.value_dimension.has_value()},
                   {"--query-lengths", !o.query_lengths.empty()},
                   {"--key-lengths", !o.key_lengths.empty()},
                   {"--page-size", o.page_size.has_value()},
                   {"--seed", o.seed.has_value() && !(o.backward && o.d_o_path.empty())}};
  for (const auto& option : of_random) {
    if (o.from_files() && option.given)
      refuse(std::string(option.name) + " is for random tensors: with --q, --k and --v the files say it");
  }
  if (!o.from_files() && (!o.heads || !(o.queries || !o.query_lengths.empty()) || !o.head_dimension))
    refuse("give --heads, --queries and --head-dimension for random tensors, or --q, --k and --v for files");
  check_lengths_usage(o);
  check_backward_usage(o);
  if (o.output_type_given && o.type != "e4m3")
    refuse("--output-type is for --type e4m3: O of other types is of the type of Q, K and V");
  if (o.causal && (o.left || o.right))
    refuse("--causal is --right 0: it does not go with --left and --right");
  if (o.bench && o.device == "emulator")
    refuse("--bench times a GPU: the emulator counts what a kernel does, not how long a GPU takes for it");
}

std::int64_t largest_of(const std::vector<std::int64_t>& lengths) {
  return *std::max_element(lengths.begin(), lengths.end());
}

// Keys of batches in pages, which lie in a random order in a pool of as many.
void put_in_pages(int page_size, std::uint64_t seed, AttentionRequest* request) {
  AttentionProblem& p = request->problem;
  p.pages.page_size = page_size;
  p.pages.table_stride = (p.keys + page_size - 1) / page_size;
  p.pages.count = std::max<std::int64_t>(1, p.batch * p.pages.table_stride);
  request->page_table.resize(static_cast<std::size_t>(p.pages.count));
  std::iota(request->page_table.begin(), request->page_table.end(), 0);
  for (std::size_t i = request->page_table.size() - 1; i > 0; --i)
    std::swap(request->page_table[i], request->page_table[random_bits(seed, i) % (i + 1)]);
}

// The sizes, lengths and tensors of random numbers.
void random_request(const AttentionOptions& o, AttentionRequest* request) {
  AttentionProblem& p = request->problem;
  const std::uint64_t seed = o.seed.value_or(1);
  // Without --keys and --key-lengths there are as many keys as queries.
  const std::vector<std::int64_t>& key_lengths =
      o.key_lengths.empty() && !o.keys ? o.query_lengths : o.key_lengths;
  const auto batches = static_cast<std::int64_t>(std::max(o.query_lengths.size(), key_lengths.size()));
  p.batch = batches > 0 ? batches : o.batch.value_or(1);
  p.heads = *o.heads, p.key_heads = o.key_heads.value_or(*o.heads);
  p.head_dimension = static_cast<int>(*o.head_dimension);
  p.value_dimension = static_cast<int>(o.value_dimension.value_or(*o.head_dimension));
  p.queries = o.query_lengths.empty() ? *o.queries : largest_of(o.query_lengths);
  p.keys = key_lengths.empty() ? o.keys.value_or(p.queries) : largest_of(key_lengths);
  AttentionExtents of_queries{p.batch, p.queries}, of_keys{p.batch, p.keys};
  if (!o.query_lengths.empty()) {
    request->query_offsets = offsets_of(o.query_lengths);
    of_queries = {1, p.query_rows = request->query_offsets.back()};
  }
  if (o.page_size) {
    put_in_pages(static_cast<int>(*o.page_size), random_bits(seed, 4), request);
    of_keys = {p.pages.count, p.pages.page_size};
    request->key_lengths.assign(key_lengths.begin(), key_lengths.end());
  } else if (!key_lengths.empty()) {
    request->key_offsets = offsets_of(key_lengths);
    of_keys = {1, p.key_rows = request->key_offsets.back()};
  }
  const auto random = [&](int stream, AttentionExtents of, std::int64_t heads, int dimension) {
    return random_tensor(random_bits(seed, stream), of.batch, of.rows, heads, dimension, p.type);
  };
  request->q = random(0, of_queries, p.heads, p.head_dimension);
  request->k = random(1, of_keys, p.key_heads, p.head_dimension);
  request->v = random(2, of_keys, p.key_heads, p.value_dimension);
}

// dO from its file, or of random numbers.
HeadTensor gradient_of_output(const AttentionOptions& o, const AttentionRequest& request) {
  const AttentionProblem& p = request.problem;
  const HeadTensor& q = request.q;
  if (o.d_o_path.empty())
    return random_tensor(random_bits(o.seed.value_or(1), 5), q.batch, q.rows, p.heads, p.value_dimension,
                         p.type);
  HeadTensor d_o = read_tensor(o.d_o_path, p.type);
  const std::vector<std::int64_t> needed{q.batch, q.rows, p.heads, p.value_dimension};
  if (d_o.shape() != needed)
    refuse("dO is " + shape_text(d_o.shape()) + " but must be as O, " + shape_text(needed));
  return d_o;
}

AttentionRequest attention_request(const AttentionOptions& o) {
  check_attention_usage(o);
  AttentionRequest request;
  AttentionProblem& p = request.problem;
  p.type = type_named(o.type);
  p.output_type = type_named(o.output_type);
  if (o.from_files()) {
    request.q = read_tensor(o.q_path, p.type);
    request.k = read_tensor(o.k_path, p.type);
    request.v = read_tensor(o.v_path, p.type);
    set_shape(&request);
  } else {
    random_request(o, &request);
  }
  if (o.sinks) {
    for (std::int64_t head = 0; head < p.heads; ++head)
      request.sinks.push_back(random_normals(random_bits(o.seed.value_or(1), 3), head).first);
  }
  p.scale = o.scale.value_or(1 / std::sqrt(static_cast<float>(std::max(1, p.head_dimension))));
  p.window = {o.left ? static_cast<int>(*o.left) : -1, o.causal  ? 0
                                                       : o.right ? static_cast<int>(*o.right)
                                                                 : -1};
  p.soft_cap = o.soft_cap;
  request.alibi = o.alibi;
  request.kernel = o.kernel, request.check = o.check, request.bench = o.bench;
  request.backward = o.backward, request.deterministic = o.deterministic;
  if (o.backward) request.d_o = gradient_of_output(o, request);
  return request;
}

std::unique_ptr<Device> open_attention_device(const AttentionOptions& o) {
  std::unique_ptr<Device> device;
  if (o.device != "emulator") {
    const Status cuda = open_cuda_device(&device);
    if (cuda) return device;
    if (o.device == "cuda")
      throw Failure(Exit::machine_cannot, std::string(cuda.message()) + "; --device emulator needs none");
    if (o.bench) throw Failure(Exit::machine_cannot, std::string("--bench times a GPU: ") + cuda.message());
  }
  require(open_emulator_device(&device));
  return device;
}

// Products of the keys that the queries see: Q K^T and P V, and of the backward pass Q K^T, dO V^T, P^T dO,
// dS K and dS^T Q.
double attention_tflops(const AttentionRequest& request, double ms) {
  const AttentionProblem& p = request.problem;
  double pairs = 0;
  for (std::int64_t batch = 0; batch < p.batch; ++batch) {
    const std::int64_t queries = queries_of_batch(request, batch), keys = keys_of_batch(request, batch);
    for (std::int64_t query = 0; query < queries; ++query) {
      const std::int64_t position = query + keys - queries;
      const std::int64_t first = p.window.left < 0 ? 0 : std::max<std::int64_t>(0, position - p.window.left);
      const std::int64_t end = p.window.right < 0 ? keys : std::min(keys, position + p.window.right + 1);
      pairs += static_cast<double>(std::max<std::int64_t>(0, end - first));
    }
  }
  const int dimensions =
      request.backward ? 3 * p.head_dimension + 2 * p.value_dimension : p.head_dimension + p.value_dimension;
  return 2.0 * pairs * static_cast<double>(p.heads) * dimensions / (ms * 1e9);
}

struct Found {
  std::vector<emulator::Finding> findings;
  emulator::Counts counts;
};

struct NamedGradient {
  const char *key, *name;
  const GradientCheck* check;  // null: was not asked for
};
std::array<NamedGradient, 3> gradients(const std::optional<BackwardCheck>& check) {
  return {{{"dq", "dQ", check ? &check->dq : nullptr},
           {"dk", "dK", check ? &check->dk : nullptr},
           {"dv", "dV", check ? &check->dv : nullptr}}};
}

void add_backward_json(const AttentionRequest& request, const AttentionAnswer& answer,
                       nlohmann::ordered_json* json) {
  (*json)["backward"] = true;
  (*json)["deterministic"] = request.deterministic;
  (*json)["forward_kernel"] = nullptr;
  if (answer.forward_kernel) (*json)["forward_kernel"] = *answer.forward_kernel;
  for (const auto& [key, gradient_name, check] : gradients(answer.backward_check)) {
    nlohmann::ordered_json& of = (*json)[key] = nullptr;
    if (check == nullptr) continue;
    of["max_error"] = check->max_error;
    of["rms_error"] = check->rms_error;
    of["share_of_bound"] = check->share_of_bound;
  }
}

void print_attention_json(const AttentionRequest& request, const Device& device,
                          const AttentionAnswer& answer, const std::optional<Found>& found) {
  const AttentionProblem& p = request.problem;
  nlohmann::ordered_json json;
  json["kernel"] = nullptr;
  if (answer.kernel) json["kernel"] = *answer.kernel;
  json["device"] = device.kind();
  json["device_name"] = device.description();
  json["batch"] = p.batch;
  json["heads"] = p.heads;
  json["key_heads"] = p.key_heads;
  json["queries"] = p.queries;
  json["keys"] = p.keys;
  json["head_dimension"] = p.head_dimension;
  json["value_dimension"] = p.value_dimension;
  json["type"] = name(p.type);
  for (const char* key : {"max_error", "rms_error", "error_bound", "log_sum_exp_error", "ok"})
    json[key] = nullptr;
  if (answer.check) {
    json["max_error"] = answer.check->max_error;
    json["rms_error"] = answer.check->rms_error;
    json["error_bound"] = answer.check->error_bound;
    json["log_sum_exp_error"] = answer.check->log_sum_exp_error;
    json["ok"] = answer.right();
  }
  for (const char* key : {"ms", "ms_low", "ms_high", "tflops"}) json[key] = nullptr;
  if (answer.ms) {
    json["ms"] = answer.ms->median;
    json["ms_low"] = answer.ms->low;
    json["ms_high"] = answer.ms->high;
    json["tflops"] = attention_tflops(request, answer.ms->median);
  }
  for (const char* key : {"findings", "counters"}) json[key] = nullptr;
  if (found) {
    json["findings"] = findings_json(found->findings);
    json["counters"] = counts_json(found->counts);
  }
  if (request.backward) add_backward_json(request, answer, &json);
  print_json(json);
}

void print_attention_text(const AttentionOptions& o, const AttentionRequest& request, const Device& device,
                          const AttentionAnswer& answer, const std::optional<Found>& found) {
  const AttentionProblem& p = request.problem;
  const auto number = [](std::int64_t x) { return static_cast<long long>(x); };
  std::printf("problem  batch %lld, %lld heads on %lld, %lld queries, %lld keys, dimensions %d and %d, %s\n",
              number(p.batch), number(p.heads), number(p.key_heads), number(p.queries), number(p.keys),
              p.head_dimension, p.value_dimension, name(p.type));
  std::printf("kernel   %s\n", answer.kernel ? answer.kernel->c_str() : "none: there is nothing to compute");
  if (answer.forward_kernel) std::printf("forward  %s\n", answer.forward_kernel->c_str());
  std::printf("device   %s\n", device.description().c_str());
  if (answer.check) {
    std::printf("check    %s: max error %.3g, error bound %.3g, root mean square %.3g, of log-sum-exp %.3g\n",
                answer.check->ok ? "ok" : "WRONG", answer.check->max_error, answer.check->error_bound,
                answer.check->rms_error, answer.check->log_sum_exp_error);
  }
  for (const auto& [key, gradient_name, check] : gradients(answer.backward_check)) {
    if (check == nullptr) continue;
    std::printf("check %s %s: max error %.3g, root mean square %.3g, at most %.3g of its bound\n",
                gradient_name, check->ok() ? "ok" : "WRONG", check->max_error, check->rms_error,
                check->share_of_bound);
  }
  if (answer.ms) {
    std::printf("time     %.4f ms, 95 %% confidence %.4f to %.4f (100 runs), %.2f TFLOP/s\n",
                answer.ms->median, answer.ms->low, answer.ms->high,
                attention_tflops(request, answer.ms->median));
  }
  if (found) {
    for (const emulator::Finding& finding : found->findings)
      std::printf("finding  %s\n", finding_text(finding).c_str());
    if (found->findings.empty()) std::printf("findings none\n");
  }
  if (!o.out_path.empty()) std::printf("written  %s\n", o.out_path.c_str());
}

void run_attention_command(const AttentionOptions& o) {
  const AttentionRequest request = attention_request(o);
  std::optional<OutputFile> output;
  if (!o.out_path.empty()) output.emplace(o.out_path);
  const std::unique_ptr<Device> device = open_attention_device(o);
  const AttentionAnswer answer =
      request.backward ? run_attention_backward(request, *device) : run_attention(request, *device);
  std::optional<Found> found;
  if (device->kind() == std::string("emulator")) {
    found.emplace();
    for (const LaunchReport& report : device->take_reports()) {
      found->findings.insert(found->findings.end(), report.result.findings.begin(),
                             report.result.findings.end());
      found->counts += report.result.counters.total;
    }
  }
  const bool right = answer.right() && (!found || found->findings.empty());
  if (output && right) {
    const std::string header =
        npy_header(type_of_output(request.problem) == Type::f16 ? "<f2" : "<V2", answer.o.shape());
    output->write(header.data(), header.size());
    output->write(answer.o.data.data(), answer.o.data.size());
    output->commit();
  }
  o.json ? print_attention_json(request, *device, answer, found)
         : print_attention_text(o, request, *device, answer, found);
  if (answer.check && !answer.check->ok) {
    char sentence[160];
    std::snprintf(
        sentence, sizeof sentence,
        "the result is wrong: its largest error is %.3g but may be %.3g, that of the log-sum-exp is %.3g",
        answer.check->max_error, answer.check->error_bound, answer.check->log_sum_exp_error);
    throw Failure(Exit::wrong_result, sentence);
  }
  for (const auto& [key, gradient_name, check] : gradients(answer.backward_check)) {
    if (check == nullptr || check->ok()) continue;
    char sentence[160];
    std::snprintf(sentence, sizeof sentence,
                  "the result is wrong: the largest error of %s is %.3g, and an error is %.3g of its bound",
                  gradient_name, check->max_error, check->share_of_bound);
    throw Failure(Exit::wrong_result, sentence);
  }
  if (!right)
    throw Failure(Exit::wrong_result,
                  "the emulator found a fault in the kernel: " + finding_text(found->findings.front()));
}

}  // namespace

void add_attention(CLI::App& application) {
  CLI::App* command = application.add_subcommand(
      "attention", "Compute attention: O = softmax(scale * Q K^T) V, or its gradients");
  const auto o = std::make_shared<AttentionOptions>();
  const auto size = [] { return whole_number(0, longest_sequence); };
  command->add_option("--batch", o->batch, "Independent sequences (default: 1)")->transform(size());
  command->add_option("--heads", o->heads, "Heads of Q and O")->transform(size());
  command
      ->add_option("--key-heads", o->key_heads, "Heads of K and V, a divisor of --heads (default: as many)")
      ->transform(size());
  command->add_option("--queries", o->queries, "Rows of Q and O")->transform(size());
  command->add_option("--keys", o->keys, "Rows of K and V (default: as many as queries)")->transform(size());
  command->add_option("--head-dimension", o->head_dimension, "Of Q and K: 32, 64, 96, 128, 192 or 256")
      ->transform(whole_number(1, largest_head_dimension));
  command->add_option("--value-dimension", o->value_dimension, "Of V and O (default: that of Q and K)")
      ->transform(whole_number(1, largest_head_dimension));
  command->add_option("--type", o->type, "Type of Q, K and V and, but for e4m3, of O")
      ->check(CLI::IsMember({"f16", "bf16", "e4m3"}))
      ->capture_default_str();
  CLI::Option* const output_type =
      command->add_option("--output-type", o->output_type, "Type of O where --type is e4m3")
          ->check(CLI::IsMember({"f16", "bf16"}))
          ->capture_default_str();
  command->add_flag("--causal", o->causal,
                    "A query sees no key behind its own position; sequences end together");
  command->add_option("--left", o->left, "A query sees so many keys before its position (default: all)")
      ->transform(size());
  command->add_option("--right", o->right, "The same of those behind it (default: all)")->transform(size());
  command->add_option("--scale", o->scale, "Factor of Q K^T (default: 1 / sqrt(head dimension))")
      ->check(float_number());
  command->add_option("--soft-cap", o->soft_cap, "Scores s become cap * tanh(s / cap); 0: no cap")
      ->check(float_number())
      ->capture_default_str();
  command->add_flag("--alibi", o->alibi, "Add ALiBi's slopes, 2^(-8 (head + 1) / heads) a key");
  command->add_flag("--sinks", o->sinks,
                    "A score of N(0, 1) for each head joins the softmax, without a value");
  command
      ->add_option(
          "--query-lengths", o->query_lengths,
          "Batches of variable lengths: the queries of each, as 5,17,1; their rows follow each other")
      ->delimiter(',')
      ->transform(size());
  command
      ->add_option("--key-lengths", o->key_lengths,
                   "The same of keys (default: as many as queries, or --keys each)")
      ->delimiter(',')
      ->transform(size());
  command
      ->add_option("--page-size", o->page_size,
                   "Keys and values lie in pages of so many keys, which are in a random order")
      ->transform(whole_number(1, largest_page));
  command->add_option("--seed", o->seed, "Seed of random tensors, N(0, 1) (default: 1)")
      ->transform(seed_number());
  command->add_option(
      "--q", o->q_path,
      "Q from this .npy file, (rows, heads, dimension) or with the batch before them: float16, "
      "bfloat16 ('<V2'), e4m3 ('|V1' or '|u1') or float32 (rounded to --type)");
  command->add_option("--k", o->k_path, "K from this .npy file");
  command->add_option("--v", o->v_path, "V from this .npy file");
  command->add_flag("--backward", o->backward,
                    "Compute dQ, dK and dV after the forward pass; --kernel and --bench are of them");
  command->add_option("--d-o", o->d_o_path,
                      "With --backward: dO from this .npy file, shaped as O (default: N(0, 1), by --seed)");
  command->add_flag("--deterministic", o->deterministic, "With --backward: the same bits in each run");
  command->add_option("--out", o->out_path, "Write O to this .npy file: (batch, rows, heads, dimension)");
  command
      ->add_option(
          "--device", o->device,
          "Where to run; auto: on a GPU if there is one, else in the emulator, which runs the PTX of "
          "the kernel on the CPU, checks its every access and counts")
      ->check(CLI::IsMember({"auto", "cuda", "emulator"}))
      ->capture_default_str();
  command->add_option("--kernel", o->kernel, "Run this kernel instead of the library's choice");
  command->add_flag("--check", o->check,
                    "Compare O, the log-sum-exp and the gradients with float64 on the host");
  command->add_flag("--bench", o->bench,
                    "Time it on a GPU: the median of 100 runs, launches included, and its 95 % confidence "
                    "interval by the bootstrap");
  command->add_flag(
      "--json", o->json,
      "Print one object: kernel, device, the sizes, type, max_error, rms_error, error_bound, "
      "log_sum_exp_error, ok, ms, ms_low, ms_high, tflops and, of the emulator, findings and "
      "counters (of both passes, with --backward); with --backward also backward, deterministic, "
      "forward_kernel, and of dq, dk and "
      "dv max_error, rms_error and share_of_bound, the most that an error is of its bound. What "
      "was not asked for is null");
  command->footer(
      "Examples:\n"
      "  tenon attention --heads 8 --queries 512 --head-dimension 64 --check --bench\n"
      "  tenon attention --heads 32 --key-heads 8 --queries 8192 --head-dimension 128 --causal --bench "
      "--json\n"
      "  tenon attention --heads 2 --queries 17 --keys 63 --head-dimension 64 --left 20 --device emulator "
      "--check\n"
      "  tenon attention --heads 8 --query-lengths 5,17,1 --key-lengths 70,17,300 --page-size 16 "
      "--head-dimension 64 --causal --check\n"
      "  tenon attention --heads 16 --queries 4096 --head-dimension 128 --causal --backward --bench --json\n"
      "  tenon attention --heads 2 --queries 40 --head-dimension 64 --backward --deterministic --check\n"
      "  tenon attention --q q.npy --k k.npy --v v.npy --causal --out o.npy");
  command->callback([o, output_type] {
    o->output_type_given = output_type->count() > 0;
    run_attention_command(*o);
  });
}

}  // namespace tenon::command
