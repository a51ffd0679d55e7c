// From the structs of tenon.h to those of the C++ API, and back: what all functions of the C API share.
#pragma once

#include <cstring>

#include "tenon/gemm/problem.hpp"
#include "tenon/status.hpp"
#include "tenon/tenon.h"

namespace tenon::c_api {

inline ConstMatrix matrix_of(const tenon_const_matrix& x) noexcept {
  return {x.data, x.ld, static_cast<Order>(x.order), static_cast<Type>(x.type)};
}

inline Matrix matrix_of(const tenon_matrix& x) noexcept {
  return {x.data, x.ld, static_cast<Type>(x.type)};
}

inline tenon_status status_of(const Status& s) noexcept {
  tenon_status status;
  status.code = static_cast<tenon_status_code>(s.code());
  static_assert(sizeof status.message == 256, "a message of Status must fit");
  std::strncpy(status.message, s.message(), sizeof status.message - 1);  // fills the rest with zeros
  status.message[sizeof status.message - 1] = '\0';
  return status;
}

}  // namespace tenon::c_api
