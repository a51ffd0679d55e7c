// Fills the shared memory of all multiprocessors of the current device with NaN, as an earlier kernel may
// have left it. A kernel that uses what it did not write then computes something wrong.
#pragma once

namespace tenon::test {

bool fill_shared_memory();  // whether it could

}  // namespace tenon::test
