#include "emulator/instructions/heap.hpp"

#include "emulator/instructions/call_operands.hpp"
#include "emulator/machine/cta.hpp"
#include "emulator/machine/text.hpp"

namespace tenon::emulator {
namespace {

// values: the size, and the result if it is used.
Flow allocate(Warp& warp, const Op& op, LaneMask active) {
  const Launch& launch = warp.launch();
  for_each_lane(active, [&](int lane) {
    const std::uint64_t address =
        launch.global->heap.allocate(argument_value(warp, op, 0, lane, 8), launch.heap_bytes);
    if (op.values.size() > 1) write_result(warp, op, 1, lane, address, 8);
  });
  return Flow::next;
}

Flow release(Warp& warp, const Op& op, LaneMask active) {
  DeviceHeap& heap = warp.launch().global->heap;
  for_each_lane(active, [&](int lane) {
    const std::uint64_t address = argument_value(warp, op, 0, lane, 8);
    if (address == 0) return;
    const DeviceHeap::Release release = heap.free(address);
    if (release == DeviceHeap::Release::done) return;
    const bool is_again = release == DeviceHeap::Release::again;
    warp.report(is_again ? FindingKind::freed : FindingKind::argument, lane, address, [&] {
      return warp.cluster().describe(warp.thread(lane)) + " frees " + hex(address) +
             (is_again ? ", which is freed already" : ", which no malloc of a kernel has returned");
    });
  });
  return Flow::next;
}

}  // namespace

void decode_malloc(Decoding& decoding, FunctionScope& functions, const std::vector<ptx::Operand>& results,
                   const std::vector<ptx::Operand>& arguments) {
  require_arguments(decoding, "malloc", arguments, 1);
  Op& op = decoding.op();
  push_operand(functions, op, arguments[0], ptx::Type::b64);
  if (!results.empty()) push_operand(functions, op, results[0], ptx::Type::b64);
  op.handler = allocate;
}

void decode_free(Decoding& decoding, FunctionScope& functions, const std::vector<ptx::Operand>& arguments) {
  require_arguments(decoding, "free", arguments, 1);
  push_operand(functions, decoding.op(), arguments[0], ptx::Type::b64);
  decoding.op().handler = release;
}

}  // namespace tenon::emulator
