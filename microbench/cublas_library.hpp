// The libraries of cuBLAS, loaded at run time, so that the program starts on machines without them and uses
// the copy that is installed: the file that an environment variable names, the loader's path, the toolkit, or
// the wheels that PyTorch depends on.
#pragma once

#include <library_types.h>

#include <string>

#include "tenon/gemm/types.hpp"

namespace tenon::microbench {

// name: "libcublasLt". It stays loaded: the library registers CUDA code that outlives its handles. Throws
// Failure, with the places searched, if it is not found.
void* open_cublas_library(const std::string& name, const char* environment);

// Throws Failure if the library does not have the function.
void* find_function(void* library, const char* library_name, const char* function);

// cuBLAS's name for an element type.
cudaDataType_t data_type(Type type);

// "cuBLASLt 13.1.0" of 130100.
std::string versioned(const char* library, std::size_t version);

template <typename Function>
void load_function(void* library, const char* library_name, Function& function, const char* name) {
  function = reinterpret_cast<Function>(find_function(library, library_name, name));
}

}  // namespace tenon::microbench
