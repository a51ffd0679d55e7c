// Prepared products: decide() once, run() with the pointers of each call.
#include "tenon/gemm_prepared.hpp"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>

#include "gemm/result.hpp"
#include "host/cuda_loading_launcher.hpp"
#include "host/gemm_prepared_on.hpp"
#include "host/gemm_steps.hpp"
#include "host/launch_patches.hpp"
#include "host/map_memory.hpp"
#include "host/options_of.hpp"
#include "host/validate.hpp"

namespace tenon {

// What one thread at a time may use and change: what the last run launched, and its tensor maps. Another
// thread goes without rather than wait.
class LastRun {
 public:
  bool acquire() noexcept { return !is_used_.test_and_set(std::memory_order_acquire); }
  void release() noexcept { is_used_.clear(std::memory_order_release); }

  MapMemory maps;
  // Of a run that is a single launch: it, and its pointers.
  bool is_known = false;
  GemmPointers pointers;
  Launch launch;
  // Where launches are patched: whether this one is, and the addresses in it.
  bool is_patched = false;
  Addresses addresses{};

 private:
  std::atomic_flag is_used_ = ATOMIC_FLAG_INIT;
};

struct PreparedGemm::State {
  Gemm problem;
  bool is_fused = false;  // needs_fused_epilogue()
  GemmDecision decision;
  DeviceIdentity device;
  // Where the addresses of a launch can be replaced: where they are, a launch, and what it has there.
  LaunchPatches patches;
  Launch launch;
  Addresses addresses{};
  mutable LastRun last;
};

namespace {

// Loads what is to be launched, and keeps it.
class Preparing final : public Launcher {
 public:
  // described: the device as the launches may use it.
  Preparing(Launcher& described, LoadingLauncher& device, MapMemory& maps) noexcept
      : described_(described), device_(device), maps_(maps) {}

  Status describe(DeviceDescription* device) noexcept override { return described_.describe(device); }
  Status make_tensor_map(const MatrixInMemory& matrix, int box_rows, int box_columns,
                         TensorMap* map) noexcept override {
    return maps_.make(device_, index_++, matrix, box_rows, box_columns, map);
  }
  Status launch(const Launch& launch) noexcept override {
    last = launch;
    return device_.load(launch);
  }
  Launch last;

 private:
  Launcher& described_;
  LoadingLauncher& device_;
  MapMemory& maps_;
  int index_ = 0;
};

// Launches what was loaded, and keeps the launch. last: null where another thread has it.
class Running final : public Launcher {
 public:
  Running(LoadingLauncher& device, LastRun* last, const DeviceDescription& description) noexcept
      : device_(device), last_(last), description_(description) {}

  Status describe(DeviceDescription* device) noexcept override {
    *device = description_;
    return {};
  }
  Status make_tensor_map(const MatrixInMemory& matrix, int box_rows, int box_columns,
                         TensorMap* map) noexcept override {
    return last_ != nullptr ? last_->maps.make(device_, index_++, matrix, box_rows, box_columns, map)
                            : device_.make_tensor_map(matrix, box_rows, box_columns, map);
  }
  Status launch(const Launch& launch) noexcept override {
    ++launches_;
    if (last_ != nullptr) last_->launch = launch;
    return device_.launch_loaded(launch);
  }
  bool launched_once() const noexcept { return launches_ == 1; }

 private:
  LoadingLauncher& device_;
  LastRun* last_;
  const DeviceDescription& description_;
  int index_ = 0, launches_ = 0;
};

// The last run, for as long as this lives. Null where another thread has it.
class LastRunLock {
 public:
  explicit LastRunLock(LastRun& run) noexcept : run_(run.acquire() ? &run : nullptr) {}
  ~LastRunLock() {
    if (run_ != nullptr) run_->release();
  }
  LastRunLock(const LastRunLock&) = delete;
  LastRunLock& operator=(const LastRunLock&) = delete;
  LastRun* get() const noexcept { return run_; }

 private:
  LastRun* run_;
};

bool are_equal(const GemmPointers& x, const GemmPointers& y) noexcept {
  static_assert(std::has_unique_object_representations_v<GemmPointers>, "pointers alone, without padding");
  return std::memcmp(&x, &y, sizeof x) == 0;
}

// The bytes that an address is a multiple of, up to 16: wider copies there are none.
std::uintptr_t alignment_of(const void* pointer) noexcept {
  const std::uintptr_t bits = reinterpret_cast<std::uintptr_t>(pointer) | 16U;
  return bits & (~bits + 1);  // lowest set bit
}

// Replaces the pointers of a problem by those of a run, and says whether the problem may have them.
class Placing {
 public:
  // is_matrix: may be null in the prepared problem.
  template <class T>
  void place(const char* what, T*& pointer, T* given, bool is_matrix = false) noexcept {
    if (given == nullptr || !status_) return;
    if (pointer == nullptr && !is_matrix) {
      status_ = Status(StatusCode::invalid_argument,
                       "%s is %p but was null when the product was prepared: prepare it with one", what,
                       static_cast<const void*>(given));
      return;
    }
    const std::uintptr_t needed = alignment_of(pointer);
    if (reinterpret_cast<std::uintptr_t>(given) % needed != 0) {
      status_ = Status(StatusCode::invalid_argument,
                       "%s is %p but the product was prepared for a multiple of %d bytes", what,
                       static_cast<const void*>(given), static_cast<int>(needed));
      return;
    }
    pointer = given;
  }
  const Status& status() const noexcept { return status_; }

 private:
  Status status_;
};

Status place(const GemmPointers& x, Gemm* p) noexcept {
  Placing placing;
  placing.place("A", p->a.data, x.a, true);
  placing.place("B", p->b.data, x.b, true);
  placing.place("C", p->c.data, x.c, true);
  placing.place("D", p->d.data, x.d, has_d(*p));
  placing.place("the workspace", p->workspace, x.workspace, p->workspace_bytes != 0);
  placing.place("scale_a", p->scale_a, x.scale_a);
  placing.place("scale_b", p->scale_b, x.scale_b);
  EpilogueOptions& e = p->epilogue;
  placing.place("the bias", e.bias.data, x.bias);
  placing.place("the bias of the rows", e.row_bias.data, x.row_bias);
  placing.place("row_scale", e.row_scale, x.row_scale);
  placing.place("column_scale", e.column_scale, x.column_scale);
  placing.place("aux", e.aux.data, x.aux);
  placing.place("scale_d", e.scale_d, x.scale_d);
  placing.place("absmax", e.absmax, x.absmax);
  placing.place("the gradient of the bias", e.bias_gradient, x.bias_gradient);
  return placing.status();
}

Status check_device(const DeviceIdentity& prepared, const DeviceIdentity& current) noexcept {
  if (current.device != prepared.device) {
    return Status(
        StatusCode::invalid_argument,
        "the product was prepared for CUDA device %d but the current device is %d: prepare it there",
        prepared.device, current.device);
  }
  if (current.context != prepared.context) {
    return Status(StatusCode::invalid_argument,
                  "CUDA device %d was reset, or has another context, since the product was prepared: prepare "
                  "it again",
                  prepared.device);
  }
  return {};
}

// Launches with other addresses than the last run. False if that cannot be, and nothing was launched.
bool run_patched(LoadingLauncher& launcher, const LaunchPatches& patches, const Launch& prepared,
                 const Addresses& of_prepared, const Addresses& to, LastRun& last) noexcept {
  if (!patches.fit(to)) return false;
  if (!last.is_patched) last.launch = prepared, last.addresses = of_prepared;
  last.is_known = last.is_patched = false;
  if (!patches.place(launcher, last.addresses, to, &last.launch)) return false;
  last.is_patched = true;
  last.addresses = to;
  return static_cast<bool>(launcher.launch_loaded(last.launch));
}

}  // namespace

Status PreparedGemmAccess::prepare(LoadingLauncher& launcher, const Gemm& problem,
                                   PreparedGemm* prepared) noexcept try {
  const auto state = std::make_shared<PreparedGemm::State>();
  state->problem = problem;
  Gemm placed = problem;
  if (placed.workspace == nullptr && placed.workspace_bytes != 0)
    placed.workspace = reinterpret_cast<void*>(std::uintptr_t{256});  // NOLINT(performance-no-int-to-ptr)
  if (Status s = validate_without_pointers(&placed); !s) return s;
  state->is_fused = needs_fused_epilogue(placed);
  LimitedLauncher limited(launcher, options_of(problem));
  if (Status s = decide_validated(limited, placed, &state->decision); !s) return s;
  if (state->decision.work != Work::nothing) {
    if (Status s = launcher.identify(&state->device); !s) return s;
  }
  Preparing loading(limited, launcher, state->last.maps);
  LimitedLauncher loading_limited(loading, options_of(problem));
  if (Status s = tenon::run(loading_limited, placed, &state->decision); !s) return s;
  if (state->decision.work == Work::product && state->decision.products.division == Division::itself) {
    state->patches.find(placed, state->decision.plan[0], state->decision.device);
    state->launch = loading.last;
    state->addresses = addresses_of(placed);
  }
  // Named by the caller, whose text may not live as long as the prepared product.
  state->problem.kernel = nullptr;
  state->problem.tuning = nullptr;
  prepared->state_ = state;
  return {};
} catch (const std::bad_alloc&) {
  return Status(StatusCode::cuda_error, "no host memory is left for a prepared product");
}

Status PreparedGemmAccess::run(LoadingLauncher& launcher, const PreparedGemm& prepared,
                               const GemmPointers& pointers) noexcept {
  const PreparedGemm::State* const state = prepared.state_.get();
  if (state == nullptr)
    return Status(StatusCode::invalid_argument, "nothing was prepared: call tenon::prepare() first");
  const bool launches = state->decision.work != Work::nothing;
  if (launches) {
    DeviceIdentity current;
    if (Status s = launcher.identify(&current); !s) return s;
    if (Status s = check_device(state->device, current); !s) return s;
  }
  const LastRunLock lock(state->last);
  LastRun* const last = lock.get();
  if (last != nullptr && last->is_known && are_equal(pointers, last->pointers))
    return launcher.launch_loaded(last->launch);
  Gemm problem = state->problem;
  if (Status s = place(pointers, &problem); !s) return s;
  if (Status s = validate_pointers(problem); !s) return s;
  if (needs_fused_epilogue(problem) && !state->is_fused)
    return Status(StatusCode::invalid_argument,
                  "C is %p and D is %p but the product was prepared for D in the place of C: prepare it with "
                  "C and D apart",
                  problem.c.data, problem.d.data);
  if (!launches) return {};
  if (last != nullptr && state->patches.are_found() &&
      run_patched(launcher, state->patches, state->launch, state->addresses, addresses_of(problem), *last)) {
    last->pointers = pointers;
    last->is_known = true;
    return {};
  }
  GemmDecision decision = state->decision;
  decision.products = divide(problem, decision.products.division);
  if (last != nullptr) last->is_known = last->is_patched = false;
  Running running(launcher, last, decision.device);
  LimitedLauncher limited(running, options_of(problem));
  const Status s = tenon::run(limited, problem, &decision);
  if (s && last != nullptr && running.launched_once()) {
    last->pointers = pointers;
    last->is_known = true;
  }
  return s;
}

Status prepare(const Gemm& problem, PreparedGemm* prepared) noexcept {
  CudaLoadingLauncher launcher(nullptr);
  return PreparedGemmAccess::prepare(launcher, problem, prepared);
}

Status PreparedGemm::run(const GemmPointers& pointers, CUstream_st* stream) const noexcept {
  CudaLoadingLauncher launcher(stream);
  return PreparedGemmAccess::run(launcher, *this, pointers);
}

const char* PreparedGemm::kernel_name() const noexcept {
  return state_ == nullptr || state_->decision.work != Work::product
             ? nullptr
             : state_->decision.plan[0].kernel->name.c_str();
}

}  // namespace tenon
