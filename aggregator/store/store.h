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
#include "aggregator/store/limits.h"
#include "aggregator/store/retention.h"
#include "aggregator/store/row_codec.h"
#include "aggregator/store/store_options.h"
#include "aggregator/store/store_reports.h"
#include "common/base/result.h"
#include "common/stats/stat_row.h"
#include "common/wire/batch.h"

namespace fieldcost::store {

// The sums of everything ever accepted: exactly once, durably, always readable at their newest.
//
// Accepted rows go to an inbox (with the replay ledger, one atomic synced write) and into a table
// of dirty rows in memory. A checkpoint adds the dirty rows to the stored ones and notes up to
// which number the inbox is in them, in one atomic step. Opening replays what the inbox holds
// above. SUMS.md says why nothing is lost or counted twice, LAYOUT.md has the byte formats.
//
// After a failed write the store is failed for good: no Accept() succeeds any more, since it is not
// known what reached the disk; its directory can be opened again only by another process.
// Thread-safe. One process at a time has a data directory.
class Store {
 public:
  class Snapshot;

  // kAlreadyExists: another process (or Store) has the directory; kPermissionDenied, kNotFound,
  // kIo: it is unusable; kCorrupt: its contents are; kUnsupported: a program of another format
  // wrote them (format_mark.h).
  static Result<std::unique_ptr<Store>> Open(StoreOptions options);
  // Does not checkpoint: the inbox has everything.
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // Returns once the batch is durable; many callers at a time share disk syncs. Blocks while the
  // dirty table is over its limit. Batches of an agent on probation are held; the one that ends it
  // releases them, in the same write. Where there is no room to hold one, it takes that of agents
  // who were dishonest or hold more. kInvalidArgument: the sequence is 0 or so old that it cannot
  // be told from a replay; kUnavailable: no room to hold it; kPermissionDenied: its agent has been
  // revoked on probation; kIo: failed, do not acknowledge.
  Result<AcceptResult> Accept(const AcceptedBatch& batch);

  // Subtracts a batch as if it had never arrived: rows, totals and what is published get the bits
  // they would have. Returns once that is durable. kUnavailable: the agent has withdrawn
  // kMaxUndelivered batches that never arrived, and this is another; kIo: failed, do not
  // acknowledge; kCorrupt: the sums do not hold these rows; kUnsupported: a row has reached the
  // limit of its numbers, so that it is not known what it would be without the batch. After the
  // latter two nothing has changed.
  Result<WithdrawResult> Withdraw(const Withdrawal& withdrawal);

  // Batches that are in the sums are kept as received until they are withdrawn or their epoch is
  // forgotten, so that an agent's batches can be subtracted without its help.
  Status ForEachAgent(const std::function<Status(std::string_view agent_id)>& visit) const;
  Result<AgentBatches> BatchesOf(std::string_view agent_id) const;
  // The rows that are in the sums, as AcceptedRows::bytes(); nullopt if it is not kept.
  Result<std::optional<std::string>> KeptRows(std::string_view agent_id, wire::Epoch epoch,
                                              wire::Sequence sequence) const;
  // Does as Withdraw(), with these rows; kRepeated, and 0 rows, if it is not kept (any more).
  Result<WithdrawResult> WithdrawKept(std::string_view agent_id, wire::Epoch epoch,
                                      wire::Sequence sequence);

  // What RemoveAll() would change. `threshold` is that of publication.
  Result<RemovalEffect> EffectOfRemoving(std::string_view agent_id, std::uint32_t threshold);
  // Calls WithdrawKept() for all that is kept of the agent. If interrupted, the next call
  // continues. Revoke the agent first, so that nothing more comes.
  using Progress = std::function<void(int done, int total)>;
  Result<RemovalReport> RemoveAll(std::string_view agent_id, const Progress& progress = {});

  // What the agent has contributed to with batches that were not withdrawn: the hashes it gave,
  // ascending. A caller that relies on them accepts one batch of an agent at a time.
  Status GetContributions(std::string_view agent_id, wire::Epoch epoch,
                          std::vector<std::uint64_t>& hashes) const;

  // What the agent is bound to: what a batch gave as `bind`, whatever has become of that batch. A
  // caller that relies on it accepts one batch of an agent at a time.
  Result<std::optional<AgentBinding>> GetBinding(std::string_view agent_id,
                                                 wire::Epoch epoch) const;
  // The earliest epoch in which the ledger knows the agent.
  Result<std::optional<wire::Epoch>> FirstEpochOf(std::string_view agent_id) const;

  // Remembers durably that an agent has enrolled for an epoch; may be repeated.
  Status Enrol(std::string_view agent_id, wire::Epoch epoch);
  Result<bool> IsEnrolled(std::string_view agent_id, wire::Epoch epoch) const;

  // Invitations, each known by the SHA-256 of its token. Changes are durable when these return.
  Status AddInvitation(std::string_view token_hash, const Invitation& invitation);
  Result<std::map<std::string, Invitation>> Invitations() const;  // by hash
  // No key enrols with it any more; those that have remain enrolled for their epoch.
  Status RemoveInvitation(std::string_view token_hash);
  // Enrols the agent and counts one use, in one write; an agent that has enrolled uses nothing.
  Result<InvitationUse> EnrolInvited(std::string_view token_hash, std::string_view agent_id,
                                     wire::Epoch epoch, std::chrono::sys_seconds now);

  // Remembers durably that an agent is revoked, and drops its held batches, as if they had been
  // withdrawn; may be repeated.
  Status Revoke(std::string_view agent_id);
  Result<std::vector<std::string>> RevokedAgents() const;

  // The newest sums of one row.
  Result<std::optional<stats::StatRow>> Get(const stats::RowKey& key) const;

  // Brings the stored rows up to date and empties the inbox.
  Status Checkpoint();

  // All rows as of one moment. Makes a checkpoint first, so that the rows on disk are all there is.
  // REQUIRES: the snapshot does not outlive the store.
  Result<Snapshot> TakeSnapshot();

  // Reads every file and compares it with what was written; re-adds every row and compares with the
  // totals; checks every row's key, histogram, scalars, weights and sizes, and those of the held
  // and kept batches; and that all tables agree (see DAMAGE.md). May run beside ingest: it reads
  // one moment. What cannot be read is a problem in the report.
  Result<VerifyReport> Verify();
  // As Verify(), of a store that nobody has open, without changing anything on the disk. Errors as
  // Open().
  static Result<VerifyReport> VerifyStopped(StoreOptions options);

  // Reports what is lost with the damaged end of a log of a store that nobody has open; with
  // `drop_damaged` it cuts the log off there and keeps what follows beside the store. The store is
  // then as it was before that was written: nothing in it counts twice. kCorrupt: something else is
  // damaged.
  static Result<RecoveryReport> Recover(const StoreOptions& options, bool drop_damaged);

  // Reads the oldest file of tables that is newer than number `after` and compares it with what was
  // written; number 0: there is none, and the logs were looked at. Damage is logged and counted in
  // Gauges(), and is no error. kIo: a file cannot be read.
  Result<CheckedFile> CheckNextFile(std::uint64_t after) const;

  // Remembers `value` under `name` at the first call; later calls (also after a restart) succeed
  // only with the same value; another one is kCorrupt. Ties secrets outside the store to its
  // contents.
  Status Bind(std::string_view name, std::string_view value);

  // Whether anything is remembered under `name`.
  Result<bool> IsBound(std::string_view name) const;

  // Removes, durably and in steps that each leave a consistent store, all rows of weeks before
  // `first_week`, and of epochs before `first_epoch` ledger entries, enrolments and held batches
  // (retention.h has the bounds that fit together). Neither bound ever goes back. Batches of such
  // epochs are refused from then on (kInvalidArgument); a withdrawal ignores rows of expired weeks,
  // since they are gone. If interrupted, the next call finishes it.
  Result<ExpiryReport> Expire(std::uint32_t first_week, wire::Epoch first_epoch);
  // What Expire(), DropHeldBefore() and ForgetBatchesBefore() together would remove; removes
  // nothing.
  Result<ExpiryEffect> EffectOfExpiring(const RetentionBounds& bounds);
  // Removes, durably, held batches of earlier epochs, as if they had been withdrawn, and returns
  // how many. Meant for epochs of which no batch is accepted any more, so that their probation
  // cannot end.
  Result<std::uint64_t> DropHeldBefore(wire::Epoch epoch);
  // Removes, durably, what is kept of batches of earlier epochs, of which none is kept from then
  // on, and returns of how many. The sums stay. If interrupted, the next call finishes it.
  Result<std::uint64_t> ForgetBatchesBefore(wire::Epoch epoch);
  // The bounds in force; 0 if there were never any.
  std::uint32_t first_week() const;
  wire::Epoch first_epoch() const;

  // Copies the store as of now, while batches come in, into `directory`, made if absent, which may
  // hold older backups of this store (kInvalidArgument: of another one), whose files it shares.
  // `attachment` is kept with it. Durable and verified when it returns. kIo: the store has failed,
  // or `directory` cannot be written; older backups stay as they are.
  Status Backup(const std::filesystem::path& directory, std::string_view attachment = {});
  // Makes the newest backup in `directory` the store of `data_dir`, which must have none
  // (kAlreadyExists). kNotFound: no backup; kCorrupt: it is damaged; kUnsupported: of another
  // format. `prepare` gets the attachment before the store is there; its error is returned.
  using Prepare = std::function<Status(std::string_view untrusted_attachment)>;
  static Status RestoreBackup(const std::filesystem::path& directory,
                              const std::filesystem::path& data_dir, const Prepare& prepare = {});
  // How often this store was restored from a backup.
  Result<std::uint64_t> Restorations() const;

  // Makes a checkpoint and rewrites everything without what is deleted or overwritten, while
  // batches come in. `progress` is told how many of how many parts are done.
  Status Compact(const Progress& progress = {});

  // A number kept under a name; 0 if never set. Durable.
  Status PutNumber(std::string_view name, std::uint64_t value);
  Result<std::uint64_t> GetNumber(std::string_view name) const;

  StoreGauges Gauges() const;
  // Bytes of its files on the disk: tables, logs, and what the engine has not removed yet. Asks the
  // file system.
  std::uint64_t StoredBytes() const;
  bool healthy() const;
  // Batches accepted and withdrawn since the store was made.
  std::uint64_t sequence() const;

 private:
  struct State;
  explicit Store(std::unique_ptr<State> state);
  Status CheckRunning(VerifyReport& report);
  std::unique_ptr<State> state_;
};

// All rows at one moment. Movable; its const functions may be called by many threads at a time.
class Store::Snapshot {
 public:
  Snapshot(Snapshot&&) noexcept;
  Snapshot& operator=(Snapshot&&) noexcept;
  ~Snapshot();

  // The batches and withdrawals with numbers up to this one are in it, no other.
  std::uint64_t sequence() const;
  const Totals& totals() const;

  // A part of the rows, for ForEach(); all of them unless Split() has made it.
  struct RowRange {
    std::string begin;
    std::string end;
  };
  // Cuts all rows into at most `parts` ranges of roughly the same size, ascending. The rows of an
  // API are in one. REQUIRES: parts > 0.
  std::vector<RowRange> Split(std::size_t parts) const;

  // Visits every row of the range, ascending by stats::RowKey. May be called again: same rows. An
  // error of `visit` ends it and is returned.
  using Visitor = std::function<Status(const stats::RowKey& key, const CompactRow& row)>;
  Status ForEach(const Visitor& visit, const RowRange& range) const;
  Status ForEach(const Visitor& visit) const { return ForEach(visit, {}); }

 private:
  friend class Store;
  struct State;
  explicit Snapshot(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace fieldcost::store
