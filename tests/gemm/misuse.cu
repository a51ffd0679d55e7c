// Not a program: ctest compiles it with one MISUSE_... defined and checks the sentence that nvcc prints.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "tenon/gemm/launch_sm80.hpp"

using namespace tenon;

#if defined(MISUSE_correct)
using Config =
    GemmConfig<half, float, row_major, column_major, TileShape<64, 96, 32>, TileShape<32, 96, 0>, 2>;
#elif defined(MISUSE_parts_of_a_warp_tile)
using Config =
    GemmConfig<half, float, row_major, column_major, TileShape<64, 96, 32>, TileShape<32, 64, 0>, 2>;
#elif defined(MISUSE_no_power_of_two)
using Config = GemmConfig<half, float, row_major, row_major, TileShape<64, 192, 32>, TileShape<32, 96, 0>, 2>;
#elif defined(MISUSE_one_stage)
using Config =
    GemmConfig<half, float, row_major, column_major, TileShape<64, 64, 32>, TileShape<32, 32, 0>, 1>;
#elif defined(MISUSE_too_deep)
using Config =
    GemmConfig<half, float, row_major, column_major, TileShape<64, 64, 128>, TileShape<32, 32, 0>, 2>;
#elif defined(MISUSE_part_of_16)
using Config =
    GemmConfig<half, float, row_major, column_major, TileShape<64, 40, 32>, TileShape<32, 40, 0>, 2>;
#elif defined(MISUSE_narrow_store)
using Config =
    GemmConfig<half, float, row_major, column_major, TileShape<64, 64, 32>, TileShape<32, 16, 0>, 2>;
#elif defined(MISUSE_ring_of_one)
using Config =
    GemmConfig<half, float, row_major, column_major, TileShape<64, 64, 32>, TileShape<32, 32, 0>, 2>;
__global__ void ring() {
  CpAsyncRing<1>::commit();
}
#elif defined(MISUSE_odd_rows)
using Config =
    GemmConfig<half, float, row_major, column_major, TileShape<64, 64, 32>, TileShape<32, 32, 0>, 2>;
__global__ void odd(std::uint32_t base) {
  using Tile = OperandTile<half, 32, 16, true>;
  const OperandCursor<Tile, Operand::a, 16> walk_a(0);
  const OperandCursor<Tile, Operand::b, 32> walk_b(0);
  WarpTile<half, float, 16, 32> sum;
  sum.load_first(walk_a, walk_b, base, base);
  sum.multiply_k_tile<16, true>(
      walk_a, walk_b, base, base, base, base, [](int) {}, [] {});
}
#elif defined(MISUSE_operation) || defined(MISUSE_element_types) || defined(MISUSE_output_type)
using Config = sm80::Config<half, float, 64, 64>;
struct Column {
  __device__ float operator()(float accumulator, int) const { return accumulator; }
};
struct Plain {
  __device__ float operator()(float accumulator, int, int) const { return accumulator; }
};
#if defined(MISUSE_operation)
using Kernel = sm80::GemmKernel<Config, Column>;
static_assert(sizeof(Kernel) > 0, "judged before");
#elif defined(MISUSE_element_types)
inline Status call() {
  return launch<sm80::GemmKernel<Config, Plain> >(GemmProblem<float, half>{}, Plain{});
}
#else
inline Status call() {
  return launch<sm80::GemmKernel<Config, Plain> >(GemmProblem<half, std::int32_t>{}, Plain{});
}
#endif
#elif defined(MISUSE_correct_operands) || defined(MISUSE_operands_of_a_pointer) || \
    defined(MISUSE_two_matrices) || defined(MISUSE_no_operands) || defined(MISUSE_too_few_values)
using Config = sm80::Config<half, float, 64, 64>;
struct Bias {
#if defined(MISUSE_operands_of_a_pointer)
  using Operands = EpilogueOperands<const float*>;
#elif defined(MISUSE_two_matrices)
  using Operands = EpilogueOperands<MatrixOperand<half>, MatrixOperand<float> >;
#elif defined(MISUSE_too_few_values)
  using Operands = EpilogueOperands<ColumnVector<float>, RowVector<float> >;
#elif !defined(MISUSE_no_operands)
  using Operands = EpilogueOperands<ColumnVector<half> >;
#endif
  __device__ float operator()(float accumulator, int, int, float bias) const {
    return accumulator + bias;
  }
};
using Kernel = sm80::GemmKernel<Config, WithOperands<Bias> >;
inline Status call(const Kernel::Op& op) {
  return launch<Kernel>(GemmProblem<half, half>{}, op);
}
#else
#error "name the misuse"
#endif

__global__ void kernel(GemmArguments arguments) {
  extern __shared__ __align__(1024) char shared[];
  const auto same = [](float accumulator, int, int) { return accumulator; };
  GemmCpAsync<Config, Alignment::full_16>::run(arguments, {0, 0}, shared, StoreRegisters{arguments.c, same});
}
