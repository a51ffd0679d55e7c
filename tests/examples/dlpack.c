/* See dlpack.h. */
#include "dlpack.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

static tenon_status refusal(const char* format, ...) {
  tenon_status s;
  va_list arguments;
  s.code = TENON_INVALID_ARGUMENT;
  va_start(arguments, format);
  vsnprintf(s.message, sizeof s.message, format, arguments);
  va_end(arguments);
  return s;
}

/* The tenon_type of an element type, or -1. */
static int type_of(DLDataType type) {
  static const struct {
    uint8_t code, bits;
    tenon_type type;
  } types[] = {{kDLFloat, 16, TENON_F16},
               {kDLBfloat, 16, TENON_BF16},
               {kDLFloat, 32, TENON_F32},
               {kDLFloat, 64, TENON_F64},
               {kDLFloat8_e4m3fn, 8, TENON_E4M3},
               {kDLFloat8_e5m2, 8, TENON_E5M2},
               {kDLInt, 8, TENON_S8},
               {kDLInt, 32, TENON_S32}};
  for (size_t i = 0; i < sizeof types / sizeof *types; ++i) {
    if (types[i].code == type.code && types[i].bits == type.bits && type.lanes == 1)
      return (int)types[i].type;
  }
  return -1;
}

/* Whether rows (columns) of `length` contiguous elements lie *ld apart. A dimension of size 1 has any stride.
 */
static int is_dense(int64_t count, int64_t length, int64_t stride_of_count, int64_t stride_of_length,
                    int64_t* ld) {
  *ld = count > 1 ? stride_of_count : length;
  return (stride_of_length == 1 || length <= 1) && *ld >= length;
}

tenon_status dlpack_operand(const DLManagedTensorVersioned* tensor, int device, tenon_const_matrix* matrix,
                            int64_t* rows, int64_t* columns) {
  const DLTensor* t = &tensor->dl_tensor;
  tenon_status ok = {TENON_OK, ""};
  int type;
  if (tensor->version.major != DLPACK_MAJOR_VERSION) /* the fields behind the flags may be others */
    return refusal("the tensor is of DLPack %" PRIu32 ".%" PRIu32 " but must be of %d.x",
                   tensor->version.major, tensor->version.minor, DLPACK_MAJOR_VERSION);
  if ((int)t->device.device_type != kDLCUDA && (int)t->device.device_type != kDLCUDAManaged)
    return refusal("the tensor's device type is %d but must be %d (CUDA) or %d (managed by CUDA)",
                   (int)t->device.device_type, (int)kDLCUDA, (int)kDLCUDAManaged);
  if ((int)t->device.device_type == kDLCUDA && t->device.device_id != device)
    return refusal("the tensor is on CUDA device %d but must be on %d, as the stream is",
                   (int)t->device.device_id, device);
  if (t->ndim != 2) return refusal("the tensor has %d dimensions but must have 2", (int)t->ndim);
  type = type_of(t->dtype);
  if (type < 0)
    return refusal(
        "the tensor's elements have type code %d, %d bits and %d lanes but must be f16, bf16, f32, f64, "
        "e4m3, e5m2, s8 or s32",
        t->dtype.code, t->dtype.bits, t->dtype.lanes);
  *rows = t->shape[0], *columns = t->shape[1];
  *matrix = (tenon_const_matrix){.data = (const char*)t->data + t->byte_offset,
                                 .ld = *columns,
                                 .order = TENON_ROW_MAJOR,
                                 .type = (tenon_type)type};
  if (t->strides == NULL || is_dense(*rows, *columns, t->strides[0], t->strides[1], &matrix->ld)) return ok;
  matrix->order = TENON_COLUMN_MAJOR;
  if (is_dense(*columns, *rows, t->strides[1], t->strides[0], &matrix->ld)) return ok;
  return refusal("the tensor of %" PRId64 " x %" PRId64 " has strides %" PRId64 " and %" PRId64
                 " but one must be 1 and the other at least the size beside it",
                 *rows, *columns, t->strides[0], t->strides[1]);
}

tenon_status dlpack_result(const DLManagedTensorVersioned* tensor, int device, tenon_matrix* matrix,
                           int64_t* rows, int64_t* columns) {
  tenon_const_matrix any;
  const tenon_status s = dlpack_operand(tensor, device, &any, rows, columns);
  if (s.code != TENON_OK) return s;
  if ((tensor->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0)
    return refusal("the tensor is read-only but a result is written to it");
  if (any.order != TENON_ROW_MAJOR)
    return refusal("the tensor is column-major, with strides %" PRId64 " and %" PRId64
                   ", but a result must be row-major",
                   tensor->dl_tensor.strides[0], tensor->dl_tensor.strides[1]);
  *matrix = (tenon_matrix){
      .data = (char*)tensor->dl_tensor.data + tensor->dl_tensor.byte_offset, .ld = any.ld, .type = any.type};
  return s;
}
