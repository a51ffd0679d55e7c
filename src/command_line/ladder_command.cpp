// `tenon ladder`: one product by every means that the library knows, from the naive kernel to cuBLASLt. And
// `tenon ladder attention`: likewise attention, from scalar arithmetic to wgmma.
//
// The measuring is that of microbench: each contender alone, bursts after idling, results checked first.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "command_line/commands.hpp"
#include "command_line/exit_status.hpp"
#include "command_line/options.hpp"
#include "command_line/print_json.hpp"
#include "microbench/attention_ladder.hpp"
#include "microbench/case_runner.hpp"
#include "microbench/ladder.hpp"
#include "tenon/gemm/no_cuda_device.hpp"

namespace tenon::command {
namespace {

struct LadderOptions {
  std::int64_t m = 4096, n = 4096, k = 4096;
  bool json = false;
};

// The kernels that stand on rungs of these types.
std::vector<microbench::Candidate> contenders(const microbench::Types& types,
                                              const microbench::Layout& layout) {
  std::vector<microbench::Candidate> result;
  for (microbench::Candidate& candidate : microbench::candidates(types, layout)) {
    for (const microbench::Rung& rung : microbench::rungs()) {
      const bool stands_there = !rung.prefix.empty() &&
                                microbench::name(rung.types) == microbench::name(types) &&
                                candidate.name.rfind(rung.prefix, 0) == 0;
      if (stands_there) result.push_back(candidate);
    }
  }
  return result;
}

// command: the one that runs a kernel without a GPU.
void require_gpu(const char* command) {
  int devices = 0;
  const Status s = count_cuda_devices(&devices);
  if (s) return;
  throw Failure(Exit::machine_cannot,
                std::string(s.message()) + ": `tenon " + command +
                    " --device emulator --check --kernel NAME`. The ladder is timed on one");
}

void run(const LadderOptions& o) {
  require_gpu("gemm");
  try {
    const microbench::Layout layout;
    const microbench::Shape shape = microbench::with_leading_dimensions({o.m, o.n, o.k, 0, 0, 0}, layout);
    microbench::RunnerOptions options;
    options.ways.sustained = false;
    microbench::CaseRunner runner(options);
    std::vector<microbench::Record> records;
    std::vector<microbench::Types> all;
    for (const microbench::Rung& rung : microbench::rungs()) {
      const auto same = [&](const microbench::Types& types) {
        return microbench::name(types) == microbench::name(rung.types);
      };
      if (std::none_of(all.begin(), all.end(), same)) all.push_back(rung.types);
    }
    for (const microbench::Types& types : all) {
      for (microbench::Record& record : runner.run(types, layout, shape, contenders(types, layout)))
        records.push_back(std::move(record));
    }
    if (o.json) {
      print_json(microbench::to_json(shape, records));
    } else {
      std::cout << microbench::table(microbench::climb(records));
    }
    for (const microbench::Record& record : records) {
      if (!record.odd.empty()) std::cerr << "tenon: " << record.kernel << ": " << record.odd << "\n";
    }
    if (runner.wrong_results() > 0) {
      throw Failure(Exit::wrong_result, std::to_string(runner.wrong_results()) +
                                            " kernels failed or computed something wrong: see above");
    }
  } catch (const microbench::Failure& failure) {
    throw Failure(Exit::machine_cannot, failure.what());
  }
}

struct AttentionLadderOptions {
  microbench::AttentionShape shape;
  std::optional<std::int64_t> keys;
  bool json = false;
};

void run_attention(AttentionLadderOptions o) {
  o.shape.keys = o.keys.value_or(o.shape.queries);
  require_gpu("attention");
  try {
    const microbench::AttentionLadder ladder = microbench::measure_attention_ladder(o.shape);
    const auto rows = microbench::climb(o.shape, ladder.measured);
    if (o.json) {
      print_json(microbench::to_json(o.shape, ladder.machine, rows));
    } else {
      std::cout << microbench::table(rows);
    }
    for (const auto& x : ladder.measured) {
      if (!x.odd.empty()) std::cerr << "tenon: " << x.kernel << ": " << x.odd << "\n";
    }
    for (const std::string& sentence : ladder.wrong) std::cerr << "tenon: " << sentence << "\n";
    if (!ladder.wrong.empty()) {
      throw Failure(Exit::wrong_result, std::to_string(ladder.wrong.size()) +
                                            " kernels failed or computed something wrong: see above");
    }
  } catch (const microbench::Failure& failure) {
    throw Failure(Exit::machine_cannot, failure.what());
  }
}

void add_attention_ladder(CLI::App& ladder) {
  CLI::App* command =
      ladder.add_subcommand("attention", "Time attention from scalar FP32 to wgmma, each step checked");
  const auto o = std::make_shared<AttentionLadderOptions>();
  const auto size = [&](const char* name, auto* value, std::int64_t largest, const char* what) {
    command->add_option(name, *value, what)->transform(whole_number(1, largest));
  };
  constexpr std::int64_t largest = 1 << 16;
  size("--batch", &o->shape.batch, largest, "Batches (1)");
  size("--heads", &o->shape.heads, 1024, "Heads of Q, K and V (8)");
  size("--queries", &o->shape.queries, largest, "Rows of Q (512)");
  size("--keys", &o->keys, largest, "Rows of K and V (as Q)");
  size("--head-dimension", &o->shape.head_dimension, 256,
       "Columns of Q, K and V: 32, 64, 96, 128, 192, 256 (64)");
  command->add_flag("--causal", o->shape.causal, "A query sees the keys up to its own position");
  command->add_flag(
      "--json", o->json,
      "Print one object: batch, heads, queries, keys, head_dimension, causal, machine, toolkit and "
      "rows with rung, kernel, ms, tflops, factor, max_error, error_bound and ok");
  command->footer(
      "Examples:\n"
      "  tenon ladder attention\n"
      "  tenon ladder attention --heads 16 --queries 4096 --causal --json\n"
      "In f16 with FP32 accumulators. Each rung shows the fastest of its kernels, in bursts\n"
      "(microbench/README.md), and its factor over the scalar kernel. That is compared with float64 before "
      "it is\n"
      "timed, the others with it; what is wrong is not timed. WMMA takes head dimensions of 64.");
  command->callback([o, &ladder] {
    for (const char* option : {"--m", "--n", "--k", "--json"}) {
      if (ladder.count(option) > 0)
        refuse(std::string(option) + " stands before 'attention', but is of the ladder of a product");
    }
    run_attention(*o);
  });
}

}  // namespace

void add_ladder(CLI::App& application) {
  CLI::App* command = application.add_subcommand(
      "ladder", "Time one product from the naive kernel to cuBLASLt, each step checked");
  const auto o = std::make_shared<LadderOptions>();
  constexpr std::int64_t largest = 1 << 20;
  command->add_option("--m", o->m, "Rows of A and C")
      ->transform(whole_number(1, largest))
      ->capture_default_str();
  command->add_option("--n", o->n, "Columns of B and C")
      ->transform(whole_number(1, largest))
      ->capture_default_str();
  command->add_option("--k", o->k, "Columns of A, rows of B")
      ->transform(whole_number(1, largest))
      ->capture_default_str();
  command->add_flag(
      "--json", o->json,
      "Print one object: m, n, k, machine, toolkit and rows with rung, kernel, types, ms, tflops, ratio "
      "to cuBLASLt, flop_per_clk_per_sm, max_error, error_bound and ok; what is unknown is null");
  command->footer(
      "Examples:\n"
      "  tenon ladder\n"
      "  tenon ladder --m 8192 --n 8192 --k 8192 --json\n"
      "  tenon ladder attention\n"
      "FP32 on CUDA cores, then WMMA in each type and f16 with FP32 accumulators; A row-major, B "
      "column-major. Each rung shows the "
      "fastest "
      "of its\n"
      "kernels, in bursts (microbench/README.md). Every result is compared with cuBLASLt's product in FP32 "
      "before it\n"
      "is timed; what is wrong is not timed. cuBLASLt is looked for at run time.");
  add_attention_ladder(*command);
  command->callback([o, command] {
    if (command->get_subcommands().empty()) run(*o);
  });
}

}  // namespace tenon::command
