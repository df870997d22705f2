#pragma once

#include <string>
#include <vector>

#include "aggregator/config/aggregator_config.h"
#include "common/base/result.h"

namespace fieldcost::aggregator {

// The state of this machine as far as a start depends on it.
struct StartCheck {
  std::vector<std::string> facts;  // one line each: "certificate /etc/…: until 2027-…, for …"
  std::vector<std::string> warnings;  // a start works, but causes trouble later
};

enum class Listening {
  kStarts,    // a port in use is an error
  kMayServe,  // allowed if a server runs with the data directory, which then owns the port
};

// Checks everything that a start will need, and neither creates nor changes nor locks anything:
// descriptors, certificate and key, token files, directories, existing secrets, and the ports.
// (`verify` checks the store's contents.) The first error names what was tried, on what, why it
// failed, and what to do.
Result<StartCheck> CheckStart(const Config& config, Listening listening);

}  // namespace fieldcost::aggregator
