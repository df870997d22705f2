#pragma once

#include <string_view>

namespace fieldcost::exchange {

// Before MetricText() in comments of pprof profiles that we write, one for each type, in their
// order. A profile with these is read back as it was.
inline constexpr std::string_view kMetricComment = "fieldcost metric: ";
// The comment in profiles that name threads both by labels and by a first frame, for tools that
// show no labels.
inline constexpr std::string_view kThreadsComment =
    "fieldcost: the first frame of each stack is its thread";

}  // namespace fieldcost::exchange
