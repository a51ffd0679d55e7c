// The CTAs of a cluster, how they share operands, and which of them a TMA multicast reaches. Plain C++17.
#pragma once

#include <cstdint>

#include "tenon/fragment/host_device.hpp"

namespace tenon {

// M x N x K CTAs, ranked along m first, then n, then k.
//
// CTAs along m compute with the same columns of B, CTAs along n with the same rows of A: each loads a part of
// what they share, and TMA multicasts it to all of them. CTAs along k compute partial accumulators of the
// same tile (cluster split-K): they share nothing but the result.
template <int M, int N, int K = 1>
struct ClusterShape {
  static_assert(M >= 1 && N >= 1 && K >= 1 && M * N * K <= 16,
                "ClusterShape: a cluster has 1 to 16 CTAs, at least one along each of m, n and k");
  static constexpr int m = M, n = N, k = K, ctas = M * N * K;
  // The CTAs that compute with the same part of k.
  static constexpr int sharing = M * N;

  // A CTA's rank in its cluster, from its number in the grid.
  TENON_HOST_DEVICE static constexpr int rank(int cta) { return ctas == 1 ? 0 : cta % ctas; }
  // The position of that rank along m, n and k.
  TENON_HOST_DEVICE static constexpr int rank_m(int rank) { return rank % M; }
  TENON_HOST_DEVICE static constexpr int rank_n(int rank) { return rank / M % N; }
  TENON_HOST_DEVICE static constexpr int rank_k(int rank) { return rank / (M * N); }
  // The lowest rank among the CTAs that share operands with this one.
  TENON_HOST_DEVICE static constexpr int first_sharing(int rank) { return rank - rank % sharing; }

  // Multicast masks, one bit a rank: the CTAs that share the rows of A, and the columns of B, of this one.
  TENON_HOST_DEVICE static constexpr std::uint16_t mask_a(int rank) {
    return static_cast<std::uint16_t>(along_n() << rank_m(rank) << first_sharing(rank));
  }
  TENON_HOST_DEVICE static constexpr std::uint16_t mask_b(int rank) {
    return static_cast<std::uint16_t>(((1U << M) - 1) << rank_n(rank) * M << first_sharing(rank));
  }

  // The CTAs that write to a CTA's stages: those along m, then the others along n.
  static constexpr int writers = M + N - 1;
  // The rank of the i-th of them. i: 0 to writers - 1; other values give a rank that does not exist.
  TENON_HOST_DEVICE static constexpr int writer(int rank, int i) {
    const int beyond = i - M, along = beyond + (beyond >= rank_n(rank) ? 1 : 0);
    return first_sharing(rank) + (i < M ? rank_n(rank) * M + i : along * M + rank_m(rank));
  }

 private:
  TENON_HOST_DEVICE static constexpr unsigned along_n() {
    unsigned mask = 0;
    for (int i = 0; i < N; ++i) mask |= 1U << i * M;
    return mask;
  }
};

}  // namespace tenon
