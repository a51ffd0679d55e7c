// Tuning, and the search of tuning_table.hpp.
#include "tenon/tuning.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "host/tuning_table.hpp"
#include "host/tuning_text.hpp"

namespace tenon {

TuningKey tuning_key(const Gemm& problem) noexcept {
  return {problem.a.type,  problem.b.type,  problem.accumulate, problem.c.type, problem.promote,
          problem.a.order, problem.b.order, problem.n,          problem.k,      problem.m};
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

  // Squares of sizes below 2^31 fit 64 bits.
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
                           const DeviceDescription& device) noexcept {
  if (problem.tuning == nullptr) return nullptr;
  const TuningTable* table = problem.tuning->table();
  if (table == nullptr || table->sm != device.sm || table->multiprocessors != device.multiprocessors) {
    return nullptr;
  }
  const TuningEntry* entry = find_tuning(*table, problem);
  if (entry == nullptr) return nullptr;
  for (const Kernel& kernel : list) {
    if (kernel.name == entry->kernel) return kernel.copy == Copy::module ? nullptr : &kernel;
  }
  return nullptr;
}

namespace {

// Far more than anybody measures; a file that goes on for ever shall not take all memory.
constexpr std::size_t largest_file = std::size_t{64} << 20;

struct CloseFile {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

Status unreadable(const char* path, int error) noexcept {
  return Status(StatusCode::invalid_argument, "%.150s: cannot be read: %s", path, std::strerror(error));
}

// Throws std::bad_alloc.
Status read_file(const char* path, std::string* text) {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path, "rb"));
  if (file == nullptr) return unreadable(path, errno);
  char block[1 << 14];
  for (;;) {
    const std::size_t count = std::fread(block, 1, sizeof block, file.get());
    text->append(block, count);
    if (std::ferror(file.get()) != 0) return unreadable(path, errno);
    if (text->size() > largest_file) {
      return Status(StatusCode::invalid_argument,
                    "%.150s: it has more than the %zu bytes that a table may have", path, largest_file);
    }
    if (count < sizeof block) return {};
  }
}

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
