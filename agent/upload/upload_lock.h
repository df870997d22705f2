#pragma once

#include <chrono>
#include <optional>

#include "agent/settings/paths.h"
#include "common/base/file.h"
#include "common/base/result.h"

namespace fieldcost::upload {

// How long a user's command waits for an uploading daemon: a request may take a minute.
inline constexpr std::chrono::seconds kUserWaits{90};

// Held by the one process of a user that talks to the service about batches (uploads, forgets), so
// that no two processes handle the same batch. The kernel releases it when the process ends.
class UploadLock {
 public:
  // Waits up to `wait` for another process; nullopt if it still holds the lock.
  static Result<std::optional<UploadLock>> Take(const settings::AgentPaths& paths,
                                                std::chrono::milliseconds wait);

  // Waits, after sending was switched off, until no upload is in progress. A running upload sees
  // the decision (CheckMaySend) and ends, or waits briefly for its response. kUnavailable if it
  // does not end: data that it had begun to send may still leave. Creates no file.
  static Status WaitForOthers(const settings::AgentPaths& paths);

 private:
  explicit UploadLock(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

}  // namespace fieldcost::upload
