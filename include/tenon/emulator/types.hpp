// The plain data of the emulator: the description of a launch, and its report. The machine itself uses it,
// and its users through emulator.hpp.
#pragma once

#if __cplusplus < 201703L
#error "tenon/emulator needs C++17: compile with -std=c++17 or newer"
#include "tenon stops here"  // no file: #error alone lets g++ go on, to errors that follow from this one
#endif

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::emulator {

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

// When an asynchronous operation takes effect between its issue and the wait that guarantees it.
enum class Schedule : std::uint8_t {
  early,  // at its issue
  late,   // when a wait forces it, or nothing else can run
  random  // in between, by the seed; warps run in random order and in random slices
};

// The arithmetic of the matrix instructions.
enum class Numerics : std::uint8_t {
  target,  // that of the module's .target
  sm_75,
  sm_80,
  sm_89,
  sm_90,
  ieee  // exact sum, one rounding
};

enum class FindingKind : std::uint8_t {
  out_of_bounds,
  misaligned,
  uninitialized,
  null_pointer,
  freed,
  read_only,    // a write to constant or parameter memory
  race,         // two unordered accesses to shared memory, one of them a write
  async_use,    // bytes or registers that an asynchronous operation still owns
  proxy_fence,  // generic writes that no fence orders before a use by the async proxy
  barrier,      // a misused barrier or mbarrier: phase, count, bytes
  divergence,   // only some lanes of a warp at an .aligned operation; the others may have exited
  deadlock,
  trap,      // trap or brkpt was executed
  argument,  // an operand that the instruction's rules forbid
  limit      // an instruction limit of the launch's Options was reached
};
const char* name(FindingKind kind);  // "out_of_bounds"

// What a bug shows as: one or more PTX lines of the same kind that share a source line, or conflict with the
// same one, as all loads that race with one store do. Where the PTX has no .loc, PTX lines count instead.
struct Finding {
  FindingKind kind = FindingKind::race;
  std::string entry;   // the kernel
  int ptx_line = 0;    // of the first occurrence, in the module's text, from 1
  std::string source;  // "file.cu:12" where the PTX has .loc, else empty
  std::uint64_t count = 0;
  struct First {
    Dim3 block{0, 0, 0}, thread{0, 0, 0};
    std::uint64_t address = 0;
  } first;
  std::string message;  // a sentence about the first occurrence

  // The same of each PTX line, in the order of lines. At least one.
  struct Line {
    int ptx_line = 0;
    std::string source;
    std::uint64_t count = 0;
    First first;
    std::string message;
  };
  std::vector<Line> lines;
};

// Totals of a PTX line, of a class of instructions or of a whole launch.
struct Counts {
  std::uint64_t instructions = 0;         // executions by a warp
  std::uint64_t thread_instructions = 0;  // executions by a thread
  std::uint64_t matrix_operations = 0;    // mma, wmma.mma, wgmma instructions (wgmma: once a warpgroup)
  std::uint64_t flop = 0;                 // 2*m*n*k each
  std::uint64_t shared_wavefronts = 0, ideal_shared_wavefronts = 0;
  std::uint64_t global_sectors = 0, ideal_global_sectors = 0;  // of 32 bytes
  std::uint64_t async_bytes = 0;                               // moved by cp.async and bulk copies

  Counts& operator+=(const Counts& other);
};

// The families of instructions, as src/emulator/instructions has them.
enum class InstructionClass : std::uint8_t {
  integer,
  floating_point,
  conversion,
  memory,
  control,
  warp,
  matrix,
  async_copy,
  mbarrier,
  wgmma,
  cluster,
};
constexpr int instruction_classes = 11;
const char* name(InstructionClass kind);  // "floating_point"

struct LineCounts {
  int ptx_line = 0;
  std::string instruction;  // "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
  std::string source;
  InstructionClass kind = InstructionClass::integer;
  Counts counts;
};

struct Counters {
  Counts total;
  Counts by_class[instruction_classes];  // indexed by InstructionClass
  std::vector<LineCounts> lines;         // lines that were executed, in the order of the text
};

}  // namespace tenon::emulator
