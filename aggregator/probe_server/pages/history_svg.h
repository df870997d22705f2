#pragma once

#include <span>
#include <string>

#include "common/probe/compare_events.h"

namespace fieldcost::probe_server {

inline constexpr std::size_t kMaxDrawnBuilds = 30;  // the newest

// A label's median per build, labelled with the build's name, from left to right in the given
// order, with quartiles, a marker at each change, and round values on the axis; as wide as the
// page. The page must also show the same numbers in a table. Pure.
std::string HistorySvg(std::span<const probe::BuildPoint> builds);

// A build's name for the axis: in full, or its beginning and end, "releas…-x86_64"; for a commit or
// build ID, its first digits. Pure.
std::string ShortBuild(const std::string& untrusted_build);

}  // namespace fieldcost::probe_server
