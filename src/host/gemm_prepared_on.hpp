// Prepared products (tenon/gemm_prepared.hpp) on the device of a launcher.
#pragma once

#include "host/loading_launcher.hpp"
#include "tenon/gemm_prepared.hpp"

namespace tenon {

struct PreparedGemmAccess {
  static Status prepare(LoadingLauncher& launcher, const Gemm& problem, PreparedGemm* prepared) noexcept;
  static Status run(LoadingLauncher& launcher, const PreparedGemm& prepared,
                    const GemmPointers& pointers) noexcept;
};

}  // namespace tenon
