#pragma once

#include <signal.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "agent/volunteer/agent.h"
#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/base/result.h"

namespace fieldcost::daemon {

// The event loop of `fieldcostd`. Harvests run files soon after their programs have closed them
// (inotify), and every minute while there are any. Uploads at Agent::NextUpload() on the wall
// clock, even if the clock is set or the machine sleeps meanwhile. Refreshes the catalogue when
// that is due, if the user has switched it on (agent/refresh). Ends on SIGTERM or SIGINT, or when
// consent becomes off or the administrator forbids collection. Rereads the settings on SIGHUP and
// daily, since a policy may expire, and writes the policy then, or on waking if the catalogue has
// changed. At most one instance per process, since it owns these signals.
class DaemonLoop {
 public:
  // kAlreadyExists if another daemon of this user is running.
  static Result<DaemonLoop> Start(const settings::AgentPaths& paths, const Clock& clock);

  // Runs until there is a reason to end, which is returned. Notifies the service manager when
  // ready.
  Result<std::string> Run();

 private:
  using Monotonic = std::chrono::steady_clock;
  using Deadline = std::optional<Monotonic::time_point>;

  DaemonLoop(settings::AgentPaths paths, const Clock& clock)
      : paths_(std::move(paths)), clock_(&clock) {}

  Status Reload();
  // Returns the reason to end; nullopt to continue.
  Result<std::optional<std::string>> IsOver();
  void Harvest();
  void Upload();
  void RefreshPolicy();
  void RefreshCatalogue();
  // Sets the timer to the next upload or refresh, or to a day from now if that is earlier.
  Status ArmTimer();
  Status Wait();
  void HandleEvents();
  // Watches the directory of the run files, which may have changed since the last call.
  Status WatchRuns();
  // Watches the directory of the administrator's file, or its nearest existing ancestor.
  void WatchSystemFile();
  static void MoveUp(Deadline& deadline, Monotonic::duration from_now);

  settings::AgentPaths paths_;
  const Clock* clock_;
  UniqueFd lock_;
  UniqueFd inotify_;
  UniqueFd timer_;  // on the wall clock
  int run_watch_ = -1;
  int state_watch_ = -1;
  int system_watch_ = -1;
  std::filesystem::path watched_;  // the directory of system_watch_
  sigset_t while_waiting_{};
  std::optional<volunteer::Agent> agent_;
  Deadline harvest_at_;
  Deadline policy_at_;
  Monotonic::time_point upload_not_before_{};
  std::optional<WallTime> refresh_at_;  // of the catalogue; nullopt: off
  std::int64_t catalog_ns_ = 0;         // the catalogue's change time as of the last policy
  std::uint32_t quick_looks_ = 0;       // harvests since the last event
  bool upload_ = false;                 // there may be new data to upload
  bool reload_ = false;
  bool plan_refresh_ = true;  // refresh_at_ may have changed
};

// Harvests once, uploads what is due, or everything, and refreshes the catalogue if due. Returns a
// summary. An unreachable server is an error, although nothing is lost.
Result<std::string> RunOnce(volunteer::Agent& agent, volunteer::UploadWish wish);

// Explains why nothing is collected: the user's decision or the administrator's. REQUIRES: one of
// them forbids collection.
std::string WhyOff(const settings::AgentPaths& paths);

}  // namespace fieldcost::daemon
