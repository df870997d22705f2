#pragma once

#include <string>
#include <vector>

#include "aggregator/probes/pages/folded_steps.h"
#include "common/probe/event_store.h"

namespace fieldcost::probe_server {

// What a step's segment is filled with. `is_light`: text on it is dark.
struct StepColor {
  const char* fill;
  bool is_light;
};
// Okabe and Ito's colours that stand out from white and from black, in an order in which neighbours
// differ in lightness, too: for colour-blind readers and prints without colour. They name steps,
// not costs; step 7 has that of step 1.
inline constexpr StepColor kStepColors[] = {{"#0072b2", false}, {"#cc79a7", true},
                                            {"#e69f00", true},  {"#d55e00", true},
                                            {"#56b4e9", true},  {"#009e73", true}};

// Events as stacked bars as wide as the page, one below the other, over one scale: a segment a
// step, which leads to it. A segment shows its step's number and, if there is room, its name;
// Legend() has all names. The page shows the same times in a table beside it. Pure.
struct Bar {
  const probe::Event* event;
  std::string name;  // stands above it, before its total; empty: "All steps"
};
// REQUIRES: a bar for each of the steps' events.
std::string BarsSvg(const std::vector<Bar>& bars, const FoldedSteps& steps);

// Explains each number and colour.
std::string Legend(const FoldedSteps& steps);

// A row's colour.
std::string SwatchSvg(std::size_t row);

}  // namespace fieldcost::probe_server
