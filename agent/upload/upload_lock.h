#pragma once

#include <chrono>
#include <optional>

#include "agent/settings/paths.h"
#include "common/base/file.h"
#include "common/base/result.h"

namespace fieldcost::agent {

// How long a user's wish waits for a daemon that uploads: a request may take a minute.
inline constexpr std::chrono::seconds kUserWaits{90};

// Held by the one process of a user that talks to the service about batches (uploads, forgets), so
// that no two do so about the same one. The kernel lets go of it when the process ends.
class UploadLock {
 public:
  // Waits up to `wait` for another process; nullopt if it still holds the lock.
  static Result<std::optional<UploadLock>> Take(const AgentPaths& paths,
                                                std::chrono::milliseconds wait);

  // Waits after sending was switched off: when it returns, no upload is under way. One that is sees
  // the decision (CheckMaySend) and ends, or waits for its answer for a moment. kUnavailable if one
  // does not end: what it had begun to send may still leave. Makes no file.
  static Status WaitForOthers(const AgentPaths& paths);

 private:
  explicit UploadLock(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

}  // namespace fieldcost::agent
