#pragma once

#include <string>

#include "aggregator/config/config.h"
#include "aggregator/operate/outcome.h"
#include "common/base/result.h"

namespace fieldcost::aggregator {

// Has the service that runs with this configuration do something: a POST of aggregator/admin's
// requests.h with the first of the configured tokens. Waits until it is done. Errors are the
// service's own; kAlreadyExists: the configuration has no admin listener or no token, and the
// message says what to do; kUnavailable: nobody answers there.
Result<Outcome> AskService(const Config& config, const std::string& path, std::string body);

}  // namespace fieldcost::aggregator
