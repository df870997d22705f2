#pragma once

#include <string>
#include <vector>

#include "aggregator/config/config.h"
#include "common/base/result.h"

namespace fieldcost::aggregator {

// What a start needs, as it was found.
struct StartCheck {
  std::vector<std::string> facts;  // a line each: "certificate /etc/…: until 2027-…, for …"
  std::vector<std::string> warnings;  // a start works, and somebody will regret it
};

enum class Listening {
  kStarts,    // a port that is in use is an error
  kMayServe,  // unless a server runs with the data directory: it is that one's
};

// Tries what a start will need, and neither makes nor changes nor keeps anything: descriptors,
// certificate and key, token files, directories, the secrets that are there, and the ports. What
// the store holds is for `verify`. The first error names what was tried, on what, why it failed,
// and what to do.
Result<StartCheck> CheckStart(const Config& config, Listening listening);

}  // namespace fieldcost::aggregator
