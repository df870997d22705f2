#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace fieldcost {

// ASCII character classes, independent of the locale; other bytes belong to no class. Pure
// functions.

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
constexpr bool IsLowerLetter(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool IsUpperLetter(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool IsLetter(char c) { return IsLowerLetter(c) || IsUpperLetter(c); }
constexpr bool IsLetterOrDigit(char c) { return IsLetter(c) || IsDigit(c); }
// Whether it can occur in C and C++ identifiers.
constexpr bool IsWordCharacter(char c) { return IsLetterOrDigit(c) || c == '_'; }
constexpr bool IsLowerHexDigit(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f'); }
constexpr bool IsHexDigit(char c) { return IsLowerHexDigit(c) || (c >= 'A' && c <= 'F'); }

// Whether all characters of `text` are of the given class; true if it is empty.
constexpr bool AreAll(std::string_view text, bool (*is_of_kind)(char)) {
  return std::all_of(text.begin(), text.end(), is_of_kind);
}

// Whether `text` is a SHA-256 in the form that HexEncode writes.
inline constexpr std::size_t kSha256Digits = 64;
constexpr bool IsHexSha256(std::string_view text) {
  return text.size() == kSha256Digits && AreAll(text, IsLowerHexDigit);
}

constexpr char LowerCase(char c) { return IsUpperLetter(c) ? static_cast<char>(c - 'A' + 'a') : c; }
inline std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = LowerCase(c);
  return lower;
}

}  // namespace fieldcost
