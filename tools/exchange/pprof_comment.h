#pragma once

#include <string_view>

namespace fieldcost::exchange {

// Before MetricText() in comments of pprof profiles that we write, one for each type, in their
// order. A profile with these is read back as it was.
inline constexpr std::string_view kMetricComment = "fieldcost metric: ";
// A comment of profiles whose samples have labels of threads: tools that show no labels have the
// frame.
inline constexpr std::string_view kThreadsComment =
    "fieldcost: the first frame of each stack is its thread";

}  // namespace fieldcost::exchange
