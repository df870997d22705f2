#pragma once

#include <chrono>
#include <optional>

#include "agent/settings/paths.h"
#include "common/base/file.h"
#include "common/base/result.h"

namespace fieldcost::probe {

// How long a process with data to send waits for another sending process.
inline constexpr std::chrono::seconds kSenderWaits{90};

// Held by the one process of a user that sends probe points. The kernel releases it when the
// process ends.
class SendLock {
 public:
  // Waits up to `wait` for another process; nullopt if it still holds the lock.
  static Result<std::optional<SendLock>> Take(const settings::AgentPaths& paths,
                                              std::chrono::milliseconds wait);

  // Call after consent was withdrawn: when this returns, nothing is being sent, and the spool
  // contains the outcome of the last batch. kUnavailable if a sender does not end within 30 s: the
  // batch that it had begun to send may still leave. Creates no file.
  static Status WaitForOthers(const settings::AgentPaths& paths);

 private:
  explicit SendLock(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

}  // namespace fieldcost::probe
