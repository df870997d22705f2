#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/draw/spectrum.h"
#include "common/draw/terminal.h"
#include "tools/analysis/idle_view.h"

namespace fieldcost::report {

// Why CPUs were idle, as text. Deterministic; everything is escaped.

// "1.2 ms": of all periods together.
std::string IdleTimeText(std::uint64_t ns, const draw::Style& style);

// How much of how many CPUs, how much of it is explained, how that was recorded.
std::string IdleHeading(const analysis::IdleView& view, const draw::Style& style);

// One line per CPU: idle time, that of /proc/stat, the part that a stack explains, and all reasons.
std::string IdleCpusText(const analysis::IdleView& view, const draw::Style& style);

// One chain per pair, those that explain most first: "idle <- lock: app!Take() <- sleep: app!Hold()
// <- woken by [interrupt]", with the lengths of its periods; on one line if there is room. At most
// `most` (0: all).
std::string IdleChainsText(const analysis::IdleView& view, std::size_t most,
                           const draw::Style& style);

// "lock 80.1 %, sleep 12.0 %": of a CPU, the greatest first.
std::vector<std::string> ReasonTexts(const analysis::CpuIdle& cpu);

// "idle <- lock: app!Take()", "<- sleep: app!Hold()", "<- woken by [interrupt]".
std::vector<std::string> ChainPieces(const analysis::IdleView& view,
                                     const analysis::IdlePair& pair);

// How many periods were how long.
draw::Bars LengthBars(const analysis::IdlePair& pair);

}  // namespace fieldcost::report
