// The sentences of validate() for attention, one for each mistake. Nothing is read through a pointer.
#include "host/validate_attention.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "tenon/attention/check_backward_problem.hpp"

namespace tenon {
namespace {

void* at(std::uintptr_t address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

// 2 batches, 4 heads on 2 key heads, 10 queries, 20 keys; all tensors dense.
AttentionProblem valid() {
  AttentionProblem p;
  p.batch = 2, p.heads = 4, p.key_heads = 2, p.queries = 10, p.keys = 20;
  p.head_dimension = 64, p.value_dimension = 32, p.scale = 0.125F;
  p.q = {at(0x10000), 256, 64, 2560};
  p.k = {at(0x20000), 128, 64, 2560};
  p.v = {at(0x30000), 64, 32, 1280};
  p.o = {at(0x40000), 128, 32, 1280};
  p.log_sum_exp = static_cast<float*>(at(0x50000));
  return p;
}

template <class Change>
std::string refusal(const Change& change, StatusCode code = StatusCode::invalid_argument) {
  AttentionProblem p = valid();
  change(p);
  const Status status = validate(p);
  EXPECT_EQ(status.code(), code);
  return status.message();
}

TEST(ValidateAttention, TakesWhatIsRight) {
  const Status status = validate(valid());
  EXPECT_TRUE(status) << status.message();
}

TEST(ValidateAttention, Sizes) {
  EXPECT_EQ(refusal([](auto& p) { p.batch = -1; }), "batch is -1 but must be 0 to 536870911");
  EXPECT_EQ(refusal([](auto& p) { p.keys = std::int64_t{1} << 29; }),
            "keys is 536870912 but must be 0 to 536870911");
  EXPECT_EQ(refusal([](auto& p) { p.key_heads = 3; }), "heads is 4 but must be a multiple of key_heads, 3");
  EXPECT_EQ(refusal([](auto& p) { p.key_heads = 0; }), "heads is 4 but must be a multiple of key_heads, 0");
  EXPECT_EQ(refusal([](auto& p) { p.head_dimension = 0; }), "head_dimension is 0 but must be 1 to 1024");
  EXPECT_EQ(refusal([](auto& p) { p.value_dimension = 1025; }),
            "value_dimension is 1025 but must be 1 to 1024");
}

TEST(ValidateAttention, TypeAndFactors) {
  EXPECT_EQ(refusal([](auto& p) { p.type = Type::f32; }, StatusCode::unsupported),
            "type is f32 but Q, K and V must be f16, bf16 or e4m3");
  EXPECT_EQ(refusal([](auto& p) { p.scale = std::numeric_limits<float>::infinity(); }),
            "scale is inf but must be finite");
  EXPECT_EQ(refusal([](auto& p) { p.soft_cap = -1; }),
            "soft_cap is -1 but must be 0 (no cap) or a finite number above");
  EXPECT_NE(refusal([](auto& p) { p.soft_cap = std::nanf(""); }).find("soft_cap is"), std::string::npos);
}

TEST(ValidateAttention, TypesAndScalesOfE4m3) {
  AttentionProblem p = valid();
  p.type = Type::e4m3;
  p.q.data = at(0x10001);
  p.k_scales = {static_cast<const float*>(at(0x60000)), 1, 2};
  EXPECT_TRUE(validate(p)) << validate(p).message();
  p.output_type = Type::f16;
  EXPECT_TRUE(validate(p)) << validate(p).message();
  EXPECT_EQ(refusal([](auto& p) { p.type = p.output_type = Type::e4m3; }, StatusCode::unsupported),
            "output_type is e4m3 but O must be f16 or bf16");
  EXPECT_EQ(refusal([](auto& p) { p.v_scales.data = static_cast<const float*>(at(0x60000)); }),
            "v_scales is given but only e4m3 has scales, and type is f16");
  EXPECT_EQ(
      refusal([](auto& p) { p.type = Type::e4m3, p.q_scales.data = static_cast<const float*>(at(0x60002)); }),
      "q_scales is at 0x60002 but its floats lie on multiples of 4 bytes");
}

// Elements of e4m3 take a byte, those of O two.
TEST(ValidateAttention, MemoryOfE4m3) {
  const auto change = [](std::uintptr_t v) {
    return [v](auto& p) { p.type = Type::e4m3, p.v.data = at(v); };
  };
  EXPECT_NE(refusal(change(0x40000 + 2 * 2560 - 1)).find("o (from 0x40000) overlaps v"), std::string::npos);
  AttentionProblem p = valid();
  change(0x40000 + 2 * 2560)(p);
  EXPECT_TRUE(validate(p)) << validate(p).message();
  change(0x40000 - 2 * 1280)(p);
  EXPECT_TRUE(validate(p)) << validate(p).message();
}

TEST(ValidateAttention, Pointers) {
  EXPECT_EQ(refusal([](auto& p) { p.q.data = nullptr; }), "q is a null pointer");
  EXPECT_EQ(refusal([](auto& p) { p.o.data = nullptr; }), "o is a null pointer");
  EXPECT_EQ(refusal([](auto& p) { p.v.data = at(0x30001); }),
            "v is at 0x30001 but its elements of 16 bits lie on multiples of 2 bytes");
  EXPECT_EQ(refusal([](auto& p) { p.log_sum_exp = static_cast<float*>(at(0x50002)); }),
            "log_sum_exp, alibi_slopes and sinks must lie on multiples of 4 bytes");
}

TEST(ValidateAttention, ScalesOfHeadsAndBatches) {
  const auto with_scales = [](std::int64_t head_stride, std::int64_t batch_stride, std::uintptr_t place) {
    return refusal([=](auto& p) {
      p.type = Type::e4m3;
      p.k_scales = {static_cast<const float*>(at(place)), head_stride, batch_stride};
    });
  };
  EXPECT_EQ(with_scales(-1, 2, 0x60000), "the head stride of k_scales is -1 but must be 0 to 1073741824");
  EXPECT_EQ(with_scales(1, std::int64_t{1} << 62, 0x60000),
            "the batch stride of k_scales is 4611686018427387904 but must be 0 to 1073741824");
  EXPECT_EQ(with_scales(1, 2, 0x40010),
            "o (from 0x40000) overlaps k_scales (from 0x40010) but needs memory of its own");
}

TEST(ValidateAttention, Strides) {
  EXPECT_EQ(refusal([](auto& p) { p.k.head_stride = -64; }), "the head stride of k is -64 but must be >= 0");
  EXPECT_EQ(refusal([](auto& p) { p.o.row_stride = 127; }),
            "the row stride of o is 127 but must be >= 128: its elements would overlap");
  EXPECT_EQ(refusal([](auto& p) { p.o.batch_stride = 0; }),
            "the batch stride of o is 0 but must be >= 32: its elements would overlap");
  EXPECT_NE(refusal([](auto& p) { p.q.batch_stride = std::int64_t{1} << 62; }).find("the strides of q put"),
            std::string::npos);
}

TEST(ValidateAttention, StridesThatLeadNowhereMayBeAnything) {
  AttentionProblem p = valid();
  p.batch = 1;
  p.q.batch_stride = p.k.batch_stride = p.v.batch_stride = p.o.batch_stride = -7;
  EXPECT_TRUE(validate(p)) << validate(p).message();
}

TEST(ValidateAttention, RepeatedInputs) {
  AttentionProblem p = valid();
  p.q.batch_stride = p.k.head_stride = p.v.row_stride = 0;
  EXPECT_TRUE(validate(p)) << validate(p).message();
}

TEST(ValidateAttention, HeadsBeforeRows) {
  AttentionProblem p = valid();
  p.o = {at(0x40000), 32, 320, 1280};
  EXPECT_TRUE(validate(p)) << validate(p).message();
}

TEST(ValidateAttention, OutputsNeedTheirOwnMemory) {
  EXPECT_EQ(refusal([](auto& p) { p.o.data = at(0x30000); }),
            "o (from 0x30000) overlaps v (from 0x30000) but needs memory of its own");
  EXPECT_EQ(refusal([](auto& p) { p.log_sum_exp = static_cast<float*>(at(0x40004)); }),
            "log_sum_exp (from 0x40004) overlaps o (from 0x40000) but needs memory of its own");
  EXPECT_NE(refusal([](auto& p) {
              p.alibi_slopes = static_cast<const float*>(at(0x50000));
            }).find("log_sum_exp (from 0x50000) overlaps alibi_slopes"),
            std::string::npos);
}

TEST(ValidateAttention, Workspace) {
  AttentionProblem p = valid();
  p.workspace = at(0x40100), p.workspace_bytes = 0x1000;
  EXPECT_STREQ(validate(p).message(),
               "the workspace (from 0x40100) overlaps o (from 0x40000) but needs memory of its own");
  p.workspace = at(0x70000);
  EXPECT_TRUE(validate(p)) << validate(p).message();
  EXPECT_TRUE(validate_workspace(p, 0x1000));
  EXPECT_STREQ(validate_workspace(p, 0x1001).message(),
               "workspace_bytes is 4096 but the splits of the keys need >= 4097 (or a null workspace)");
  EXPECT_EQ(validate_workspace(p, 0x1001).code(), StatusCode::workspace_too_small);
  p.workspace = at(0x70010);
  EXPECT_STREQ(validate_workspace(p, 0x1000).message(),
               "workspace is 16 bytes past a multiple of 256 but needs 0");
  p.workspace = nullptr, p.workspace_bytes = 0;
  EXPECT_TRUE(validate_workspace(p, 0x1000)) << "without a workspace the keys are not split";
}

const std::int32_t* words(std::uintptr_t address) {
  return static_cast<const std::int32_t*>(at(address));
}

// 30 rows of all queries, 50 of all keys.
AttentionProblem ragged() {
  AttentionProblem p = valid();
  p.query_offsets = words(0x60000), p.query_rows = 30;
  p.key_offsets = words(0x61000), p.key_rows = 50;
  return p;
}
// 7 pages of 8 keys: 3 for each batch.
AttentionProblem paged() {
  AttentionProblem p = valid();
  p.k = {at(0x20000), 128, 64, 1024};
  p.v = {at(0x30000), 64, 32, 512};
  p.key_lengths = words(0x62000);
  p.pages = {words(0x63000), 3, 8, 7};
  p.error = static_cast<std::int32_t*>(at(0x64000));
  return p;
}
template <class Change>
std::string refusal_of(AttentionProblem p, const Change& change) {
  EXPECT_TRUE(validate(p)) << validate(p).message();
  change(p);
  const Status status = validate(p);
  EXPECT_EQ(status.code(), StatusCode::invalid_argument);
  return status.message();
}

TEST(ValidateAttention, Offsets) {
  EXPECT_EQ(refusal_of(ragged(), [](auto& p) { p.query_rows = -1; }),
            "query_rows is -1 but must be 0 to 2147483647");
  EXPECT_EQ(refusal_of(ragged(), [](auto& p) { p.key_rows = std::int64_t{1} << 31; }),
            "key_rows is 2147483648 but must be 0 to 2147483647");
  EXPECT_EQ(refusal([](auto& p) { p.query_rows = 4; }),
            "query_rows is 4 but must be 0 without query_offsets");
  EXPECT_EQ(refusal([](auto& p) { p.key_rows = 4; }), "key_rows is 4 but must be 0 without key_offsets");
  EXPECT_EQ(refusal_of(ragged(), [](auto& p) { p.key_lengths = words(0x62000); }),
            "key_offsets and key_lengths are given but only one of them can say the lengths");
  EXPECT_EQ(refusal_of(ragged(),
                       [](auto& p) {
                         p.pages = {words(0x63000), 3, 8, 7};
                       }),
            "key_offsets is given but paged keys have their lengths from key_lengths");
  EXPECT_EQ(refusal_of(ragged(), [](auto& p) { p.query_offsets = words(0x60002); }),
            "query_offsets is at 0x60002 but must lie on a multiple of 4 bytes");
}

// The log-sum-exp has a row for each query that a batch may have, however few all batches have.
TEST(ValidateAttention, LogSumExpOfTooManyRows) {
  EXPECT_EQ(refusal_of(ragged(),
                       [](auto& p) {
                         p.batch = p.heads = p.queries = std::int64_t{1} << 28;
                         p.o.row_stride = std::int64_t{32} << 28;
                       }),
            "batch x heads x queries is 268435456 x 268435456 x 268435456 but must be less than 10^18");
}

TEST(ValidateAttention, BatchStridesDoNotCountWithOffsets) {
  AttentionProblem p = ragged();
  p.q.batch_stride = p.k.batch_stride = p.v.batch_stride = p.o.batch_stride = -7;
  EXPECT_TRUE(validate(p)) << validate(p).message();
}

TEST(ValidateAttention, Pages) {
  EXPECT_EQ(refusal_of(paged(), [](auto& p) { p.pages.page_size = 0; }),
            "pages.page_size is 0 but must be 1 to 256");
  EXPECT_EQ(refusal_of(paged(), [](auto& p) { p.pages.page_size = 257; }),
            "pages.page_size is 257 but must be 1 to 256");
  EXPECT_EQ(refusal_of(paged(), [](auto& p) { p.pages.table = nullptr; }),
            "pages.table is a null pointer but there are 7 pages of 8 keys");
  EXPECT_EQ(refusal_of(paged(), [](auto& p) { p.pages.count = 0; }),
            "pages.count is 0 but must be 1 to 2147483647");
  EXPECT_EQ(refusal_of(paged(), [](auto& p) { p.pages.table_stride = 2; }),
            "pages.table_stride is 2 but must be 3, the pages of 20 keys, to 2147483647");
  EXPECT_EQ(refusal_of(paged(), [](auto& p) { p.pages.table = words(0x63001); }),
            "pages.table is at 0x63001 but must lie on a multiple of 4 bytes");
  EXPECT_EQ(refusal_of(paged(), [](auto& p) { p.k.batch_stride = -1; }),
            "the batch stride of k is -1 but must be >= 0");
}

TEST(ValidateAttention, MemoryOfRaggedAndPagedTensors) {
  // 30 rows of 128 elements of O, 50 of 128 of K; 7 pages of 2048 bytes of K; 6 entries of the table.
  EXPECT_EQ(refusal_of(ragged(), [](auto& p) { p.o.data = at(0x10000 + 29 * 512); }),
            "o (from 0x13a00) overlaps q (from 0x10000) but needs memory of its own");
  EXPECT_EQ(refusal_of(ragged(), [](auto& p) { p.o.data = at(0x20000 + 49 * 256); }),
            "o (from 0x23100) overlaps k (from 0x20000) but needs memory of its own");
  EXPECT_EQ(refusal_of(paged(), [](auto& p) { p.o.data = at(0x20000 + 6 * 2048); }),
            "o (from 0x23000) overlaps k (from 0x20000) but needs memory of its own");
  EXPECT_EQ(refusal_of(paged(), [](auto& p) { p.error = static_cast<std::int32_t*>(at(0x63014)); }),
            "error (from 0x63014) overlaps pages.table (from 0x63000) but needs memory of its own");
  EXPECT_EQ(refusal_of(paged(), [](auto& p) { p.error = static_cast<std::int32_t*>(at(0x40000)); }),
            "error (from 0x40000) overlaps o (from 0x40000) but needs memory of its own");
  EXPECT_EQ(refusal_of(ragged(), [](auto& p) { p.sinks = static_cast<const float*>(at(0x50000)); }),
            "log_sum_exp (from 0x50000) overlaps sinks (from 0x50000) but needs memory of its own");
  AttentionProblem p = paged();
  p.error = static_cast<std::int32_t*>(at(0x63018));
  EXPECT_TRUE(validate(p)) << validate(p).message();
}

TEST(ValidateAttention, NoRowsOfQueriesNeedNoPointers) {
  AttentionProblem p = ragged();
  p.query_rows = 0, p.q = {}, p.o = {};
  EXPECT_TRUE(validate(p)) << validate(p).message();
}

// O may lie between the heads of Q, as in one tensor of all of them.
TEST(ValidateAttention, OutputBesideAnInputInItsRows) {
  AttentionProblem p = valid();
  p.batch = 1;
  p.q = {at(0x10000), 512, 64, 0};
  p.o = {at(0x10000 + 2 * 256), 512, 32, 0};
  EXPECT_TRUE(validate(p)) << validate(p).message();
}

TEST(ValidateAttention, NothingToComputeNeedsNoPointers) {
  AttentionProblem p = valid();
  p.queries = 0;
  p.q = p.k = p.v = {};
  p.o = {};
  EXPECT_TRUE(validate(p)) << validate(p).message();
}

// The backward pass of no queries: dK and dV are 0, and the kernels read K, V and the slopes of their heads.
TEST(ValidateAttention, BackwardOfNoQueriesNeedsKeys) {
  AttentionBackwardProblem problem;
  problem.forward = valid();
  problem.forward.queries = 0;
  problem.forward.q = {}, problem.forward.o = {}, problem.forward.log_sum_exp = nullptr;
  problem.dk = {at(0x80000), 128, 64, 2560};
  problem.dv = {at(0x90000), 64, 32, 1280};
  EXPECT_TRUE(check_problem(problem)) << check_problem(problem).message();
  const auto refused = [&](const auto& change) {
    AttentionBackwardProblem changed = problem;
    change(changed.forward);
    return std::string(check_problem(changed).message());
  };
  EXPECT_EQ(refused([](auto& p) { p.k.data = nullptr; }), "k is a null pointer");
  EXPECT_EQ(refused([](auto& p) { p.v.row_stride = -1; }), "the row stride of v is -1 but must be >= 0");
  EXPECT_EQ(refused([](auto& p) { p.alibi_slopes = static_cast<const float*>(at(0xa0002)); }),
            "log_sum_exp, alibi_slopes and sinks must lie on multiples of 4 bytes");
  problem.dk.data = at(0x20000);
  EXPECT_STREQ(validate(problem, 0).message(),
               "dk (from 0x20000) overlaps k (from 0x20000) but needs memory of its own");
}

TEST(ValidateAttention, NoKeysNeedNoKeys) {
  AttentionProblem p = valid();
  p.keys = 0;
  p.k = p.v = {};
  EXPECT_TRUE(validate(p)) << validate(p).message();
}

}  // namespace
}  // namespace tenon
