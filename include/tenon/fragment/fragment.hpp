// Every typed fragment: see registers.hpp for what they are and layout.hpp for who holds what. Include the
// header of one type family instead where compile time counts.
#pragma once

#include "tenon/fragment/b1.hpp"
#include "tenon/fragment/f16.hpp"
#include "tenon/fragment/f64.hpp"
#include "tenon/fragment/fp8.hpp"
#include "tenon/fragment/int4.hpp"
#include "tenon/fragment/int8.hpp"
#include "tenon/fragment/tf32.hpp"
#include "tenon/fragment/volta.hpp"
