#pragma once

#include <cmath>
#include <cstdint>

#include "common/draw/terminal.h"

namespace fieldcost::testing {

// Relative luminance (WCAG 2.1, from sRGB).
inline double Luminance(const draw::Rgb& color) {
  const auto linear = [](std::uint8_t part) {
    const double value = part / 255.0;
    return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(color.red) + 0.7152 * linear(color.green) + 0.0722 * linear(color.blue);
}

}  // namespace fieldcost::testing
