// Where the arguments of a product's launch hold addresses, so that a launch for other matrices differs from
// an earlier one in these alone: they are replaced rather than planned and encoded again.
//
// Nobody says where they are. The launch is planned twice, with made-up addresses: words that differ by as
// much as the addresses of a matrix do are addresses in it, and tensor maps are recognised by what the
// planning launcher wrote into them. Nothing here calls CUDA.
#pragma once

#include <array>
#include <cstdint>

#include "host/loading_launcher.hpp"
#include "host/plan.hpp"
#include "tenon/gemm.hpp"

namespace tenon {

// The addresses of a problem, in the order of its members. 0: null.
using Addresses = std::array<std::uintptr_t, 15>;
Addresses addresses_of(const Gemm& problem) noexcept;

class LaunchPatches {
 public:
  // Finds the addresses in the launch of a planned kernel, whose problem has no null matrix. They are not
  // found if the plan copies operands, or if something else in the launch depends on addresses.
  void find(const Gemm& problem, const Plan& plan, const DeviceDescription& device) noexcept;
  bool are_found() const noexcept { return found_; }

  // Whether a launch for these addresses differs in nothing else from one for those of find(): all must be as
  // far from a multiple of 128 bytes, the most that a plan asks for.
  bool fit(const Addresses& to) const noexcept;

  // Makes the launch of `from` one of `to`. Both fit(). If it fails, *launch is of neither.
  Status place(LoadingLauncher& launcher, const Addresses& from, const Addresses& to,
               Launch* launch) const noexcept;

 private:
  struct Place {
    std::uint8_t argument, address;  // address: index of Addresses
    std::uint16_t offset;            // in the argument
    std::int32_t beyond;             // the matrix: bytes from its address to the one that stands here
  };
  static constexpr int most_words = 32, most_maps = 24;

  bool find_in(const Gemm& problem, const Plan& plan, const DeviceDescription& device) noexcept;
  // Whether an address is within 2 GiB of that of a matrix: then *place.
  bool is_beyond(std::uintptr_t at, int argument, std::size_t offset, Place* place) const noexcept;

  bool found_ = false;
  Addresses addresses_{};
  int words_ = 0, maps_ = 0;
  Place word_[most_words], map_[most_maps];
};

}  // namespace tenon
