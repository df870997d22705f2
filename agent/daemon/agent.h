#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/daemon/consent.h"
#include "agent/daemon/profile.h"
#include "agent/daemon/spool_state.h"
#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/shm/skip_file.h"
#include "common/stats/stat_row.h"
#include "common/wire/batch.h"

namespace fieldcost::daemon {

struct HarvestReport {
  std::uint32_t files_read = 0;
  std::uint32_t files_finished = 0;  // their process has ended: summed for good and removed
  std::uint32_t files_refused = 0;   // corrupt or foreign: set aside in runs/refused/
  std::uint32_t files_left = 0;      // their process still runs
  std::uint32_t cells_refused = 0;   // sums that no calls could have made
  std::uint64_t calls = 0;           // newly counted
  std::string refused_reason;        // of the first refused file
};

struct UploadReport {
  std::uint32_t batches_sent = 0;
  std::uint32_t batches_quarantined = 0;  // refused for good by the server, kept with the reason
  std::uint32_t batches_left = 0;
  std::uint32_t rows_sent = 0;
  std::uint32_t rows_rejected = 0;                  // by the server, one by one
  std::optional<Error> stopped_by;                  // why some are left: server down, busy, ...
  std::optional<std::chrono::seconds> retry_after;  // the server's wish, with stopped_by
};

struct PendingBatch {
  wire::BatchContent content;
  std::string raw;  // exactly the body that would be sent
  std::uint64_t sequence = 0;
};

// A batch in the spool, sent or not.
struct LoggedBatch {
  std::uint64_t id = 0;  // of this machine's log: 1, 2, 3, ...; never leaves it
  std::uint64_t epoch = 0;
  std::uint64_t sequence = 0;
  SpoolState state = SpoolState::kQueued;
  std::uint64_t rows = 0;
  std::uint64_t rejected_rows = 0;  // by the server
  WallTime created{};
  WallTime sent{};  // or set aside, withdrawn; 0 = not yet
  std::uint64_t size_bytes = 0;
  std::string sha256;         // hex, of the bytes as sent
  std::string reason;         // why it was set aside, or what the service said of a sent one
  bool can_withdraw = false;  // its bytes and receipt are still here
};

// What Forget() did. Call it again if `stopped_by` is set: it goes on where it stopped.
struct ForgetReport {
  std::uint32_t batches_withdrawn = 0;  // taken back from the service's sums
  std::uint64_t rows_withdrawn = 0;
  std::uint32_t batches_deleted = 0;  // had never reached the service
  std::uint32_t batches_refused = 0;  // by the service, with `refused_reason` of the first
  std::uint32_t batches_too_old = 0;  // their bytes are no longer here
  std::uint32_t batches_left = 0;     // not tried yet, because of `stopped_by`
  std::string refused_reason;
  std::optional<Error> stopped_by;
};

// Hears after each batch what Forget() has done so far.
using ForgetProgress = std::function<void(const ForgetReport& so_far)>;

// Why runs that were to be measured were not.
struct SkipCount {
  std::string reason;  // a phrase
  std::uint64_t runs = 0;
  shm::Skip skip = shm::Skip::kPolicyUnusable;  // the same as a number
  bool operator==(const SkipCount&) const = default;
};

struct AgentStatus {
  Consent consent;
  std::string agent_public_key;  // hex; empty before the first batch
  std::uint64_t run_files = 0;
  std::uint64_t pending_rows = 0;
  std::uint64_t pending_bytes = 0;  // encoded, before compression
  std::uint64_t spooled_batches = 0;
  std::uint64_t quarantined_batches = 0;
  std::uint64_t sent_batches = 0;
  std::uint64_t lost_calls = 0;  // counted by run files: no slot, record or disk space
  std::uint64_t refused_files = 0;
  std::uint64_t refused_cells = 0;      // sums or numbers of calls that no calls could have made
  std::uint64_t private_rows_kept = 0;  // rows never sent because their module is not public
  std::vector<SkipCount> skips;         // without zeros
  std::uint64_t overhead_ns = 0;        // what measuring has cost the programs so far
  std::uint64_t timed_calls = 0;
  std::uint64_t untimed_calls = 0;  // only counted
  std::uint64_t dropped_picks = 0;  // given up because measuring them would have cost too much
  std::string policy_problem;       // empty, or why programs are not being measured
  bool forbidden = false;           // the administrator does not permit collection
  std::uint64_t withdrawn_batches = 0;
  std::uint64_t dropped_batches = 0;  // never sent: too old, or too many
  std::uint64_t dropped_rows = 0;
  std::string waiting_for;                 // empty, or why nothing is uploaded now: "mains power"
  std::optional<WallTime> next_upload;     // when the daemon tries next
  std::uint64_t failed_uploads = 0;        // in a row
  std::string upload_problem;              // of the last one, if it failed
  std::uint64_t field_policy_version = 0;  // of the service's policy in force; 0 = built-in
  std::optional<WallTime> field_policy_expires;
  std::string field_policy_problem;  // why a downloaded policy is not in force
};

// One user's agent: consent, harvest, batches, spool, upload. State is one SQLite database (WAL,
// synchronous FULL) in the profile's state directory; several processes (daemon, CLI) may use it at
// once, each with its own Agent. Not thread-safe.
class Agent {
 public:
  // Mode off and no state yet: makes nothing on disk. `clock` must outlive the agent.
  static Result<Agent> Open(const Profile& profile, const Clock& clock);
  Agent(Agent&&) noexcept;
  Agent& operator=(Agent&&) noexcept;
  ~Agent();

  // Records the decision, writes the policy file that tells programs to measure or not; off also
  // removes run files and everything not yet sent. Unless it is `on`, nothing leaves any more when
  // this returns: it waits for an upload that is under way, which ends at once, or within seconds
  // if all of a batch had left. kUnavailable if it did not end; all else is done then.
  Status SetMode(Mode mode);

  // (Re)writes the policy file from consent, configuration and this machine's clock calibration.
  // `forced` makes sure the file exists for `run --pick` even in mode off. Reads a catalogue that
  // has changed, which may take seconds; AtOnce leaves that to the next WritePolicy().
  Status WritePolicy(bool forced);
  Status WritePolicyAtOnce(bool forced);

  // Adds what run files hold to the local sums, and, where consent allows, to the sums to be sent.
  // A run file counts exactly once, however often and wherever this is interrupted.
  Result<HarvestReport> Harvest();

  // Everything measured on this machine (modes local and on, and forced picks), ascending by key.
  Result<std::vector<stats::StatRow>> LocalRows() const;
  // Those of them of which nothing is ever sent, since their library is not public: what is added
  // up under one name, and what was picked by hand.
  Result<std::set<stats::ApiKey>> LocalOnlyApis() const;

  // The next batch as it would be sent now; nullopt if there is nothing to send.
  Result<std::optional<PendingBatch>> Preview() const;

  // Moves pending rows into immutable spooled batches, and sends spooled batches in order until
  // none is left or one fails. `flush` is the user's wish: everything, now. Without it only what is
  // due: a batch is made as soon as it is full, and sent at or after NextUpload(); before that, and
  // while the machine should not upload (AgentStatus::waiting_for), nothing is sent. So it may be
  // called at any time: after each harvest that counted something, and at NextUpload().
  Result<UploadReport> Upload(bool flush);

  // When Upload(false) will have something to send: by the wall clock, at or before now if at once;
  // nullopt if nothing waits or the mode is not on. A pure look-up except that it corrects a time
  // that a jump of the clock, or sleep, has made meaningless. Ask again after Harvest(), Upload()
  // and any change of mode; a daemon should also look again each day and after the machine slept,
  // since the clock may jump. Failures and times are durable: restarts keep them, and back-off is
  // already in the answer.
  Result<std::optional<WallTime>> NextUpload() const;

  // Fetches the service's signed policy if it is time to (mode on only); see field_policy.h. True
  // if another one is in force now: open the agent anew to follow it. To be called after an upload
  // that sent something, so that an agent never calls only for this.
  Result<bool> RefreshFieldPolicy();

  // Every batch this agent ever made, oldest first.
  Result<std::vector<LoggedBatch>> Log() const;
  // The exact bytes and content of one of them. kNotFound: no such batch, or its bytes are no
  // longer kept.
  Result<PendingBatch> ReadBatch(std::uint64_t id) const;

  // Withdraws everything this agent sent, and drops what it has not sent yet. In every mode; it
  // leaves the mode as it is. An Error is ours, not the server's.
  Result<ForgetReport> Forget(const ForgetProgress& progress = {});

  // Keeps the token with which this agent enrols where the service asks for one.
  Status SetEnrolmentToken(std::string_view token);

  Result<AgentStatus> GetStatus() const;
  const Profile& profile() const;
  const AgentConfig& config() const;

 private:
  struct State;
  // Run files and what is to be sent, as far as the new mode does not want them.
  Status DropUnwanted(Mode before, Mode now);
  explicit Agent(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace fieldcost::daemon
