#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "agent/probe/login.h"
#include "agent/probe/spool.h"
#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/http/client.h"

namespace fieldcost::probe {

// Requests to fieldcost-probe-server. Its answers are untrusted; what is shown of them is escaped
// and bounded.

struct Account {
  std::string user;
  std::string password;
  std::string device_name;
};
// Asks for a token for this machine. kUnauthenticated: user or password is wrong; kUnavailable: too
// many attempts, or not now; kInvalidArgument: the URL, the CA file.
Result<Login> LogIn(const std::string& url, const std::filesystem::path& ca_file,
                    const Account& account);

struct SendReport {
  std::uint64_t sent = 0;  // batches
  std::uint64_t refused = 0;
  std::uint64_t left = 0;
  std::optional<Error> stopped_by;
};
// Sends queued batches, the oldest first, until none is left or something is in the way; a batch
// leaves the spool when the server says that it has it. Stops at once when consent is withdrawn.
// Notes when to try again. Holds the SendLock; waits for another process that does.
Result<SendReport> SendQueued(const agent::AgentPaths& paths, Spool& spool, const Clock& clock);

}  // namespace fieldcost::probe
