// ldmatrix, movmatrix and cp.async, executed by one warp. Every 16-bit element is a number that says where it
// stands.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "ptx/device_vector.cuh"
#include "ptx/matrix_elements.hpp"
#include "support/gpu.hpp"
#include "tenon/ptx/cp_async.hpp"
#include "tenon/ptx/ldmatrix.hpp"
#include "tenon/ptx/movmatrix.hpp"
#include "tenon/ptx/shared_address.hpp"

namespace tenon::test {
namespace {

using std::uint32_t;

// ---- ldmatrix

template <auto function>
struct Loaded;
template <std::size_t n, void (*function)(uint32_t (&)[n], uint32_t)>
struct Loaded<function> {
  static constexpr int matrices = static_cast<int>(n);
};

template <auto function>
__global__ void load_matrices(const std::uint16_t* elements, uint32_t* out) {
  __shared__ alignas(16) std::uint16_t tile[32 * 8];
  const int lane = static_cast<int>(threadIdx.x);
  std::uint16_t* const row = tile + 8 * row_slot(lane);
  for (int i = 0; i < 8; ++i) row[i] = elements[8 * lane + i];
  __syncthreads();
  uint32_t d[Loaded<function>::matrices];
  function(d, ptx::shared_address(row));
  for (int i = 0; i < Loaded<function>::matrices; ++i) out[32 * i + lane] = d[i];
}

template <auto function>
void expect_loads(bool transposed) {
  constexpr int matrices = Loaded<function>::matrices;
  SCOPED_TRACE(::testing::Message() << matrices << (transposed ? " matrices, transposed" : " matrices"));
  std::vector<std::uint16_t> elements(32 * 8);
  for (int row = 0; row < 32; ++row) {
    for (int i = 0; i < 8; ++i) elements[8 * row + i] = element(row / 8, row % 8, i);
  }
  const DeviceVector<std::uint16_t> input(elements);
  const DeviceVector<uint32_t> output(std::vector<uint32_t>(32 * matrices, 0xdeadbeef));
  load_matrices<function><<<1, 32>>>(input.data(), output.data());
  const std::vector<uint32_t> found = output.read();
  for (int matrix = 0; matrix < matrices; ++matrix) {
    for (int lane = 0; lane < 32; ++lane) {
      ASSERT_EQ(found[32 * matrix + lane], register_of(matrix, lane, transposed))
          << "matrix " << matrix << ", lane " << lane;
    }
  }
}

class PtxMove : public GpuTest {};

TEST_F(PtxMove, LdmatrixGivesEachLaneItsElements) {
  expect_loads<ptx::ldmatrix_sync_aligned_m8n8_x1_shared_b16<>>(false);
  expect_loads<ptx::ldmatrix_sync_aligned_m8n8_x2_shared_b16<>>(false);
  expect_loads<ptx::ldmatrix_sync_aligned_m8n8_x4_shared_b16<>>(false);
  expect_loads<ptx::ldmatrix_sync_aligned_m8n8_x1_trans_shared_b16<>>(true);
  expect_loads<ptx::ldmatrix_sync_aligned_m8n8_x2_trans_shared_b16<>>(true);
  expect_loads<ptx::ldmatrix_sync_aligned_m8n8_x4_trans_shared_b16<>>(true);
}

// ---- movmatrix

__global__ void transpose_registers(const uint32_t* in, uint32_t* out) {
  out[threadIdx.x] = ptx::movmatrix_sync_aligned_m8n8_trans_b16(in[threadIdx.x]);
}

TEST_F(PtxMove, MovmatrixTransposes) {
  std::vector<uint32_t> registers(32);
  for (int lane = 0; lane < 32; ++lane) registers[lane] = register_of(0, lane, false);
  const DeviceVector<uint32_t> input(registers), output(std::vector<uint32_t>(32, 0xdeadbeef));
  transpose_registers<<<1, 32>>>(input.data(), output.data());
  const std::vector<uint32_t> found = output.read();
  for (int lane = 0; lane < 32; ++lane) EXPECT_EQ(found[lane], register_of(0, lane, true)) << "lane " << lane;
}

// ---- cp.async

// The two overloads of a copy. (nvcc takes no overloaded function as a template argument of a kernel.)
template <int bytes>
struct Ca {
  static constexpr int size = bytes;
  static __device__ void copy(uint32_t destination, const void* source) {
    if constexpr (bytes == 4) ptx::cp_async_ca_shared_global_4(destination, source);
    if constexpr (bytes == 8) ptx::cp_async_ca_shared_global_8(destination, source);
    if constexpr (bytes == 16) ptx::cp_async_ca_shared_global_16(destination, source);
  }
  static __device__ void copy(uint32_t destination, const void* source, uint32_t source_bytes) {
    if constexpr (bytes == 4) ptx::cp_async_ca_shared_global_4(destination, source, source_bytes);
    if constexpr (bytes == 8) ptx::cp_async_ca_shared_global_8(destination, source, source_bytes);
    if constexpr (bytes == 16) ptx::cp_async_ca_shared_global_16(destination, source, source_bytes);
  }
};
struct Cg {
  static constexpr int size = 16;
  static __device__ void copy(uint32_t destination, const void* source) {
    ptx::cp_async_cg_shared_global_16(destination, source);
  }
  static __device__ void copy(uint32_t destination, const void* source, uint32_t source_bytes) {
    ptx::cp_async_cg_shared_global_16(destination, source, source_bytes);
  }
};
struct CgPrefetching {
  static constexpr int size = 16;
  static __device__ void copy(uint32_t destination, const void* source) {
    ptx::cp_async_cg_shared_global_L2_128B_16(destination, source);
  }
  static __device__ void copy(uint32_t destination, const void* source, uint32_t source_bytes) {
    ptx::cp_async_cg_shared_global_L2_128B_16(destination, source, source_bytes);
  }
};

constexpr int slot_bytes = 16;  // of shared memory a lane; what a smaller copy leaves stays poisoned
constexpr unsigned char poison = 0xa5;

// Two copies a lane, each a group of its own. With zero_fill, lane l reads l % (size + 1) bytes.
template <class Form, bool zero_fill, bool wait_for_all>
__global__ void copy_twice(const unsigned char* in, unsigned char* out) {
  __shared__ alignas(16) unsigned char tile[2][32 * slot_bytes];
  const int lane = static_cast<int>(threadIdx.x);
  for (int half = 0; half < 2; ++half) {
    for (int i = 0; i < slot_bytes; ++i) tile[half][slot_bytes * lane + i] = poison;
  }
  __syncthreads();
  for (int half = 0; half < 2; ++half) {
    const uint32_t destination = ptx::shared_address(tile[half] + slot_bytes * lane);
    const unsigned char* const source = in + slot_bytes * (32 * half + lane);
    if constexpr (zero_fill) {
      Form::copy(destination, source, lane % (Form::size + 1));
    } else {
      Form::copy(destination, source);
    }
    ptx::cp_async_commit_group();
  }
  if constexpr (wait_for_all) {
    ptx::cp_async_wait_all();
  } else {
    ptx::cp_async_wait_group<1>();  // the first group has landed
  }
  for (int i = 0; i < slot_bytes; ++i) out[slot_bytes * lane + i] = tile[0][slot_bytes * lane + i];
  if constexpr (!wait_for_all) ptx::cp_async_wait_group<0>();
  for (int i = 0; i < slot_bytes; ++i) out[slot_bytes * (32 + lane) + i] = tile[1][slot_bytes * lane + i];
}

template <class Form, bool zero_fill, bool wait_for_all>
void expect_copies() {
  constexpr int size = Form::size;
  SCOPED_TRACE(::testing::Message() << size << " bytes, " << (zero_fill ? "zero-filled" : "whole")
                                    << (wait_for_all ? ", wait_all" : ", wait_group"));
  std::vector<unsigned char> bytes(2 * 32 * slot_bytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(1 + i % 251);
  const DeviceVector<unsigned char> input(bytes), output(std::vector<unsigned char>(bytes.size(), 0xee));
  copy_twice<Form, zero_fill, wait_for_all><<<1, 32>>>(input.data(), output.data());
  const std::vector<unsigned char> found = output.read();
  for (int slot = 0; slot < 64; ++slot) {
    const int bytes_read = zero_fill ? slot % 32 % (size + 1) : size;
    for (int i = 0; i < slot_bytes; ++i) {
      const int at = slot_bytes * slot + i;
      const int expected = i < bytes_read ? bytes[at] : i < size ? 0 : poison;
      ASSERT_EQ(found[at], expected) << "slot " << slot << ", byte " << i;
    }
  }
}

template <class Form>
void expect_copies_of() {
  expect_copies<Form, false, false>();
  expect_copies<Form, false, true>();
  expect_copies<Form, true, false>();
  expect_copies<Form, true, true>();
}

TEST_F(PtxMove, CpAsyncCopiesAndZeroFills) {
  expect_copies_of<Ca<4>>();
  expect_copies_of<Ca<8>>();
  expect_copies_of<Ca<16>>();
  expect_copies_of<Cg>();
  expect_copies_of<CgPrefetching>();
}

}  // namespace
}  // namespace tenon::test
