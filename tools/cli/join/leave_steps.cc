#include "tools/cli/join/leave_steps.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "agent/refresh/automatic_refresh.h"
#include "agent/settings/memory_dir.h"
#include "agent/volunteer/agent.h"
#include "common/base/file.h"
#include "tools/cli/agent/switch_off.h"
#include "tools/cli/join/user_units.h"
#include "tools/cli/session/login_session.h"

namespace fieldcost::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kDaemonEnds{40};  // longer than an upload may take to end
constexpr std::chrono::milliseconds kLookInterval{50};

// Returns to the mode before joining. Local sums of that time stay.
Result<std::string> RestoreMode(const JoinRecord& record, const settings::AgentPaths& paths,
                                const Clock& clock) {
  FIELDCOST_TRY(SwitchOff(paths));
  if (record.mode != settings::Mode::kLocal) return std::string("mode off; unsent data is deleted");
  FIELDCOST_ASSIGN(volunteer::Agent agent, volunteer::Agent::Open(paths, clock));
  FIELDCOST_TRY(agent.SetMode(settings::Mode::kLocal));
  return std::string("mode local, as before joining; unsent data is deleted");
}

Result<std::string> EndUnits(const JoinRecord& record) {
  if (record.had_units || !IsEnabled(kAgentUnit)) return std::string("unchanged");
  FIELDCOST_TRY(Disable(kAgentUnit));
  return std::string("fieldcostd.path is disabled");
}

Result<std::string> EndRefreshing(const JoinRecord& record, const settings::AgentPaths& paths) {
  if (record.had_refresh) return std::string("was on before joining, and stays");
  FIELDCOST_TRY(refresh::SwitchOff(paths));
  if (IsEnabled(kRefreshUnit)) FIELDCOST_TRY(Disable(kRefreshUnit));
  return std::string("off");
}

Result<std::string> EndSession(const JoinRecord& record, const settings::AgentPaths& paths) {
  if (record.had_session) return std::string("was active before joining, and stays");
  FIELDCOST_ASSIGN(const Session session, Session::FromEnvironment(paths));
  FIELDCOST_ASSIGN(const SessionReport report, session.Off());
  if (report.library_present) {
    return Fail(ErrorCode::kUnavailable,
                "profiles are restored, but {} running programs still name the library; log out, "
                "and run fieldcost agent leave again",
                report.holders.size());
  }
  return std::string("profiles are restored");
}

// A daemon ends by itself in mode off, and must not write into a directory that is removed.
Status WaitForDaemon(const settings::AgentPaths& paths) {
  const fs::path file = paths.state_dir / "daemon.lock";
  const UniqueFd lock(::open(file.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!lock.valid()) return errno == ENOENT ? Status() : ErrnoError("open", file, errno);
  const auto end = std::chrono::steady_clock::now() + kDaemonEnds;
  while (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return ErrnoError("lock", file, errno);
    if (std::chrono::steady_clock::now() > end) {
      return Fail(ErrorCode::kUnavailable,
                  "fieldcostd is still running; end it, and run fieldcost agent leave again");
    }
    std::this_thread::sleep_for(kLookInterval);
  }
  return {};
}

Status Remove(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  return error ? ErrnoError("remove", path, error.value()) : Status();
}

// Everything but the record and the files of probe points.
Status EmptyStateDirectory(const settings::AgentPaths& paths) {
  std::error_code error;
  std::vector<fs::path> entries;
  for (auto it = fs::directory_iterator(paths.state_dir, error);
       !error && it != fs::directory_iterator(); it.increment(error)) {
    const bool is_of_probes = it->path().filename().string().starts_with("probe");
    if (!is_of_probes && it->path() != JoinRecordFile(paths)) entries.push_back(it->path());
  }
  if (error) return ErrnoError("list", paths.state_dir, error.value());
  for (const fs::path& entry : entries) FIELDCOST_TRY(Remove(entry));
  return {};
}

Result<std::string> RemoveFiles(const JoinRecord& record, const settings::AgentPaths& paths) {
  FIELDCOST_TRY(Remove(paths.service_file()));
  FIELDCOST_TRY(Remove(paths.service_authority_file()));
  if (!record.had_root) FIELDCOST_TRY(Remove(paths.catalog_root_file));
  if (!record.had_catalogue) {
    for (const char* suffix : {"", "-wal", "-shm", ".sync-lock"}) {
      FIELDCOST_TRY(Remove(paths.catalog_file.string() + suffix));
    }
  }
  if (!record.had_state) {
    const auto memory = settings::FindMemoryDir(paths);
    if (memory) FIELDCOST_TRY(Remove(memory->directory));
    FIELDCOST_TRY(EmptyStateDirectory(paths));
  }
  FIELDCOST_TRY(Remove(JoinRecordFile(paths)));
  for (auto made = record.made.rbegin(); made != record.made.rend(); ++made) {
    if (::rmdir(made->c_str()) == 0 || errno == ENOENT || errno == ENOTEMPTY) continue;
    return ErrnoError("remove", *made, errno);
  }
  std::error_code error;
  if (!record.had_state && fs::exists(paths.state_dir, error)) {
    return fmt::format("removed, except files of yours in {}", paths.state_dir.string());
  }
  return std::string("removed");
}

}  // namespace

std::vector<JoinStep> Leave(const JoinRecord& record, const settings::AgentPaths& paths,
                            const Clock& clock) {
  std::vector<JoinStep> steps;
  // From here on nothing is measured or sent, even if the rest fails.
  if (!AddStep("consent", RestoreMode(record, paths, clock), steps)) return steps;
  const bool is_daemon_over = AddStep("daemon", EndUnits(record), steps);
  const bool is_refresh_over = AddStep("refresh", EndRefreshing(record, paths), steps);
  const bool is_session_over = AddStep("session", EndSession(record, paths), steps);
  if (!is_daemon_over || !is_refresh_over || !is_session_over) return steps;
  if (!record.had_state) {
    if (const Status ended = WaitForDaemon(paths); !ended) {
      AddStep("files", ended.error(), steps);
      return steps;
    }
  }
  AddStep("files", RemoveFiles(record, paths), steps);
  return steps;
}

}  // namespace fieldcost::cli
