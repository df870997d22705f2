#pragma once

#include <string>

#include "aggregator/config/aggregator_config.h"
#include "aggregator/operate/outcome.h"
#include "common/base/result.h"

namespace fieldcost::aggregator {

// Sends a request to the service that runs with this configuration: a POST of
// aggregator/admin/admin_requests.h with the first of the configured tokens. Waits until it is
// done. Errors are the service's own; kAlreadyExists: the configuration has no admin listener or no
// token (the message states what to do); kUnavailable: no server answers there.
Result<Outcome> AskService(const Config& config, const std::string& path, std::string body);

}  // namespace fieldcost::aggregator
