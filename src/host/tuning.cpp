// Tuning, and the lookup of tuning_table.hpp.
#include "tenon/tuning.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "gemm/result.hpp"
#include "host/read_file.hpp"
#include "host/tuning_table.hpp"
#include "host/tuning_text.hpp"

namespace tenon {

TuningKey tuning_key(const Gemm& problem) noexcept {
  return {problem.a.type,  problem.b.type,  problem.accumulate, result_of(problem).type,
          problem.promote, problem.a.order, problem.b.order,    problem.n,
          problem.k,       problem.m};
}

bool operator<(const TuningKey& x, const TuningKey& y) noexcept {
  return std::tuple_cat(x.family(), std::tie(x.m)) < std::tuple_cat(y.family(), std::tie(y.m));
}

bool operator==(const TuningKey& x, const TuningKey& y) noexcept {
  return x.family() == y.family() && x.m == y.m;
}

const TuningEntry* find_tuning(const TuningTable& table, const Gemm& problem) noexcept {
  const TuningKey key = tuning_key(problem);
  const auto less = [](const TuningEntry& entry, const TuningKey& wanted) { return entry.key < wanted; };
  const auto above = std::lower_bound(table.entries.begin(), table.entries.end(), key, less);
  if (above != table.entries.end() && above->key == key) return &*above;

  // Squares of sizes below 2^31 fit in 64 bits.
  const auto within_root_2 = [](std::int64_t small, std::int64_t large) {
    return large * large <= 2 * small * small;
  };
  const TuningEntry *larger = nullptr, *smaller = nullptr;
  if (above != table.entries.end() && above->key.family() == key.family() &&
      within_root_2(key.m, above->key.m)) {
    larger = &*above;
  }
  if (above != table.entries.begin()) {
    const auto below = above - 1;
    if (below->key.family() == key.family() && within_root_2(below->key.m, key.m)) smaller = &*below;
  }
  if (larger == nullptr || smaller == nullptr) return larger != nullptr ? larger : smaller;
  return key.m * key.m < smaller->key.m * larger->key.m ? smaller : larger;
}

const Kernel* tuned_kernel(const std::vector<Kernel>& list, const Gemm& problem,
                           const DeviceDescription& device, Status* why) noexcept {
  const auto none = [why](const auto& sentence) -> const Kernel* {
    if (why != nullptr) *why = sentence();
    return nullptr;
  };
  const TuningTable* table = problem.tuning == nullptr ? nullptr : problem.tuning->table();
  if (table == nullptr) return none([] { return Status(StatusCode::unsupported, "there is no table"); });
  if (table->sm != device.sm || table->multiprocessors != device.multiprocessors) {
    return none([&] {
      return Status(
          StatusCode::unsupported,
          "it was measured on %.60s, sm_%d with %d multiprocessors, but this device is sm_%d with %d "
          "multiprocessors",
          table->device.c_str(), table->sm, table->multiprocessors, device.sm, device.multiprocessors);
    });
  }
  const TuningEntry* entry = find_tuning(*table, problem);
  if (entry == nullptr)
    return none([] { return Status(StatusCode::unsupported, "it has no entry for this problem"); });
  const auto kernel = std::find_if(list.begin(), list.end(),
                                   [entry](const Kernel& one) { return one.name == entry->kernel; });
  if (kernel != list.end() && kernel->copy != Copy::module) return &*kernel;
  return none([&] {
    return Status(StatusCode::unsupported, "it has an entry for m = %lld, but its kernel %.120s %s",
                  static_cast<long long>(entry->key.m), entry->kernel.c_str(),
                  kernel == list.end() ? "is not in this build" : "runs only where it is named");
  });
}

namespace {

Status out_of_memory() noexcept {
  return Status(StatusCode::cuda_error, "no host memory is left for the table of tunings");
}

// Throws std::bad_alloc.
Status replace(TuningTable*& table, const char* where, const char* text, std::size_t size) {
  auto read = std::make_unique<TuningTable>();
  if (Status s = read_tuning(where, text, size, read.get()); !s) return s;
  delete table;
  table = read.release();
  return {};
}

}  // namespace

Tuning::~Tuning() {
  delete table_;
}

Tuning::Tuning(Tuning&& other) noexcept : table_(std::exchange(other.table_, nullptr)) {}

Tuning& Tuning::operator=(Tuning&& other) noexcept {
  if (this != &other) {
    delete table_;
    table_ = std::exchange(other.table_, nullptr);
  }
  return *this;
}

Status Tuning::load(const char* path) noexcept try {
  if (path == nullptr) {
    return Status(StatusCode::invalid_argument, "path is a null pointer but must name a tuning table");
  }
  std::string text;
  if (Status s = read_file(path, &text); !s) return s;
  return replace(table_, path, text.data(), text.size());
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Tuning::load_text(const char* text, std::size_t size) noexcept try {
  if (text == nullptr && size != 0) {
    return Status(StatusCode::invalid_argument, "text is a null pointer but its size is %zu, not 0", size);
  }
  return replace(table_, "tuning table", text, size);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

std::size_t Tuning::size() const noexcept {
  return table_ == nullptr ? 0 : table_->entries.size();
}
const char* Tuning::device() const noexcept {
  return table_ == nullptr ? "" : table_->device.c_str();
}
int Tuning::sm() const noexcept {
  return table_ == nullptr ? 0 : table_->sm;
}
int Tuning::multiprocessors() const noexcept {
  return table_ == nullptr ? 0 : table_->multiprocessors;
}

}  // namespace tenon
