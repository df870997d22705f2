#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "aggregator/store/database.h"
#include "aggregator/store/dirty_table.h"
#include "aggregator/store/gate.h"
#include "aggregator/store/held.h"
#include "aggregator/store/kept.h"
#include "aggregator/store/ledger.h"
#include "aggregator/store/probation.h"
#include "aggregator/store/store.h"
#include "aggregator/store/store_parts.h"
#include "aggregator/store/verify_ledger.h"
#include "common/base/file.h"

namespace fieldcost::store {

// The implementation of Store; for this folder's sources only. Locks are acquired in the order
// stripe, evict_mutex, held_gate, withdraw_mutex, checkpoint_mutex, gate, table_mutex.

// Prefix of a binding's name in Table::kMeta.
inline constexpr char kBindingPrefix[] = "binding/";

struct Store::State {
  StoreOptions options;
  UniqueFd directory_lock;
  std::unique_ptr<Database> database;

  std::array<std::mutex, kLedgerStripes> stripes;  // one batch of an agent at a time
  Gate gate;                                       // closed while dirty rows are set aside
  std::mutex checkpoint_mutex;                     // one checkpoint at a time
  std::mutex expire_mutex;      // one Expire() at a time; locked before all others
  std::mutex backup_mutex;      // one Backup() at a time, and none during Expire(); locked next
  std::mutex invitation_mutex;  // one change of an invitation at a time; no lock follows it
  std::mutex evict_mutex;       // one thread at a time evicts held batches
  Gate held_gate;               // excludes changes of one agent's held batches during an eviction
  std::mutex withdraw_mutex;    // held from checking a withdrawal's rows until they are subtracted

  mutable std::mutex table_mutex;  // guards what follows, up to `applied`
  std::condition_variable table_changed;
  DirtyTable dirty;
  DirtyTable frozen;                     // being checkpointed
  std::shared_ptr<Database::View> base;  // stored rows without `frozen`, if there is one
  std::vector<PendingRemoval> pending_removals;
  bool stopping = false;
  bool read_only = false;

  std::uint64_t applied = 0;      // guarded by checkpoint_mutex
  std::uint64_t inbox_begin = 0;  // the inbox is empty below it; guarded by checkpoint_mutex
  Totals totals;                  // of the stored rows; guarded by checkpoint_mutex
  bool inbox_left = false;        // some entries are in the sums; guarded by checkpoint_mutex
  bool backing_up = false;        // the inbox must not be emptied; guarded by checkpoint_mutex
  std::atomic<std::uint64_t> last_number{0};
  std::atomic<bool> failed{false};
  std::atomic<std::uint32_t> first_week{0};  // written with withdraw_mutex held
  std::atomic<std::uint64_t> first_epoch{0};
  std::atomic<std::uint64_t> kept_from{0};  // batches of earlier epochs are not kept
  HeldIndex held;
  std::atomic<std::uint64_t> evicted_batches{0};
  std::atomic<std::uint64_t> checkpoints{0};
  std::atomic<std::uint64_t> checkpoint_microseconds{0};
  std::thread checkpointer;

  // Adds to `changes` that an agent has enrolled.
  static void PutEnrolment(std::string_view agent_id, wire::Epoch epoch,
                           Database::WriteSet& changes);

  // Puts the store into its failed state; returns the error.
  Error Failed(const Error& cause);

  bool WantsCheckpoint() const {
    return dirty.row_count() >= options.checkpoint_rows ||
           dirty.memory_bytes() >= options.checkpoint_bytes;
  }

  bool IsCheckpointDue() const {
    const std::lock_guard lock(table_mutex);
    return WantsCheckpoint();
  }

  // Opens for reading: nothing on the disk is changed, and the rows in the log stay in `dirty`.
  static Result<std::unique_ptr<State>> OpenToRead(StoreOptions options);
  // Checks all tables except the rows, in `view`, which must have the totals `expected`.
  Result<LedgerSums> CheckTables(const Database::View* view, const Totals& expected,
                                 VerifyReport& report) const;
  Status CheckStopped(VerifyReport& report) const;  // all tables
  // Fills `applied`, `totals`, the bounds, and the state of held and kept batches.
  Status LoadProgress();
  Status Replay();
  // SetDirtyAside() and CheckpointLocked() REQUIRE that checkpoint_mutex is held. The former moves
  // `dirty` to `frozen`, unless it is empty, and returns the greatest number in it.
  std::uint64_t SetDirtyAside();
  Status CheckpointLocked();
  void RunCheckpointer();

  Result<LedgerHead> ReadHead(const std::string& head_key) const;
  // Adds to `changes` which sequences can never be accepted any more once this one is recorded.
  Status NoteSkipped(const std::string& head_key, const LedgerHead& head, std::uint64_t sequence,
                     Database::WriteSet& changes) const;
  // Counts one more withdrawal of a batch of the agent's epoch that never arrived. kUnavailable:
  // there are too many.
  Status CountUndelivered(const std::string& head_key, Database::WriteSet& changes) const;
  // Whether a sequence that is too old is recorded as never accepted.
  Result<bool> IsSkipped(const std::string& head_key, std::uint64_t sequence) const;
  // Reads the newest sums of a row; `found` is false if there is none.
  Status ReadRow(std::string_view key, CompactRow& sums, bool& found) const;
  // Commit() writes the changes. CommitAdditions() writes them together with the additions of a
  // delivery, the last of which is that of `rows`, and then adds `rows` to the dirty table.
  Status Commit(Database::WriteSet& changes);
  Status CommitAdditions(Database::WriteSet& changes, std::string_view head_key,
                         std::span<const Addition> additions, const AcceptedRows& rows);
  // The same for a withdrawal, which also removes the batch if it is kept.
  Status CommitWithdrawal(Database::WriteSet& changes, std::string_view withdrawn_record,
                          std::optional<std::uint64_t> kept_number);
  // Waits until there is room for more dirty rows. Then, inside the gate, calls `number` to
  // complete `changes`, writes these, and calls `take_in`.
  Status CommitInGate(Database::WriteSet& changes, const std::function<void()>& number,
                      const std::function<Status()>& take_in);
  class RecordAdder;
  Result<bool> IsRevoked(std::string_view agent_id) const;

  // store_probation.cc. Functions with a WriteSet REQUIRE that the agent's stripe is locked and
  // held_gate has been entered.
  Status LoadHeld();
  Result<std::optional<Probation>> ReadProbation(const std::string& head_key) const;
  // Whether any agent may be on probation.
  bool UsesProbation() const { return options.probation_batches != 0 || held.batches() != 0; }
  // Decides whether the batch is held and which batches it releases, and adds both to `changes`. A
  // held batch is counted immediately; released ones are counted until they are removed from
  // `held`. If there is no room, changes nothing.
  Result<ProbationStep> StepProbation(const AcceptedBatch& batch, const std::string& head_key,
                                      Database::WriteSet& changes);
  // Adds the release of all held batches of the agent to `changes` and `step`.
  Status ReleaseHeld(const std::string& head_key, Database::WriteSet& changes,
                     ProbationStep& step) const;
  // Like StepProbation(), for a batch that needs an eviction: adds the removal of other agents'
  // held batches to `changes`. REQUIRES: held_gate is closed by this thread.
  Result<ProbationStep> StepEvicting(const AcceptedBatch& batch, const std::string& head_key,
                                     Database::WriteSet& changes, std::vector<HeldDrop>& evicted);
  // Removes the batch, durably on return, if it is held. Otherwise returns false and changes
  // nothing.
  Result<bool> WithdrawHeld(const std::string& head_key, std::uint64_t sequence,
                            std::uint32_t row_count, Database::WriteSet& changes);
  // Drops the agent's held batches of epochs before `end`, in one write with `changes`, except for
  // expired ones, which Expire() removes. Returns how many batches were dropped.
  Result<std::uint64_t> DropHeld(std::string_view agent_id, std::uint64_t end,
                                 Database::WriteSet& changes);
  // Adds the removal of all held batches of the agent to `changes`, as if its owner had withdrawn
  // them. Does nothing if there are none.
  Result<HeldDrop> PutHeldDrop(const std::string& head_key, Database::WriteSet& changes) const;
  // The inbox record for a currently held batch, without rows of expired weeks.
  Result<std::string> RecordOfHeld(std::string_view record) const;
  // REQUIRES: withdraw_mutex is held.
  Status CheckWithdrawable(std::string_view accepted_rows) const;

  // Subtracts the rows of a delivered batch, and removes everything stored about it. REQUIRES: its
  // agent's stripe is locked.
  Result<WithdrawResult> SubtractDelivered(const std::string& head_key, std::uint64_t sequence,
                                           const std::string& accepted_rows,
                                           Database::WriteSet& changes);

  // store_kept.cc
  Status LoadKept();
  // Adds the record to the kept batches, or to the inbox if batches of its epoch are not kept.
  // REQUIRES: its agent's stripe is locked.
  void PutAddition(const Addition& addition, std::string_view head_key, std::uint64_t number,
                   Database::WriteSet& changes) const;
  Result<std::optional<std::uint64_t>> KeptNumber(std::string_view head_key,
                                                  std::uint64_t sequence) const;
  // Returns rows as AcceptedRows::bytes(); nullopt if the batch is not kept.
  Result<std::optional<std::string>> KeptRows(std::string_view head_key,
                                              std::uint64_t sequence) const;
  Status EmptyInbox(std::uint64_t number);
  Status RaiseKeptFrom(std::uint64_t epoch);
  // REQUIRES: expire_mutex and backup_mutex are held.
  Result<std::uint64_t> ForgetBatches(std::uint64_t epoch);

  // store_expire.cc
  Result<std::uint64_t> ReadMetaNumber(std::string_view key) const;
  Status LoadBounds();
  Status RaiseBounds(std::uint32_t week, std::uint64_t epoch);
  Status ExpireRows(ExpiryReport& report);
  Status ExpireEpochs(Table table, std::uint64_t& removed);
  Result<Totals> TotalsWithout(const std::vector<std::string>& ascending_keys) const;
  Status CheckEpoch(wire::Epoch epoch) const;  // kInvalidArgument if it has expired
  // Withdraws a batch of an expired epoch, which the ledger has forgotten.
  Result<WithdrawResult> WithdrawForgotten(const Withdrawal& withdrawal) const;
  // Returns the accepted rows of weeks that have not expired.
  Result<std::string> WithoutExpiredRows(std::string_view accepted_rows) const;
};

// Appends the batch in the form of the inbox: its body as received if there is one, otherwise its
// rows in our own form.
void AppendLoggedBatch(const AcceptedBatch& batch, std::string& bytes);

// Adds to `changes` that the sequence has been delivered, with the response to it.
void RecordDelivery(const std::string& head_key, std::uint64_t sequence, std::string_view answer,
                    LedgerHead& head, Database::WriteSet& changes);

// Size of a row key's first part, its API, which ends with the fifth zero byte.
std::size_t SizeOfApi(std::string_view row_key);

// The week at the end of a row key.
std::uint32_t WeekOfRowKey(std::string_view row_key);

// The key under which Store::PutNumber() stores a number.
std::string NamedNumberKey(std::string_view name);

// Allows one batch of an agent at a time.
inline std::mutex& StripeOf(std::array<std::mutex, kLedgerStripes>& stripes,
                            std::string_view agent_id) {
  return stripes[static_cast<std::uint8_t>(agent_id[0]) % kLedgerStripes];
}

}  // namespace fieldcost::store
