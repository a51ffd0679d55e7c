// Every form of mma, mma.sp and wmma.mma on random operands: this machine's GPU against the emulator, bit by
// bit.
//
//   hardware_vectors [--sets N] [--seed S] [--only TEXT] [--model NAME] [--write FILE]
//
// A set is a row of A, a column of B and an element of C; one instruction computes m * n of them. Prints a
// line per form: sets, differences, and the first difference with its operands. --write stores some of the
// GPU's answers for hardware_answers_test.cpp, which compares the emulator with them on machines without a
// GPU.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "emulator/numerics/hardware_answers.hpp"
#include "emulator/numerics/random_operands.hpp"
#include "microbench/numerics/cuda_subject.hpp"

namespace {

using namespace tenon::emulator::numerics;
namespace ptx = tenon::emulator::ptx;

// Calls work(first, last, thread) on all processors.
template <typename Work>
void in_parallel(std::size_t count, Work work) {
  const std::size_t threads = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::thread> all;
  for (std::size_t i = 0; i < threads; ++i) {
    all.emplace_back([=, &work] { work(count * i / threads, count * (i + 1) / threads); });
  }
  for (std::thread& thread : all) thread.join();
}

struct Difference {
  std::uint64_t set = 0;
  int lane = 0, reg = 0;
  std::uint64_t expected = 0, found = 0;  // by the emulator, by the GPU
};

struct Comparison {
  std::uint64_t results = 0, differences = 0;
  std::uint64_t by_character[RandomOperands::characters] = {};
  Difference first;
};

class Probe {
 public:
  Probe(const NamedForm& named, tenon::probing::Subject& subject)
      : named_(named), mma_(named.form), subject_(subject) {}

  // The sets [first, first + count) of a seed; `visit(set, registers)` gets each in order, with the GPU's
  // answer in d.
  template <typename Visit>
  void compare(Model model, std::uint64_t seed, std::uint64_t first, std::size_t count,
               Comparison& comparison, Visit visit) {
    std::vector<Registers> answers(count);
    in_parallel(count, [&](std::size_t begin, std::size_t end) {
      RandomOperands operands(named_);
      for (std::size_t i = begin; i < end; ++i) operands.fill(seed, first + i, answers[i]);
    });
    subject_.execute(named_, answers);
    const auto result = [&](std::size_t i) {
      return [&, i](int reg, int lane) { return answers[i].d[reg][lane]; };
    };
    std::mutex mutex;
    in_parallel(count, [&](std::size_t begin, std::size_t end) {
      Comparison part;
      for (std::size_t i = begin; i < end; ++i) {
        Registers expected = answers[i];
        mma_(model, expected);
        count_differences(first + i, expected, result(i), part);
      }
      const std::lock_guard<std::mutex> lock(mutex);
      comparison.results += part.results;
      const bool is_first =
          part.differences != 0 && (comparison.differences == 0 || part.first.set < comparison.first.set);
      if (is_first) comparison.first = part.first;
      comparison.differences += part.differences;
      for (int i = 0; i < RandomOperands::characters; ++i) comparison.by_character[i] += part.by_character[i];
    });
    for (std::size_t i = 0; i < count; ++i) visit(first + i, result(i));
  }

 private:
  template <typename Found>
  void count_differences(std::uint64_t set, const Registers& expected, Found found,
                         Comparison& comparison) const {
    for (int reg = 0; reg < mma_.d().registers(); ++reg) {
      for (int lane = 0; lane < 32; ++lane) {
        comparison.results += static_cast<std::uint64_t>(mma_.d().elements());
        const std::uint64_t bits = found(reg, lane);
        if (bits == expected.d[reg][lane]) continue;
        if (comparison.differences == 0) comparison.first = {set, lane, reg, expected.d[reg][lane], bits};
        ++comparison.differences;
        ++comparison.by_character[set % RandomOperands::characters];
      }
    }
  }

  NamedForm named_;
  Mma mma_;
  tenon::probing::Subject& subject_;
};

// The row of A, the column of B (k in order; for a sparse A the selected k) and c of one element of D.
void print_operands(const NamedForm& named, std::uint64_t seed, const Difference& difference) {
  RandomOperands operands(named);
  auto registers = std::make_unique<Registers>();
  operands.fill(seed, difference.set, *registers);
  const Mma& mma = operands.mma();
  const Coord at = mma.d().at(difference.lane, difference.reg, 0);
  const auto print = [&](const char* name, const Fragment& fragment, const std::uint64_t(*regs)[32], bool row,
                         int line, int length) {
    std::vector<std::uint64_t> numbers(static_cast<std::size_t>(length));
    for (int lane = 0; lane < 32; ++lane) {
      for (int reg = 0; reg < fragment.registers(); ++reg) {
        for (int element = 0; element < fragment.elements(); ++element) {
          const Coord coord = fragment.at(lane, reg, element);
          if ((row ? coord.row : coord.column) != line) continue;
          const std::uint64_t mask = ~std::uint64_t{0} >> (64 - fragment.element_bits());
          numbers[static_cast<std::size_t>(row ? coord.column : coord.row)] =
              regs[reg][lane] >> (fragment.element_bits() * element) & mask;
        }
      }
    }
    std::printf("    %s:", name);
    for (std::uint64_t number : numbers) std::printf(" %llx", static_cast<unsigned long long>(number));
    std::printf("\n");
  };
  const Form& form = named.form;
  if (element_bits(form.a) >= 8) {
    const bool blocks = form.unit == Unit::mma && form.a == ptx::Type::f16 && form.shape.m == 8;
    print("a", mma.a(), registers->a, true, at.row, form.sparse ? form.shape.k / 2 : form.shape.k);
    print("b", mma.b(), registers->b, false, at.column + (blocks ? at.row / 8 * 8 : 0), form.shape.k);
  }
  if (form.sparse) {
    std::printf("    columns:");
    for (int i = 0; i < form.shape.k / 2; ++i) {
      std::printf(" %d", sparse_column(form.shape, form.a, form.selector, registers->metadata, at.row, i));
    }
    std::printf("\n");
  }
  for (int reg = 0; reg < mma.c().registers(); ++reg) {
    for (int lane = 0; lane < 32; ++lane) {
      for (int element = 0; element < mma.c().elements(); ++element) {
        const Coord coord = mma.c().at(lane, reg, element);
        if (coord.row != at.row || coord.column != at.column) continue;
        const std::uint64_t mask = ~std::uint64_t{0} >> (64 - mma.c().element_bits());
        std::printf("    c: %llx\n",
                    static_cast<unsigned long long>(
                        registers->c[reg][lane] >> (mma.c().element_bits() * element) & mask));
      }
    }
  }
}

struct Options {
  std::uint64_t sets = 1000000, seed = 1;
  std::string only, write;
  Model model = Model::sm_90;
};

int run(const Options& options, tenon::probing::Subject& subject) {
  const int sm = subject.sm();
  HardwareAnswers answers(options.seed, sm);
  std::uint64_t wrong_forms = 0, forms_run = 0;
  std::printf("%-78s %12s %12s\n", "instruction", "sets", "differences");
  for (NamedForm named : forms()) {
    if (named.target > sm || named.text.find(options.only) == std::string::npos) continue;
    const int selectors = named.form.sparse ? sparse_selectors(named.form.shape, named.form.a) : 1;
    for (named.form.selector = 0; named.form.selector < selectors; ++named.form.selector) {
      Probe probe(named, subject);
      Comparison comparison;
      const auto per_set = static_cast<std::uint64_t>(named.form.shape.m * named.form.shape.n);
      const std::uint64_t instructions = std::max<std::uint64_t>(1, options.sets / per_set);
      constexpr std::uint64_t chunk = 8192;
      for (std::uint64_t first = 0; first < instructions; first += chunk) {
        const auto now = static_cast<std::size_t>(std::min(chunk, instructions - first));
        probe.compare(options.model, options.seed, first, now, comparison,
                      [&](std::uint64_t set, auto result) { answers.keep(named, set, result); });
      }
      const std::string text =
          named.text + (named.form.sparse ? " selector " + std::to_string(named.form.selector) : "");
      std::printf("%-78s %12llu %12llu\n", text.c_str(), static_cast<unsigned long long>(comparison.results),
                  static_cast<unsigned long long>(comparison.differences));
      ++forms_run;
      if (comparison.differences == 0) continue;
      ++wrong_forms;
      const Difference& first = comparison.first;
      std::printf("  first: set %llu lane %d register %d: emulator %llx, GPU %llx; by character:",
                  static_cast<unsigned long long>(first.set), first.lane, first.reg,
                  static_cast<unsigned long long>(first.expected),
                  static_cast<unsigned long long>(first.found));
      for (std::uint64_t number : comparison.by_character) {
        std::printf(" %llu", static_cast<unsigned long long>(number));
      }
      std::printf("\n");
      print_operands(named, options.seed, first);
    }
  }
  std::printf("%llu forms, %llu with differences\n", static_cast<unsigned long long>(forms_run),
              static_cast<unsigned long long>(wrong_forms));
  if (!options.write.empty()) answers.write(options.write);
  return wrong_forms == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i], value = argv[i + 1];
    if (name == "--sets") {
      options.sets = std::strtoull(value.c_str(), nullptr, 10);
    } else if (name == "--seed") {
      options.seed = std::strtoull(value.c_str(), nullptr, 10);
    } else if (name == "--only") {
      options.only = value;
    } else if (name == "--write") {
      options.write = value;
    } else if (name == "--model") {
      options.model = value == "sm_75"   ? Model::sm_75
                      : value == "sm_80" ? Model::sm_80
                      : value == "sm_89" ? Model::sm_89
                      : value == "ieee"  ? Model::ieee
                                         : Model::sm_90;
    } else {
      std::fprintf(stderr, "hardware_vectors: unknown option %s\n", name.c_str());
      return 2;
    }
  }
  try {
    std::unique_ptr<tenon::probing::Subject> subject;
    try {
      subject = std::make_unique<tenon::probing::CudaSubject>();
    } catch (const tenon::probing::Unsupported& reason) {
      std::printf("hardware_vectors: %s; nothing was compared\n", reason.what());
      return 77;
    }
    return run(options, *subject);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hardware_vectors: %s\n", error.what());
    return 2;
  }
}
