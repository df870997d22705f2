#include "tools/lsp/text_position.h"

#include "common/base/check.h"

namespace fieldcost::lsp {
namespace {

struct Step {
  std::size_t bytes;
  std::uint32_t units;
};

bool IsContinuation(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
}

// The character that starts at `at`.
Step StepAt(std::string_view line, std::size_t at, PositionEncoding encoding) {
  const auto lead = static_cast<unsigned char>(line[at]);
  std::size_t bytes = 1;
  if (lead >= 0xc2 && lead <= 0xdf) bytes = 2;
  if (lead >= 0xe0 && lead <= 0xef) bytes = 3;
  if (lead >= 0xf0 && lead <= 0xf4) bytes = 4;
  for (std::size_t i = 1; i < bytes; ++i) {
    if (!IsContinuation(line, at + i)) return {1, 1};
  }
  switch (encoding) {
    case PositionEncoding::kUtf8:
      return {bytes, static_cast<std::uint32_t>(bytes)};
    case PositionEncoding::kUtf16:
      return {bytes, bytes == 4 ? 2u : 1u};
    case PositionEncoding::kUtf32:
      return {bytes, 1};
  }
  return {1, 1};
}

}  // namespace

std::size_t ByteOffset(std::string_view line, std::uint32_t character, PositionEncoding encoding) {
  std::size_t offset = 0;
  std::uint64_t units = 0;
  while (offset < line.size()) {
    const Step step = StepAt(line, offset, encoding);
    if (units + step.units > character) break;
    units += step.units;
    offset += step.bytes;
  }
  return offset;
}

std::uint32_t CharacterOf(std::string_view line, std::size_t offset, PositionEncoding encoding) {
  FIELDCOST_CHECK(offset <= line.size());
  std::size_t at = 0;
  std::uint32_t units = 0;
  while (at < offset) {
    const Step step = StepAt(line, at, encoding);
    if (at + step.bytes > offset) break;
    at += step.bytes;
    units += step.units;
  }
  return units;
}

}  // namespace fieldcost::lsp
