#include "agent/probe/send_lock.h"

#include "common/base/file_lock.h"

namespace fieldcost::probe {
namespace {

constexpr char kLockName[] = "probe_send.lock";
// Longer than a sender waits for the response to a sent batch, and than most name look-ups.
constexpr std::chrono::seconds kOffWaits{30};

}  // namespace

Result<std::optional<SendLock>> SendLock::Take(const settings::AgentPaths& paths,
                                               std::chrono::milliseconds wait) {
  const std::filesystem::path path = paths.state_dir / kLockName;
  FIELDCOST_ASSIGN(std::optional<UniqueFd> fd, TakeLockFile(path, wait));
  if (!fd) return std::optional<SendLock>();
  return std::optional<SendLock>(SendLock(std::move(*fd)));
}

Status SendLock::WaitForOthers(const settings::AgentPaths& paths) {
  const std::filesystem::path path = paths.state_dir / kLockName;
  // A process that creates the file after this reads the decision later still.
  FIELDCOST_ASSIGN(const bool is_over, WaitForLockFile(path, kOffWaits));
  if (is_over) return {};
  return Fail(ErrorCode::kUnavailable,
              "another process still sends probe points after {} s: data that it has begun to "
              "send may still leave this machine",
              kOffWaits.count());
}

}  // namespace fieldcost::probe
