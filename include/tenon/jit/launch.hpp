// A GEMM with an epilogue that is known when the program runs: NVRTC compiles the kernel from the epilogue's
// text, a folder keeps it for later runs, and launch() enqueues it as that of gemm/launch.hpp does the
// program's own. Include launch_sm80.hpp or launch_sm90.hpp, which have the kernel types. Below: compile.hpp,
// compiled_operation.hpp, type_name.hpp.
#pragma once

#include "tenon/needs_host.hpp"

#include <cuda_runtime_api.h>

#include <memory>
#include <mutex>
#include <string>

#include "tenon/gemm/launch.hpp"
#include "tenon/jit/compile.hpp"
#include "tenon/jit/compiled_operation.hpp"
#include "tenon/jit/type_name.hpp"

namespace tenon::jit {

// An operation (gemm/epilogue.hpp) as text. It is copied byte by byte, and has no operands (WithOperands).
struct Epilogue {
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

// Recipe: what a kernel family adds, see launch_sm90.hpp. TC: the type of C. Copies share the code, and the
// last one unloads it: it must outlive its launches.
template <class Recipe_, class TC_>
class GemmKernel {
 public:
  using Recipe = Recipe_;
  using Config = typename Recipe::Config;
  using TC = TC_;
  using Problem = GemmProblem<typename Config::T, TC, typename Config::TB>;

  // Compiles the kernel, or finds it in the cache; needs no device. Where it fails, the status has the first
  // error, and report() has the whole log.
  static Status make(const Epilogue& epilogue, const CompileOptions& options, GemmKernel* kernel) noexcept {
    return without_exceptions([&]() -> Status {
      *kernel = {};
      if (Status s = check(epilogue, options); !s) return s;
      const auto code = std::make_shared<Code>();
      code->size = epilogue.size, code->alignment = epilogue.alignment, code->name = epilogue.name;
      code->architecture = Recipe::architecture(options);
      if (Status s = compile(program_of(epilogue, options), options, &code->cubin, &kernel->report_); !s)
        return s;
      kernel->code_ = code;
      return {};
    });
  }
  const CompileReport& report() const noexcept { return report_; }
  // The compiled code, of two kernels: the symbol of the GEMM and of the kernel for k == 0. Empty unless it
  // was made.
  const Cubin& cubin() const noexcept {
    static const Cubin none;
    return code_ ? code_->cubin : none;
  }

  // Enqueues C = op(A * B) on the stream of the current device, as tenon::launch() does. op: a struct with
  // the members of the epilogue's, or OperationBytes. The first launch loads the code.
  template <class Op>
  Status launch(const Problem& problem, const Op& op, cudaStream_t stream = nullptr,
                const LaunchOptions& options = {}) const noexcept {
    CompiledOperation operation;
    if (Status s = bind(bytes_of(op), &operation); !s) return s;
    if (Status s = load(); !s) return s;
    operation.kernel = code_->kernels[0], operation.kernel_no_k = code_->kernels[1];
    return tenon::launch<Planned>(problem, operation, stream, options);
  }

  // As plan_launch(). The function of the launch is null before load().
  template <class Op>
  Status plan(const Problem& problem, const Op& op, Launcher& launcher, Launch* launch,
              bool* launches) const noexcept {
    CompiledOperation operation;
    if (Status s = bind(bytes_of(op), &operation); !s) return s;
    operation.kernel = code_->kernels[0], operation.kernel_no_k = code_->kernels[1];
    return plan_launch<Planned>(problem, operation, launcher, launch, launches);
  }

  // Loads the code, for who plans, or who does not want the first launch to do it.
  Status load() const noexcept {
    if (!code_) return not_made();
    const std::lock_guard<std::mutex> lock(code_->loading);
    if (code_->library != nullptr) return {};
    DeviceDescription device;
    if (Status s = describe_cuda_device(&device); !s) return s;
    if (Status s = Recipe::check(device, code_->architecture); !s) return s;
    const RelaxedCapture relaxed;
    cudaLibrary_t library = nullptr;
    cudaError_t error =
        cudaLibraryLoadData(&library, code_->cubin.bytes.data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
    for (int i = 0; i < 2 && error == cudaSuccess; ++i) {
      error = cudaLibraryGetKernel(&code_->kernels[i], library,
                                   code_->cubin.symbols[static_cast<std::size_t>(i)].c_str());
    }
    if (error == cudaSuccess) {
      code_->library = library;
      return {};
    }
    cudaGetLastError();  // reported here; the caller's next check shall not find it
    if (library != nullptr) cudaLibraryUnload(library);
    return Status(StatusCode::cuda_error, "the kernel with the epilogue %s could not be loaded: %s",
                  code_->name.c_str(), cudaGetErrorString(error));
  }

  // What NVRTC compiles.
  static Program program_of(const Epilogue& epilogue, const CompileOptions& options) {
    Program program;
    program.architecture = Recipe::architecture(options);
    program.options = {"-std=c++17", "-default-device"};
    program.kernels = {
        Recipe::template kernel<TC>(),
        "tenon::gemm_of_no_k<tenon_jit::Operation, tenon_jit::Value, " + type_name<TC>() + ">"};
    const std::string size = std::to_string(epilogue.size), alignment = std::to_string(epilogue.alignment);
    // The names of the types in the source are those of the program's types, so the two cannot differ. The
    // template has the size and the alignment in NVRTC's message where they are others.
    program.source =
        std::string("#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n") + Recipe::includes +
        "#include \"tenon/gemm/kernel_no_k.hpp\"\n#line 1 \"epilogue\"\n" + epilogue.text +
        "\n#line 1 \"tenon_jit\"\nnamespace tenon_jit {\nusing Configuration = " + type_name<Config>() +
        ";\nusing Value = " + type_name<typename Recipe::Value>() + ";\nusing Operation = " + epilogue.name +
        ";\n" + "template <int size, int alignment>\nstruct Bytes {\n  static_assert(size == " + size +
        " && alignment == " + alignment + ", \"the epilogue has " + size + " bytes with alignment " +
        alignment + " in the program, but not here\");\n};\n" +
        R"(template struct Bytes<sizeof(Operation), alignof(Operation)>;
static_assert(__is_trivially_copyable(Operation),
              "an epilogue operation is copied byte by byte: it must be trivially copyable");
static_assert(tenon::is_operation<typename tenon::LoadedOperation<Operation>::type, Value>,
              "an epilogue operation is called as op(accumulator, int row, int column) and returns the accumulator's type: float, int32_t where integers are multiplied, double where f64 is");
static_assert(sizeof(tenon::GemmArguments) == )" +
        std::to_string(sizeof(GemmArguments)) + Recipe::same_headers() +
        R"(,
              "the headers of tenon in the include folders are not those that the program was compiled with");
}  // namespace tenon_jit
)";
    return program;
  }

 private:
  using Planned = typename Recipe::Kernel;

  struct Code {
    std::string name, architecture;
    std::size_t size = 0, alignment = 1;
    Cubin cubin;
    std::mutex loading;
    cudaLibrary_t library = nullptr;
    cudaKernel_t kernels[2] = {};

    Code() = default;
    Code(const Code&) = delete;
    Code& operator=(const Code&) = delete;
    ~Code() {
      if (library != nullptr) cudaLibraryUnload(library);
    }
  };

  static Status check(const Epilogue& epilogue, const CompileOptions& options) {
    constexpr StatusCode invalid = StatusCode::invalid_argument;
    if (epilogue.name.empty())
      return Status(invalid, "the epilogue's name is empty but must name its struct");
    for (const char* header : {"tenon/gemm/kernel_no_k.hpp", "cuda_fp16.h"}) {
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
  template <class Op>
  static OperationBytes bytes_of(const Op& op) {
    static_assert(std::is_trivially_copyable_v<Op>,
                  "an epilogue operation is copied byte by byte: it must be trivially copyable");
    return {&op, sizeof op};
  }
  static OperationBytes bytes_of(const OperationBytes& bytes) { return bytes; }
  Status bind(const OperationBytes& bytes, CompiledOperation* operation) const {
    if (!code_) return not_made();
    if (bytes.size != code_->size)
      return Status(StatusCode::invalid_argument,
                    "the operation has %zu bytes but %s, as it was made, has %zu", bytes.size,
                    code_->name.c_str(), code_->size);
    operation->data = bytes.data, operation->size = bytes.size, operation->alignment = code_->alignment;
    return {};
  }

  std::shared_ptr<Code> code_;
  CompileReport report_;
};

}  // namespace tenon::jit
