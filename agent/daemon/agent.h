#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/daemon/agent_status.h"
#include "agent/harvest/harvester.h"
#include "agent/settings/config.h"
#include "agent/settings/consent.h"
#include "agent/settings/paths.h"
#include "agent/settings/pause.h"
#include "agent/spool/spool_db.h"
#include "agent/upload/uploader.h"
#include "agent/upload/withdrawer.h"
#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/stats/stat_row.h"
#include "common/wire/batch.h"

namespace fieldcost::agent {

// A batch in full: what is in it, and its exact bytes.
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
  bool any_fielded = false;  // of a run of the field, too: one that would have been measured anyway
};

// What an upload sends: what the schedule says, or all that there is, as the user wishes.
enum class UploadWish { kWhatIsDue, kEverythingNow };

// How a policy file is written.
struct PolicyWriting {
  bool forced = false;   // makes sure that it exists, even in mode off: for `run --pick`
  bool at_once = false;  // leaves a catalogue that has changed to the next time
};

// One user's agent: consent, harvest, batches, spool, upload. State is one SQLite database (WAL,
// synchronous FULL) in the agent's state directory; several processes (daemon, CLI) may use it at
// once, each with its own Agent. Not thread-safe.
class Agent {
 public:
  // Mode off and no state yet: makes nothing on disk. `clock` must outlive the agent.
  static Result<Agent> Open(const AgentPaths& paths, const Clock& clock);
  Agent(Agent&&) noexcept;
  Agent& operator=(Agent&&) noexcept;
  ~Agent();

  // Records the decision, writes the policy file that tells programs to measure or not; off also
  // removes run files and everything not yet sent. Unless it is `on`, nothing leaves any more when
  // this returns: it waits for an upload that is under way, which ends at once, or within seconds
  // if all of a batch had left. kUnavailable if it did not end; all else is done then.
  Status SetMode(Mode mode);

  // A break until then, or until it is resumed (kUntilResumed): programs measure nothing that they
  // do not measure already, and as with SetMode() nothing leaves any more when this returns. What
  // is unsent stays. REQUIRES: the mode is not off.
  Status Pause(WallTime until);
  // False if there was none.
  Result<bool> Resume();

  // (Re)writes the policy file from consent, configuration and this machine's clock calibration.
  // Reads a catalogue that has changed, which may take seconds.
  Status WritePolicy(const PolicyWriting& how = {});

  // Adds what run files hold to the local sums, and, where consent allows, to the sums to be sent.
  // A run file counts exactly once, however often and wherever this is interrupted.
  Result<HarvestReport> Harvest();

  // Everything measured on this machine (modes local and on, and forced picks), ascending by key.
  Result<std::vector<stats::StatRow>> LocalRows() const;
  // What of that was measured from one second on and before another: calls count from the last look
  // before them on, or from the start of their run.
  Result<std::vector<stats::StatRow>> LocalRowsOf(const TimeSpan& span) const;
  // What programs have measured on the request of that number (FIELDCOST_ASKED).
  Result<RequestedRows> RowsOfRequest(std::uint64_t request_id) const;
  // Erases all these sums, and of how many runs they are. Programs that run go on with what they
  // measure from now on; what is to be sent, or was, stays as it is (SetMode(), Forget()).
  Status ForgetLocal();
  // APIs of which nothing is ever sent, since their library is not public: what is added up under
  // one name, and what was picked by hand.
  Result<std::set<stats::ApiKey>> LocalOnlyApis() const;

  // The next batch as it would be sent now; nullopt if there is nothing to send.
  Result<std::optional<BatchDetails>> Preview() const;

  // Moves pending rows into immutable spooled batches, and sends spooled batches in order until
  // none is left or one fails. What is due: a batch is made as soon as it is full, and sent at or
  // after NextUpload(); before that, and while the machine should not upload
  // (AgentStatus::waiting_for), nothing is sent. So it may be called at any time: after each
  // harvest that counted something, and at NextUpload().
  Result<UploadReport> Upload(UploadWish wish);

  // When Upload(kWhatIsDue) will have something to send: by the wall clock, at or before now if at
  // once; nullopt if nothing waits or the mode is not on. A pure look-up except that it corrects a
  // time that a jump of the clock, or sleep, has made meaningless. Ask again after Harvest(),
  // Upload() and any change of mode; a daemon should also look again each day and after the machine
  // slept, since the clock may jump. Failures and times are durable: restarts keep them, and
  // back-off is already in the answer.
  Result<std::optional<WallTime>> NextUpload() const;

  // Fetches the service's signed policy if it is time to (mode on only); see field_policy.h. True
  // if another one is in force now: open the agent anew to follow it. To be called after an upload
  // that sent something, so that an agent never calls only for this.
  Result<bool> RefreshFieldPolicy();

  // Every batch this agent ever made, oldest first.
  Result<std::vector<LoggedBatch>> Log() const;
  // The exact bytes and content of one of them. kNotFound: no such batch, or its bytes are no
  // longer kept.
  Result<BatchDetails> ReadBatch(std::uint64_t id) const;

  // Withdraws everything this agent sent, and drops what it has not sent yet. In every mode; it
  // leaves the mode as it is. An Error is ours, not the server's.
  Result<ForgetReport> Forget(const ForgetProgress& progress = {});

  // Keeps the token with which this agent enrols where the service asks for one.
  Status SetEnrolmentToken(std::string_view token);

  Result<AgentStatus> GetStatus() const;
  // The part of the status that is about measuring; asks no other process and no server.
  Result<MeasuringStatus> GetMeasuring() const;
  const AgentPaths& paths() const;
  const AgentConfig& config() const;

 private:
  struct State;
  // Run files and what is to be sent, as far as the new mode does not want them.
  Status DropUnwanted(Mode before, Mode now);
  explicit Agent(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace fieldcost::agent
