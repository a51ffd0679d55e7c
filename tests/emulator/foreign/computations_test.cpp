// The same C++ on the host and, compiled by nvcc, in the emulator: equal to the last bit.
#include "computations.hpp"

#include "emulator/foreign/run.hpp"

namespace tenon::emulator {
namespace {

using testing::Compiled;

std::vector<std::uint64_t> words() {
  std::vector<std::uint64_t> list = {
      0, 1, 2, ~std::uint64_t{0}, std::uint64_t{1} << 63, 0x7fffffff, 1000000007, 0x8000000080000000};
  while (list.size() < 65) list.push_back(foreign::mixed(list.size() + list.back()) >> (list.size() % 48));
  return list;
}

class Computations : public ::testing::TestWithParam<std::string> {};

TEST_P(Computations, are_those_of_the_host) {
  Compiled compiled(GetParam());
  const std::vector<std::uint64_t> in = words();
  const std::size_t n = in.size() - 1;
  const Address from = compiled.upload(in);
  for (int which = 0; which < foreign::computations; ++which) {
    SCOPED_TRACE("computation " + std::to_string(which));
    const Address to = compiled.allocate<std::uint64_t>(n);
    compiled.run("compute_all", {{2, 1, 1}, {48, 1, 1}}, {which, from, to, static_cast<int>(n)});
    const auto out = compiled.download<std::uint64_t>(to, n);
    for (std::size_t i = 0; i < n; ++i)
      EXPECT_EQ(out[i], foreign::compute(which, in[i], in[i + 1])) << "of " << in[i] << ", " << in[i + 1];
  }
}
INSTANTIATE_TEST_SUITE_P(Nvcc, Computations, ::testing::Values("computations", "computations_debug"));

}  // namespace
}  // namespace tenon::emulator
