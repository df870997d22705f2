#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fieldcost::lsp {

// How a client counts within a line (LSP 3.17, positionEncoding).
enum class PositionEncoding { kUtf8, kUtf16, kUtf32 };

// Zero-based.
struct Position {
  std::uint32_t line = 0;
  std::uint32_t character = 0;  // in units of the encoding
  auto operator<=>(const Position&) const = default;
};

// Half-open.
struct Range {
  Position start;
  Position end;
  bool operator==(const Range&) const = default;
};

// The byte offset of a position in `line` (without its line end). Positions past the end mean the
// end; positions inside a character mean its start. Bytes that are not UTF-8 count one unit each.
std::size_t ByteOffset(std::string_view line, std::uint32_t character, PositionEncoding encoding);

// The inverse. REQUIRES: offset <= line.size().
std::uint32_t CharacterOf(std::string_view line, std::size_t offset, PositionEncoding encoding);

}  // namespace fieldcost::lsp
