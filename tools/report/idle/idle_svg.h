#pragma once

#include <cstddef>
#include <string>

#include "tools/analysis/idle_timeline.h"
#include "tools/analysis/idle_view.h"

namespace fieldcost::report {

// Idle time of CPUs as drawings inside an HTML page: everything is in attributes, no style, no
// script. Deterministic.

// A CPU over time, stretched to the width of its place: the height is the part of each bin in which
// it was idle, by reason. `cpu` is its text alternative.
std::string IdleTimelineSvg(const analysis::IdleTimeline& timeline,
                            const analysis::IdleTimeline::Cpu& bins, const analysis::CpuIdle& cpu);

// Each reason that `all` has with its colour.
std::string IdleLegendHtml(const analysis::CpuIdle& all);

}  // namespace fieldcost::report
