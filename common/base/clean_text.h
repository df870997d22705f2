#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fieldcost {

// Labels, tags, names and parameters of requests: UTF-8 of bounded length, without control
// characters (U+0000 to U+001F, U+007F to U+009F) and without characters that change the text
// direction. Pure functions.

bool IsText(std::string_view untrusted_text, std::size_t max_bytes);

// Replaces invalid characters with U+FFFD and truncates long texts at a character boundary.
std::string CleanText(std::string_view untrusted_text, std::size_t max_bytes);
// The same, but truncates at the beginning; for paths.
std::string CleanPath(std::string_view untrusted_path, std::size_t max_bytes);

}  // namespace fieldcost
