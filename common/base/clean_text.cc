#include "common/base/clean_text.h"

#include "common/base/text.h"

namespace fieldcost {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

bool IsAllowed(std::uint32_t value) {
  if (value < 0x20 || (value >= 0x7f && value < 0xa0)) return false;
  // Direction marks, embeddings, overrides and isolates, and line separators.
  return value != 0x200e && value != 0x200f && value != 0x061c &&
         !(value >= 0x2028 && value <= 0x202e) && !(value >= 0x2066 && value <= 0x2069);
}

std::string Replaced(std::string_view untrusted_text) {
  std::string text;
  while (!untrusted_text.empty()) {
    const CodePoint point = FirstCodePoint(untrusted_text);
    const std::size_t bytes = point.bytes == 0 ? 1 : point.bytes;
    text +=
        point.bytes != 0 && IsAllowed(point.value) ? untrusted_text.substr(0, bytes) : kReplacement;
    untrusted_text.remove_prefix(bytes);
  }
  return text;
}

bool IsInsideCharacter(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
}

}  // namespace

bool IsText(std::string_view untrusted_text, std::size_t max_bytes) {
  if (untrusted_text.size() > max_bytes) return false;
  while (!untrusted_text.empty()) {
    const CodePoint point = FirstCodePoint(untrusted_text);
    if (point.bytes == 0 || !IsAllowed(point.value)) return false;
    untrusted_text.remove_prefix(point.bytes);
  }
  return true;
}

std::string CleanText(std::string_view untrusted_text, std::size_t max_bytes) {
  // Replacement never makes a character shorter.
  std::string text = Replaced(untrusted_text.substr(0, max_bytes + 4));
  if (text.size() <= max_bytes) return text;
  std::size_t end = max_bytes;
  while (IsInsideCharacter(text, end)) --end;
  text.resize(end);
  return text;
}

std::string CleanPath(std::string_view untrusted_path, std::size_t max_bytes) {
  std::string text = Replaced(untrusted_path);
  if (text.size() <= max_bytes) return text;
  std::size_t begin = text.size() - max_bytes;
  while (IsInsideCharacter(text, begin)) ++begin;
  return text.substr(begin);
}

}  // namespace fieldcost
