#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fieldcost {

// Replaces each byte of control and format characters (U+0000 to U+001F, U+007F to U+009F,
// directional marks, invisible characters), of invalid UTF-8 and of backslashes by \xNN, so that
// external text cannot break a line, control a terminal or reorder what is displayed.
std::string EscapeControl(std::string_view untrusted_text);

// A JSON string with its quotes (RFC 8259 §7) in which those characters are escaped; invalid UTF-8
// becomes U+FFFD.
std::string QuoteJson(std::string_view untrusted_text);

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t bytes = 0;  // 0: the text does not begin with valid UTF-8
};
// Decodes UTF-8 as in RFC 3629: no overlong forms, no surrogates, at most U+10FFFF. REQUIRES: not
// empty.
CodePoint FirstCodePoint(std::string_view untrusted_text);

// Lower-case hexadecimal.
std::string HexEncode(std::span<const std::uint8_t> bytes);
std::string HexEncode(std::string_view bytes);

// Returns the text without leading and trailing characters of `blanks`.
std::string_view Trim(std::string_view text, std::string_view blanks = " \t\r\n");

// Inverse of HexEncode; upper case accepted. nullopt unless every digit is valid and the length is
// even.
std::optional<std::string> HexDecode(std::string_view untrusted_text);

// The parts between separators: "a,,b" has three parts, an empty text has one.
std::vector<std::string_view> Split(std::string_view text, std::string_view separators);

// Exact, with thousands separators: "1,234,567".
std::string FormatCount(std::uint64_t count);

// "1 batch", "1,024 batches". Without `many`, the plural is `one` and an s.
std::string Counted(std::uint64_t count, std::string_view one, std::string_view many = {});

// "a, b and 3 more": at most `most` of the texts, escaped.
std::string ListText(std::span<const std::string> untrusted_texts, std::size_t most);

// Parses an unsigned decimal number without surrounding characters. nullopt for anything else,
// including overflow.
std::optional<std::uint64_t> ParseUint64(std::string_view untrusted_text);

// True if `text` matches the shell-like `pattern` ('*' any run, '?' any one character).
bool GlobMatch(std::string_view pattern, std::string_view text);

}  // namespace fieldcost
