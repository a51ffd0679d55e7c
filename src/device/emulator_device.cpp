// The emulator as a Device: loads a kernel's PTX at its first launch, and keeps the report of each launch.
//
// Device pointers are addresses in the emulator's memory. Nothing on the host dereferences them. The host API
// checks their alignment and overlap as it does for a GPU.
#include <algorithm>
#include <exception>
#include <map>
#include <new>
#include <utility>

#include "device/device.hpp"
#include "device/ptx_files.hpp"
#include "gemm/kernel_resources.hpp"
#include "gemm/module/module.hpp"
#include "tenon/attention/tensor_launcher.hpp"
#include "tenon/emulator/tensor_map.hpp"

namespace tenon {
namespace {

emulator::Address address_of(const void* pointer) noexcept {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

emulator::Dim3 dim3_of(const Extent3& extent) noexcept {
  return {extent.x, extent.y, extent.z};
}

class EmulatorDevice final : public Device, private TensorLauncher {
 public:
  EmulatorDevice(std::string ptx_folder, const emulator::Options& options)
      : ptx_folder_(std::move(ptx_folder)), options_(options) {}

  const char* kind() const noexcept override { return "emulator"; }
  std::string description() const override {
    return "emulator of sm_90, " + std::to_string(emulated_multiprocessors) + " multiprocessors";
  }
  Launcher& launcher() noexcept override { return *this; }

  Status allocate(std::size_t bytes, void** memory) noexcept override try {
    *memory = nullptr;
    if (bytes == 0) return {};
    // The host never dereferences the address.
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    *memory = reinterpret_cast<void*>(static_cast<std::uintptr_t>(emulator_.allocate(bytes)));
    return {};
  } catch (const std::exception& error) {
    return Status(StatusCode::device_unsupported, "%zu bytes are needed in the emulator's memory: %s", bytes,
                  error.what());
  }
  void free(void* memory) noexcept override {
    if (memory != nullptr) attempt([&] { emulator_.free(address_of(memory)); });
  }
  Status upload(void* to, const void* from, std::size_t bytes) noexcept override {
    return attempt([&] { emulator_.copy_in(address_of(to), from, bytes); });
  }
  Status download(void* to, const void* from, std::size_t bytes) noexcept override {
    return attempt([&] { emulator_.copy_out(to, address_of(from), bytes); });
  }
  Status synchronize() noexcept override { return {}; }  // a launch has ended when it returns
  Status free_memory(std::size_t* bytes) noexcept override {
    *bytes = most_memory;
    return {};
  }
  std::vector<LaunchReport> take_reports() override { return std::exchange(reports_, {}); }

 private:
  // What fits on a machine whose host side holds the matrices too, and can be multiplied within hours.
  static constexpr std::size_t most_memory = std::size_t{1} << 30;

  template <class Action>
  static Status attempt(const Action& action) noexcept try {
    action();
    return {};
  } catch (const std::exception& error) {
    return Status(StatusCode::device_unsupported, "the emulator refuses: %s", error.what());
  }

  Status describe(DeviceDescription* device) noexcept override {
    device->sm = 90;
    device->multiprocessors = emulated_multiprocessors;
    device->shared_bytes_per_block_optin = std::size_t{227} << 10;
    device->l2_bytes = std::size_t{50} << 20;
    return {};
  }

  Status make_tensor_map(const MatrixInMemory& matrix, int box_rows, int box_columns,
                         TensorMap* map) noexcept override {
    const auto element = static_cast<std::uint64_t>(matrix.element_bytes);
    const std::uint64_t extents[2] = {static_cast<std::uint64_t>(matrix.columns),
                                      static_cast<std::uint64_t>(matrix.rows)};
    const std::uint64_t strides[1] = {element * static_cast<std::uint64_t>(matrix.ld)};
    const std::uint32_t box[2] = {static_cast<std::uint32_t>(box_columns),
                                  static_cast<std::uint32_t>(box_rows)};
    return encode(matrix.data, element, 2, extents, strides, box, map);
  }
  Status make_tensor_map_4d(const TensorInMemory& tensor, int box_rows, int box_columns,
                            TensorMap* map) noexcept override {
    const auto element = static_cast<std::uint64_t>(tensor.element_bytes);
    const std::uint64_t extents[4] = {
        static_cast<std::uint64_t>(tensor.columns), static_cast<std::uint64_t>(tensor.rows),
        static_cast<std::uint64_t>(tensor.outer[0]), static_cast<std::uint64_t>(tensor.outer[1])};
    std::uint64_t strides[3] = {};
    const std::int64_t given[3] = {tensor.row_stride, tensor.outer_stride[0], tensor.outer_stride[1]};
    for (int i = 0; i < 3; ++i)
      strides[i] = extents[i + 1] == 1 ? 16 : element * static_cast<std::uint64_t>(given[i]);
    const std::uint32_t box[4] = {static_cast<std::uint32_t>(box_columns),
                                  static_cast<std::uint32_t>(box_rows), 1, 1};
    return encode(tensor.data, element, 4, extents, strides, box, map);
  }
  static Status encode(const void* data, std::uint64_t element, int rank, const std::uint64_t* extents,
                       const std::uint64_t* strides, const std::uint32_t* box, TensorMap* map) {
    using namespace emulator;
    return attempt([&] {
      constexpr std::uint32_t element_strides[4] = {1, 1, 1, 1};
      const TensorMapType type = element == 1   ? TensorMapType::uint8
                                 : element == 2 ? TensorMapType::uint16
                                                : TensorMapType::uint32;
      const std::uint64_t width = box[0] * element;
      const TensorMapSwizzle swizzle = width == 128  ? TensorMapSwizzle::bytes_128
                                       : width == 64 ? TensorMapSwizzle::bytes_64
                                       : width == 32 ? TensorMapSwizzle::bytes_32
                                                     : TensorMapSwizzle::none;
      const emulator::TensorMap encoded = encode_tiled(type, rank, address_of(data), extents, strides, box,
                                                       element_strides, TensorMapInterleave::none, swizzle,
                                                       TensorMapL2Promotion::bytes_128, TensorMapFill::zeros);
      std::memcpy(static_cast<void*>(map), &encoded, sizeof encoded);
    });
  }

  // Never device_unsupported: otherwise another kernel would replace one that the emulator cannot run, and
  // hide it.
  Status launch(const Launch& launch) noexcept override try {
    // The hand-written module is part of the library; it has neither a function nor a file.
    const char* entry = launch.entry != nullptr ? launch.entry : kernel_symbol(launch.function);
    if (entry == nullptr) {
      return Status(StatusCode::cuda_error, "%s has no symbol in the table of kernels", launch.what);
    }
    std::string text;
    auto module = modules_.find(launch.ptx);
    if (module == modules_.end()) {
      if (launch.function == nullptr) {
        text = module_text;
      } else if (Status s = read_ptx(ptx_folder_, launch.ptx, &text); !s) {
        return Status(StatusCode::cuda_error, "%s", s.message());
      }
      module = modules_.emplace(launch.ptx, emulator_.load(text)).first;
    }
    std::vector<emulator::Argument> arguments;
    arguments.reserve(static_cast<std::size_t>(launch.arguments.count()));
    for (int i = 0; i < launch.arguments.count(); ++i) {
      arguments.push_back(emulator::Argument::of_bytes(launch.arguments.data(i), launch.arguments.size(i)));
    }
    emulator::Shape shape;
    shape.grid = dim3_of(launch.grid);
    shape.block = dim3_of(launch.block);
    shape.shared_bytes = launch.shared_bytes;
    if (launch.cluster != 0) shape.cluster = emulator::Dim3{launch.cluster, 1, 1};
    reports_.push_back({launch.what, emulator_.launch(module->second, entry, shape, arguments, options_)});
    return {};
  } catch (const std::bad_alloc&) {
    return Status(StatusCode::cuda_error, "no memory is left for the emulation of %s", launch.what);
  } catch (const std::exception& error) {
    return Status(StatusCode::cuda_error, "the emulator cannot run %s: %s", launch.what, error.what());
  }

  std::string ptx_folder_;
  emulator::Options options_;
  emulator::Emulator emulator_;
  std::map<std::string, emulator::Module> modules_;  // by the name of their file
  std::vector<LaunchReport> reports_;
};

}  // namespace

Status open_emulator_device(std::unique_ptr<Device>* device, const emulator::Options& options) {
  std::string folder;
  if (Status s = find_ptx_folder(&folder); !s) return s;
  *device = std::make_unique<EmulatorDevice>(folder, options);
  return {};
}

Status open_emulator_device(std::unique_ptr<Device>* device) {
  emulator::Options options;
  options.numerics = emulator::Numerics::sm_90;
  return open_emulator_device(device, options);
}

}  // namespace tenon
