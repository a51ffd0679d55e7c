// Prepared products: gemm() checks a problem and chooses a kernel in every call; a prepared product does so
// once, for a problem and a device, and is then run with the pointers and the stream of each call.
//
//   tenon::PreparedGemm layer;
//   if (tenon::Status s = tenon::prepare(problem, &layer); !s) ...       // pointers may still be null
//   if (tenon::Status s = layer.run({x, w, y}, stream); !s) ...
//
// Link with tenon::tenon.
#pragma once

#include "tenon/needs_host.hpp"

#include <memory>

#include "tenon/gemm.hpp"

namespace tenon {

// Where the matrices and vectors of one run lie. Null: where the prepared problem has them.
struct GemmPointers {
  const void *a = nullptr, *b = nullptr;
  void* c = nullptr;
  void* d = nullptr;
  void* workspace = nullptr;  // of as many bytes as the prepared problem has
  const float *scale_a = nullptr, *scale_b = nullptr;
  // Of EpilogueOptions.
  const void *bias = nullptr, *row_bias = nullptr;
  const float *row_scale = nullptr, *column_scale = nullptr;
  void* aux = nullptr;
  const float* scale_d = nullptr;
  float *absmax = nullptr, *bias_gradient = nullptr;
};

class PreparedGemm {
 public:
  // Of nothing: run() says so.
  PreparedGemm() noexcept = default;

  // Enqueues the product, as gemm() does, and returns. Threads may run one prepared product at the same time.
  // It allocates nothing and may be captured into a graph. Only the addresses in the launch are replaced, if
  // the pointers are as far from multiples of 128 bytes as those of prepare() (a null pointer counts as one
  // that is a multiple), and if no operand is copied first.
  //
  // invalid_argument, with a sentence, and nothing is launched: if nothing was prepared; if the current
  // device is another one than that of prepare(), or has been reset since; if a pointer is null both here and
  // in the prepared problem, or is aligned to fewer bytes than the prepared one, or than 16 where that was
  // null; if matrices overlap; if D is apart from C, but was in its place in the prepared problem.
  Status run(const GemmPointers& pointers = {}, CUstream_st* stream = nullptr) const noexcept;

  // The kernel that it launches first. nullptr if there is no product to compute, or nothing was prepared.
  const char* kernel_name() const noexcept;

 private:
  struct State;
  friend struct PreparedGemmAccess;
  std::shared_ptr<const State> state_;
};

// Decides how the problem is computed on the current device, loads its kernels there, and encodes its tensor
// maps. Null matrices count as aligned to 256 bytes, and are named in each run. If it fails, *prepared is as
// it was; the status is what gemm() would say.
Status prepare(const Gemm& problem, PreparedGemm* prepared) noexcept;

}  // namespace tenon
