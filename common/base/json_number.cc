#include "common/base/json_number.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

namespace fieldcost {
namespace {

constexpr double kLeastWithExponent = 1e21;
constexpr double kLeastWithout = 1e-6;
constexpr std::string_view kNumberBytes = "+-.0123456789Ee";
constexpr std::string_view kExponents = "Ee";

// Returns the end of the string that begins at `begin`, after its closing quote.
std::size_t EndOfText(std::string_view json, std::size_t begin) {
  std::size_t at = begin + 1;
  while (at < json.size() && json[at] != '"') at += json[at] == '\\' ? 2 : 1;
  return std::min(at + 1, json.size());
}

std::string Plain(std::string_view number) {
  double value = 0;
  const auto read = std::from_chars(number.data(), number.data() + number.size(), value);
  return read.ec == std::errc() ? JsonNumber(value) : std::string(number);
}

}  // namespace

std::string JsonNumber(double value) {
  if (!std::isfinite(value)) return "null";
  if (value == 0) return "0";
  const double size = std::abs(value);
  const bool is_plain = size >= kLeastWithout && size < kLeastWithExponent;
  std::array<char, 64> text;
  const auto written =
      std::to_chars(text.data(), text.data() + text.size(), value,
                    is_plain ? std::chars_format::fixed : std::chars_format::scientific);
  return {text.data(), written.ptr};
}

std::string WithPlainNumbers(std::string_view json) {
  std::string text;
  text.reserve(json.size());
  for (std::size_t at = 0; at < json.size();) {
    std::size_t end = at + 1;
    if (json[at] == '"') {
      end = EndOfText(json, at);
    } else if (json[at] == '-' || (json[at] >= '0' && json[at] <= '9')) {
      end = std::min(json.find_first_not_of(kNumberBytes, at), json.size());
      const std::string_view number = json.substr(at, end - at);
      if (number.find_first_of(kExponents) != std::string_view::npos) {
        text += Plain(number);
        at = end;
        continue;
      }
    }
    text += json.substr(at, end - at);
    at = end;
  }
  return text;
}

}  // namespace fieldcost
