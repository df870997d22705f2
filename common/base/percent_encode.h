#pragma once

#include <string>
#include <string_view>

namespace fieldcost {

// Text as a part of a URL (RFC 3986 §2.1): letters, digits and the characters of `plain` stay,
// every other byte becomes %XX. Pure.
std::string PercentEncode(std::string_view untrusted_text, std::string_view plain);

// What needs no encoding anywhere in a URL, beside letters and digits (RFC 3986 §2.3).
inline constexpr std::string_view kUnreserved = "-._~";

}  // namespace fieldcost
