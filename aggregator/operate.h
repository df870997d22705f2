#pragma once

#include <filesystem>
#include <string_view>

#include "aggregator/config.h"
#include "common/base/clock.h"
#include "common/base/result.h"

namespace fieldcost::aggregator {

// The subcommands beside serve. They print their result to stdout.

// Opens the store of a stopped server, checks every row and prints a summary. False if something is
// wrong with the data.
Result<bool> Verify(const Config& config);

// Signs the policy in the file and puts it in force; works beside a running server.
Status SignPolicy(const Config& config, const std::filesystem::path& policy_file, bool json,
                  const Clock& clock);

// kNotFound if no policy is in force.
Status ShowPolicy(const Config& config, bool json, const Clock& clock);

// Refuses all further batches of an agent, from the next start of the server on.
Status Revoke(const Config& config, std::string_view untrusted_agent_hex);

}  // namespace fieldcost::aggregator
