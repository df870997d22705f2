#pragma once

#include <string>
#include <vector>

#include "aggregator/probe_server/pages/folded_steps.h"
#include "common/probe/event_store.h"

namespace fieldcost::probe_server {

// The fill of a step's segment. `is_light`: text on it is dark.
struct StepColor {
  const char* fill;
  bool is_light;
};
// Those of Okabe and Ito's colours that contrast with both white and black, ordered so that
// neighbours also differ in lightness, for colour-blind readers and black-and-white prints. They
// identify steps, not costs; step 7 has the colour of step 1.
inline constexpr StepColor kStepColors[] = {{"#0072b2", false}, {"#cc79a7", true},
                                            {"#e69f00", true},  {"#d55e00", true},
                                            {"#56b4e9", true},  {"#009e73", true}};

// Events as stacked bars on a common scale, as wide as the page, one below the other, with one
// segment per step that links to it. A segment shows its step's number and, if there is room, its
// name; Legend() has all names. The page also shows the same times in a table. Pure.
struct Bar {
  const probe::Event* event;
  std::string name;  // shown above the bar, before its total; empty: "All steps"
};
// REQUIRES: one bar per event of `steps`.
std::string BarsSvg(const std::vector<Bar>& bars, const FoldedSteps& steps);

// Explains each number and colour.
std::string Legend(const FoldedSteps& steps);

// A sample of a row's colour.
std::string SwatchSvg(std::size_t row);

}  // namespace fieldcost::probe_server
