#pragma once

#include <functional>
#include <memory>
#include <string>

#include "aggregator/config/aggregator_config.h"
#include "aggregator/operate/outcome.h"
#include "aggregator/store/store.h"
#include "common/base/result.h"

namespace fieldcost::aggregator {

// Checks that there is a store. kNotFound: the data directory has none.
Status CheckStoreExists(const Config& config);

// Opens the store of a stopped server; never creates one. kAlreadyExists: the server is running.
Result<std::unique_ptr<store::Store>> OpenExisting(const Config& config);

// Runs `work` with the store or, if a server has it open, sends that server the request
// (ask_service.h).
Result<Outcome> WithStore(const Config& config, const std::string& path, std::string body,
                          const std::function<Result<Outcome>(store::Store&)>& work);

}  // namespace fieldcost::aggregator
