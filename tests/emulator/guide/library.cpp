#include <fstream>
#include <iostream>
#include <iterator>
#include <vector>

#include "tenon/emulator/emulator.hpp"

// Doubles 1000 numbers by the kernel of scale.ptx.
int main() {
  std::ifstream file("scale.ptx");
  const std::string ptx{std::istreambuf_iterator<char>(file), {}};
  std::vector<float> x(1000, 1.5F), y(1000);

  tenon::emulator::Emulator emulator;
  const tenon::emulator::Module module = emulator.load(ptx);
  const tenon::emulator::Address device_x = emulator.allocate(4000), device_y = emulator.allocate(4000);
  emulator.copy_in(device_x, x.data(), 4000);
  const tenon::emulator::Result result =
      emulator.launch(module, "scale", {{4}, {256}}, {device_x, device_y, 2.0F, 1000});
  emulator.copy_out(y.data(), device_y, 4000);

  for (const tenon::emulator::Finding& finding : result.findings)
    std::cout << finding.source << ": " << finding.message << '\n';
  std::cout << y[999] << " after " << result.counters.total.instructions << " instructions\n";
  return result.findings.empty() ? 0 : 1;
}
