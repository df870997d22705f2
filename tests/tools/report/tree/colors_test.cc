#include "tools/report/tree/colors.h"

#include <gtest/gtest.h>

#include <charconv>
#include <string>

#include "tests/common/draw/luminance.h"

namespace fieldcost::report {
namespace {

using testing::Luminance;

constexpr double kLetters = 0.0056;  // luminance of #111

draw::Rgb RgbOf(std::string_view hex) {
  std::uint32_t number = 0;
  EXPECT_EQ(hex.size(), 7U);
  std::from_chars(hex.data() + 1, hex.data() + hex.size(), number, 16);
  return {.red = static_cast<std::uint8_t>(number >> 16),
          .green = static_cast<std::uint8_t>(number >> 8),
          .blue = static_cast<std::uint8_t>(number)};
}

double LightnessOf(std::string_view hex) { return Luminance(RgbOf(hex)); }

double Contrast(std::string_view hex) { return (LightnessOf(hex) + 0.05) / (kLetters + 0.05); }

// Blue relative to what readers without red or green perception see of the other channels.
int Blueness(std::string_view hex) {
  const draw::Rgb color = RgbOf(hex);
  return 2 * color.blue - color.red - color.green;
}

TEST(TreeColorsTest, ThoseOfRatiosRiseInLightness) {
  for (std::size_t i = 0; i < kRatioColors.size(); ++i) {
    EXPECT_GE(Contrast(kRatioColors[i].color), 4.5) << i;
    if (i == 0) continue;
    EXPECT_GT(kRatioColors[i].least_ratio, kRatioColors[i - 1].least_ratio);
    // Distinguishable without hue.
    EXPECT_GT(LightnessOf(kRatioColors[i].color), 1.3 * LightnessOf(kRatioColors[i - 1].color))
        << i;
  }
  EXPECT_GE(Contrast(kUnknownColor), 4.5);
  const draw::Rgb unknown = RgbOf(kUnknownColor);
  EXPECT_LE(std::abs(int{unknown.red} - int{unknown.blue}), 8) << "grey: none of the scale";
}

TEST(TreeColorsTest, ThoseOfDifferencesFallInLightnessOnBothSides) {
  double more = LightnessOf(kSameColor);
  double less = more;
  for (const Heat& heat : kHeat) {
    EXPECT_LT(LightnessOf(heat.more), more);
    EXPECT_LT(LightnessOf(heat.less), less);
    more = LightnessOf(heat.more);
    less = LightnessOf(heat.less);
    EXPECT_GE(Contrast(heat.more), 6);
    EXPECT_GE(Contrast(heat.less), 6);
    EXPECT_LT(Blueness(heat.more), 0);
    EXPECT_GT(Blueness(heat.less), 0);
  }
}

}  // namespace
}  // namespace fieldcost::report
