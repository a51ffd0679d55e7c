// A kernel around a struct that comes as text when the program runs (an epilogue, a score function): NVRTC
// compiles it, a folder keeps it for later runs, and the first launch loads it. Host code. Below:
// compile.hpp, gemm/cuda_launcher.hpp, needs_cuda_12_8.hpp.
#pragma once

#include "tenon/needs_host.hpp"

#include "tenon/jit/needs_cuda_12_8.hpp"

#include <cuda_runtime_api.h>

#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

#include "tenon/gemm/cuda_launcher.hpp"
#include "tenon/jit/compile.hpp"

namespace tenon::jit {

// A struct of device code as text. It is copied byte by byte.
struct StructText {
  std::string name;  // of the struct
  std::string text;  // its definition, and what that needs
  // Of the struct, as the program fills it: the compiler of the kernel checks both.
  std::size_t size = 0, alignment = 1;
};

// What the program fills it with.
struct OperationBytes {
  const void* data = nullptr;
  std::size_t size = 0;
};

// Family: what is compiled around the struct, as GemmFamily of launch.hpp has it. Copies share
// the code, and the last one unloads it: it must outlive its launches.
template <class Family>
class CompiledKernel {
 public:
  // Compiles the kernel, or finds it in the cache; needs no device. Where it fails, the status has the first
  // error, and report() has the whole log.
  static Status make(const StructText& given, const CompileOptions& options,
                     CompiledKernel* kernel) noexcept {
    return without_exceptions([&]() -> Status {
      *kernel = {};
      if (Status s = check(given, options); !s) return s;
      const auto code = std::make_shared<Code>();
      code->size = given.size, code->alignment = given.alignment, code->name = given.name;
      code->architecture = Family::architecture(options);
      if (Status s = compile(program_of(given, options), options, &code->cubin, &kernel->report_); !s)
        return s;
      code->kernels.resize(code->cubin.symbols.size());
      kernel->code_ = code;
      return {};
    });
  }
  const CompileReport& report() const noexcept { return report_; }
  // The compiled code, and the symbols of its kernels. Empty unless it was made.
  const Cubin& cubin() const noexcept {
    static const Cubin none;
    return code_ ? code_->cubin : none;
  }

  // Loads the code, for who plans, or who does not want the first launch to do it.
  Status load() const noexcept {
    if (!code_) return not_made();
    const std::lock_guard<std::mutex> lock(code_->loading);
    if (code_->library != nullptr) return {};
    DeviceDescription device;
    if (Status s = describe_cuda_device(&device); !s) return s;
    if (Status s = Family::check(device, code_->architecture); !s) return s;
    const RelaxedCapture relaxed;
    cudaLibrary_t library = nullptr;
    cudaError_t error =
        cudaLibraryLoadData(&library, code_->cubin.bytes.data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
    for (std::size_t i = 0; i < code_->kernels.size() && error == cudaSuccess; ++i)
      error = cudaLibraryGetKernel(&code_->kernels[i], library, code_->cubin.symbols[i].c_str());
    if (error == cudaSuccess) {
      code_->library = library;
      return {};
    }
    cudaGetLastError();  // reported here; the caller's next check shall not find it
    if (library != nullptr) cudaLibraryUnload(library);
    return Status(StatusCode::cuda_error, "the kernel with the %s %s could not be loaded: %s", Family::what,
                  code_->name.c_str(), cudaGetErrorString(error));
  }

  // What NVRTC compiles.
  static Program program_of(const StructText& given, const CompileOptions& options) {
    Program program;
    program.architecture = Family::architecture(options);
    program.options = {"-std=c++17", "-default-device"};
    program.kernels = Family::kernels();
    const std::string what = Family::what, alias = Family::alias;
    const std::string size = std::to_string(given.size), alignment = std::to_string(given.alignment);
    // The names of the types in the source are those of the program's types, so the two cannot differ. The
    // template has the size and the alignment in NVRTC's message where they are others.
    program.source =
        "#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n" + Family::includes() + "#line 1 \"" + what +
        "\"\n" + given.text + "\n#line 1 \"tenon_jit\"\nnamespace tenon_jit {\n" + Family::types() +
        "using " + alias + " = " + given.name +
        ";\ntemplate <int size, int alignment>\nstruct Bytes {\n  static_assert(size == " + size +
        " && alignment == " + alignment + ", \"the " + what + " has " + size + " bytes with alignment " +
        alignment + " in the program, but not here\");\n};\ntemplate struct Bytes<sizeof(" + alias +
        "), alignof(" + alias + ")>;\nstatic_assert(__is_trivially_copyable(" + alias +
        "),\n              \"the " + what +
        " is copied byte by byte: it must be trivially copyable\");\nstatic_assert(" + Family::requirement +
        ");\nstatic_assert(" + Family::same_headers() + R"(,
              "the headers of tenon in the include folders are not those that the program was compiled with");
}  // namespace tenon_jit
)";
    return program;
  }

 protected:
  // Fills what a launch needs of the struct: CompiledOperation, CompiledScore. value: a struct with the
  // members of the one that was compiled, or OperationBytes.
  template <class Value, class Compiled>
  Status bind(const Value& value, Compiled* compiled) const {
    if (!code_) return not_made();
    const OperationBytes bytes = bytes_of(value);
    if (bytes.size != code_->size)
      return Status(StatusCode::invalid_argument, "the %s has %zu bytes but %s, as it was made, has %zu",
                    Family::what, bytes.size, code_->name.c_str(), code_->size);
    compiled->data = bytes.data, compiled->size = bytes.size, compiled->alignment = code_->alignment;
    return {};
  }
  // What Launch::function takes, once bind() was ok. Null before load().
  const void* kernel(std::size_t i) const noexcept { return code_->kernels[i]; }

 private:
  struct Code {
    std::string name, architecture;
    std::size_t size = 0, alignment = 1;
    Cubin cubin;
    std::mutex loading;
    cudaLibrary_t library = nullptr;
    std::vector<cudaKernel_t> kernels;

    Code() = default;
    Code(const Code&) = delete;
    Code& operator=(const Code&) = delete;
    ~Code() {
      if (library != nullptr) cudaLibraryUnload(library);
    }
  };

  static Status check(const StructText& given, const CompileOptions& options) {
    constexpr StatusCode invalid = StatusCode::invalid_argument;
    if (given.name.empty())
      return Status(invalid, "the %s's name is empty but must name its struct", Family::what);
    for (const char* header : {Family::header, "cuda_fp16.h"}) {
      if (HeaderText::find(header, with_cccl(options.include_folders)).empty())
        return Status(invalid,
                      "%s is in none of the %zu include folders, but those of tenon and of the CUDA Toolkit "
                      "must be among them",
                      header, options.include_folders.size());
    }
    return {};
  }
  static Status not_made() {
    return Status(StatusCode::invalid_argument, "the kernel was not made: its make() must succeed first");
  }
  template <class Value>
  static OperationBytes bytes_of(const Value& value) {
    static_assert(std::is_trivially_copyable_v<Value>,
                  "an epilogue operation or a score function is copied byte by byte: it must be trivially "
                  "copyable");
    return {&value, sizeof value};
  }
  static OperationBytes bytes_of(const OperationBytes& bytes) { return bytes; }

  std::shared_ptr<Code> code_;
  CompileReport report_;
};

}  // namespace tenon::jit
