#pragma once

#include <array>
#include <string_view>

namespace fieldcost::report {

// What differences of call trees are painted with, in pictures and on pages. Black letters are
// readable on all: 8 : 1 and more.

inline constexpr std::string_view kUncertainColor = "#d4d4d8";
inline constexpr std::string_view kSameColor = "#f4f4f5";

// Red costs more than before, blue less: from what part of the frame's width on.
struct Heat {
  double least_part;
  std::string_view more;
  std::string_view less;
};
inline constexpr std::array<Heat, 4> kHeat = {{{0.01, "#ffe3dc", "#e2edfb"},
                                               {0.05, "#ffc4b5", "#c3dafa"},
                                               {0.2, "#ff9f86", "#97c0f7"},
                                               {0.5, "#ff7a59", "#6ba6f5"}}};
// What vanished is hatched: stripes on a ground.
inline constexpr std::string_view kGoneGround = "#e2edfb";
inline constexpr std::string_view kGoneStripe = "#6ba6f5";

}  // namespace fieldcost::report
