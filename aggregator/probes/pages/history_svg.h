#pragma once

#include <span>
#include <string>

#include "common/probe/compare.h"

namespace fieldcost::probe_server {

inline constexpr std::size_t kMaxDrawnBuilds = 30;  // the newest

// A label's median over builds, from left to right in the order given, with quartiles, and a mark
// where it changed. The same numbers belong into a table beside it. Pure.
std::string HistorySvg(std::span<const probe::BuildPoint> builds);

}  // namespace fieldcost::probe_server
