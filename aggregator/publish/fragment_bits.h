#pragma once

#include <cstdint>
#include <optional>

namespace fieldcost::publish {

struct PreviousFragments {
  unsigned bits = 0;
  std::uint64_t rows = 0;
  std::uint64_t bytes = 0;  // compressed, of all fragments
};

// The number of bits of an API's hash that select its fragment, for `rows` rows. Keeps the previous
// number while the average fragment stays within the bounds of publish_limits.h. Pure.
unsigned ChooseFragmentBits(std::uint64_t rows, const std::optional<PreviousFragments>& previous);

}  // namespace fieldcost::publish
