// The search of launch_patches.hpp.
#include "host/launch_patches.hpp"

#include <cstring>
#include <type_traits>

namespace tenon {
namespace {

// Calls f(pointer) for each pointer of a problem, in the order of Addresses. Problem: Gemm or const Gemm.
template <class Problem, class F>
void for_each_pointer(Problem& p, const F& f) {
  f(p.a.data), f(p.b.data), f(p.c.data), f(p.d.data);
  f(p.scale_a), f(p.scale_b), f(p.workspace);
  auto& e = p.epilogue;
  f(e.bias.data), f(e.row_bias.data), f(e.row_scale), f(e.column_scale), f(e.aux.data);
  f(e.scale_d), f(e.absmax), f(e.bias_gradient);
}

constexpr std::uintptr_t most_alignment = 128;

// Differences between the two made-up addresses of a matrix, which no other matrix shares.
constexpr std::uintptr_t first_address(std::size_t i) noexcept {
  return (i + 1) << 41U;
}
constexpr std::uintptr_t step_of(std::size_t i) noexcept {
  return (i + 1) * 0x12345680U;  // a multiple of most_alignment
}
static_assert(step_of(1) % most_alignment == 0);

// The problem with a made-up address, as aligned as its own, for each that is not null.
Gemm made_up(const Gemm& problem, bool second, Addresses* addresses) noexcept {
  Gemm result = problem;
  std::size_t i = 0;
  for_each_pointer(result, [&](auto*& pointer) {
    std::uintptr_t at = reinterpret_cast<std::uintptr_t>(pointer);
    if (at != 0) at = first_address(i) + (second ? step_of(i) : 0) + at % most_alignment;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): never read through
    pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(at);
    (*addresses)[i++] = at;
  });
  return result;
}

// Writes maps that can be recognised, and remembers what they are of.
class Recorder final : public Launcher {
 public:
  explicit Recorder(const DeviceDescription& device) noexcept : device_(device) {}
  Status describe(DeviceDescription* device) noexcept override {
    *device = device_;
    return {};
  }
  Status make_tensor_map(const MatrixInMemory& matrix, int, int, TensorMap* map) noexcept override {
    if (count == most) return Status(StatusCode::unsupported, "more than %d tensor maps", most);
    for (std::uint64_t& word : map->opaque) word = mark(count);
    data[count++] = reinterpret_cast<std::uintptr_t>(matrix.data);
    return {};
  }
  Status launch(const Launch&) noexcept override { return {}; }

  static constexpr std::uint64_t mark(int index) noexcept {
    return 0x7e17a5c30f69b2d4U ^ static_cast<std::uint64_t>(index);
  }
  static constexpr int most = 64;
  int count = 0;
  std::uintptr_t data[most] = {};

 private:
  const DeviceDescription& device_;
};

std::uint64_t word_at(const Launch& launch, int argument, std::size_t offset) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, static_cast<const unsigned char*>(launch.arguments.data(argument)) + offset,
              sizeof word);
  return word;
}
unsigned char* bytes_at(Launch* launch, int argument, std::size_t offset) noexcept {
  return static_cast<unsigned char*>(const_cast<void*>(launch->arguments.data(argument))) + offset;
}

// The number of the map that begins there; -1 if there is none.
int map_at(const Launch& launch, int argument, std::size_t offset, int maps) noexcept {
  if (offset + sizeof(TensorMap) > launch.arguments.size(argument)) return -1;
  const std::uint64_t word = word_at(launch, argument, offset);
  const std::uint64_t number = word ^ Recorder::mark(0);
  if (number >= static_cast<std::uint64_t>(maps)) return -1;
  for (std::size_t i = 1; i < sizeof(TensorMap) / sizeof word; ++i) {
    if (word_at(launch, argument, offset + i * sizeof word) != word) return -1;
  }
  return static_cast<int>(number);
}

bool have_the_same_shape(const Launch& x, const Launch& y) noexcept {
  const auto are_equal = [](const Extent3& a, const Extent3& b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
  };
  if (x.function != y.function || !are_equal(x.grid, y.grid) || !are_equal(x.block, y.block) ||
      x.shared_bytes != y.shared_bytes || x.cluster != y.cluster ||
      x.arguments.count() != y.arguments.count())
    return false;
  for (int i = 0; i < x.arguments.count(); ++i) {
    if (x.arguments.size(i) != y.arguments.size(i)) return false;
  }
  return true;
}

}  // namespace

Addresses addresses_of(const Gemm& problem) noexcept {
  Addresses addresses{};
  std::size_t i = 0;
  for_each_pointer(problem,
                   [&](const void* pointer) { addresses[i++] = reinterpret_cast<std::uintptr_t>(pointer); });
  return addresses;
}

void LaunchPatches::find(const Gemm& problem, const Plan& plan, const DeviceDescription& device) noexcept {
  words_ = maps_ = 0;
  found_ = !plan.pad_a && !plan.pad_b && !plan.swaps_ab && find_in(problem, plan, device);
}

bool LaunchPatches::find_in(const Gemm& problem, const Plan& plan, const DeviceDescription& device) noexcept {
  Addresses moved{};
  Launch first, second, again;  // `again` tells what is random, between the members of an argument
  Recorder of_first(device), of_others(device);
  const auto configure = [&](bool second_time, Addresses* addresses, Recorder& recorder, Launch* launch) {
    const Gemm run = planned_problem(made_up(problem, second_time, addresses), plan);
    return static_cast<bool>(plan.kernel->configure(run, device, recorder, launch));
  };
  if (!configure(false, &addresses_, of_first, &first) || !configure(true, &moved, of_others, &second))
    return false;
  of_others.count = 0;
  if (!configure(false, &addresses_, of_others, &again)) return false;
  if (!have_the_same_shape(first, second) || !have_the_same_shape(first, again)) return false;
  for (int argument = 0; argument < first.arguments.count(); ++argument) {
    std::size_t offset = 0;
    while (offset + sizeof(std::uint64_t) <= first.arguments.size(argument)) {
      if (const int map = map_at(first, argument, offset, of_first.count); map >= 0) {
        if (maps_ == most_maps || map_at(second, argument, offset, of_first.count) != map ||
            !is_beyond(of_first.data[map], argument, offset, &map_[maps_]))
          return false;
        ++maps_;
        offset += sizeof(TensorMap);
        continue;
      }
      const std::uint64_t word = word_at(first, argument, offset);
      const std::uint64_t step = word_at(second, argument, offset) - word;
      if (step != 0) {
        const bool is_found = words_ < most_words && is_beyond(word, argument, offset, &word_[words_]) &&
                              moved[word_[words_].address] - addresses_[word_[words_].address] == step;
        if (is_found) {
          ++words_;
        } else if (word_at(again, argument, offset) == word) {
          return false;
        }
      }
      offset += sizeof word;
    }
  }
  return true;
}

bool LaunchPatches::is_beyond(std::uintptr_t at, int argument, std::size_t offset,
                              Place* place) const noexcept {
  for (std::size_t i = 0; i < addresses_.size(); ++i) {
    const auto beyond = static_cast<std::int64_t>(at - addresses_[i]);
    if (addresses_[i] == 0 || beyond != static_cast<std::int32_t>(beyond)) continue;
    *place = {static_cast<std::uint8_t>(argument), static_cast<std::uint8_t>(i),
              static_cast<std::uint16_t>(offset), static_cast<std::int32_t>(beyond)};
    return true;
  }
  return false;
}

bool LaunchPatches::fit(const Addresses& to) const noexcept {
  for (std::size_t i = 0; i < to.size(); ++i) {
    if ((to[i] == 0) != (addresses_[i] == 0) || (to[i] ^ addresses_[i]) % most_alignment != 0) return false;
  }
  return true;
}

Status LaunchPatches::place(LoadingLauncher& launcher, const Addresses& from, const Addresses& to,
                            Launch* launch) const noexcept {
  for (int i = 0; i < words_; ++i) {
    const Place& x = word_[i];
    const std::uint64_t word = to[x.address] + static_cast<std::uint64_t>(std::int64_t{x.beyond});
    std::memcpy(bytes_at(launch, x.argument, x.offset), &word, sizeof word);
  }
  for (int i = 0; i < maps_; ++i) {
    const Place& x = map_[i];
    if (to[x.address] == from[x.address]) continue;
    TensorMap map;
    unsigned char* const at = bytes_at(launch, x.argument, x.offset);
    std::memcpy(&map, at, sizeof map);
    const std::uintptr_t data = to[x.address] + static_cast<std::uintptr_t>(std::int64_t{x.beyond});
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the address of a matrix
    if (Status s = launcher.replace_address(reinterpret_cast<const void*>(data), &map); !s) return s;
    std::memcpy(at, &map, sizeof map);
  }
  return {};
}

}  // namespace tenon
