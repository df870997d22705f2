#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/store/acceptance.h"
#include "aggregator/store/compact_row.h"
#include "aggregator/store/invitation.h"
#include "aggregator/store/retention_rules.h"
#include "aggregator/store/store_limits.h"
#include "aggregator/store/store_options.h"
#include "aggregator/store/store_reports.h"
#include "aggregator/store/store_row_codec.h"
#include "common/base/result.h"
#include "common/stats/stat_row.h"
#include "common/wire/batch.h"

namespace fieldcost::store {

class PublishedUpdate;
class PublishedReader;

// The sums of everything ever accepted: exactly once, durably, and always readable in their newest
// state.
//
// Accepted rows go to a log (with the replay ledger, in one atomic synced write) and into a table
// of dirty rows in memory. A checkpoint adds the dirty rows to the stored ones and notes up to
// which number of the log they reach, in one atomic step. Opening replays the rest of the log.
// SUMS.md explains why nothing is lost or counted twice; LAYOUT.md has the byte formats.
//
// After a failed write the store stays in its failed state: Accept() no longer succeeds, since it
// is unknown what reached the disk, and only another process can open the directory again.
// Thread-safe. Only one process at a time can open a data directory.
class Store {
 public:
  class Snapshot;

  // kAlreadyExists: another process (or Store) has opened the directory; kPermissionDenied,
  // kNotFound, kIo: the directory is unusable; kCorrupt: its contents are damaged; kUnsupported: a
  // program of another format wrote them (format_mark.h).
  static Result<std::unique_ptr<Store>> Open(StoreOptions options);
  // Does not checkpoint: the log contains everything.
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // Returns once the batch is durable; concurrent callers share disk syncs. Blocks while the dirty
  // table is over its limit. Batches of an agent on probation are held; the batch that ends the
  // probation releases them in the same write. If there is no room to hold a batch, agents that
  // were dishonest or hold more are evicted. kInvalidArgument: the sequence is 0, or too old to be
  // distinguished from a replay; kUnavailable: no room to hold it; kPermissionDenied: its agent was
  // revoked on probation; kIo: failed, do not acknowledge.
  Result<AcceptResult> Accept(const AcceptedBatch& batch);

  // Subtracts a batch as if it had never arrived: rows, totals and publications get exactly the
  // bits they would have without it. Returns once this is durable. kUnavailable: this batch never
  // arrived, and the agent has already withdrawn kMaxUndelivered such batches; kIo: failed, do not
  // acknowledge; kCorrupt: the sums do not contain these rows; kUnsupported: a row is saturated, so
  // its value without the batch is unknown. After the latter two, nothing has changed.
  Result<WithdrawResult> Withdraw(const Withdrawal& withdrawal);

  // Batches that are in the sums are kept as received until they are withdrawn or their epoch is
  // forgotten, so that an agent's batches can be subtracted without its help.
  Status ForEachAgent(const std::function<Status(std::string_view agent_id)>& visit) const;
  Result<AgentBatches> BatchesOf(std::string_view agent_id) const;
  // Returns the rows that are in the sums, as AcceptedRows::bytes(); nullopt if the batch is not
  // kept.
  Result<std::optional<std::string>> KeptRows(std::string_view agent_id, wire::Epoch epoch,
                                              wire::Sequence sequence) const;
  // Like Withdraw(), with these rows. kRepeated and 0 rows if the batch is not or no longer kept.
  Result<WithdrawResult> WithdrawKept(std::string_view agent_id, wire::Epoch epoch,
                                      wire::Sequence sequence);

  // Reports what RemoveAll() would change. `threshold` is that of publication.
  Result<RemovalEffect> EffectOfRemoving(std::string_view agent_id, std::uint32_t threshold);
  // Calls WithdrawKept() for every kept batch of the agent. If interrupted, the next call
  // continues. Revoke the agent first, so that nothing more arrives.
  using Progress = std::function<void(int done, int total)>;
  Result<RemovalReport> RemoveAll(std::string_view agent_id, const Progress& progress = {});

  // Returns the contributions of the agent's batches that were not withdrawn: the hashes passed to
  // Accept(), ascending. A caller that relies on them must accept one batch of an agent at a time.
  Status GetContributions(std::string_view agent_id, wire::Epoch epoch,
                          std::vector<std::uint64_t>& hashes) const;

  // Returns the agent's binding: the `bind` of an earlier batch, even if that batch is gone. A
  // caller that relies on it must accept one batch of an agent at a time.
  Result<std::optional<AgentBinding>> GetBinding(std::string_view agent_id,
                                                 wire::Epoch epoch) const;
  // The earliest epoch in which the ledger has an entry of the agent.
  Result<std::optional<wire::Epoch>> FirstEpochOf(std::string_view agent_id) const;

  // Records durably that an agent has enrolled for an epoch; may be repeated.
  Status Enrol(std::string_view agent_id, wire::Epoch epoch);
  Result<bool> IsEnrolled(std::string_view agent_id, wire::Epoch epoch) const;

  // Invitations, each identified by the SHA-256 of its token. Changes are durable on return.
  Status AddInvitation(std::string_view token_hash, const Invitation& invitation);
  Result<std::map<std::string, Invitation>> Invitations() const;  // by hash
  // Prevents further enrolments with the invitation. Keys that have enrolled remain enrolled for
  // their epoch.
  Status RemoveInvitation(std::string_view token_hash);
  // Enrols the agent and counts one use, in one write. No use is counted if it had enrolled before.
  Result<InvitationUse> EnrolInvited(std::string_view token_hash, std::string_view agent_id,
                                     wire::Epoch epoch, std::chrono::sys_seconds now);

  // Records durably that an agent is revoked, and drops its held batches as if they were withdrawn;
  // may be repeated.
  Status Revoke(std::string_view agent_id);
  Result<std::vector<std::string>> RevokedAgents() const;

  // Returns the newest sums of one row.
  Result<std::optional<stats::StatRow>> Get(const stats::RowKey& key) const;

  // Brings the stored rows up to date and empties the inbox.
  Status Checkpoint();

  // Returns all rows as of one moment. Makes a checkpoint first, so that all rows are on disk.
  // REQUIRES: the snapshot does not outlive the store.
  Result<Snapshot> TakeSnapshot();

  // Begins a publication of the newest state. kUnavailable: another one is in progress. REQUIRES:
  // the result does not outlive the store.
  Result<std::unique_ptr<PublishedUpdate>> BeginPublishedUpdate();

  // Reads every file and compares it with what was written; sums all rows again and compares with
  // the totals; checks every row's key, histogram, scalars, weights and sizes, and those of the
  // held and kept batches; and checks that all tables agree (see DAMAGE.md). May run while batches
  // arrive: it reads the state of one moment. Unreadable data is reported as a problem.
  Result<VerifyReport> Verify();
  // As Verify(), for a store that no process has open; changes nothing on the disk. Errors as
  // Open().
  static Result<VerifyReport> VerifyStopped(StoreOptions options);

  // Reports what is lost with the damaged end of a log, in a store that no process has open. With
  // `drop_damaged`, truncates the log there and saves the rest next to the store. The store is then
  // in the state before the rest was written, and nothing is counted twice. kCorrupt: something
  // else is damaged.
  static Result<RecoveryReport> Recover(const StoreOptions& options, bool drop_damaged);

  // Reads the oldest table file with a number above `after` and compares it with what was written.
  // If there is none, checks the logs and returns number 0. Damage is logged and counted in
  // Gauges(), and is not an error. kIo: a file cannot be read.
  Result<CheckedFile> CheckNextFile(std::uint64_t after) const;

  // Ties secrets outside the store to its contents: the first call stores `value` under `name`.
  // Later calls (also after a restart) succeed only with the same value; a different one is
  // kCorrupt.
  Status Bind(std::string_view name, std::string_view value);

  // Whether a value is stored under `name`.
  Result<bool> IsBound(std::string_view name) const;

  // Removes all rows of weeks before `first_week`, published units of quarters that are before it
  // as a whole, and the ledger entries, enrolments and held batches of epochs before `first_epoch`,
  // durably and in steps that each leave a consistent store
  // (retention_rules.h computes matching bounds). Neither bound ever decreases. Batches of such
  // epochs are refused from then on (kInvalidArgument); a withdrawal ignores rows of expired weeks,
  // since these are gone. If interrupted, the next call finishes it.
  Result<ExpiryReport> Expire(std::uint32_t first_week, wire::Epoch first_epoch);
  // Reports what Expire(), DropHeldBefore() and ForgetBatchesBefore() together would remove,
  // without removing it.
  Result<ExpiryEffect> EffectOfExpiring(const RetentionBounds& bounds);
  // Removes held batches of earlier epochs durably, as if they were withdrawn, and returns their
  // number. Meant for epochs whose batches are no longer accepted, so that their probation cannot
  // end.
  Result<std::uint64_t> DropHeldBefore(wire::Epoch epoch);
  // Durably removes the kept batches of earlier epochs, keeps no more batches of these epochs, and
  // returns the number removed. The sums stay. If interrupted, the next call finishes it.
  Result<std::uint64_t> ForgetBatchesBefore(wire::Epoch epoch);
  // The bounds in force; 0 if none was ever set.
  std::uint32_t first_week() const;
  wire::Epoch first_epoch() const;

  // Copies the store's current state, while batches arrive, into `directory`, which is created if
  // absent. The directory may contain older backups of this store, with which files are shared
  // (kInvalidArgument: backups of another store). `attachment` is saved with the backup. Durable
  // and verified on return. kIo: the store has failed, or `directory` cannot be written; older
  // backups are unaffected.
  Status Backup(const std::filesystem::path& directory, std::string_view attachment = {});
  // Restores the newest backup in `directory` as the store of `data_dir`, which must have none
  // (kAlreadyExists). kNotFound: no backup; kCorrupt: it is damaged; kUnsupported: it has another
  // format. `prepare` gets the attachment before the store exists; its error is returned. The first
  // publication of the restored store must settle (PublishedUpdate::must_settle()).
  using Prepare = std::function<Status(std::string_view untrusted_attachment)>;
  static Status RestoreBackup(const std::filesystem::path& directory,
                              const std::filesystem::path& data_dir, const Prepare& prepare = {});
  // The number of times this store was restored from a backup.
  Result<std::uint64_t> Restorations() const;

  // Makes a checkpoint and rewrites all files without deleted or overwritten data, while batches
  // arrive. `progress` gets the number of completed parts and of all parts.
  Status Compact(const Progress& progress = {});

  // A number stored under a name; 0 if never set. Durable.
  Status PutNumber(std::string_view name, std::uint64_t value);
  Result<std::uint64_t> GetNumber(std::string_view name) const;

  StoreGauges Gauges() const;
  // Disk space taken by the store's files, in bytes: tables, logs, and files that the engine has
  // not removed yet. Queries the file system.
  std::uint64_t StoredBytes() const;
  bool healthy() const;
  // Number of batches accepted and withdrawn since the store was created.
  std::uint64_t sequence() const;

 private:
  struct State;
  explicit Store(std::unique_ptr<State> state);
  Status CheckRunning(VerifyReport& report);
  std::unique_ptr<State> state_;
};

// All rows at one moment. Movable; several threads may call its const functions concurrently.
class Store::Snapshot {
 public:
  Snapshot(Snapshot&&) noexcept;
  Snapshot& operator=(Snapshot&&) noexcept;
  ~Snapshot();

  // Contains exactly the batches and withdrawals with numbers up to this one.
  std::uint64_t sequence() const;
  const Totals& totals() const;

  // A part of the rows, for ForEach(); by default all of them.
  struct RowRange {
    std::string begin;
    std::string end;
  };
  // Divides all rows into at most `parts` ranges of roughly equal size, ascending. All rows of an
  // API are in the same range. REQUIRES: parts > 0.
  std::vector<RowRange> Split(std::size_t parts) const;

  // Visits every row of the range, ascending by stats::RowKey; repeated calls visit the same rows.
  // An error of `visit` ends the iteration and is returned.
  using Visitor = std::function<Status(const stats::RowKey& key, const CompactRow& row)>;
  Status ForEach(const Visitor& visit, const RowRange& range) const;
  Status ForEach(const Visitor& visit) const { return ForEach(visit, {}); }

  // The first week that had not expired. ForEach() may visit rows of earlier ones.
  std::uint32_t first_week() const;
  // Reads the published units of the range and the marks of withdrawals from them. REQUIRES: the
  // reader does not outlive the store.
  PublishedReader ReadPublished(const RowRange& range) const;

 private:
  friend class Store;
  struct State;
  explicit Snapshot(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace fieldcost::store
