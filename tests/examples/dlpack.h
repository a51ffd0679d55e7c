/* Matrices of the C API from DLPack tensors, without a copy: what PyTorch, JAX, CuPy and others export by
 * __dlpack__(max_version=(1, 0)). The tensor stays the owner: call its deleter once the stream has run the
 * product. C99. */
#ifndef TENON_EXAMPLES_DLPACK_H
#define TENON_EXAMPLES_DLPACK_H

#include "tenon/tenon.h"

#ifndef DLPACK_MAJOR_VERSION /* the structs of DLPack 1.1, unless its own header was included before */
#define DLPACK_MAJOR_VERSION 1
#define DLPACK_FLAG_BITMASK_READ_ONLY 1UL
enum { kDLCUDA = 2, kDLCUDAManaged = 13 };
enum { kDLInt = 0, kDLFloat = 2, kDLBfloat = 4, kDLFloat8_e4m3fn = 10, kDLFloat8_e5m2 = 12 };

typedef struct DLDevice {
  int32_t device_type;
  int32_t device_id;
} DLDevice;

typedef struct DLDataType {
  uint8_t code, bits;
  uint16_t lanes;
} DLDataType;

typedef struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides; /* in elements; NULL before 1.2: packed, the last dimension contiguous */
  uint64_t byte_offset;
} DLTensor;

typedef struct DLPackVersion {
  uint32_t major, minor;
} DLPackVersion;

typedef struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensorVersioned* self);
  uint64_t flags;
  DLTensor dl_tensor;
} DLManagedTensorVersioned;
#endif

/* A tensor of two dimensions on a CUDA device as A or B (`operand`), or as C, D or aux (`result`), and its
 * size. Other tensors are refused with TENON_INVALID_ARGUMENT and a sentence. device: of the stream. */
tenon_status dlpack_operand(const DLManagedTensorVersioned* tensor, int device, tenon_const_matrix* matrix,
                            int64_t* rows, int64_t* columns);
tenon_status dlpack_result(const DLManagedTensorVersioned* tensor, int device, tenon_matrix* matrix,
                           int64_t* rows, int64_t* columns);

#endif
