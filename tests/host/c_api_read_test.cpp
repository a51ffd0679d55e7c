// Structs of programs that were compiled with another tenon.h, older or newer, or never initialised.
#include "host/c_api_read.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>

namespace tenon::c_api {
namespace {

template <class T>
std::string sentence_of(const T& from) {
  T to;
  return read(&from, &to).message();
}

// As an older program would have it: what follows its struct is somebody else's memory.
TEST(CApiRead, AnOlderStructHasZerosWhereItEnds) {
  std::array<unsigned char, sizeof(tenon_attention_problem)> memory{};
  memory.fill(0xAB);
  constexpr std::size_t old = abi<tenon_attention_problem>.oldest_bytes;
  static_assert(old <= sizeof memory, "the struct only grows");
  auto* const program = reinterpret_cast<tenon_attention_problem*>(memory.data());
  initialise(program, old, tenon_attention_problem{});
  for (std::size_t i = old; i < memory.size(); ++i)
    EXPECT_EQ(memory.at(i), 0xAB) << "written behind the struct";
  program->queries = 7;
  tenon_attention_problem to;
  std::memset(static_cast<void*>(&to), 0xFF, sizeof to);
  ASSERT_TRUE(read(program, &to));
  EXPECT_EQ(to.queries, 7);
  EXPECT_EQ(to.struct_bytes, old);
  EXPECT_TRUE(is_zero(reinterpret_cast<const char*>(&to) + old, sizeof to - old));
}

// As a newer program would have it: 16 bytes that this library does not know.
struct Newer {
  tenon_gemm_problem problem;
  std::array<unsigned char, 16> unknown;
};

TEST(CApiRead, ANewerStructIsTakenWhereItsNewFieldsAreZero) {
  Newer program;
  std::memset(static_cast<void*>(&program), 0xAB, sizeof program);
  tenon_gemm_problem defaults{};
  defaults.alpha = 2;
  initialise(&program.problem, sizeof program, defaults);
  EXPECT_TRUE(is_zero(program.unknown.data(), program.unknown.size()));
  tenon_gemm_problem to;
  ASSERT_TRUE(read(&program.problem, &to));
  EXPECT_EQ(to.alpha, 2);
  program.unknown[15] = 1;
  const Status refused = read(&program.problem, &to);
  EXPECT_EQ(refused.code(), StatusCode::unsupported);
  EXPECT_EQ(
      std::string(refused.message()),
      "a field of tenon_gemm_problem is set that version 0.2.0 of the library does not know: it must be 0, "
      "or the library newer");
}

// `reserved` of each struct inside p, set and taken back.
template <class T, class... Inner>
void expect_refused(T& p, Inner&... inner) {
  initialise(&p, sizeof p, T{});
  EXPECT_EQ(sentence_of(p), "");
  const std::string sentence = std::string("a field of ") + abi<T>.name + " is set";
  int position = 0;
  const auto expect = [&](auto& reserved) {
    auto& last = reserved[sizeof reserved / sizeof *reserved - 1];
    std::memset(&last, 1, sizeof last);
    EXPECT_NE(sentence_of(p).find(sentence), std::string::npos)
        << "struct " << position << " of " << abi<T>.name;
    std::memset(&last, 0, sizeof last);
    ++position;
  };
  (expect(inner.reserved), ...);
  EXPECT_EQ(sentence_of(p), "");
}

TEST(CApiRead, ReservedFieldsMustBeZero) {
  tenon_gemm_problem p{};
  tenon_epilogue& e = p.epilogue;
  expect_refused(p, p.a, p.b, p.c, p.d, e, e.bias, e.row_bias, e.aux);
  tenon_gemm_grouped_problem grouped{};
  expect_refused(grouped, grouped.a, grouped.b, grouped.c, grouped.scale_a, grouped.scale_b);
  tenon_scaled_gemm_problem scaled{};
  expect_refused(scaled, scaled.a, scaled.b, scaled.c, scaled.scale_a, scaled.scale_b);
  tenon_quantize_problem quantize{};
  expect_refused(quantize, quantize.x, quantize.up, quantize.q);
  tenon_attention_problem q{};
  expect_refused(q, q.q, q.k, q.v, q.o, q.q_scales, q.k_scales, q.v_scales);
  q.pages.reserved = 1;
  EXPECT_NE(sentence_of(q).find("a field of tenon_attention_problem is set"), std::string::npos);
  tenon_attention_backward_problem backward{};
  expect_refused(backward, backward.d_o, backward.dq, backward.dk, backward.dv);
}

template <class T>
void expect_refusal_of_what_was_not_initialised() {
  T p;
  std::memset(static_cast<void*>(&p), 0, sizeof p);
  const std::string bytes = std::to_string(sizeof p), name = abi<T>.name;
  EXPECT_EQ(sentence_of(p), "struct_bytes of " + name + " is 0 but must be the size of the struct, " + bytes +
                                " in this version: start from " + name + "_default()");
  std::memset(static_cast<void*>(&p), 0xCC, sizeof p);
  EXPECT_NE(sentence_of(p).find("start from " + name + "_default()"), std::string::npos);
  p.struct_bytes = abi<T>.oldest_bytes - 1;
  EXPECT_NE(sentence_of(p).find("start from " + name + "_default()"), std::string::npos);
  T to;
  EXPECT_EQ(std::string(read(static_cast<const T*>(nullptr), &to).message()),
            std::string(abi<T>.argument) + " is a null pointer but must point to a " + name);
}

TEST(CApiRead, WhatWasNotInitialisedIsRefusedByASentence) {
  expect_refusal_of_what_was_not_initialised<tenon_gemm_problem>();
  expect_refusal_of_what_was_not_initialised<tenon_gemm_pointers>();
  expect_refusal_of_what_was_not_initialised<tenon_gemm_grouped_problem>();
  expect_refusal_of_what_was_not_initialised<tenon_gemm_batch>();
  expect_refusal_of_what_was_not_initialised<tenon_scaled_gemm_problem>();
  expect_refusal_of_what_was_not_initialised<tenon_quantize_problem>();
  expect_refusal_of_what_was_not_initialised<tenon_sliced_gemm_problem>();
  expect_refusal_of_what_was_not_initialised<tenon_attention_problem>();
  expect_refusal_of_what_was_not_initialised<tenon_attention_backward_problem>();
}

TEST(CApiRead, NothingIsWrittenToAStructWithoutRoom) {
  initialise<tenon_gemm_problem>(nullptr, sizeof(tenon_gemm_problem), {});
  std::array<unsigned char, 8> memory{1, 2, 3, 4, 5, 6, 7, 8};
  const auto before = memory;
  initialise(reinterpret_cast<tenon_gemm_problem*>(memory.data()), 7, tenon_gemm_problem{});
  EXPECT_EQ(memory, before);
}

}  // namespace
}  // namespace tenon::c_api
