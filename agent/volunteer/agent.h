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

namespace fieldcost::volunteer {

// A whole batch: its content and exact bytes.
struct BatchDetails {
  wire::BatchContent content;
  std::string raw;  // exactly the body that would be sent
  std::uint64_t sequence = 0;
};

// The time from `from` (inclusive) to `before` (exclusive), in whole seconds.
struct TimeSpan {
  WallTime from{};
  WallTime before = WallTime::max();
};

struct RequestedRows {
  std::vector<stats::StatRow> rows;  // ascending by key
  bool any_fielded = false;          // some come from a run that would have been measured anyway
};

// The extent of an upload: everything that is due, or everything (at the user's request).
enum class UploadWish { kWhatIsDue, kEverythingNow };

// Options for writing the policy file.
struct PolicyWriting {
  bool forced = false;         // ensures that it exists, even in mode off: for `run --pick`
  bool at_once = false;        // does not read a changed catalogue; the next write will
  bool documentation = false;  // picks up changes of the installed headers and manual pages
};

// One user's agent: consent, harvest, batches, spool, upload. Its state is one SQLite database
// (WAL, synchronous FULL) in the agent's state directory. Several processes (daemon, CLI) may use
// it at the same time, each with its own Agent. Not thread-safe.
class Agent {
 public:
  // In mode off without existing state, creates nothing on disk. `clock` must outlive the agent.
  static Result<Agent> Open(const settings::AgentPaths& paths, const Clock& clock);
  Agent(Agent&&) noexcept;
  Agent& operator=(Agent&&) noexcept;
  ~Agent();

  // Records the decision and writes the policy file, by which programs decide to measure. Off
  // also removes run files and everything not yet sent. Unless `mode` is on, nothing leaves after
  // this returns: it waits for an upload in progress, which ends at once, or within seconds if a
  // whole batch has been sent. kUnavailable if the upload did not end; everything else is done
  // then.
  Status SetMode(settings::Mode mode);

  // Pauses until then, or until resumed (kUntilResumed). Programs begin no new measurements and, as
  // with SetMode(), nothing leaves after this returns. Unsent data is kept. REQUIRES: the mode is
  // not off.
  Status Pause(WallTime until);
  // Returns false if there was no pause.
  Result<bool> Resume();

  // (Re)writes the policy file from consent, configuration and this machine's clock calibration.
  // Reads the catalogue if it has changed, and the documentation if requested, which may take
  // seconds.
  Status WritePolicy(const PolicyWriting& how = {});

  // Adds the contents of run files to the local sums and, if consent permits, to the sums to be
  // sent. Each run file counts exactly once, however often and wherever this is interrupted.
  Result<harvest::HarvestReport> Harvest();

  // Everything measured on this machine (modes local and on, and manual picks), ascending by key.
  Result<std::vector<stats::StatRow>> LocalRows() const;
  // The part of it measured within `span`. Calls are dated to the previous harvest, or to the start
  // of their run.
  Result<std::vector<stats::StatRow>> LocalRowsOf(const TimeSpan& span) const;
  // The measurements that programs made for the request with this number (FIELDCOST_ASKED).
  Result<RequestedRows> RowsOfRequest(std::uint64_t request_id) const;
  // Erases all these sums and run counts. Running programs continue to measure; unsent and sent
  // data is not affected (see SetMode() and Forget()).
  Status ForgetLocal();
  // The APIs that are never sent because their library is not public: the one that stands for all
  // of them, and manual picks.
  Result<std::set<stats::ApiKey>> LocalOnlyApis() const;

  // The next batch as it would be sent now; nullopt if there is nothing to send.
  Result<std::optional<BatchDetails>> Preview() const;

  // Moves pending rows into immutable spooled batches, and sends these in order until none is left
  // or one fails. With kWhatIsDue, creates a batch as soon as it is full, but sends nothing before
  // NextUpload(), nor while the machine should not upload (UploadStatus::waiting_for). So it may be
  // called at any time: after each harvest that counted something, and at NextUpload().
  Result<upload::UploadReport> Upload(UploadWish wish);

  // The wall-clock time at which Upload(kWhatIsDue) will have something to send; a time at or
  // before now means at once; nullopt if nothing is waiting or the mode is not on. Changes no
  // state, except that it corrects a time made meaningless by sleep or a jump of the clock. Call
  // again after Harvest(), Upload() and any change of mode; in a daemon also daily and after sleep,
  // since the clock may jump. Failures and times are durable; the result includes backoff.
  Result<std::optional<WallTime>> NextUpload() const;

  // Fetches the service's signed policy if due (mode on only); see field_policy.h. Returns true if
  // a different one is now in force: reopen the agent to apply it. Call it after an upload that
  // sent something, so that an agent never contacts the service only for this.
  Result<bool> RefreshFieldPolicy();

  // Every batch that this agent ever made, oldest first.
  Result<std::vector<spool::LoggedBatch>> Log() const;
  // The exact bytes and content of one of them. kNotFound if there is no such batch, or its bytes
  // are no longer kept.
  Result<BatchDetails> ReadBatch(std::uint64_t id) const;

  // Withdraws everything that this agent sent, and drops everything unsent. Works in every mode and
  // keeps it. Returns an Error only for local failures, not for the server's.
  Result<upload::ForgetReport> Forget(const upload::ForgetProgress& progress = {});

  // Stores the token with which this agent enrols if the service requires one.
  Status SetEnrolmentToken(std::string_view token);

  Result<AgentStatus> GetStatus() const;
  // The part of the status about measuring; contacts neither another process nor a server.
  Result<MeasuringStatus> GetMeasuring() const;
  const settings::AgentPaths& paths() const;
  const settings::AgentConfig& config() const;

 private:
  struct State;
  // Drops the run files and unsent data that the new mode does not permit.
  Status DropUnwanted(settings::Mode before, settings::Mode now);
  explicit Agent(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace fieldcost::volunteer
