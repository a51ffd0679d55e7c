// The kernels of the instruction benchmark and their cases, as the build made them: `generate` writes the
// PTX, ptxas makes cubins, and `prove` counts the opcodes of each timed loop.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenon::microbench::instruction {

struct Kernel {
  std::string name, file, family;
  std::string instruction;           // PTX
  std::string issuer;                // "warp", "warpgroup" or "block"
  std::map<std::string, int> claim;  // SASS opcode -> the count that one trip of the loop must have
  std::map<std::string, int> loop;   // SASS opcode -> the count that one trip has in the cubin
  std::string unproven;              // why there is no such count; "" if there is
  bool native = true;                // false: ptxas emulates it with other instructions
  int operations = 0;                // executions of the instruction in one trip of one issuer
  std::int64_t flop = 0, bytes = 0;  // of one operation
};

struct Case {
  std::string name;
  const Kernel* kernel = nullptr;
  std::string measure;  // "latency", "throughput", "round_trip", ...
  std::vector<std::pair<std::string, std::string>> axes;
  std::string grid;      // "one" CTA, "all" SMs, one "cluster", or as many "clusters" as fit
  std::string data;      // kind of operands: see operands.hpp
  std::string protocol;  // "cycles" or "sustained"
  int warps = 1;         // of a CTA
  int issuers = 1;       // of a CTA
  int cluster = 1;       // CTAs
  std::uint32_t shared = 0, stride = 0, bytes = 0, stages = 0, hop = 0;
  std::uint64_t window = 0;  // bytes that a CTA reads repeatedly; 0: none
  bool advance = false;      // every launch continues to read where the last one stopped
  bool map = false;          // takes a tensor map over the source
  bool quick = false;

  std::int64_t bytes_per_operation() const { return bytes != 0 ? bytes : kernel->bytes; }
};

struct Manifest {
  std::map<std::string, Kernel> kernels;
  std::vector<Case> cases;                    // in the order in which they run
  std::map<std::string, std::string> cubins;  // file -> hash of the checked cubin
};

// cases.json has no loops and no cubins: its kernels are unproven. Throws nlohmann::json::exception, or
// std::invalid_argument with a sentence if a case names no kernel.
Manifest parse_manifest(std::string_view text);

// 64-bit FNV-1a over words of 8 bytes, the tail padded with zeros, in hexadecimal: the hash that `prove`
// computes of a cubin.
std::string hash_of(std::string_view bytes);

// The manifest and the cubins embedded in the program.
std::string_view embedded_manifest();
std::string_view embedded_cubin(const std::string& file);  // empty if there is none

}  // namespace tenon::microbench::instruction
