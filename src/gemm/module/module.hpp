// The hand-written PTX module of ptx/kernels as one more kernel of the list.
//
// Its text is part of this library (no file to find at run time) and is compiled by the driver at the first
// launch; the library does not link the driver, it asks the CUDA runtime for the driver's functions. The
// first launch should not happen during stream capture, since it compiles.
#pragma once

#include "gemm/kernel.hpp"

namespace tenon {

// The entry for kernels(). It takes what Copy::cp_async kernels take (bases 16-byte aligned, lda and
// ldb multiples of 8), layout "tn", C in f16, every size at most 2^31 - 1; what is not so is
// StatusCode::unsupported.
Kernel module_kernel();

// Enqueues what the kernel's configure() filled in.
Status launch_module(const Launch& launch, CUstream_st* stream) noexcept;

// The name of the kernel in the text of the module.
inline constexpr const char* module_symbol = "tenon_module_f16_f32_tn_128x128x32_s4";

// Registers of a thread and bytes of local memory (0: nothing was spilled) as the driver compiled the module
// for the current device.
Status module_resources(int& registers, int& local_bytes) noexcept;

// The text of the module, zero-terminated, exactly as in ptx/kernels (embedded by embed.cmake).
extern const char module_text[];

}  // namespace tenon
