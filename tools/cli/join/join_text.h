#pragma once

#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/draw/terminal.h"
#include "common/stats/api_key.h"
#include "tools/cli/join/join_service.h"
#include "tools/cli/join/join_steps.h"

namespace fieldcost::cli {

// Text output of `fieldcost agent join` and `leave`. Pure; external text is escaped.

// Who operates the service, the fingerprints of its root and authority, and what joining means.
std::string OfferText(const ServiceOffer& offer);

// An example of a batch of this machine, exactly as a real one would be shown.
Result<std::string> ExampleBatchText(const stats::HardwareClass& hardware, WallTime now,
                                     const draw::Style& style);

// Which steps were done and which were not, one line each.
std::string StepsText(const std::vector<JoinStep>& steps);
// The offer and the steps.
std::string JoinJson(const ServiceOffer& offer, const std::vector<JoinStep>& steps);
std::string StepsJson(const std::vector<JoinStep>& steps);

}  // namespace fieldcost::cli
