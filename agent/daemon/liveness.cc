#include "agent/daemon/liveness.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "common/base/file.h"
#include "common/base/text.h"

namespace fieldcost::daemon {
namespace {

constexpr std::size_t kMaxStatBytes = 4096;
constexpr int kStateField = 3;
constexpr int kThreadsField = 20;
constexpr int kStartTimeField = 22;

struct ProcessStat {
  char state = '?';
  std::uint64_t threads = 0;
  std::uint64_t start_ticks = 0;
};

// proc(5). The second field, the name, is in parentheses and may contain anything.
std::optional<ProcessStat> ReadStat(std::uint32_t pid) {
  const auto text = ReadFile(fmt::format("/proc/{}/stat", pid), kMaxStatBytes);
  if (!text) return std::nullopt;
  std::string_view rest = *text;
  const std::size_t name_end = rest.rfind(')');
  if (name_end == std::string_view::npos || name_end + 2 > rest.size()) return std::nullopt;
  rest.remove_prefix(name_end + 2);
  ProcessStat stat;
  for (int field = kStateField; field <= kStartTimeField; ++field) {
    const std::size_t end = rest.find(' ');
    const std::string_view word = rest.substr(0, end);
    if (field == kStateField && !word.empty()) stat.state = word[0];
    if (field == kThreadsField) stat.threads = ParseUint64(word).value_or(0);
    if (field == kStartTimeField) stat.start_ticks = ParseUint64(word).value_or(0);
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  return stat;
}

bool IsLocked(int fd) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return ::fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

}  // namespace

bool IsProcessAlive(std::uint32_t untrusted_pid, std::uint64_t untrusted_start_ticks, int fd) {
  if (fd >= 0 && IsLocked(fd)) return true;
  const auto stat = ReadStat(untrusted_pid);
  if (!stat || stat->start_ticks != untrusted_start_ticks) return false;
  // A zombie leader with other threads belongs to a process that still runs.
  const bool is_zombie = stat->state == 'Z' || stat->state == 'X';
  return !is_zombie || stat->threads > 1;
}

std::uint64_t ProcessStartTicks(std::uint32_t pid) {
  const auto stat = ReadStat(pid);
  return stat ? stat->start_ticks : 0;
}

}  // namespace fieldcost::daemon
