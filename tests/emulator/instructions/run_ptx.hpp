// Runs a whole small PTX kernel: text in, buffers in and out, findings by line. For the tests of the
// asynchronous instructions, which need several warps, CTAs and schedules.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "emulator/instructions/on_gpu.hpp"
#include "emulator/machine/launch.hpp"
#include "tenon/emulator/tensor_map.hpp"

namespace tenon::emulator::testing {

struct ScheduleChoice {
  Schedule schedule;
  std::uint64_t seed;
};
inline std::string text(ScheduleChoice choice) {
  switch (choice.schedule) {
    case Schedule::early:
      return "early";
    case Schedule::late:
      return "late";
    default:
      return "random:" + std::to_string(choice.seed);
  }
}
inline std::vector<ScheduleChoice> all_schedules(std::uint64_t seeds = 6) {
  std::vector<ScheduleChoice> all = {{Schedule::early, 0}, {Schedule::late, 0}};
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) all.push_back({Schedule::random, seed});
  return all;
}

// The symbols of modules without global variables.
class NoSymbols : public Symbols {
 public:
  std::uint64_t address(const std::string&) const override { return 0; }
};

class PtxKernel {
 public:
  // `body`: the text between the entry's braces; `parameters`: its parameter list; `module_level`: variables
  // before the entry.
  PtxKernel(const std::string& parameters, const std::string& body, const std::string& module_level = "",
            const std::string& target = "sm_90a", const std::string& directives = "")
      : text_(".version 8.6\n.target " + target + "\n.address_size 64\n" + module_level +
              "\n.visible .entry k(" + parameters + ") " + directives + "\n{\n" + body + "\n}\n"),
        module_(ptx::parse(text_)),
        program_(decode(module_, *module_.find("k"), NoSymbols())) {
    launch_.program = program_.get();
    launch_.global = &global_;
    launch_.parameters.resize(static_cast<std::size_t>(program_->parameter_bytes));
    launch_.shared_size = shared_reserved + program_->static_shared;
    launch_.numerics = Numerics::sm_90;
  }

  PtxKernel& grid(std::uint32_t ctas, std::uint32_t threads, std::uint32_t cluster = 1) {
    launch_.grid = {ctas, 1, 1};
    launch_.block = {threads, 1, 1};
    launch_.cluster = {cluster, 1, 1};
    launch_.explicit_cluster = cluster > 1;
    return *this;
  }
  Launch& launch() { return launch_; }

  template <class T>
  std::uint64_t upload(const std::vector<T>& data) {
    const std::uint64_t address = global_.allocate(data.size() * sizeof(T));
    write(address, data.data(), data.size() * sizeof(T));
    Allocation* const allocation = global_.find(address);
    buffers_.push_back({address, allocation->bytes.get(), data.size() * sizeof(T), nullptr});
    return address;
  }
  template <class T>
  std::uint64_t zeros(std::size_t count) {
    return upload(std::vector<T>(count));
  }
  void write(std::uint64_t address, const void* data, std::size_t bytes) {
    Allocation* allocation = global_.find(address);
    std::memcpy(allocation->bytes.get() + (address - allocation->base), data, bytes);
    std::memset(allocation->written.get() + (address - allocation->base), 1, bytes);
  }
  template <class T>
  std::vector<T> download(std::uint64_t address, std::size_t count) {
    std::vector<T> data(count);
    const Allocation* allocation = global_.find(address);
    std::memcpy(data.data(), allocation->bytes.get() + (address - allocation->base), count * sizeof(T));
    return data;
  }

  template <class T>
  PtxKernel& argument(std::size_t index, const T& value) {
    std::memcpy(launch_.parameters.data() + program_->parameter_offsets[index], &value, sizeof value);
    return *this;
  }

  LaunchReport run(ScheduleChoice choice) {
    launch_.schedule = choice.schedule;
    launch_.seed = choice.seed;
    return tenon::emulator::run(launch_);
  }

  // Runs once on the GPU, and copies its memory to the emulator's. Empty: done; otherwise the error.
  std::string run_on_gpu() {
    std::vector<GpuParameter> parameters;
    const std::vector<ptx::Variable>& declared = module_.find("k")->parameters;
    for (std::size_t i = 0; i < declared.size(); ++i) {
      const std::uint8_t* const from = launch_.parameters.data() + program_->parameter_offsets[i];
      parameters.push_back({{from, from + declared[i].size()}});
    }
    GpuLaunch gpu(buffers_);
    return gpu.run(text_, "k", std::move(parameters), launch_.grid, launch_.block, launch_.cluster,
                   launch_.dynamic_shared);
  }

  // The text of a PTX line, from 1.
  std::string line(int number) const {
    std::size_t begin = 0;
    for (int i = 1; i < number; ++i) begin = text_.find('\n', begin) + 1;
    return text_.substr(begin, text_.find('\n', begin) - begin);
  }

 private:
  std::string text_;
  ptx::Module module_;
  std::unique_ptr<Program> program_;
  GlobalMemory global_;
  std::vector<MirroredBuffer> buffers_;
  Launch launch_;
};

inline std::string listed(const PtxKernel& kernel, const LaunchReport& report) {
  std::string all;
  for (const Finding& finding : report.findings) {
    all += std::string(name(finding.kind)) + " x" + std::to_string(finding.count) + " at line " +
           std::to_string(finding.ptx_line) + " `" + kernel.line(finding.ptx_line) + "`: " + finding.message +
           "\n";
  }
  return all;
}

inline void expect_clean(
    PtxKernel& kernel, const std::function<void()>& check = [] {}, std::uint64_t seeds = 6) {
  if (on_gpu()) {
    ASSERT_TRUE(there_is_a_gpu()) << "TENON_TEST_DEVICE is cuda but there is no GPU";
    ASSERT_EQ(kernel.run_on_gpu(), "");
    check();
    return;
  }
  for (const ScheduleChoice choice : all_schedules(seeds)) {
    SCOPED_TRACE(text(choice));
    const LaunchReport report = kernel.run(choice);
    EXPECT_TRUE(report.findings.empty()) << listed(kernel, report);
    check();
  }
}

// Under every schedule, a finding of this kind is at a line that holds `FAULT`, and its message contains
// `says`.
inline void expect_fault(PtxKernel& kernel, FindingKind kind, const std::string& says = "",
                         std::uint64_t seeds = 6) {
  if (on_gpu()) GTEST_SKIP() << "a GPU finds no faults";
  for (const ScheduleChoice choice : all_schedules(seeds)) {
    SCOPED_TRACE(text(choice));
    const LaunchReport report = kernel.run(choice);
    bool found = false;
    for (const Finding& finding : report.findings) {
      found = found ||
              (finding.kind == kind && kernel.line(finding.ptx_line).find("FAULT") != std::string::npos &&
               finding.message.find(says) != std::string::npos);
    }
    EXPECT_TRUE(found) << "no " << name(kind) << " that says \"" << says << "\" at the FAULT; found:\n"
                       << listed(kernel, report);
  }
}

// `text` with its only occurrence of `from` replaced: the faulty version of a correct kernel.
inline std::string changed(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  EXPECT_EQ(text.find(from, at + 1), std::string::npos) << from << " stands more than once";
  if (at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

}  // namespace tenon::emulator::testing
