#pragma once

#include <signal.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "agent/daemon/agent.h"
#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/base/result.h"

namespace fieldcost::agent {

// What `fieldcostd` does while it runs: harvests run files soon after their program closed them
// (inotify), and every minute while there are any; uploads when Agent::NextUpload() says, by the
// wall clock, also if that is set or the machine sleeps meanwhile. Ends when asked by SIGTERM or
// SIGINT, or when consent becomes off or the administrator forbids it. SIGHUP reads the settings
// again; so does each day, since a policy may expire. Writes the policy then, and when it wakes and
// finds the catalogue changed. One at a time per process: it owns these signals.
class DaemonLoop {
 public:
  // kAlreadyExists if another daemon of this user runs.
  static Result<DaemonLoop> Start(const AgentPaths& paths, const Clock& clock);

  // Returns at its end; the text says why it ended. Tells the service manager when it is ready.
  Result<std::string> Run();

 private:
  using Monotonic = std::chrono::steady_clock;
  using Deadline = std::optional<Monotonic::time_point>;

  DaemonLoop(AgentPaths paths, const Clock& clock) : paths_(std::move(paths)), clock_(&clock) {}

  Status Reload();
  // True if it is over, with why.
  Result<std::optional<std::string>> IsOver();
  void Harvest();
  void Upload();
  void RefreshPolicy();
  // Lets the timer wake us at the next upload, or to look again in a day at the latest.
  Status ArmTimer();
  Status Wait();
  void HandleEvents();
  // Watches the directory of the run files, which may be another one since the last time.
  Status WatchRuns();
  // Watches the directory of the administrator's file, or what stands where it would be made.
  void WatchSystemFile();
  static void MoveUp(Deadline& deadline, Monotonic::duration from_now);

  AgentPaths paths_;
  const Clock* clock_;
  UniqueFd lock_;
  UniqueFd inotify_;
  UniqueFd timer_;  // by the wall clock
  int run_watch_ = -1;
  int state_watch_ = -1;
  int system_watch_ = -1;
  std::filesystem::path watched_;  // by system_watch_
  sigset_t while_waiting_{};
  std::optional<Agent> agent_;
  Deadline harvest_at_;
  Deadline policy_at_;
  Monotonic::time_point upload_not_before_{};
  std::int64_t catalog_ns_ = 0;    // when the catalogue had changed last as of the last policy
  std::uint32_t quick_looks_ = 0;  // harvests since the last event
  bool upload_ = false;            // there may be something to upload that was not there before
  bool reload_ = false;
};

// Harvest once and upload what is due, or everything. The text says what was done; a
// server that cannot be reached is an error, though nothing is lost by it.
Result<std::string> RunOnce(Agent& agent, UploadWish wish);

// Why nothing is collected: the user's decision, or the administrator's. REQUIRES: one of them says
// so.
std::string WhyOff(const AgentPaths& paths);

}  // namespace fieldcost::agent
