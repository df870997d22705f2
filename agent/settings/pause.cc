// The pause file: seconds since 1970, or "until resumed", followed by a line feed.

#include "agent/settings/pause.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <limits>

#include "common/base/file.h"
#include "common/base/text.h"

namespace fieldcost::settings {
namespace {

constexpr std::size_t kMaxPauseFileBytes = 32;
constexpr std::string_view kForever = "until resumed";

// The greatest number of seconds that a WallTime (in microseconds) can represent.
constexpr std::uint64_t kMostSeconds = std::numeric_limits<std::int64_t>::max() / 1'000'000;

WallTime EndOf(std::string_view untrusted_text) {
  if (!untrusted_text.ends_with('\n')) return kUntilResumed;
  const auto second = ParseUint64(untrusted_text.substr(0, untrusted_text.size() - 1));
  if (!second || *second > kMostSeconds) return kUntilResumed;
  return WallTime(std::chrono::seconds(static_cast<std::int64_t>(*second)));
}

}  // namespace

std::optional<WallTime> PausedUntil(const AgentPaths& paths, WallTime now) {
  const auto untrusted_text = ReadFile(paths.pause_file(), kMaxPauseFileBytes);
  if (!untrusted_text) {
    if (untrusted_text.error().code == ErrorCode::kNotFound) return std::nullopt;
    return kUntilResumed;
  }
  const WallTime end = EndOf(*untrusted_text);
  return end > now ? std::optional(end) : std::nullopt;
}

Status SavePause(const AgentPaths& paths, WallTime until) {
  FIELDCOST_TRY(MakeDirectories(paths.state_dir, 0700));
  std::string text(kForever);
  if (until != kUntilResumed) {
    text =
        std::to_string(std::chrono::ceil<std::chrono::seconds>(until).time_since_epoch().count());
  }
  return WriteFileAtomically(paths.pause_file(), text + "\n", 0600);
}

Result<bool> EndPause(const AgentPaths& paths) {
  if (::unlink(paths.pause_file().c_str()) == 0) return true;
  if (errno == ENOENT) return false;
  return ErrnoError("remove", paths.pause_file(), errno);
}

}  // namespace fieldcost::settings
