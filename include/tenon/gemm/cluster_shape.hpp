// The CTAs of a cluster, how they share operands, and which of them a TMA multicast reaches: ClusterShape,
// known when the kernel is compiled, and LaunchedCluster, known when it is launched. Plain C++17.
#pragma once

#include "tenon/fragment/host_device.hpp"
#include "tenon/ptx/standard.hpp"

namespace tenon {

// What a kernel is told of a LaunchedCluster.
struct ClusterExtent {
  int log2_m = 0, log2_n = 0;  // of its CTAs along m and n
  unsigned along_n = 1;        // the ranks of the first CTAs along n, one bit each

  // m, n: 1, 2, 4 or 8.
  TENON_HOST_DEVICE static constexpr ClusterExtent of(int m, int n) {
    ClusterExtent extent;
    while (1 << extent.log2_m < m) ++extent.log2_m;
    while (1 << extent.log2_n < n) ++extent.log2_n;
    for (int i = 1; i < n; ++i) extent.along_n |= 1U << i * m;
    return extent;
  }
};

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
  // What does not depend on a launch: CTAs along m (1: unknown), whether any CTA shares operands, whether the
  // cluster has other CTAs.
  static constexpr int compiled_m = M;
  static constexpr bool is_compiled = true, may_share = M * N > 1, may_have_others = M * N * K > 1;
  TENON_HOST_DEVICE static constexpr ClusterShape of(const ClusterExtent&) { return {}; }
  // The CTAs that compute with the same part of k.
  static constexpr int sharing = M * N;

  // A CTA's rank in its cluster, from its number in the grid.
  TENON_HOST_DEVICE static constexpr int rank(int cta) { return ctas == 1 ? 0 : cta % ctas; }
  // The number of its cluster; of the size of a grid, how many clusters it has.
  TENON_HOST_DEVICE static constexpr int cluster(int cta) { return cta / ctas; }
  // The position of that rank along m, n and k.
  TENON_HOST_DEVICE static constexpr int rank_m(int rank) { return rank % M; }
  TENON_HOST_DEVICE static constexpr int rank_n(int rank) { return rank / M % N; }
  TENON_HOST_DEVICE static constexpr int rank_k(int rank) { return rank / (M * N); }
  // Its number among the CTAs that share operands with it.
  TENON_HOST_DEVICE static constexpr int rank_sharing(int rank) { return rank % sharing; }
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

// M x N x K CTAs, with M and N of the launch, powers of two: one compiled kernel for all shapes. Members as
// those of ClusterShape.
template <int K = 1>
class LaunchedCluster {
 public:
  static_assert(
      K == 1 || K == 2 || K == 4,
      "LaunchedCluster: 1, 2 or 4 CTAs compute a part of k each, so that ranks are found by shifts");
  static constexpr int k = K, compiled_m = 1;
  static constexpr bool is_compiled = false, may_share = true, may_have_others = true;
  int m, n, sharing, ctas, writers;

  TENON_HOST_DEVICE static constexpr LaunchedCluster of(const ClusterExtent& extent) {
    return LaunchedCluster(extent);
  }

  TENON_HOST_DEVICE constexpr int rank(int cta) const { return cta & (ctas - 1); }
  TENON_HOST_DEVICE constexpr int cluster(int cta) const {
    return static_cast<int>(static_cast<unsigned>(cta) / static_cast<unsigned>(ctas));
  }
  TENON_HOST_DEVICE constexpr int rank_m(int rank) const { return rank & (m - 1); }
  TENON_HOST_DEVICE constexpr int rank_n(int rank) const { return rank >> log2_m_ & (n - 1); }
  TENON_HOST_DEVICE constexpr int rank_k(int rank) const { return rank >> log2_sharing_; }
  TENON_HOST_DEVICE constexpr int rank_sharing(int rank) const { return rank & (sharing - 1); }
  TENON_HOST_DEVICE constexpr int first_sharing(int rank) const { return rank & ~(sharing - 1); }
  TENON_HOST_DEVICE constexpr std::uint16_t mask_a(int rank) const {
    return static_cast<std::uint16_t>(along_n_ << rank_m(rank) << first_sharing(rank));
  }
  TENON_HOST_DEVICE constexpr std::uint16_t mask_b(int rank) const {
    return static_cast<std::uint16_t>(((1U << m) - 1) << (rank_n(rank) << log2_m_) << first_sharing(rank));
  }
  TENON_HOST_DEVICE constexpr int writer(int rank, int i) const {
    const int beyond = i - m, along = beyond + (beyond >= rank_n(rank) ? 1 : 0);
    return first_sharing(rank) + (i < m ? (rank_n(rank) << log2_m_) + i : (along << log2_m_) + rank_m(rank));
  }

 private:
  TENON_HOST_DEVICE explicit constexpr LaunchedCluster(const ClusterExtent& extent)
      : m(1 << extent.log2_m),
        n(1 << extent.log2_n),
        sharing(1 << (extent.log2_m + extent.log2_n)),
        ctas(K << (extent.log2_m + extent.log2_n)),
        writers(m + n - 1),
        log2_m_(extent.log2_m),
        log2_sharing_(extent.log2_m + extent.log2_n),
        along_n_(extent.along_n) {}

  int log2_m_, log2_sharing_;
  unsigned along_n_;
};

}  // namespace tenon
