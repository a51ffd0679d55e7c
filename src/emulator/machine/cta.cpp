#include "emulator/machine/cta.hpp"

#include "emulator/machine/warp.hpp"

namespace tenon::emulator {
namespace {

Dim3 position(std::uint64_t number, Dim3 size) {
  return {static_cast<std::uint32_t>(number % size.x), static_cast<std::uint32_t>(number / size.x % size.y),
          static_cast<std::uint32_t>(number / size.x / size.y)};
}

std::string text(Dim3 at) {
  return "(" + std::to_string(at.x) + "," + std::to_string(at.y) + "," + std::to_string(at.z) + ")";
}

Dim3 cluster_position(const Launch& launch, std::uint64_t number) {
  return position(number, {launch.grid.x / launch.cluster.x, launch.grid.y / launch.cluster.y,
                           launch.grid.z / launch.cluster.z});
}

}  // namespace

Cta::Cta(Cluster& cluster, std::uint32_t rank, Dim3 index)
    : cluster(cluster),
      rank(rank),
      index(index),
      shared(cluster.launch.shared_size, cluster.launch.findings),
      live_threads(static_cast<int>(cluster.threads_per_cta())) {
  // The system has initialised what it keeps there; cooperative groups only clear the bits that they use.
  if (cluster.launch.program->maps_reserved) std::memset(shared.written(0), 1, shared_reserved);
}

Cta::~Cta() = default;

Cluster::Cluster(const Launch& launch, std::uint64_t number, PcCounters& counters)
    : launch(launch),
      number(number),
      index(cluster_position(launch, number)),
      clocks(static_cast<ThreadId>(launch.block.count() * launch.cluster.count()), launch.findings),
      findings(launch.findings),
      counters(counters),
      async(*this, launch.schedule, launch.seed * 0x9e3779b97f4a7c15u + number),
      threads_per_cta_(static_cast<ThreadId>(launch.block.count())) {
  for (std::uint32_t rank = 0; rank < launch.cluster.count(); ++rank) {
    const Dim3 within = position(rank, launch.cluster);
    ctas.push_back(std::make_unique<Cta>(
        *this, rank,
        Dim3{index.x * launch.cluster.x + within.x, index.y * launch.cluster.y + within.y,
             index.z * launch.cluster.z + within.z}));
    live_threads += ctas.back()->live_threads;
  }
  if (ctas.size() > 1)
    for (std::size_t rank = 0; rank < ctas.size(); ++rank) started_.push_back(clocks.new_component());
  const int warps = static_cast<int>((threads_per_cta_ + warp_size - 1) / warp_size);
  for (const auto& cta : ctas)
    for (int warp = 0; warp < warps; ++warp) cta->warps.push_back(std::make_unique<Warp>(*cta, warp));
}

Cluster::~Cluster() = default;

Warp& Cluster::warp_of(ThreadId thread) const {
  return *cta_of(thread).warps[thread % threads_per_cta_ / warp_size];
}

Dim3 Cluster::thread_index(ThreadId thread) const {
  return position(thread % threads_per_cta_, launch.block);
}

std::string Cluster::describe(ThreadId thread) const {
  return "thread " + text(thread_index(thread)) + " of block " + text(cta_of(thread).index);
}

}  // namespace tenon::emulator
