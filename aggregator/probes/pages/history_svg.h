#pragma once

#include <span>
#include <string>

#include "common/probe/compare.h"

namespace fieldcost::probe_server {

inline constexpr std::size_t kMaxDrawnBuilds = 30;  // the newest

// A label's median over builds, from left to right in the order given, by name, with quartiles, a
// mark where it changed, and round values at the side; as wide as the page. The same numbers belong
// into a table beside it. Pure.
std::string HistorySvg(std::span<const probe::BuildPoint> builds);

// A build's name as it stands on an axis: whole, or its beginning and end, "releas…-x86_64"; of a
// commit or build ID its first digits. Pure.
std::string ShortBuild(const std::string& untrusted_build);

}  // namespace fieldcost::probe_server
