#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/harvest/harvester.h"
#include "agent/settings/agent_config.h"
#include "agent/settings/consent.h"
#include "agent/settings/paths.h"
#include "agent/settings/pause.h"
#include "agent/spool/spool_db.h"
#include "agent/upload/uploader.h"
#include "agent/upload/withdrawer.h"
#include "agent/volunteer/agent_status.h"
#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/stats/stat_row.h"
#include "common/wire/batch.h"

namespace fieldcost::agent {

// A whole batch: its content and its exact bytes.
struct BatchDetails {
  wire::BatchContent content;
  std::string raw;  // exactly the body that would be sent
  std::uint64_t sequence = 0;
};

// A time from `from` on and before `before`, in whole seconds.
struct TimeSpan {
  WallTime from{};
  WallTime before = WallTime::max();
};

struct RequestedRows {
  std::vector<stats::StatRow> rows;  // ascending by key
  bool any_fielded = false;          // some are from a run that would have been measured anyway
};

// What an upload sends: what is due by the schedule, or everything, at the user's request.
enum class UploadWish { kWhatIsDue, kEverythingNow };

// How a policy file is written.
struct PolicyWriting {
  bool forced = false;         // makes sure that it exists, even in mode off: for `run --pick`
  bool at_once = false;        // does not read a changed catalogue; the next write will
  bool documentation = false;  // follows changes of the installed headers and manual pages
};

// One user's agent: consent, harvest, batches, spool, upload. State is one SQLite database (WAL,
// synchronous FULL) in the agent's state directory; several processes (daemon, CLI) may use it at
// once, each with its own Agent. Not thread-safe.
class Agent {
 public:
  // Creates nothing on disk in mode off without state. `clock` must outlive the agent.
  static Result<Agent> Open(const AgentPaths& paths, const Clock& clock);
  Agent(Agent&&) noexcept;
  Agent& operator=(Agent&&) noexcept;
  ~Agent();

  // Records the decision and writes the policy file that tells programs whether to measure; off
  // also removes run files and everything not yet sent. Unless `mode` is on, nothing leaves any
  // more after this returns: it waits for an upload in progress, which ends at once, or within
  // seconds if a whole batch had left. kUnavailable if it did not end; all else is done then.
  Status SetMode(Mode mode);

  // Pauses until then, or until resumed (kUntilResumed): programs begin no new measurements and, as
  // with SetMode(), nothing leaves any more after this returns. Unsent data stays. REQUIRES: the
  // mode is not off.
  Status Pause(WallTime until);
  // Returns false if there was no pause.
  Result<bool> Resume();

  // (Re)writes the policy file from consent, configuration and this machine's clock calibration.
  // Reads a catalogue that has changed, and the documentation if requested, which may take seconds.
  Status WritePolicy(const PolicyWriting& how = {});

  // Adds what run files hold to the local sums, and, where consent allows, to the sums to be sent.
  // A run file counts exactly once, however often and wherever this is interrupted.
  Result<HarvestReport> Harvest();

  // Everything measured on this machine (modes local and on, and forced picks), ascending by key.
  Result<std::vector<stats::StatRow>> LocalRows() const;
  // The part of it measured within `span`. Calls are dated to the harvest before them, or to the
  // start of their run.
  Result<std::vector<stats::StatRow>> LocalRowsOf(const TimeSpan& span) const;
  // What programs have measured for the request with this number (FIELDCOST_ASKED).
  Result<RequestedRows> RowsOfRequest(std::uint64_t request_id) const;
  // Erases all these sums and their numbers of runs. Running programs continue to measure; unsent
  // and sent data is not affected (see SetMode() and Forget()).
  Status ForgetLocal();
  // APIs that are never sent because their library is not public: the one that sums them all up,
  // and manual picks.
  Result<std::set<stats::ApiKey>> LocalOnlyApis() const;

  // The next batch as it would be sent now; nullopt if there is nothing to send.
  Result<std::optional<BatchDetails>> Preview() const;

  // Moves pending rows into immutable spooled batches, and sends spooled batches in order until
  // none is left or one fails. With kWhatIsDue, makes a batch as soon as it is full, but sends
  // nothing before NextUpload(), nor while the machine should not upload
  // (UploadStatus::waiting_for). So it may be called at any time: after each harvest that counted
  // something, and at NextUpload().
  Result<UploadReport> Upload(UploadWish wish);

  // When Upload(kWhatIsDue) will have something to send, by the wall clock; at or before now means
  // at once; nullopt if nothing waits or the mode is not on. Changes no state, except that it
  // corrects a time made meaningless by sleep or a jump of the clock. Call again after Harvest(),
  // Upload() and any change of mode; a daemon also daily and after the machine slept, since the
  // clock may jump. Failures and times are durable; the result includes backoff.
  Result<std::optional<WallTime>> NextUpload() const;

  // Fetches the service's signed policy if due (mode on only); see field_policy.h. True if a
  // different one is now in force: reopen the agent to follow it. Call it after an upload that sent
  // something, so that an agent never contacts the service only for this.
  Result<bool> RefreshFieldPolicy();

  // Every batch this agent ever made, oldest first.
  Result<std::vector<LoggedBatch>> Log() const;
  // The exact bytes and content of one of them. kNotFound if there is no such batch, or its bytes
  // are no longer kept.
  Result<BatchDetails> ReadBatch(std::uint64_t id) const;

  // Withdraws everything this agent sent, and drops everything unsent. Works in every mode and does
  // not change it. Returns an Error only for local failures, not for the server's.
  Result<ForgetReport> Forget(const ForgetProgress& progress = {});

  // Stores the token with which this agent enrols if the service requires one.
  Status SetEnrolmentToken(std::string_view token);

  Result<AgentStatus> GetStatus() const;
  // The part of the status about measuring; contacts no other process and no server.
  Result<MeasuringStatus> GetMeasuring() const;
  const AgentPaths& paths() const;
  const AgentConfig& config() const;

 private:
  struct State;
  // Drops the run files and unsent data that the new mode does not permit.
  Status DropUnwanted(Mode before, Mode now);
  explicit Agent(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace fieldcost::agent
