#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "agent/probe/probe_plan.h"
#include "common/shm/probe_file.h"

namespace fieldcost::probe {

// Observations about the points named in a plan. Texts are untrusted.
struct SeenPoints {
  std::array<std::uint64_t, shm::kMaxProbePoints / 64> placed{};  // bits: placed at a function
  std::set<std::pair<std::string, std::string>> passed;           // "library!symbol", label
  std::set<std::string> modules;                                  // paths of loaded modules
};

// Returns one line per named point that no program passed, with the reason: its function does not
// exist, is not called through a slot, or was not called. Reads the modules' symbol tables.
std::vector<std::string> ExplainUnreached(const std::vector<NamedPoint>& points,
                                          const SeenPoints& untrusted_seen);

}  // namespace fieldcost::probe
