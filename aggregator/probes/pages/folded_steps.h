#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/probe/steps.h"

namespace fieldcost::probe_server {

inline constexpr std::size_t kMaxDrawnSteps = 40;  // rows; what is shorter is summed in one more

// A picture's rows: the longest steps, in the order in which they come, and the sum of the others.
struct FoldedSteps {
  struct Row {
    std::string name;               // of the last one, if steps are left over, "and N others"
    std::vector<std::uint64_t> ns;  // of each event; probe::kNoStep
    std::vector<std::size_t> hits;  // that end it; kNoHit
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
