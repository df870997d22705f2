#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "agent/daemon/agent.h"
#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/base/result.h"

namespace fieldcost::daemon {

// What `fieldcostd` does while it runs: harvests run files soon after their program closed them
// (inotify), and every minute while there are any; uploads what is due, with back-off. Ends when
// asked by SIGTERM or SIGINT, or when consent becomes off. SIGHUP reads configuration and consent
// again. Writes the policy at its start, daily, and when it wakes and finds the catalogue changed,
// which is at most an hour later. One at a time per process: it owns these signals.
class DaemonLoop {
 public:
  // kAlreadyExists if another daemon of this user runs.
  static Result<DaemonLoop> Start(const Profile& profile, const Clock& clock);

  // Until its end; the text says why it ended.
  Result<std::string> Run();

 private:
  using Monotonic = std::chrono::steady_clock;
  using Deadline = std::optional<Monotonic::time_point>;

  DaemonLoop(Profile profile, const Clock& clock) : profile_(std::move(profile)), clock_(&clock) {}

  Status Reload();
  void Harvest();
  void Upload();
  void RefreshPolicy();
  void HandleEvents();
  static void MoveUp(Deadline& deadline, Monotonic::duration from_now);

  Profile profile_;
  const Clock* clock_;
  UniqueFd lock_;
  UniqueFd inotify_;
  int state_watch_ = -1;
  std::optional<Agent> agent_;
  Deadline harvest_at_;
  Monotonic::time_point policy_at_{};
  std::int64_t catalog_ns_ = 0;  // when the catalogue had changed last as of the last policy
  Deadline upload_at_;
  std::uint32_t quick_looks_ = 0;  // harvests since the last event
  std::uint32_t failed_uploads_ = 0;
  bool reload_ = false;
};

// Harvest once and upload what is due (with `flush`: everything). The text says what was done; a
// server that cannot be reached is an error, though nothing is lost by it.
Result<std::string> RunOnce(Agent& agent, bool flush);

}  // namespace fieldcost::daemon
