// A kernel written into a test, run through the public interface.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tenon/emulator/emulator.hpp"

namespace tenon::emulator::testing {

// `.visible .entry k(parameters) { body }` of a module for sm_90a, preceded by `before`. Bodies may use
// %p0..7 (pred), %h0..15 (b16), %r0..31 (b32), %d0..31 (b64), %f0..15 (f32), %g0..7 (f64).
inline std::string module_text(const std::string& parameters, const std::string& body,
                               const std::string& before = "", const std::string& target = "sm_90a") {
  return ".version 8.6\n.target " + target + "\n.address_size 64\n" + before + "\n.visible .entry k(" +
         parameters +
         ")\n{\n.reg .pred %p<8>; .reg .b16 %h<16>; .reg .b32 %r<32>; .reg .b64 %d<32>; .reg .f32 %f<16>; " +
         ".reg .f64 %g<8>;\n" + body + "\n}\n";
}

struct Machine {
  Emulator emulator;

  // Memory with these values.
  template <class T>
  Address upload(const std::vector<T>& data) {
    const Address address = emulator.allocate(data.size() * sizeof(T));
    emulator.copy_in(address, data.data(), data.size() * sizeof(T));
    return address;
  }
  template <class T>
  std::vector<T> download(Address address, std::size_t count) {
    std::vector<T> data(count);
    emulator.copy_out(data.data(), address, count * sizeof(T));
    return data;
  }
};

class Kernel : public Machine {
 public:
  explicit Kernel(std::string text) : text_(std::move(text)), module_(emulator.load(text_)) {}

  const Module& module() const { return module_; }

  Result run(const Shape& shape, const std::vector<Argument>& arguments, Options options = {}) {
    if (options.threads == 0) options.threads = 1;
    return emulator.launch(module_, "k", shape, arguments, options);
  }

  // The text of a PTX line.
  std::string line(int number) const {
    std::size_t begin = 0;
    for (int i = 1; i < number; ++i) begin = text_.find('\n', begin) + 1;
    return text_.substr(begin, text_.find('\n', begin) - begin);
  }

 private:
  std::string text_;
  Module module_;
};

// What the emulator says when it refuses the call; "accepted": it does not.
template <class Call>
std::string error_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

inline std::string listed(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings)
    text += std::string(name(finding.kind)) + " at line " + std::to_string(finding.ptx_line) + ": " +
            finding.message + "\n";
  return text;
}

// The only finding of the kind, at a line that holds `marker` (a comment in the PTX); otherwise the test
// fails.
inline Finding the_finding(const Kernel& kernel, const Result& result, FindingKind kind,
                           const std::string& marker) {
  std::vector<Finding> found;
  std::copy_if(result.findings.begin(), result.findings.end(), std::back_inserter(found),
               [&](const Finding& finding) { return finding.kind == kind; });
  EXPECT_EQ(found.size(), 1u) << name(kind) << " wanted, found:\n" << listed(result.findings);
  if (found.empty()) return {};
  EXPECT_NE(kernel.line(found[0].ptx_line).find(marker), std::string::npos) << listed(result.findings);
  return found[0];
}

inline std::vector<Options> all_schedules(int seeds = 10) {
  std::vector<Options> all(2);
  all[1].schedule = Schedule::late;
  for (int seed = 1; seed <= seeds; ++seed) {
    all.emplace_back();
    all.back().schedule = Schedule::random;
    all.back().seed = static_cast<std::uint64_t>(seed);
  }
  return all;
}

}  // namespace tenon::emulator::testing
