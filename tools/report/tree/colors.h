#pragma once

#include <array>
#include <string_view>

namespace fieldcost::report {

// The colours of call trees in pictures and on pages. On each of them, dark letters have a contrast
// of at least 4.5 : 1.

// The cost of an API here relative to its cost in the field, and the minimum ratio of each colour.
// Lightness increases monotonically: the upper part of viridis (van der Walt and Smith 2015), which
// contains no grey.
struct RatioColor {
  double least_ratio;
  std::string_view color;
  std::string_view words;
};
inline constexpr std::array<RatioColor, 4> kRatioColors = {
    {{0, "#21918c", "as in the field, or cheaper"},
     {1.25, "#44bf70", "1.25 × or more"},
     {2, "#9bd93c", "2 × or more"},
     {4, "#fde725", "4 × or more"}}};
inline constexpr std::string_view kUnknownColor = "#c4c4cc";

// Differences use a diverging scale: nearly white in the middle, red for higher and blue for lower
// cost than before. Lightness decreases equally on both sides, and readers who cannot distinguish
// red see yellow. The contrast of black letters is at least 8 : 1.

inline constexpr std::string_view kUncertainColor = "#d4d4d8";
inline constexpr std::string_view kSameColor = "#f4f4f5";

// `least_part`: the minimum change, as a part of the frame's width.
struct Heat {
  double least_part;
  std::string_view more;
  std::string_view less;
};
inline constexpr std::array<Heat, 4> kHeat = {{{0.01, "#ffe3dc", "#e2edfb"},
                                               {0.05, "#ffc4b5", "#c3dafa"},
                                               {0.2, "#ff9f86", "#97c0f7"},
                                               {0.5, "#ff7a59", "#6ba6f5"}}};
// Frames that vanished are hatched: stripes on a background.
inline constexpr std::string_view kGoneGround = "#e2edfb";
inline constexpr std::string_view kGoneStripe = "#6ba6f5";

}  // namespace fieldcost::report
