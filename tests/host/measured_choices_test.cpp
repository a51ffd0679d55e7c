// The results under microbench/results are of the library's own choice. A choice may get better without new
// measurements (choice_regret_test.cpp judges that), but where many choices of a suite have changed its
// records show another library, and the suite must be measured again. Suites for which that is known and not
// yet done are listed by name; microbench/README.md says so beside their tables.
#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "host/kernel_list.hpp"
#include "host/plan.hpp"
#include "microbench/cases.hpp"
#include "microbench/record.hpp"
#include "microbench/suites.hpp"

namespace tenon {
namespace {

struct Machine {
  const char *folder, *name;
  DeviceDescription device;
  // Suites that were measured before the last change of tiles or parameters, and not since. The test fails
  // for a suite that is of today's choice and still stands here.
  std::set<std::string> to_be_measured;
};
const Machine machines[] = {
    {"h100",
     "NVIDIA H100 80GB HBM3",
     {90, 132, 227 * 1024, std::size_t{50} << 20, 0, 1693},
     {"main", "types", "models", "tokens", "shapes", "unaligned", "random", "random_small", "random_types"}},
    {"h200", "NVIDIA H200", {90, 132, 227 * 1024, std::size_t{60} << 20, 0, 2431}, {}},
};

// Results of gemm()'s own choice: suites that are not `best` name every kernel in turn. Those of sweeps are
// curves, which say nothing of a kernel and are not measured anew with each change of the choice.
std::vector<std::string> suites_of_the_choice() {
  std::vector<std::string> names = {"random", "random_small", "random_types"};
  for (const microbench::Suite& suite : microbench::suites())
    if (suite.best && suite.name.rfind("sweep_", 0) != 0) names.push_back(suite.name);
  return names;
}

// The case of a record, with the workspace it asks for, at addresses as aligned as the benchmark's. Leading
// dimensions other than the packed ones follow the letters of the layout: "tn lda=4097 ldb=4097 ldc=4096".
Gemm problem_of(const nlohmann::json& record, const DeviceDescription& device) {
  const std::string described = record["layout"];
  const microbench::Types types = microbench::parse_types(record["types"]).front();
  const microbench::Layout layout = microbench::parse_layouts(described.substr(0, 2)).front();
  microbench::Shape shape{record["m"], record["n"], record["k"]};
  const auto given = [&](const std::string& name) -> std::int64_t {
    const std::size_t found = described.find(name);
    return found == std::string::npos ? 0 : std::stoll(described.substr(found + name.size()));
  };
  shape.lda = given(" lda=");
  shape.ldb = given(" ldb=");
  shape.ldc = given(" ldc=");
  shape = microbench::with_leading_dimensions(shape, layout);
  EXPECT_EQ(microbench::describe_layout(shape, layout), described);

  const auto address = [](std::uintptr_t number) { return reinterpret_cast<void*>(number << 40); };
  Gemm p;
  p.m = shape.m;
  p.n = shape.n;
  p.k = shape.k;
  p.a = ConstMatrix(address(1), shape.lda, layout.a, types.input);
  p.b = ConstMatrix(address(2), shape.ldb, layout.b, types.input_b);
  p.c = Matrix(address(3), shape.ldc, types.output);
  p.accumulate = types.accumulate;
  p.promote = types.promote;
  p.workspace_bytes = planned_workspace(kernels(), p, device);
  p.workspace = p.workspace_bytes != 0 ? address(4) : nullptr;
  return p;
}

// As records name it.
std::string chosen_for(const Gemm& problem, const DeviceDescription& device) {
  Plan plan;
  const Status status = make_plan(kernels(), problem, device, &plan);
  if (!status) return status.message();
  return plan.kernel->name + (plan.has_copies() ? " + padded copies" : "");
}

// So many cases of a suite may have another choice now.
constexpr double most_that_changed = 0.1;

std::string case_of(const nlohmann::json& record) {
  return record["m"].dump() + " x " + record["n"].dump() + " x " + record["k"].dump() + ", " +
         record["types"].get<std::string>() + ", " + record["layout"].get<std::string>();
}

class MeasuredChoices : public testing::TestWithParam<Machine> {};
INSTANTIATE_TEST_SUITE_P(Machines, MeasuredChoices, testing::ValuesIn(machines),
                         [](const auto& info) { return std::string(info.param.folder); });

TEST_P(MeasuredChoices, AreThoseOfTheLibraryInAllButAFewCases) {
  const Machine& machine = GetParam();
  for (const std::string& suite : suites_of_the_choice()) {
    std::ifstream file(std::string(TENON_RESULTS) + "/" + machine.folder + "/" + suite + ".json");
    ASSERT_TRUE(file) << suite;
    const nlohmann::json records = nlohmann::json::parse(file);
    EXPECT_FALSE(records.empty()) << suite;
    const bool is_listed = machine.to_be_measured.count(suite) != 0;
    std::size_t changed = 0;
    std::string changes;
    for (const nlohmann::json& record : records) {
      ASSERT_EQ(record["machine"], machine.name) << suite;
      const std::string measured = record["kernel"];
      EXPECT_TRUE(is_listed || find_kernel(measured.substr(0, measured.find(" + "))) != nullptr)
          << suite << ", " << case_of(record) << ": the library has no kernel " << measured;
      const std::string chosen = chosen_for(problem_of(record, machine.device), machine.device);
      if (chosen == measured) continue;
      ++changed;
      changes += "  " + case_of(record) + ": " + chosen + ", measured " + measured + "\n";
    }
    const bool is_old =
        static_cast<double>(changed) > most_that_changed * static_cast<double>(records.size());
    EXPECT_EQ(is_old, is_listed) << suite
                                 << (is_old ? " must be measured again"
                                            : " is of today's choice: take it from the list")
                                 << "; these choices have changed:\n"
                                 << changes;
  }
  EXPECT_EQ(suites_of_the_choice().size(), 10U);
}

}  // namespace
}  // namespace tenon
