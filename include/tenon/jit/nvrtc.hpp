// NVRTC, opened when a program runs: whoever compiles nothing needs no libnvrtc. Host code. Below:
// program.hpp, status.hpp.
#pragma once

#include "tenon/needs_host.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tenon/jit/program.hpp"
#include "tenon/status.hpp"

namespace tenon::jit {

// The first lines of a log that fit into a Status: from its first error on.
inline std::string first_error(const std::string& log) {
  const std::size_t error = log.find("error");
  const std::size_t newline = error == std::string::npos ? error : log.rfind('\n', error);
  std::string text = newline == std::string::npos ? log : log.substr(newline + 1);
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

class Nvrtc {
 public:
  static constexpr int needed_major = 13, needed_minor = 0;
  static constexpr const char* usual_name = "libnvrtc.so.13";

  // library: a file, or a name that the dynamic linker finds; empty: the usual names. The library stays open
  // until the process ends.
  static Status open(const std::string& library, Nvrtc* nvrtc) {
    const char* const name = library.empty() ? usual_name : library.c_str();
    void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    std::string why = handle == nullptr ? dlerror() : "";
    if (handle == nullptr && library.empty()) handle = dlopen("libnvrtc.so", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr)
      return Status(StatusCode::device_unsupported,
                    "kernels are compiled by NVRTC %d.%d or newer but %s cannot be opened: %s", needed_major,
                    needed_minor, name, why.c_str());
    Functions& f = nvrtc->f_;
    if (Status s = find(handle, name, "nvrtcVersion", &f.version); !s) return s;
    if (f.version(&nvrtc->major_, &nvrtc->minor_) != 0)
      return Status(StatusCode::device_unsupported, "%s does not tell its version", name);
    if (nvrtc->major_ < needed_major)
      return Status(StatusCode::device_unsupported, "%s is NVRTC %d.%d but the kernels need %d.%d or newer",
                    name, nvrtc->major_, nvrtc->minor_, needed_major, needed_minor);
    if (Status s = find(handle, name, "nvrtcCreateProgram", &f.create); !s) return s;
    if (Status s = find(handle, name, "nvrtcDestroyProgram", &f.destroy); !s) return s;
    if (Status s = find(handle, name, "nvrtcAddNameExpression", &f.add_name); !s) return s;
    if (Status s = find(handle, name, "nvrtcCompileProgram", &f.compile); !s) return s;
    if (Status s = find(handle, name, "nvrtcGetLoweredName", &f.symbol); !s) return s;
    if (Status s = find(handle, name, "nvrtcGetErrorString", &f.error); !s) return s;
    for (auto& [what, text] : f.texts()) {
      const std::string get = std::string("nvrtcGet") + what;
      if (Status s = find(handle, name, (get + "Size").c_str(), &text->size); !s) return s;
      if (Status s = find(handle, name, get.c_str(), &text->get); !s) return s;
    }
    return {};
  }

  int major() const noexcept { return major_; }
  int minor() const noexcept { return minor_; }

  // *log: all that the compiler says. *ptx, unless null: for who does not run the cubin. invalid_argument,
  // with the first error, where the source does not compile.
  Status compile(const Program& program, Cubin* cubin, std::string* log, std::string* ptx = nullptr) const {
    log->clear();
    struct Handle {
      const Functions& f;
      void* program = nullptr;
      ~Handle() {
        if (program != nullptr) f.destroy(&program);
      }
    } handle{f_};
    int error = f_.create(&handle.program, program.source.c_str(), "tenon_jit.cu", 0, nullptr, nullptr);
    for (const std::string& kernel : program.kernels) {
      if (error == 0) error = f_.add_name(handle.program, kernel.c_str());
    }
    if (error != 0) return failed("take a program", error);
    std::vector<std::string> options{"--gpu-architecture=" + program.architecture};
    options.insert(options.end(), program.options.begin(), program.options.end());
    for (const std::string& folder : program.include_folders) options.push_back("--include-path=" + folder);
    std::vector<const char*> pointers;
    for (const std::string& option : options) pointers.push_back(option.c_str());
    const int compiled = f_.compile(handle.program, static_cast<int>(pointers.size()), pointers.data());
    if (Status s = read(f_.log, "its log", handle.program, log); !s) return s;
    while (!log->empty() && (log->back() == '\0' || log->back() == '\n')) log->pop_back();
    if (compiled != 0) {
      if (log->empty()) return failed("compile a program", compiled);
      return Status(StatusCode::invalid_argument, "NVRTC: %s", first_error(*log).c_str());
    }
    if (Status s = read(f_.cubin, "the cubin", handle.program, &cubin->bytes); !s) return s;
    if (ptx != nullptr) {
      if (Status s = read(f_.ptx, "the PTX", handle.program, ptx); !s) return s;
      while (!ptx->empty() && ptx->back() == '\0') ptx->pop_back();
    }
    cubin->symbols.clear();
    for (const std::string& kernel : program.kernels) {
      const char* symbol = nullptr;
      error = f_.symbol(handle.program, kernel.c_str(), &symbol);
      if (error != 0) return failed(("name the kernel " + kernel).c_str(), error);
      cubin->symbols.emplace_back(symbol);
    }
    return {};
  }

 private:
  // As nvrtc.h declares them, with an nvrtcResult as int (0: success) and an nvrtcProgram as void*.
  struct Text {
    int (*size)(void* program, std::size_t* size) = nullptr;
    int (*get)(void* program, char* text) = nullptr;
  };
  struct Functions {
    int (*version)(int* major, int* minor) = nullptr;
    int (*create)(void** program, const char* source, const char* name, int headers, const char* const* texts,
                  const char* const* names) = nullptr;
    int (*destroy)(void** program) = nullptr;
    int (*add_name)(void* program, const char* expression) = nullptr;
    int (*compile)(void* program, int count, const char* const* options) = nullptr;
    int (*symbol)(void* program, const char* expression, const char** symbol) = nullptr;
    const char* (*error)(int result) = nullptr;
    Text log, cubin, ptx;

    std::vector<std::pair<const char*, Text*>> texts() {
      return {{"ProgramLog", &log}, {"CUBIN", &cubin}, {"PTX", &ptx}};
    }
  };

  template <class Function>
  static Status find(void* handle, const char* library, const char* name, Function* function) {
    *function = reinterpret_cast<Function>(dlsym(handle, name));
    if (*function != nullptr) return {};
    return Status(StatusCode::device_unsupported,
                  "%s has no %s but kernels are compiled by NVRTC %d.%d or newer", library, name,
                  needed_major, needed_minor);
  }
  Status failed(const char* to_do, int error) const {
    return Status(StatusCode::cuda_error, "NVRTC %d.%d could not %s: %s", major_, minor_, to_do,
                  f_.error(error));
  }
  Status read(const Text& from, const char* what, void* program, std::string* text) const {
    std::size_t size = 0;
    int error = from.size(program, &size);
    text->assign(size, '\0');
    if (error == 0 && size != 0) error = from.get(program, text->data());
    return error == 0 ? Status() : failed((std::string("give ") + what).c_str(), error);
  }

  Functions f_;
  int major_ = 0, minor_ = 0;
};

}  // namespace tenon::jit
