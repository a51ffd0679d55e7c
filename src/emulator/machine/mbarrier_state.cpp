// Counts, phases and transaction bytes of an mbarrier.
#include "emulator/machine/mbarrier_state.hpp"

namespace tenon::emulator {

namespace {

MbarrierState::Outcome refused(MbarrierState::Misuse misuse) {
  return {misuse, false};
}

std::string counted(std::uint64_t number, const char* noun) {
  return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

}  // namespace

MbarrierState::Outcome MbarrierState::initialize(std::uint32_t count) {
  if (count < 1 || count > max_count) return refused(Misuse::count_out_of_range);
  phase_ = 0;
  expected_ = pending_ = count;
  bytes_ = 0;
  return {};
}

MbarrierState::Outcome MbarrierState::arrive(std::uint32_t count, bool drop, bool no_complete) {
  if (count < 1 || count > max_count) return refused(Misuse::count_out_of_range);
  if (count > pending_) return refused(Misuse::too_many_arrivals);
  if (no_complete && count == pending_) return refused(Misuse::no_complete_completed);
  pending_ -= count;
  if (drop) expected_ -= count < expected_ ? count : expected_;
  return settle();
}

MbarrierState::Outcome MbarrierState::expect_bytes(std::uint32_t bytes) {
  if (bytes > max_count || bytes_ + bytes > max_count) return refused(Misuse::too_many_bytes);
  bytes_ += bytes;
  return {};
}

MbarrierState::Outcome MbarrierState::complete_bytes(std::uint32_t bytes) {
  if (bytes > max_count || bytes_ - bytes < -std::int64_t{max_count}) return refused(Misuse::too_many_bytes);
  bytes_ -= bytes;
  return settle();
}

MbarrierState::Outcome MbarrierState::forget_unexpected() {
  if (bytes_ < 0) bytes_ = 0;
  return settle();
}

MbarrierState::Outcome MbarrierState::add_pending() {
  if (pending_ == max_count) return refused(Misuse::count_out_of_range);
  ++pending_;
  return {};
}

MbarrierState::Outcome MbarrierState::settle() {
  if (pending_ != 0 || bytes_ > 0) return {};
  if (bytes_ < 0) return refused(Misuse::bytes_without_expectation);
  ++phase_;
  pending_ = expected_;
  return {Misuse::none, true};
}

std::uint64_t MbarrierState::memory_image() const {
  // One bit marks an object, so that zeroed memory is none.
  return std::uint64_t{1} << 63 | (phase_ & 1) << 62 | std::uint64_t{pending_} << 42 |
         std::uint64_t{expected_} << 22 | (static_cast<std::uint64_t>(bytes_) & 0x3fffff);
}

std::string MbarrierState::description() const {
  std::string text = "phase " + std::to_string(phase_) + " (parity " + std::to_string(phase_ & 1) +
                     ") waits for " + std::to_string(pending_) + " of " + counted(expected_, "arrival");
  if (bytes_ > 0) text += " and " + counted(static_cast<std::uint64_t>(bytes_), "byte");
  if (bytes_ < 0)
    text += ", and " + counted(static_cast<std::uint64_t>(-bytes_), "byte") + " came unexpected";
  return text;
}

std::string describe(MbarrierState::Misuse misuse, const MbarrierState& state, std::uint32_t amount) {
  switch (misuse) {
    case MbarrierState::Misuse::none:
      return {};
    case MbarrierState::Misuse::count_out_of_range:
      return "has the count " + std::to_string(amount) + ", which must be from 1 to 1048575";
    case MbarrierState::Misuse::too_many_arrivals:
      return "arrives " + counted(amount, "time") + ", but only " + counted(state.pending(), "arrival") +
             " of " + std::to_string(state.expected()) + " can still come in phase " +
             std::to_string(state.phase());
    case MbarrierState::Misuse::no_complete_completed:
      return "is .noComplete, but its arrival is the last of phase " + std::to_string(state.phase());
    case MbarrierState::Misuse::too_many_bytes:
      return "takes the transaction count out of -1048575 to 1048575: it is " +
             std::to_string(state.bytes()) + " and changes by " + std::to_string(amount);
    case MbarrierState::Misuse::bytes_without_expectation:
      return "leaves phase " + std::to_string(state.phase()) + " with all arrivals but " +
             counted(static_cast<std::uint64_t>(-state.bytes()), "byte") +
             " more than expect_tx announced, so it cannot end";
  }
  return {};
}

}  // namespace tenon::emulator
