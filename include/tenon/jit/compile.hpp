// Compiles a program at run time, or takes what an earlier run compiled from a folder. Host code. Below:
// cubin_cache.hpp, header_text.hpp, nvrtc.hpp.
#pragma once

#include "tenon/needs_host.hpp"

#include <chrono>
#include <exception>
#include <string>
#include <vector>

#include "tenon/jit/cubin_cache.hpp"
#include "tenon/jit/header_text.hpp"
#include "tenon/jit/nvrtc.hpp"
#include "tenon/jit/program.hpp"
#include "tenon/status.hpp"

namespace tenon::jit {

struct CompileOptions {
  // The folders `include` of tenon and of the CUDA Toolkit, and those of the program's own headers. `cccl` of
  // each is added where it is a folder, as nvcc does.
  std::vector<std::string> include_folders;
  // Made where it does not exist; empty: nothing is cached. See user_cache_folder(). Who may write into it
  // decides what runs.
  std::string cache_folder;
  // A file or name for the dynamic linker; empty: Nvrtc::usual_name.
  std::string nvrtc;
  // Of the device that kernels of sm_80 will run on, 10 * major + minor: 86. 0: the first that they run on.
  // Those of Hopper are for sm_90a alone.
  int sm = 0;
};

struct CompileReport {
  bool from_cache = false;  // nothing was compiled
  double seconds = 0;       // that NVRTC took; 0 from the cache
  std::string note;         // a sentence about a cache that could not be used; mostly empty
  std::string log;          // what NVRTC said, whole; empty from the cache
};

// Of everything that decides what the compiler makes.
inline Digest key_of(const Program& program, int nvrtc_major, int nvrtc_minor, const Digest& headers) {
  Sha256 key;
  key.add_field(CubinCache::magic);
  key.add_number(static_cast<std::uint64_t>(nvrtc_major)).add_number(static_cast<std::uint64_t>(nvrtc_minor));
  key.add_field({reinterpret_cast<const char*>(headers.data()), headers.size()});
  key.add_field(program.source).add_field(program.architecture);
  for (const std::vector<std::string>* list : {&program.kernels, &program.options}) {
    key.add_number(list->size());
    for (const std::string& text : *list) key.add_field(text);
  }
  return key.digest();
}

inline std::vector<std::string> with_cccl(const std::vector<std::string>& folders) {
  std::vector<std::string> all = folders;
  for (const std::string& folder : folders) {
    if (is_folder(folder + "/cccl")) all.push_back(folder + "/cccl");
  }
  return all;
}

// What a function does that may run out of memory, which is the one exception here, as a status.
template <class Function>
Status without_exceptions(const Function& function) noexcept {
  try {
    return function();
  } catch (const std::exception& error) {
    return Status(StatusCode::device_unsupported, "a kernel could not be compiled: %s", error.what());
  }
}

// Fills *cubin: from the cache, or else by NVRTC and into the cache. A cache that cannot be used is a note in
// the report, never a failure. The folders come from the options.
inline Status compile(Program program, const CompileOptions& options, Cubin* cubin,
                      CompileReport* report) noexcept {
  return without_exceptions([&]() -> Status {
    *report = {};
    program.include_folders = with_cccl(options.include_folders);
    Nvrtc nvrtc;
    if (Status s = Nvrtc::open(options.nvrtc, &nvrtc); !s) return s;
    const CubinCache cache(options.cache_folder);
    const Digest key = key_of(program, nvrtc.major(), nvrtc.minor(), HeaderText(program).digest());
    report->from_cache = cache.load(key, program.kernels.size(), cubin, &report->note);
    if (report->from_cache) return {};
    const auto started = std::chrono::steady_clock::now();
    const Status compiled = nvrtc.compile(program, cubin, &report->log);
    report->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    if (!compiled) return compiled;
    cache.store(key, *cubin, &report->note);
    return {};
  });
}

}  // namespace tenon::jit
