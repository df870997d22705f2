#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace fieldcost {

// Replaces ASCII control characters (and a lone backslash) by \xNN, so that text from outside can
// neither break a line nor steer a terminal. Bytes above 0x7f are kept.
std::string EscapeControl(std::string_view untrusted_text);

// Lower-case hexadecimal.
std::string HexEncode(std::span<const std::uint8_t> bytes);

// Inverse of HexEncode; upper case accepted. nullopt unless every digit is valid and the length is
// even.
std::optional<std::string> HexDecode(std::string_view untrusted_text);

// Unsigned decimal, nothing else around it. nullopt on anything else, including overflow.
std::optional<std::uint64_t> ParseUint64(std::string_view untrusted_text);

// True if `text` matches the shell-like `pattern` ('*' any run, '?' any one character).
bool GlobMatch(std::string_view pattern, std::string_view text);

}  // namespace fieldcost
