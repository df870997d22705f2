#pragma once

#include <string>
#include <string_view>

namespace fieldcost {

// Encodes text as part of a URL (RFC 3986 §2.1): keeps letters, digits and the characters of
// `plain`, and replaces every other byte by %XX. Pure.
std::string PercentEncode(std::string_view untrusted_text, std::string_view plain);

// The characters, besides letters and digits, that never need encoding in a URL (RFC 3986 §2.3).
inline constexpr std::string_view kUnreserved = "-._~";

// The file: URL of an absolute path (RFC 8089). Pure.
std::string FileUrl(std::string_view untrusted_path);

}  // namespace fieldcost
