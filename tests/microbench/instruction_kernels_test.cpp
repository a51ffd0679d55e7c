// The emulator executes every kernel of the instruction benchmark: it ends, no wait is in vain, it accesses
// only its own memory, and its accesses have as many bank conflicts as its case says. A hang on the GPU would
// cost more than a figure.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "microbench/instruction/launch.hpp"
#include "microbench/instruction/manifest.hpp"
#include "microbench/instruction/operands.hpp"
#include "tenon/emulator/emulator.hpp"
#include "tenon/emulator/tensor_map.hpp"

namespace {

using namespace tenon::microbench::instruction;
namespace emulator = tenon::emulator;

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

const Manifest& manifest() {
  static const Manifest parsed = parse_manifest(read(TENON_INSTRUCTION_FOLDER "/cases.json"));
  return parsed;
}

// The emulator has no L2 and one SM: windows shrink to the bytes of a few trips, and "all" is two CTAs.
class Machine {
 public:
  static constexpr std::uint64_t window = 256 * 1024;

  emulator::Result run(const Case& test, emulator::Schedule schedule, std::vector<Stamp>& stamps,
                       std::uint32_t trips = 2) {
    const std::uint32_t blocks = test.grid == "all" ? 2 : test.cluster;
    stamps.assign(std::size_t{blocks} * test.warps, Stamp{});
    Arguments a;
    a.stamps = machine_.allocate(stamps.size() * sizeof(Stamp));
    a.data = data(test.data);
    a.sink = machine_.allocate(blocks * 32 * test.warps * sizeof(std::uint32_t));
    if (test.window != 0) {
      a.source = machine_.allocate(blocks * window);
      machine_.fill(a.source, 0, blocks * window);
      a.window = window;
    }
    a.trips = trips;
    a.stride = test.stride;
    a.bytes = test.bytes;
    a.stages = test.stages;
    a.hop = test.hop;
    if (test.map) a.map = map_over(a.source, blocks, test.bytes);
    emulator::Shape shape;
    shape.grid = {blocks, 1, 1};
    shape.block = {32U * test.warps, 1, 1};
    shape.shared_bytes = test.shared;
    if (test.cluster > 1) shape.cluster = emulator::Dim3{static_cast<std::uint32_t>(test.cluster), 1, 1};
    emulator::Options options;
    options.schedule = schedule;
    options.threads = 1;
    options.instruction_limit = 2'000'000;
    const emulator::Result result = machine_.launch(module(test.kernel->file), test.kernel->name, shape,
                                                    {a.stamps, a.data, a.sink, a.source, a.window, a.start,
                                                     a.trips, a.stride, a.bytes, a.stages, a.hop, a.map},
                                                    options);
    machine_.copy_out(stamps.data(), a.stamps, stamps.size() * sizeof(Stamp));
    machine_.free(a.stamps);
    machine_.free(a.sink);
    if (a.source != 0) machine_.free(a.source);
    return result;
  }

 private:
  const emulator::Module& module(const std::string& file) {
    auto found = modules_.find(file);
    if (found == modules_.end())
      found = modules_.emplace(file, machine_.load(read(TENON_INSTRUCTION_FOLDER "/" + file + ".ptx"))).first;
    return found->second;
  }

  emulator::Address data(const std::string& kind) {
    auto found = data_.find(kind);
    if (found == data_.end()) {
      const std::vector<std::uint8_t> bytes = operands(kind, data_bytes);
      const emulator::Address address = machine_.allocate(bytes.size());
      machine_.copy_in(address, bytes.data(), bytes.size());
      found = data_.emplace(kind, address).first;
    }
    return found->second;
  }

  static Arguments::Map map_over(std::uint64_t address, std::uint32_t blocks, std::uint32_t bytes) {
    const std::uint64_t sizes[] = {row_bytes / 2, blocks * window / row_bytes};
    const std::uint64_t strides[] = {row_bytes};
    const std::uint32_t box[] = {row_bytes / 2, bytes / row_bytes}, steps[] = {1, 1};
    const emulator::TensorMap map =
        emulator::encode_tiled(emulator::TensorMapType::float16, 2, address, sizes, strides, box, steps,
                               emulator::TensorMapInterleave::none, emulator::TensorMapSwizzle::bytes_128,
                               emulator::TensorMapL2Promotion::none, emulator::TensorMapFill::zeros);
    Arguments::Map result;
    std::memcpy(result.bytes, map.bytes, sizeof result.bytes);
    return result;
  }

  emulator::Emulator machine_;
  std::map<std::string, emulator::Module> modules_;
  std::map<std::string, emulator::Address> data_;
};

void expect_sound(Machine& machine, const Case& test, emulator::Schedule schedule) {
  SCOPED_TRACE(test.name);
  std::vector<Stamp> stamps;
  const emulator::Result result = machine.run(test, schedule, stamps);
  for (const emulator::Finding& finding : result.findings)
    ADD_FAILURE() << "line " << finding.ptx_line << ": " << finding.message;
  for (const Stamp& stamp : stamps) {
    EXPECT_LT(stamp.begin, stamp.end);
    EXPECT_EQ(stamp.failed, 0U);
  }
}

// A case differs from another by its kernel, or by its number of CTAs or stages.
std::string shape_of(const Case& test) {
  return test.kernel->name + "/" + std::to_string(test.cluster) + "/" + std::to_string(test.stages) + "/" +
         std::to_string(test.hop);
}

bool is_tensor(const Case& test) {
  return test.kernel->family.rfind("mma", 0) == 0 || test.kernel->family.rfind("wgmma", 0) == 0;
}

TEST(InstructionKernels, MoveAndSynchroniseSoundlyWheneverCopiesLand) {
  Machine machine;
  std::set<std::string> seen;
  for (const Case& test : manifest().cases) {
    if (is_tensor(test) || !seen.insert(shape_of(test)).second) continue;
    for (const auto schedule : {emulator::Schedule::early, emulator::Schedule::late})
      expect_sound(machine, test, schedule);
  }
  EXPECT_GT(seen.size(), 100U);
}

// Wavefronts of shared memory in three trips minus those in one, which cancels the set-up of the data.
std::uint64_t wavefronts_of_two_trips(Machine& machine, const Case& test) {
  std::vector<Stamp> stamps;
  const auto count = [&](std::uint32_t trips) {
    return machine.run(test, emulator::Schedule::early, stamps, trips).counters.total.shared_wavefronts;
  };
  const std::uint64_t one = count(1);
  return count(3) - one;
}

TEST(InstructionKernels, ConflictAsOftenAsTheirCaseSays) {
  Machine machine;
  int run = 0;
  for (const Case& test : manifest().cases) {
    const auto is_ways = [](const auto& axis) { return axis.first == "ways"; };
    const auto ways = std::find_if(test.axes.begin(), test.axes.end(), is_ways);
    if (ways == test.axes.end()) continue;
    SCOPED_TRACE(test.name);
    const std::uint64_t free_of_conflicts = test.kernel->bytes / 128;
    EXPECT_EQ(wavefronts_of_two_trips(machine, test),
              2 * test.warps * test.kernel->operations * free_of_conflicts * std::stoull(ways->second));
    ++run;
  }
  EXPECT_GT(run, 60);
}

TEST(InstructionKernels, FeedTheTensorCoresWithoutConflicts) {
  Machine machine;
  int run = 0;
  for (const Case& test : manifest().cases) {
    if (test.kernel->family != "mma_fed") continue;
    SCOPED_TRACE(test.name);
    constexpr int of_ldmatrix_x4 = 4;
    EXPECT_EQ(wavefronts_of_two_trips(machine, test),
              2U * test.warps * test.kernel->claim.at("LDSM.16.M88.4") * of_ldmatrix_x4);
    ++run;
  }
  EXPECT_EQ(run, 10);
}

TEST(InstructionKernels, MultiplySoundly) {
  Machine machine;
  std::set<std::string> seen;
  int run = 0;
  for (const Case& test : manifest().cases) {
    if (!is_tensor(test) || !seen.insert(test.kernel->name).second) continue;
    expect_sound(machine, test, run % 2 == 0 ? emulator::Schedule::early : emulator::Schedule::late);
    ++run;
  }
  EXPECT_GT(run, 700);
}

}  // namespace
