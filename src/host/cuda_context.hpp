// Which CUDA context is current: a number that no other context of the process ever has, so that what is
// remembered of a device is forgotten when the device is reset.
#pragma once

namespace tenon {

// False where the thread has no context yet, after a reset of the device, and where the driver is older than
// CUDA 12.0.
bool current_context(unsigned long long* number) noexcept;

}  // namespace tenon
