#pragma once

#include <string_view>

namespace fieldcost::exchange {

// Precedes MetricText() in comments of pprof profiles that we write, one per type, in the order of
// the types. A profile with these comments is read back unchanged.
inline constexpr std::string_view kMetricComment = "fieldcost metric: ";
// The comment in profiles that name threads by labels and also by a first frame, for tools that do
// not show labels.
inline constexpr std::string_view kThreadsComment =
    "fieldcost: the first frame of each stack is its thread";

}  // namespace fieldcost::exchange
