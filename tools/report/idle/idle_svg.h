#pragma once

#include <cstddef>
#include <string>

#include "tools/analysis/idle_timeline.h"
#include "tools/analysis/idle_view.h"

namespace fieldcost::report {

// Idle time of CPUs as SVG within an HTML page: uses attributes only, no style or script.
// Deterministic.

// A CPU over time, as wide as the space available. The height is the part of each bin in which the
// CPU was idle, by reason. `cpu` is the text alternative.
std::string IdleTimelineSvg(const analysis::IdleTimeline& timeline,
                            const analysis::IdleTimeline::Cpu& bins, const analysis::CpuIdle& cpu);

// Each reason present in `all`, with its colour.
std::string IdleLegendHtml(const analysis::CpuIdle& all);

}  // namespace fieldcost::report
