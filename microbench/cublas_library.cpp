#include "microbench/cublas_library.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "microbench/cublas_declarations.hpp"
#include "microbench/cuda_check.hpp"

namespace tenon::microbench {
namespace {

// Folders of the nvidia-cublas wheels of python3, if there are any, one a line.
std::vector<std::string> wheel_folders() {
  const char* command =
      "python3 -c 'import nvidia, glob\n"
      "for p in nvidia.__path__: print(*glob.glob(p + \"/cu13/lib\") + glob.glob(p + \"/cublas/lib\"), "
      "sep=\"\\n\")'"
      " 2>/dev/null";
  std::vector<std::string> folders;
  FILE* pipe = popen(command, "r");
  if (pipe == nullptr) return folders;
  std::string line;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) {
    if (c != '\n') {
      line += static_cast<char>(c);
    } else {
      if (!line.empty()) folders.push_back(line);
      line.clear();
    }
  }
  pclose(pipe);
  return folders;
}

}  // namespace

void* open_cublas_library(const std::string& name, const char* environment) {
  const std::string file = name + ".so." + std::to_string(cublas_major);
  if (const char* chosen = std::getenv(environment); chosen != nullptr && *chosen != '\0') {
    if (void* library = dlopen(chosen, RTLD_NOW)) return library;
    throw Failure(std::string(environment) + " is '" + chosen + "' but that cannot be loaded: " + dlerror());
  }
  if (void* library = dlopen(file.c_str(), RTLD_NOW)) return library;
  std::vector<std::string> folders = {"/usr/local/cuda/lib64"};
  for (std::string& folder : wheel_folders()) folders.push_back(std::move(folder));
  std::string looked_at = "the loader's path";
  for (const std::string& folder : folders) {
    if (void* library = dlopen((folder + "/" + file).c_str(), RTLD_NOW)) return library;
    looked_at += ", " + folder;
  }
  throw Failure(file + " was not found in " + looked_at + "; set " + environment + " to the file");
}

cudaDataType_t data_type(Type type) {
  switch (type) {
    case Type::f16:
      return CUDA_R_16F;
    case Type::bf16:
      return CUDA_R_16BF;
    case Type::f32:
    case Type::tf32:
      return CUDA_R_32F;
    case Type::e4m3:
      return CUDA_R_8F_E4M3;
    case Type::e5m2:
      return CUDA_R_8F_E5M2;
    case Type::s8:
      return CUDA_R_8I;
    case Type::s32:
      return CUDA_R_32I;
    case Type::f64:
      return CUDA_R_64F;
  }
  throw Failure("cuBLAS has no type of the number " + std::to_string(static_cast<int>(type)));
}

std::string versioned(const char* library, std::size_t version) {
  return std::string(library) + " " + std::to_string(version / 10000) + "." +
         std::to_string(version / 100 % 100) + "." + std::to_string(version % 100);
}

void* find_function(void* library, const char* library_name, const char* function) {
  if (void* found = dlsym(library, function)) return found;
  throw Failure(std::string(library_name) + " has no " + function);
}

}  // namespace tenon::microbench
