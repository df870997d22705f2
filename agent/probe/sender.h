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

// Requests to fieldcost-probe-server. Its responses are untrusted; displayed parts are escaped and
// bounded.

struct Account {
  std::string user;
  std::string password;
  std::string device_name;
};
// Requests a token for this machine. kUnauthenticated: wrong user or password. kUnavailable: too
// many attempts, or temporarily not possible. kInvalidArgument: invalid URL or CA file.
Result<Login> LogIn(const std::string& url, const std::filesystem::path& ca_file,
                    const Account& account);

struct SendReport {
  std::uint64_t sent = 0;  // batches
  std::uint64_t refused = 0;
  std::uint64_t left = 0;
  std::optional<Error> stopped_by;
};
// Sends queued batches, oldest first, until none is left or an error occurs. A batch is removed
// from the spool once the server has confirmed it. Stops at once if consent is withdrawn. Records
// the time of the next attempt. Holds the SendLock, and waits for another process that holds it.
Result<SendReport> SendQueued(const settings::AgentPaths& paths, Spool& spool, const Clock& clock);

}  // namespace fieldcost::probe
