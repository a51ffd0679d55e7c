// A libcuda without a GPU: STUB_DRIVER_VERSION, as 12040, is its version, STUB_DRIVER_ERROR what its cuInit()
// returns. It has what the CUDA runtime asks of a driver before the first device.
#include <cstdlib>
#include <cstring>

namespace {

int number(const char* variable) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? 0 : std::atoi(text);
}

}  // namespace

extern "C" {

int cuDriverGetVersion(int* version) {
  *version = number("STUB_DRIVER_VERSION");
  return 0;
}

int cuInit(unsigned) {
  return number("STUB_DRIVER_ERROR");
}

int cuGetProcAddress_v2(const char* symbol, void** function, int, unsigned long long, int* status) {
  constexpr int not_found = 500;
  *function = nullptr;
  if (std::strcmp(symbol, "cuInit") == 0) *function = reinterpret_cast<void*>(&cuInit);
  if (std::strcmp(symbol, "cuDriverGetVersion") == 0)
    *function = reinterpret_cast<void*>(&cuDriverGetVersion);
  if (std::strcmp(symbol, "cuGetProcAddress") == 0) *function = reinterpret_cast<void*>(&cuGetProcAddress_v2);
  if (status != nullptr) *status = *function == nullptr ? 1 : 0;
  return *function == nullptr ? not_found : 0;
}

int cuGetProcAddress(const char* symbol, void** function, int version, unsigned long long flags) {
  return cuGetProcAddress_v2(symbol, function, version, flags, nullptr);
}

}  // extern "C"
