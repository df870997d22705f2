#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/probe/steps.h"

namespace fieldcost::probe_server {

inline constexpr std::size_t kMaxDrawnSteps = 40;  // rows; shorter steps are summed in one more row

// A chart's rows: the longest steps, in order of occurrence, and the sum of the others.
struct FoldedSteps {
  struct Row {
    std::string name;               // of the last row, if it sums other steps: "and N others"
    std::vector<std::uint64_t> ns;  // per event; or probe::kNoStep
    std::vector<std::size_t> hits;  // that end the step, per event; or kNoHit
    bool is_sum = false;
  };
  std::vector<Row> rows;
  std::size_t events = 0;

  std::uint64_t Total(std::size_t event) const;
};
inline constexpr std::size_t kNoHit = ~std::size_t{0};

// Pure.
FoldedSteps FoldSteps(const std::vector<probe::Event>& events);

}  // namespace fieldcost::probe_server
