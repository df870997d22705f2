#pragma once

#include <string>
#include <vector>

#include "aggregator/probes/pages/folded_steps.h"
#include "common/probe/event_store.h"

namespace fieldcost::probe_server {

// Events as stacked bars, one below the other, over one scale: a segment a step, which leads to it.
// A segment shows its step's number and, if there is room, its name; Legend() has all names. The
// page shows the same times in a table beside it. Pure.
struct Bar {
  const probe::Event* event;
  std::string name;  // what stands above it; empty: nothing
};
// REQUIRES: a bar for each of the steps' events.
std::string BarsSvg(const std::vector<Bar>& bars, const FoldedSteps& steps);

// Explains each number and colour.
std::string Legend(const FoldedSteps& steps);

// A row's colour: rising in lightness from the first to the last.
std::string SwatchSvg(std::size_t row, std::size_t rows);

}  // namespace fieldcost::probe_server
