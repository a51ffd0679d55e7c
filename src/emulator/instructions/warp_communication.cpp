// Communication between lanes (PTX ISA 9.7.9.6 shfl, 9.7.13 vote, match, redux, activemask, elect). A .sync
// instruction waits until every live lane of its membermask has reached it, and then takes effect at once.
// What the ISA leaves undefined (reading a lane outside the mask, a lane that is not in its own mask) is the
// finding `argument`.
#include "emulator/instructions/lanewise.hpp"
#include "emulator/machine/text.hpp"

namespace tenon::emulator {
namespace {

using ptx::Type;

// A lane whose membermask does not name it, or lanes with different masks.
void check_masks(Warp& warp, const Value& membermask, LaneMask mask, LaneMask lanes, LaneMask active) {
  const LaneMask outsiders = lanes & ~mask;
  if (outsiders != 0) {
    const int lane = first_lane(outsiders);
    warp.report(FindingKind::argument, lane, 0, [&] {
      return "lane " + std::to_string(lane) + " executes with the membermask " + hex(mask, 8) +
             ", which does not name it";
    });
  }
  const LaneMask others = mask & active & ~lanes;
  if (others != 0) {
    const int lane = first_lane(others);
    warp.report(FindingKind::argument, lane, 0, [&] {
      return "lane " + std::to_string(lane) + " has the membermask " +
             hex(static_cast<LaneMask>(warp.read(membermask, lane)), 8) + ", lane " +
             std::to_string(first_lane(lanes)) + " names it in " + hex(mask, 8) +
             ": all lanes of a mask must have the same";
    });
  }
}

// Runs body(lanes, participants) for each set of active lanes with the same membermask whose lanes have all
// arrived: `lanes` get results, from `participants`.
template <class Body>
Flow synchronized(Warp& warp, const Value& membermask, LaneMask active, Body&& body) {
  LaneMask waiting = 0;
  for (LaneMask left = active; left != 0;) {
    const auto mask = static_cast<LaneMask>(warp.read(membermask, first_lane(left)));
    LaneMask lanes = left;
    if (membermask.slot >= 0) {
      lanes = 0;
      for_each_lane(left, [&](int lane) {
        if (static_cast<LaneMask>(warp.read(membermask, lane)) == mask) lanes |= lane_bit(lane);
      });
    }
    left &= ~lanes;
    if ((mask & warp.live() & ~active) != 0) {
      waiting |= lanes;
      continue;
    }
    check_masks(warp, membermask, mask, lanes, active);
    body(lanes, lanes & mask);
  }
  if (waiting == 0) return Flow::next;
  if (waiting == active) return Flow::blocked;
  // Some lanes are done, others wait: the first go on, and the others execute this instruction again.
  warp.jump(active & ~waiting, warp.pc() + 1);
  warp.jump(waiting, warp.pc());
  warp.poll();
  return Flow::branched;
}

// --- shfl: values d, p, a, b, c, membermask

enum class Shuffle : std::uint8_t { up, down, butterfly, index };

struct Source {
  int lane;
  bool in_range;
};

template <Shuffle mode>
Source source_of(int lane, Bits b, Bits c) {
  const int value = static_cast<int>(b & 31), clamp = static_cast<int>(c & 31);
  const int segment = static_cast<int>(c >> 8 & 31);
  const int most = (lane & segment) | (clamp & ~segment & 31), least = lane & segment;
  int from = 0;
  switch (mode) {
    case Shuffle::up:
      from = lane - value;
      return {from >= most ? from : lane, from >= most};
    case Shuffle::down:
      from = lane + value;
      break;
    case Shuffle::butterfly:
      from = lane ^ value;
      break;
    case Shuffle::index:
      from = least | (value & ~segment & 31);
      break;
  }
  return {from <= most ? from : lane, from <= most};
}

template <Shuffle mode>
Flow shfl(Warp& warp, const Op& op, LaneMask active) {
  return synchronized(warp, op.values[5], active, [&](LaneMask lanes, LaneMask participants) {
    Warp::LaneBuffer constants, before;
    std::memcpy(before, warp.gather(op.values[2], constants), sizeof before);
    Source sources[warp_size];
    for_each_lane(lanes, [&](int lane) {
      sources[lane] = source_of<mode>(lane, warp.read(op.values[3], lane), warp.read(op.values[4], lane));
    });
    for_each_lane(lanes, [&](int lane) {
      Source& source = sources[lane];
      if (source.in_range && (participants & lane_bit(source.lane)) == 0 && source.lane != lane) {
        warp.report(FindingKind::argument, lane, 0, [&] {
          return "lane " + std::to_string(lane) + " reads lane " + std::to_string(source.lane) +
                 ", which does not take part in the shuffle (it is not in the membermask, or has exited)";
        });
        source.lane = lane;
      }
      warp.write(op.values[0], lane, before[source.lane]);
      warp.write(op.values[1], lane, source.in_range ? 1 : 0);
    });
  });
}

void decode_shfl(Decoding& decoding) {
  if (!decoding.accept("sync")) decoding.fail("shfl without .sync does not exist from sm_70 on");
  const Handler handlers[] = {shfl<Shuffle::up>, shfl<Shuffle::down>, shfl<Shuffle::butterfly>,
                              shfl<Shuffle::index>};
  decoding.op().handler = handlers[decoding.require_one({"up", "down", "bfly", "idx"})];
  decoding.type({Type::b32});
  decoding.require_count(5, 5);
  decoding.destination_pair(0, Type::b32, Type::pred);
  decoding.source(1, Type::b32);
  for (int i = 2; i < 5; ++i) decoding.source(i, Type::u32);
}

// --- vote: values d, a, membermask; op.bits[0]: a is negated

enum class Vote : std::uint8_t { all, any, uniform, ballot };

template <Vote mode>
Flow vote(Warp& warp, const Op& op, LaneMask active) {
  return synchronized(warp, op.values[2], active, [&](LaneMask lanes, LaneMask participants) {
    LaneMask yes = 0;
    for_each_lane(participants, [&](int lane) {
      if ((warp.read(op.values[1], lane) ^ op.bits[0]) != 0) yes |= lane_bit(lane);
    });
    Bits result = 0;
    switch (mode) {
      case Vote::all:
        result = yes == participants;
        break;
      case Vote::any:
        result = yes != 0;
        break;
      case Vote::uniform:
        result = yes == participants || yes == 0;
        break;
      case Vote::ballot:
        result = yes;
        break;
    }
    for_each_lane(lanes, [&](int lane) { warp.write(op.values[0], lane, result); });
  });
}

void decode_vote(Decoding& decoding) {
  if (!decoding.accept("sync")) decoding.fail("vote without .sync does not exist from sm_70 on");
  const Handler handlers[] = {vote<Vote::all>, vote<Vote::any>, vote<Vote::uniform>, vote<Vote::ballot>};
  const int mode = decoding.require_one({"all", "any", "uni", "ballot"});
  const Type type = decoding.type({Type::pred, Type::b32});
  if ((mode == 3) != (type == Type::b32)) decoding.fail(".ballot goes with .b32, the others with .pred");
  decoding.require_count(3, 3);
  decoding.destination(0, type);
  decoding.op().bits[0] = decoding.predicate(1) ? 1 : 0;
  decoding.source(2, Type::u32);
  decoding.op().handler = handlers[mode];
}

// --- match: values d, p, a, membermask

Flow match_any(Warp& warp, const Op& op, LaneMask active) {
  return synchronized(warp, op.values[3], active, [&](LaneMask lanes, LaneMask participants) {
    Warp::LaneBuffer constants, values;
    std::memcpy(values, warp.gather(op.values[2], constants), sizeof values);
    for_each_lane(lanes, [&](int lane) {
      LaneMask same = 0;
      for_each_lane(participants, [&](int other) {
        if (values[other] == values[lane]) same |= lane_bit(other);
      });
      warp.write(op.values[0], lane, same);
    });
  });
}

Flow match_all(Warp& warp, const Op& op, LaneMask active) {
  return synchronized(warp, op.values[3], active, [&](LaneMask lanes, LaneMask participants) {
    const Bits first = warp.read(op.values[2], first_lane(participants != 0 ? participants : lanes));
    bool all = true;
    for_each_lane(participants, [&](int lane) { all &= warp.read(op.values[2], lane) == first; });
    for_each_lane(lanes, [&](int lane) {
      warp.write(op.values[0], lane, all ? participants : 0);
      warp.write(op.values[1], lane, all ? 1 : 0);
    });
  });
}

void decode_match(Decoding& decoding) {
  const bool all = decoding.require_one({"any", "all"}) == 1;
  decoding.require("sync");
  const Type type = decoding.type({Type::b32, Type::b64});
  decoding.require_count(3, 3);
  if (all) {
    decoding.destination_pair(0, Type::b32, Type::pred);
  } else {
    decoding.destination(0, Type::b32);
    decoding.op().values.emplace_back();
  }
  decoding.source(1, type);
  decoding.source(2, Type::u32);
  decoding.op().handler = all ? match_all : match_any;
}

// --- redux: values d, a, membermask

enum class Reduction : std::uint8_t { add, minimum, maximum, and_, or_, exclusive_or };

template <Reduction operation, class T>
T reduce(T a, T b) {
  switch (operation) {
    case Reduction::add:
      return static_cast<T>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
    case Reduction::minimum:
      return a < b ? a : b;
    case Reduction::maximum:
      return a > b ? a : b;
    case Reduction::and_:
      return a & b;
    case Reduction::or_:
      return a | b;
    case Reduction::exclusive_or:
      return a ^ b;
  }
  return a;
}

template <Reduction operation, class T>
Flow redux(Warp& warp, const Op& op, LaneMask active) {
  return synchronized(warp, op.values[2], active, [&](LaneMask lanes, LaneMask participants) {
    if (participants == 0) participants = lanes;
    T result = value_of<T>(warp.read(op.values[1], first_lane(participants)));
    for_each_lane(participants & (participants - 1), [&](int lane) {
      result = reduce<operation>(result, value_of<T>(warp.read(op.values[1], lane)));
    });
    for_each_lane(lanes, [&](int lane) { warp.write(op.values[0], lane, bits_from(result)); });
  });
}

void decode_redux(Decoding& decoding) {
  decoding.require("sync");
  const int operation = decoding.require_one({"add", "min", "max", "and", "or", "xor"});
  const auto& modifiers = decoding.instruction().modifiers;
  if (!modifiers.empty() && modifiers.back() == "f32") {
    decoding.fail("the type .f32 needs sm_100a, which is not emulated");
  }
  const Type type = operation < 3 ? decoding.type({Type::u32, Type::s32}) : decoding.type({Type::b32});
  const Handler handlers[][2] = {
      {redux<Reduction::add, std::uint32_t>, redux<Reduction::add, std::int32_t>},
      {redux<Reduction::minimum, std::uint32_t>, redux<Reduction::minimum, std::int32_t>},
      {redux<Reduction::maximum, std::uint32_t>, redux<Reduction::maximum, std::int32_t>},
      {redux<Reduction::and_, std::uint32_t>, nullptr},
      {redux<Reduction::or_, std::uint32_t>, nullptr},
      {redux<Reduction::exclusive_or, std::uint32_t>, nullptr}};
  decoding.op().handler = handlers[operation][type == Type::s32 ? 1 : 0];
  decoding.require_count(3, 3);
  decoding.destination(0, Type::b32);
  decoding.source(1, Type::b32);
  decoding.source(2, Type::u32);
}

// --- activemask, elect

// nvcc combines the atomics of a warp into one: the lanes that activemask returns leave it to the first of
// them, and rely on their earlier accesses being ordered before it.
Flow activemask(Warp& warp, const Op& op, LaneMask active) {
  ThreadId threads[warp_size];
  std::size_t count = 0;
  for_each_lane(active, [&](int lane) { threads[count++] = warp.thread(lane); });
  if (count > 1) warp.cluster().clocks.barrier(threads, count);
  for_each_lane(active, [&](int lane) { warp.write(op.values[0], lane, active); });
  return Flow::next;
}

void decode_activemask(Decoding& decoding) {
  decoding.type({Type::b32});
  decoding.require_count(1, 1);
  decoding.destination(0, Type::b32);
  decoding.op().handler = activemask;
}

// The lowest lane is elected. values: d, p, membermask
Flow elect(Warp& warp, const Op& op, LaneMask active) {
  return synchronized(warp, op.values[2], active, [&](LaneMask lanes, LaneMask participants) {
    const int leader = first_lane(participants != 0 ? participants : lanes);
    for_each_lane(lanes, [&](int lane) {
      warp.write(op.values[0], lane, static_cast<Bits>(leader));
      warp.write(op.values[1], lane, lane == leader ? 1 : 0);
    });
  });
}

void decode_elect(Decoding& decoding) {
  decoding.require("sync");
  decoding.require_count(2, 2);
  if (!decoding.operand(0).predicate) decoding.fail("the destination is d|p or _|p");
  decoding.destination_pair(0, Type::b32, Type::pred);
  decoding.source(1, Type::u32);
  decoding.op().handler = elect;
}

}  // namespace

void add_warp_instructions(Decoders& decoders) {
  decoders["shfl"] = decoder<decode_shfl>;
  decoders["vote"] = decoder<decode_vote>;
  decoders["match"] = decoder<decode_match>;
  decoders["redux"] = decoder<decode_redux>;
  decoders["activemask"] = decoder<decode_activemask>;
  decoders["elect"] = decoder<decode_elect>;
}

}  // namespace tenon::emulator
