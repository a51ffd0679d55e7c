// The mbarrier object as a state machine (PTX ISA 9.7.13.15): counts, phases, transaction bytes, and misuse.
// Memory ordering is kept elsewhere.
#pragma once

#include <cstdint>
#include <string>

namespace tenon::emulator {

class MbarrierState {
 public:
  static constexpr std::uint32_t max_count = (1u << 20) - 1;  // arrivals; transaction bytes either way

  // The result of an operation. A misuse changes nothing, except the last kind, whose arrival or bytes count.
  enum class Misuse : std::uint8_t {
    none,
    count_out_of_range,        // of an init or arrive: not in 1 .. max_count
    too_many_arrivals,         // more than are pending in this phase
    no_complete_completed,     // .noComplete, but this arrival ends the phase
    too_many_bytes,            // the transaction count left -max_count .. max_count
    bytes_without_expectation  // every arrival has happened, but more bytes came than were expected: the
                               // phase can never end
  };
  struct Outcome {
    Misuse misuse = Misuse::none;
    bool phase_ended = false;
  };

  Outcome initialize(std::uint32_t count);
  Outcome arrive(std::uint32_t count, bool drop = false, bool no_complete = false);
  Outcome expect_bytes(std::uint32_t bytes);
  Outcome complete_bytes(std::uint32_t bytes);
  // Discards bytes that were not expected, once they have been reported, so that the phase can end.
  Outcome forget_unexpected();
  // Adds one pending arrival to this phase, as cp.async.mbarrier.arrive without .noinc does at once.
  Outcome add_pending();

  // The opaque value that arrive returns: the phase, and how many arrivals were pending before it.
  std::uint64_t token() const { return phase_ << 20 | pending_; }
  static std::uint32_t token_pending(std::uint64_t token) {
    return static_cast<std::uint32_t>(token & max_count);
  }
  static std::uint64_t token_phase(std::uint64_t token) { return token >> 20; }

  // True: the phase that the token names has ended.
  bool ended(std::uint64_t token) const { return phase_ > token_phase(token); }
  // True: the phase before the current one has this parity, so a wait for it ends.
  bool ended_parity(std::uint32_t parity) const { return (phase_ & 1) != (parity & 1); }

  std::uint64_t phase() const { return phase_; }  // from 0
  std::uint32_t pending() const { return pending_; }
  std::uint32_t expected() const { return expected_; }
  std::int64_t bytes() const {
    return bytes_;
  }  // expected and not yet arrived; negative: arrived and not yet expected

  // The 64 bits in shared memory, which reveal an overwritten object.
  std::uint64_t memory_image() const;
  // "phase 3 (parity 1) waits for 1 of 4 arrivals and 2048 bytes"
  std::string description() const;

 private:
  Outcome settle();

  std::uint64_t phase_ = 0;
  std::uint32_t expected_ = 0, pending_ = 0;
  std::int64_t bytes_ = 0;
};

// A sentence without subject: "arrives 3 times, but only 1 arrival is pending".
std::string describe(MbarrierState::Misuse misuse, const MbarrierState& state, std::uint32_t amount);

}  // namespace tenon::emulator
