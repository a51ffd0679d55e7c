// Loads a module compiled from a file of this folder and runs its kernels: buffers in, buffers out, no
// findings.
#pragma once

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "emulator/machine/kernel.hpp"

namespace tenon::emulator::testing {

inline std::string read_text(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class Compiled : public Machine {
 public:
  // "computations": compiled from computations.cu; "computations_debug": the same with nvcc -G;
  // "triton/softmax": committed PTX.
  explicit Compiled(const std::string& name)
      : module_(emulator.load(
            read_text((name.rfind("triton/", 0) == 0 ? TENON_FOREIGN_SOURCES "/" : TENON_FOREIGN_PTX "/") +
                      name + ".ptx"))) {}

  std::vector<std::string> entries() const { return module_.entries(); }

  template <class T>
  Address allocate(std::size_t count) {  // unwritten
    return emulator.allocate(count * sizeof(T));
  }
  Result launch(const std::string& entry, const Shape& shape, const std::vector<Argument>& arguments,
                const Options& options = {}) {
    return emulator.launch(module_, entry, shape, arguments, options);
  }
  void run(const std::string& entry, const Shape& shape, const std::vector<Argument>& arguments,
           const Options& options = {}) {
    for (const Finding& finding : launch(entry, shape, arguments, options).findings)
      ADD_FAILURE() << name(finding.kind) << " in " << entry << " at line " << finding.ptx_line << " ("
                    << finding.source << "): " << finding.message;
  }

 private:
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
