#pragma once

#include <string>
#include <string_view>

namespace fieldcost::probe_server {

inline constexpr double kChartWidth = 960;  // of every drawing, in user units

struct Chart {
  std::string_view role;  // "img", or "group" if there are links in it
  double height = 0;
  std::string_view title;  // texts of ours
  std::string_view words;  // what it shows, for those who do not see it
};

// The beginning of a drawing. Pure.
std::string OpenChart(const Chart& chart);

}  // namespace fieldcost::probe_server
