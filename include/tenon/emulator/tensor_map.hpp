// Tensor maps for the emulator, made without a driver: the 128 bytes that cuTensorMapEncodeTiled and
// cuTensorMapEncodeIm2col give for the same arguments and enumerator values on sm_90, with the same
// requirements. A kernel that takes a `const __grid_constant__ CUtensorMap` gets one of these. One that the
// driver made is understood too, if its address is of the emulator's memory.
#pragma once

#include <cstdint>

namespace tenon::emulator {

// Values as in CUtensorMapDataType. The packed 4- and 6-bit types, which are of sm_100 and later, are not
// here.
enum class TensorMapType : std::uint8_t {
  uint8,
  uint16,
  uint32,
  int32,
  uint64,
  int64,
  float16,
  float32,
  float64,
  bfloat16,
  float32_ftz,
  tfloat32,
  tfloat32_ftz
};

// Values as in CUtensorMapInterleave: channels in slices of 16 or 32 bytes, as NC/8HWC8 and NC/16HWC16 have
// them (PTX ISA 5.5.6). As on an H200, the dimensions of such a map are W, H, D, slices of an image, images;
// a position is one slice, and a copy takes one slice of each image. Copies that were not measured on one are
// a finding: im2col, rows shorter than the swizzle, slices of 32 bytes with a wider swizzle.
enum class TensorMapInterleave : std::uint8_t { none, bytes_16, bytes_32 };

// Values as in CUtensorMapSwizzle. The variants with atoms of 32 and 64 bytes, which are of sm_100 and later,
// are not here.
enum class TensorMapSwizzle : std::uint8_t { none, bytes_32, bytes_64, bytes_128 };

// Values as in CUtensorMapL2promotion. No effect on results.
enum class TensorMapL2Promotion : std::uint8_t { none, bytes_64, bytes_128, bytes_256 };

// Values as in CUtensorMapFloatOOBfill: what a load puts for elements outside the tensor.
enum class TensorMapFill : std::uint8_t { zeros, nan_request_zero_fma };

// 128 bytes, passed to a kernel by value or through global memory, as a CUtensorMap is.
struct alignas(64) TensorMap {
  std::uint8_t bytes[128];
};

// The arguments of cuTensorMapEncodeTiled, in the same units: `rank` dimensions, innermost first; `address`
// in the emulator's memory; `dimensions` in elements; `strides` in bytes, rank - 1 of them, of dimensions 1
// and up; `box` in elements; `element_strides` the traversal steps. Throws std::invalid_argument with a
// sentence that names the argument, what it is, and what it must be (CUDA driver API,
// cuTensorMapEncodeTiled).
TensorMap encode_tiled(TensorMapType type, int rank, std::uint64_t address, const std::uint64_t* dimensions,
                       const std::uint64_t* strides, const std::uint32_t* box,
                       const std::uint32_t* element_strides, TensorMapInterleave interleave,
                       TensorMapSwizzle swizzle, TensorMapL2Promotion l2_promotion, TensorMapFill fill);

// The arguments of cuTensorMapEncodeIm2col, for convolutions. rank: 3 (dimensions C, W, N), 4 (C, W, H, N) or
// 5 (C, W, H, D, N). `lower_corner` and `upper_corner` have rank - 2 values, W first: where the box of pixels
// begins, relative to the tensor's first pixel, and where it ends, relative to its last. A copy moves
// `pixels` pixels of the box, with W fastest and on into the next image, and `channels` elements of each.
// Throws as encode_tiled does.
TensorMap encode_im2col(TensorMapType type, int rank, std::uint64_t address, const std::uint64_t* dimensions,
                        const std::uint64_t* strides, const int* lower_corner, const int* upper_corner,
                        std::uint32_t channels, std::uint32_t pixels, const std::uint32_t* element_strides,
                        TensorMapInterleave interleave, TensorMapSwizzle swizzle,
                        TensorMapL2Promotion l2_promotion, TensorMapFill fill);

}  // namespace tenon::emulator
