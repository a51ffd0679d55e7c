// GoogleTest for kernels, with no GPU: buffers, a launch under every schedule, findings as test failures.
//
//   TEST(Scale, MultipliesEachElement) {
//     tenon::emulator::TestDevice device("scale.ptx");
//     const auto x = device.buffer(std::vector<float>(1000, 1.5F));
//     const auto y = device.buffer<float>(1000);
//     EXPECT_TRUE(device.launch("scale", {{4}, {256}}, {x, y, 2.0F, 1000}));
//     EXPECT_TRUE(y.equals(std::vector<float>(1000, 3.0F)));
//   }
//
// A TestDevice executes each launch several times, each time under another schedule and in memory of its own,
// so that a missing wait or barrier changes a result or is a finding. A buffer is compared in all of these
// memories. What can fail returns an AssertionResult, whose sentence EXPECT_TRUE prints. This is the only
// header of tenon that needs GoogleTest.
#pragma once

#include "tenon/emulator/emulator.hpp"

#if !__has_include(<gtest/gtest.h>)
#error "tenon/emulator/gtest.hpp needs GoogleTest: link GTest::gtest_main"
#include "tenon stops here"  // no file, see types.hpp
#endif
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <utility>

namespace tenon::emulator {

// The schedules that a test runs under unless it names others. Each takes the time of a launch.
inline std::vector<Options> every_schedule() {
  std::vector<Options> list(3);
  list[1].schedule = Schedule::late;
  list[2].schedule = Schedule::random;
  list[2].seed = 1;
  return list;
}

inline std::string schedule_text(const Options& options) {
  if (options.schedule == Schedule::random) return "random:" + std::to_string(options.seed);
  return options.schedule == Schedule::early ? "early" : "late";
}

namespace detail {

// One memory per schedule. The same allocations in the same order have the same addresses in each.
struct TestMemories {
  explicit TestMemories(std::vector<Options> schedules)
      : options(std::move(schedules)), emulators(options.size()) {}
  Address allocate(std::size_t bytes) {
    Address address = 0;
    for (Emulator& emulator : emulators) address = emulator.allocate(bytes);
    return address;
  }
  std::vector<Options> options;
  std::vector<Emulator> emulators;
};

template <class T>
double as_double(const T& value) {
  if constexpr (std::is_arithmetic_v<T>)
    return static_cast<double>(value);
  else
    return static_cast<double>(static_cast<float>(value));  // __half and its like convert to float
}

}  // namespace detail

// `size` elements in the memory of a TestDevice; a copy names the same elements. As an argument of a kernel
// it is its address.
template <class T>
class TestBuffer {
 public:
  static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>,
                "a buffer holds values that can be copied as bytes, and no bool: std::vector packs these");

  Address address() const { return address_; }
  std::size_t size() const { return size_; }
  operator Argument() const { return address_; }  // NOLINT(google-explicit-constructor): {x, y, 2.0F}

  // The elements after the launches under the first schedule.
  std::vector<T> values() const { return values_of(0); }

  // Each element equals the expected one, by ==.
  ::testing::AssertionResult equals(const std::vector<T>& expected) const {
    return compare(
        expected, [](const T& found, const T& wanted) { return found == wanted; }, "");
  }
  // Each element differs from the expected one by at most `tolerance`. A NaN differs from everything.
  ::testing::AssertionResult near(const std::vector<T>& expected, double tolerance) const {
    const auto is_near = [&](const T& found, const T& wanted) {
      return std::abs(detail::as_double(found) - detail::as_double(wanted)) <= tolerance;
    };
    return compare(expected, is_near, " within " + ::testing::PrintToString(tolerance));
  }

 private:
  friend class TestDevice;
  TestBuffer(std::shared_ptr<detail::TestMemories> memories, std::size_t size)
      : memories_(std::move(memories)), address_(memories_->allocate(size * sizeof(T))), size_(size) {}

  std::vector<T> values_of(std::size_t schedule) const {
    std::vector<T> values(size_);
    memories_->emulators[schedule].copy_out(values.data(), address_, size_ * sizeof(T));
    return values;
  }

  template <class IsRight>
  ::testing::AssertionResult compare(const std::vector<T>& expected, const IsRight& is_right,
                                     const std::string& how) const {
    if (expected.size() != size_)
      return ::testing::AssertionFailure()
             << "the buffer has " << size_ << " elements, but " << expected.size() << " are expected";
    for (std::size_t schedule = 0; schedule < memories_->options.size(); ++schedule) {
      const std::vector<T> values = values_of(schedule);
      std::size_t wrong = 0, first = 0;
      for (std::size_t i = size_; i-- > 0;)
        if (!is_right(values[i], expected[i])) {
          first = i;
          ++wrong;
        }
      if (wrong == 0) continue;
      const std::size_t unwritten =
          memories_->emulators[schedule].unwritten(address_ + first * sizeof(T), sizeof(T));
      return ::testing::AssertionFailure()
             << "element " << first << " is " << ::testing::PrintToString(values[first])
             << (unwritten != 0 ? ", since nothing has written it" : "") << ", but "
             << ::testing::PrintToString(expected[first]) << how << " is expected; " << wrong << " of "
             << size_ << " elements are wrong under the schedule "
             << schedule_text(memories_->options[schedule]);
    }
    return ::testing::AssertionSuccess();
  }

  std::shared_ptr<detail::TestMemories> memories_;
  Address address_;
  std::size_t size_;
};

// The device that a test runs the kernels of one PTX text on.
class TestDevice {
 public:
  // The text of a file. Throws Error if it cannot be read or is no PTX, which fails the test.
  explicit TestDevice(const std::string& path, std::vector<Options> schedules = every_schedule())
      : TestDevice(contents_of(path), std::move(schedules), 0) {}
  // The text itself.
  static TestDevice of_text(const std::string& ptx, std::vector<Options> schedules = every_schedule()) {
    return TestDevice(ptx, std::move(schedules), 0);
  }

  // A buffer with these elements.
  template <class T>
  TestBuffer<T> buffer(const std::vector<T>& values) {
    const TestBuffer<T> buffer(memories_, values.size());
    for (Emulator& emulator : memories_->emulators)
      emulator.copy_in(buffer.address(), values.data(), values.size() * sizeof(T));
    return buffer;
  }
  // A buffer that a kernel must write before it reads.
  template <class T>
  TestBuffer<T> buffer(std::size_t size) {
    return {memories_, size};
  }

  // Texture and surface objects of an image, whose address is that of a buffer; Emulator::create_texture and
  // create_surface.
  ObjectHandle texture(const Image& image, const Sampling& sampling = {}) {
    ObjectHandle object = 0;  // the same in each memory
    for (Emulator& emulator : memories_->emulators) object = emulator.create_texture(image, sampling);
    return object;
  }
  ObjectHandle surface(const Image& image) {
    ObjectHandle object = 0;
    for (Emulator& emulator : memories_->emulators) object = emulator.create_surface(image);
    return object;
  }

  // Launches the kernel under each schedule. A failure lists the findings, and what the kernel printed; or
  // says why the launch was refused.
  ::testing::AssertionResult launch(const std::string& kernel, const Shape& shape,
                                    const std::vector<Argument>& arguments) {
    results_.clear();
    try {
      for (std::size_t i = 0; i < memories_->options.size(); ++i)
        results_.push_back(
            memories_->emulators[i].launch(modules_[i], kernel, shape, arguments, memories_->options[i]));
    } catch (const Error& error) {
      return ::testing::AssertionFailure() << error.what();
    }
    return judged();
  }
  // Of the last launch, one per schedule: findings, counters, printed text.
  const std::vector<Result>& results() const { return results_; }

 private:
  TestDevice(const std::string& ptx, std::vector<Options> schedules, int)
      : memories_(std::make_shared<detail::TestMemories>(std::move(schedules))) {
    for (Emulator& emulator : memories_->emulators) modules_.push_back(emulator.load(ptx));
  }

  static std::string contents_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!file) throw Error("cannot read " + path);
    return text;
  }

  static std::string text_of(const Dim3& index) {
    return "(" + std::to_string(index.x) + "," + std::to_string(index.y) + "," + std::to_string(index.z) +
           ")";
  }

  static std::string sentence_of(const Finding& finding) {
    std::string text = std::string(name(finding.kind)) + " at " +
                       (finding.source.empty() ? "" : finding.source + ", ") + "PTX line " +
                       std::to_string(finding.ptx_line);
    if (finding.lines.size() > 1) text += " and " + std::to_string(finding.lines.size() - 1) + " more";
    return text + ", " + std::to_string(finding.count) + (finding.count == 1 ? " time" : " times") +
           ", first by thread " + text_of(finding.first.thread) + " of block " + text_of(finding.first.block);
  }

  static bool is_same(const Finding& one, const Finding& other) {
    if (one.kind != other.kind) return false;
    for (const Finding::Line& a : one.lines)
      for (const Finding::Line& b : other.lines)
        if (a.ptx_line == b.ptx_line) return true;
    return false;
  }

  // A finding of several schedules is told once.
  ::testing::AssertionResult judged() const {
    struct Told {
      const Finding* finding;
      std::string schedules;
    };
    std::vector<Told> found;
    for (std::size_t i = 0; i < results_.size(); ++i)
      for (const Finding& finding : results_[i].findings) {
        auto told = found.begin();
        while (told != found.end() && !is_same(*told->finding, finding)) ++told;
        if (told == found.end()) told = found.insert(told, {&finding, {}});
        const std::string schedule = schedule_text(memories_->options[i]);
        told->schedules += (told->schedules.empty() ? "" : ", ") + schedule;
      }
    if (found.empty()) return ::testing::AssertionSuccess();
    auto failure = ::testing::AssertionFailure();
    failure << found.size() << (found.size() == 1 ? " finding:" : " findings:");
    for (const Told& told : found)
      failure << "\n  " << sentence_of(*told.finding) << ", under the schedules " << told.schedules << ": "
              << told.finding->message;
    for (const Result& result : results_) {
      if (result.printed.empty()) continue;
      failure << "\nthe kernel printed:\n" << result.printed;
      break;
    }
    return failure;
  }

  std::shared_ptr<detail::TestMemories> memories_;
  std::vector<Module> modules_;
  std::vector<Result> results_;
};

}  // namespace tenon::emulator
