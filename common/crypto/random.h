#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace fieldcost::crypto {

// Bytes from the operating system's generator; aborts if it fails.
std::string RandomBytes(std::size_t count);
std::uint64_t RandomUint64();

}  // namespace fieldcost::crypto
