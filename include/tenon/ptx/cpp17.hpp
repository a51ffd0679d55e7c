// What every header of the library needs of the compiler, as one sentence. For host and device; includes
// nothing.
#pragma once

#if __cplusplus < 201703L
#error "tenon needs C++17: compile with -std=c++17 or newer"
#include "tenon stops here"  // no file: #error alone lets g++ go on, to a hundred errors that follow from this one
#endif
