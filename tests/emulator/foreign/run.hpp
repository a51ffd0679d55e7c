// Loads a module compiled from a file of this folder and runs its kernels: buffers in, buffers out, no
// findings.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tenon/emulator/emulator.hpp"

namespace tenon::emulator::testing {

inline std::string read_text(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class Compiled {
 public:
  // "computations": compiled from computations.cu; "computations_debug": the same with nvcc -G;
  // "triton/softmax": committed PTX.
  explicit Compiled(const std::string& name)
      : module_(emulator_.load(
            read_text((name.rfind("triton/", 0) == 0 ? TENON_FOREIGN_SOURCES "/" : TENON_FOREIGN_PTX "/") +
                      name + ".ptx"))) {}

  std::vector<std::string> entries() const { return module_.entries(); }
  Emulator& emulator() { return emulator_; }

  template <class T>
  Address upload(const std::vector<T>& data) {
    const Address address = emulator_.allocate(data.size() * sizeof(T));
    emulator_.copy_in(address, data.data(), data.size() * sizeof(T));
    return address;
  }
  template <class T>
  Address allocate(std::size_t count) {  // unwritten
    return emulator_.allocate(count * sizeof(T));
  }
  template <class T>
  std::vector<T> download(Address address, std::size_t count) const {
    std::vector<T> data(count);
    emulator_.copy_out(data.data(), address, count * sizeof(T));
    return data;
  }

  Result launch(const std::string& entry, const Shape& shape, const std::vector<Argument>& arguments,
                const Options& options = {}) {
    return emulator_.launch(module_, entry, shape, arguments, options);
  }
  void run(const std::string& entry, const Shape& shape, const std::vector<Argument>& arguments,
           const Options& options = {}) {
    for (const Finding& finding : launch(entry, shape, arguments, options).findings)
      ADD_FAILURE() << name(finding.kind) << " in " << entry << " at line " << finding.ptx_line << " ("
                    << finding.source << "): " << finding.message;
  }

 private:
  Emulator emulator_;
  Module module_;
};

// Early, late, and a few random ones.
inline std::vector<Options> several_schedules() {
  std::vector<Options> all(5);
  all[1].schedule = Schedule::late;
  for (std::size_t i = 2; i < all.size(); ++i) {
    all[i].schedule = Schedule::random;
    all[i].seed = i;
  }
  return all;
}

}  // namespace tenon::emulator::testing
