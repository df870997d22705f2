#include "agent/upload/upload_lock.h"

#include "common/base/file_lock.h"

namespace fieldcost::upload {
namespace {

constexpr char kLockName[] = "upload.lock";
// Longer than an upload waits for the response to data that it has sent, and than most name
// look-ups.
constexpr std::chrono::seconds kOffWaits{30};

}  // namespace

Result<std::optional<UploadLock>> UploadLock::Take(const settings::AgentPaths& paths,
                                                   std::chrono::milliseconds wait) {
  const std::filesystem::path path = paths.state_dir / kLockName;
  FIELDCOST_ASSIGN(std::optional<UniqueFd> fd, TakeLockFile(path, wait));
  if (!fd) return std::optional<UploadLock>();
  return std::optional<UploadLock>(UploadLock(std::move(*fd)));
}

Status UploadLock::WaitForOthers(const settings::AgentPaths& paths) {
  const std::filesystem::path path = paths.state_dir / kLockName;
  // A process that creates the file after this reads the decision even later.
  FIELDCOST_ASSIGN(const bool is_over, WaitForLockFile(path, kOffWaits));
  if (is_over) return {};
  return Fail(ErrorCode::kUnavailable,
              "another process is still connected to the service after {} s (a hanging upload, or "
              "\"fieldcost agent forget\"): data that it has begun to send may still leave this "
              "machine",
              kOffWaits.count());
}

}  // namespace fieldcost::upload
