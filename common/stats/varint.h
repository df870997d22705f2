#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/stats/uint128.h"

namespace fieldcost::stats {

// Variable-length numbers: LEB128 of up to 128 bits.
void AppendVarint(Uint128 value, std::string& bytes);
// Consumes a number from the front; false if there is none or it exceeds 128 bits.
bool TakeVarint(std::string_view& untrusted_bytes, Uint128& value);
// As above; also false if the number exceeds `most`.
bool TakeVarint(std::string_view& untrusted_bytes, std::uint64_t most, std::uint64_t& value);

}  // namespace fieldcost::stats
