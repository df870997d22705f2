#include "agent/probe/send_lock.h"

#include <fcntl.h>

#include <cerrno>

#include "common/base/file_lock.h"

namespace fieldcost::probe {
namespace {

constexpr char kLockName[] = "probe_send.lock";
// Longer than a sender waits for the answer to what has left, and than most name look-ups.
constexpr std::chrono::seconds kOffWaits{30};

}  // namespace

Result<std::optional<SendLock>> SendLock::Take(const agent::AgentPaths& paths,
                                               std::chrono::milliseconds wait) {
  const std::filesystem::path path = paths.state_dir / kLockName;
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid()) return ErrnoError("open", path, errno);
  FIELDCOST_ASSIGN(const bool is_ours, LockWithin(fd.get(), path, wait));
  if (!is_ours) return std::optional<SendLock>();
  return std::optional<SendLock>(SendLock(std::move(fd)));
}

Status SendLock::WaitForOthers(const agent::AgentPaths& paths) {
  const std::filesystem::path path = paths.state_dir / kLockName;
  const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  // A sender that creates the file from now on reads the decision after that.
  if (!fd.valid() && errno == ENOENT) return {};
  if (!fd.valid()) return ErrnoError("open", path, errno);
  FIELDCOST_ASSIGN(const bool is_over, LockWithin(fd.get(), path, kOffWaits));
  if (is_over) return {};
  return Fail(ErrorCode::kUnavailable,
              "another process still sends probe points after {} s: what it has begun to send may "
              "still leave",
              kOffWaits.count());
}

}  // namespace fieldcost::probe
