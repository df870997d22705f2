#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/draw/spectrum.h"
#include "common/draw/terminal.h"
#include "tools/analysis/idle_view.h"

namespace fieldcost::report {

// Why CPUs were idle, as text. Deterministic; everything is escaped.

// "1.2 ms": the sum over all periods.
std::string IdleTimeText(std::uint64_t ns, const draw::Style& style);

// States how long how many CPUs were idle, how much of that is explained, and how it was recorded.
std::string IdleHeading(const analysis::IdleView& view, const draw::Style& style);

// One line per CPU: idle time, idle time by /proc/stat, the share that a stack explains, and all
// reasons.
std::string IdleCpusText(const analysis::IdleView& view, const draw::Style& style);

// One chain per pair, longest idle time first: "idle <- lock: app!Take() <- sleep: app!Hold() <-
// woken by [interrupt]", with the lengths of its periods; on one line if it fits. At most `most`
// (0: all).
std::string IdleChainsText(const analysis::IdleView& view, std::size_t most,
                           const draw::Style& style);

// "lock 80.1 %, sleep 12.0 %": the reasons of a CPU, greatest first.
std::vector<std::string> ReasonTexts(const analysis::CpuIdle& cpu);

// "idle <- lock: app!Take()", "<- sleep: app!Hold()", "<- woken by [interrupt]".
std::vector<std::string> ChainPieces(const analysis::IdleView& view,
                                     const analysis::IdlePair& pair);

// A histogram of the periods' lengths.
draw::Bars LengthBars(const analysis::IdlePair& pair);

}  // namespace fieldcost::report
