#include "microbench/numerics/cuda_subject.hpp"

#include "emulator/numerics/form_kernel.hpp"
#include "tenon/gemm/no_cuda_device.hpp"

namespace tenon::probing {

using namespace emulator::numerics;

namespace {

void require(cudaError_t error, const std::string& doing) {
  if (error != cudaSuccess) throw std::runtime_error(doing + ": " + cudaGetErrorString(error));
}

class DeviceArray {
 public:
  explicit DeviceArray(std::size_t bytes) { require(cudaMalloc(&data_, bytes), "allocating operands"); }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  void*& get() { return data_; }

 private:
  void* data_ = nullptr;
};

}  // namespace

CudaSubject::CudaSubject() {
  int count = 0;
  if (const Status s = count_cuda_devices(&count); !s)
    throw Unsupported(std::string("there is no GPU here: ") + s.message());
  cudaDeviceProp properties{};
  require(cudaGetDeviceProperties(&properties, 0), "querying the device");
  description_ = properties.name;
  sm_ = 10 * properties.major + properties.minor;
}

CudaSubject::~CudaSubject() {
  unload();
}

void CudaSubject::unload() {
  if (library_ != nullptr) cudaLibraryUnload(library_);
  library_ = nullptr;
  loaded_.clear();
}

void CudaSubject::load(const NamedForm& named) {
  const std::string text = FormKernel(named, target_of(named, sm_)).text();
  if (text == loaded_) return;
  unload();
  const cudaError_t error =
      cudaLibraryLoadData(&library_, text.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  if (error != cudaSuccess) {
    library_ = nullptr;
    cudaGetLastError();  // not sticky: the next form may be there
    throw Unsupported("the driver does not assemble it for this device: " +
                      std::string(cudaGetErrorString(error)));
  }
  require(cudaLibraryGetKernel(&kernel_, library_, "probe"), "finding the kernel");
  loaded_ = text;
}

void CudaSubject::execute(const NamedForm& named, std::vector<Registers>& sets) {
  load(named);
  OperandArrays arrays(Mma(named.form), sets);
  OperandArray* const operands[] = {&arrays.a, &arrays.b, &arrays.c, &arrays.metadata, &arrays.d};
  DeviceArray a(arrays.a.data().size()), b(arrays.b.data().size()), c(arrays.c.data().size()),
      metadata(arrays.metadata.data().size()), d(arrays.d.data().size());
  DeviceArray* const memory[] = {&a, &b, &c, &metadata, &d};
  auto count = static_cast<std::uint32_t>(sets.size());
  void* arguments[6] = {};
  for (int i = 0; i < 5; ++i) {
    std::vector<char>& host = operands[i]->data();
    arguments[i] = &memory[i]->get();
    if (i < 4) {
      require(cudaMemcpy(memory[i]->get(), host.data(), host.size(), cudaMemcpyHostToDevice),
              "copying operands");
    }
  }
  arguments[5] = &count;
  const auto per_block = static_cast<unsigned>(FormKernel::sets_per_block(named));
  require(cudaLaunchKernel(reinterpret_cast<const void*>(kernel_), dim3((count + per_block - 1) / per_block),
                           dim3(32 * FormKernel::warps_per_block), arguments, 0, nullptr),
          "launching " + named.text);
  require(cudaDeviceSynchronize(), "executing " + named.text);
  std::vector<char>& results = arrays.d.data();
  require(cudaMemcpy(results.data(), d.get(), results.size(), cudaMemcpyDeviceToHost), "copying results");
  arrays.take_results(sets);
}

}  // namespace tenon::probing
