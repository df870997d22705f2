#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace fieldcost::crypto {

// Bytes of the operating system's generator; aborts if there are none.
std::string RandomBytes(std::size_t count);
std::uint64_t RandomUint64();

}  // namespace fieldcost::crypto
