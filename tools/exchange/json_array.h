#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace fieldcost::exchange {

// The exact JSON number `value` / 10^decimals, such as "12.345000".
inline std::string DecimalText(std::uint64_t value, unsigned decimals) {
  std::uint64_t one = 1;
  for (unsigned i = 0; i < decimals; ++i) one *= 10;
  return fmt::format("{}.{:0{}}", value / one, value % one, decimals);
}

// "[a,b,c]"; `text` returns the element for each index below `count`.
template <typename Text>
void AppendArray(std::size_t count, const Text& text, std::string& json) {
  json += '[';
  for (std::size_t i = 0; i < count; ++i) {
    if (i != 0) json += ',';
    json += text(i);
  }
  json += ']';
}

}  // namespace fieldcost::exchange
