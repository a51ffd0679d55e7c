// All fragment types. registers.hpp documents fragments, layout.hpp their layouts. Where compile time
// matters, include the header of one family of types instead.
#pragma once

#include "tenon/fragment/b1.hpp"
#include "tenon/fragment/f16.hpp"
#include "tenon/fragment/f64.hpp"
#include "tenon/fragment/fp8.hpp"
#include "tenon/fragment/int4.hpp"
#include "tenon/fragment/int8.hpp"
#include "tenon/fragment/tf32.hpp"
#include "tenon/fragment/volta.hpp"
