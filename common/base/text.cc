#include "common/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "common/base/check.h"

namespace fieldcost {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};
// General categories Cc, Cf, Zl and Zp of Unicode 15, without the visible signs of Arabic, Syriac
// and Kaithi numbers (U+0600 to U+0605, U+06DD, U+070F, U+0890, U+0891, U+08E2, U+110BD, U+110CD).
constexpr Range kSteering[] = {
    {0x0, 0x1f},        {0x7f, 0x9f},       {0xad, 0xad},       {0x61c, 0x61c},
    {0x180e, 0x180e},   {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},
    {0xfeff, 0xfeff},   {0xfff9, 0xfffb},   {0x13430, 0x1343f}, {0x1bca0, 0x1bca3},
    {0x1d173, 0x1d17a}, {0xe0000, 0xe007f},
};

// True for characters that steer a terminal, change the order of others, or are invisible.
bool Steers(std::uint32_t value) {
  return std::any_of(std::begin(kSteering), std::end(kSteering), [value](const Range& range) {
    return value >= range.first && value <= range.last;
  });
}

// As in RFC 8259: a surrogate pair above U+FFFF.
std::string JsonEscape(std::uint32_t value) {
  if (value < 0x10000) return fmt::format("\\u{:04x}", value);
  const std::uint32_t rest = value - 0x10000;
  return fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + (rest >> 10), 0xdc00 + (rest & 0x3ff));
}

}  // namespace

CodePoint FirstCodePoint(std::string_view untrusted_text) {
  FIELDCOST_CHECK(!untrusted_text.empty());
  const auto first = static_cast<unsigned char>(untrusted_text[0]);
  if (first < 0x80) return {first, 1};
  const std::size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || untrusted_text.size() < bytes) return {};
  std::uint32_t value = first & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(untrusted_text[i]);
    if ((next & 0xc0) != 0x80) return {};
    value = value << 6 | (next & 0x3f);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (value < kLeast[bytes] || (value >= 0xd800 && value < 0xe000) || value > 0x10ffff) return {};
  return {value, bytes};
}

std::string EscapeControl(std::string_view untrusted_text) {
  std::string out;
  out.reserve(untrusted_text.size());
  while (!untrusted_text.empty()) {
    const CodePoint point = FirstCodePoint(untrusted_text);
    const std::size_t bytes = std::max<std::size_t>(point.bytes, 1);
    const std::string_view character = untrusted_text.substr(0, bytes);
    if (point.bytes == 0 || point.value == '\\' || Steers(point.value)) {
      for (const char c : character) {
        out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
      }
    } else {
      out += character;
    }
    untrusted_text.remove_prefix(bytes);
  }
  return out;
}

std::string QuoteJson(std::string_view untrusted_text) {
  std::string quoted = "\"";
  while (!untrusted_text.empty()) {
    const CodePoint point = FirstCodePoint(untrusted_text);
    if (point.bytes == 0) {
      quoted += "\\ufffd";
      untrusted_text.remove_prefix(1);
      continue;
    }
    if (Steers(point.value)) {
      quoted += JsonEscape(point.value);
    } else {
      if (point.value == '"' || point.value == '\\') quoted += '\\';
      quoted += untrusted_text.substr(0, point.bytes);
    }
    untrusted_text.remove_prefix(point.bytes);
  }
  return quoted + '"';
}

std::string HexEncode(std::span<const std::uint8_t> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const std::uint8_t byte : bytes) {
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

std::string HexEncode(std::string_view bytes) {
  return HexEncode({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

std::string_view Trim(std::string_view text, std::string_view blanks) {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::optional<std::string> HexDecode(std::string_view untrusted_text) {
  if (untrusted_text.size() % 2 != 0) return std::nullopt;
  std::string out;
  out.reserve(untrusted_text.size() / 2);
  for (std::size_t i = 0; i < untrusted_text.size(); i += 2) {
    const int high = HexDigit(untrusted_text[i]);
    const int low = HexDigit(untrusted_text[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
  }
  return out;
}

std::vector<std::string_view> Split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find_first_of(separators);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string FormatCount(std::uint64_t count) {
  const std::string digits = fmt::format("{}", count);
  std::string grouped;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i != 0 && (digits.size() - i) % 3 == 0) grouped += ',';
    grouped += digits[i];
  }
  return grouped;
}

std::string Counted(std::uint64_t count, std::string_view one, std::string_view many) {
  if (count == 1) return fmt::format("1 {}", one);
  return fmt::format("{} {}{}", FormatCount(count), many.empty() ? one : many,
                     many.empty() ? "s" : "");
}

std::string ListText(std::span<const std::string> untrusted_texts, std::size_t most) {
  const std::size_t shown = std::min(most, untrusted_texts.size());
  std::string list;
  for (const std::string& text : untrusted_texts.first(shown)) {
    list += (list.empty() ? "" : ", ") + EscapeControl(text);
  }
  const std::size_t more = untrusted_texts.size() - shown;
  return more == 0 ? list : fmt::format("{} and {} more", list, more);
}

std::optional<std::uint64_t> ParseUint64(std::string_view untrusted_text) {
  std::uint64_t value = 0;
  const char* end = untrusted_text.data() + untrusted_text.size();
  const auto [rest, error] = std::from_chars(untrusted_text.data(), end, value);
  if (error != std::errc() || rest != end) return std::nullopt;
  return value;
}

bool GlobMatch(std::string_view pattern, std::string_view text) {
  // Greedy with one backtrack point: linear for one '*', never exponential.
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace fieldcost
