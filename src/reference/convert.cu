// FP32 <-> FP16 and FP32 <-> BF16 over a strided matrix. Memory-bound, so each thread converts four
// neighbours at once where alignment allows.
#include "reference/launch.cuh"
#include "reference/matrix.cuh"
#include "reference/reference.hpp"
#include "reference/validate.hpp"

namespace tenon::reference {
namespace {

constexpr int threads = 256;
constexpr int width = 4;

template <class T>
struct alignas(width * sizeof(T)) Four {
  T values[width];
};

template <class From, class To>
__global__ void __launch_bounds__(threads)
    convert_kernel(std::int64_t columns, const From* source, std::int64_t source_ld, To* destination,
                   std::int64_t destination_ld, bool aligned) {
  const std::int64_t blocks_across = ceil_div(columns, threads * width);
  const std::int64_t row = blockIdx.x / blocks_across;
  const std::int64_t column = (blockIdx.x % blocks_across * threads + threadIdx.x) * width;
  const From* from = source + row * source_ld + column;
  To* to = destination + row * destination_ld + column;
  if (aligned && column + width <= columns) {
    const auto values = *reinterpret_cast<const Four<From>*>(from);
    Four<To> rounded;
    for (int i = 0; i < width; ++i) round_to(rounded.values[i], to_float(values.values[i]));
    *reinterpret_cast<Four<To>*>(to) = rounded;
  } else {
    for (int i = 0; i < width; ++i) {
      if (column + i < columns) round_to(to[i], to_float(from[i]));
    }
  }
}

template <class From, class To>
Status run(std::int64_t rows, std::int64_t columns, const ConstMatrix& source, const Matrix& destination,
           CUstream_st* stream) {
  const auto fours = [](const void* data, std::int64_t ld, std::size_t size) {
    return reinterpret_cast<std::uintptr_t>(data) % (width * size) == 0 && ld % width == 0;
  };
  const bool aligned =
      fours(source.data, source.ld, sizeof(From)) && fours(destination.data, destination.ld, sizeof(To));
  return launch(convert_kernel<From, To>, rows * ceil_div(columns, threads * width), dim3(threads), stream,
                columns, static_cast<const From*>(source.data), source.ld, static_cast<To*>(destination.data),
                destination.ld, aligned);
}

}  // namespace

Status convert(std::int64_t rows, std::int64_t columns, const ConstMatrix& source, const Matrix& destination,
               CUstream_st* stream) noexcept {
  if (rows < 0 || columns < 0) {
    return {StatusCode::invalid_argument, "rows x columns is %lld x %lld but both must be >= 0",
            static_cast<long long>(rows), static_cast<long long>(columns)};
  }
  const Extent from{"the source", source.data, rows, columns, source.ld, source.order, source.type};
  const Extent to{"the destination", destination.data, rows, columns, destination.ld,
                  Order::row_major,  destination.type};
  if (Status status = check_matrix(from); !status) return status;
  if (Status status = check_matrix(to); !status) return status;
  if (Status status = check_disjoint(to, from); !status) return status;
  if (source.order != Order::row_major) {
    return {StatusCode::unsupported,
            "the source is column-major but must be row-major: swap rows and columns"};
  }
  const bool widens = source.type != Type::f32 && destination.type == Type::f32;
  const bool narrows = source.type == Type::f32 && destination.type != Type::f32;
  if (!widens && !narrows) {
    return {StatusCode::unsupported,
            "cannot convert %s to %s: one side must be f32 and the other f16 or bf16", name(source.type),
            name(destination.type)};
  }
  if (rows == 0 || columns == 0) return {};
  if (widens) {
    return source.type == Type::f16 ? run<__half, float>(rows, columns, source, destination, stream)
                                    : run<__nv_bfloat16, float>(rows, columns, source, destination, stream);
  }
  return destination.type == Type::f16
             ? run<float, __half>(rows, columns, source, destination, stream)
             : run<float, __nv_bfloat16>(rows, columns, source, destination, stream);
}

}  // namespace tenon::reference
