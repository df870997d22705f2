#include "common/base/json_number.h"

#include <array>
#include <charconv>
#include <cmath>

namespace fieldcost {
namespace {

constexpr double kLeastWithExponent = 1e21;
constexpr double kLeastWithout = 1e-6;

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

}  // namespace fieldcost
