#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/support/sparse_bytes.h"

namespace fieldcost::testing {

// Changes a large, nearly empty file in pieces given by the input: kind, number (2 bytes), offset
// in that part (2), length (1), bytes. place_of(kind, number) returns the part's position in the
// file.
template <typename PlaceOf>
void WritePieces(std::string_view pieces, PlaceOf place_of, SparseBytes& file) {
  constexpr std::size_t kHead = 6;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(pieces[i]); };
  while (pieces.size() > kHead) {
    const unsigned number = byte(1) | unsigned{byte(2)} << 8U;
    const unsigned offset = byte(3) | unsigned{byte(4)} << 8U;
    const std::size_t length = std::min<std::size_t>(byte(5), pieces.size() - kHead);
    const std::uint64_t at = place_of(byte(0), number) + offset;
    if (at + length <= file.size()) file.Write(at, pieces.substr(kHead, length));
    pieces.remove_prefix(kHead + length);
  }
}

}  // namespace fieldcost::testing
