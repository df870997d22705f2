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

// What is behind Store; for this folder's sources only. Locks are taken in the order stripe,
// evict_mutex, held_gate, withdraw_mutex, checkpoint_mutex, gate, table_mutex.

// In front of a binding's name in the table of numbers and the like.
inline constexpr char kBindingPrefix[] = "binding/";

struct Store::State {
  StoreOptions options;
  UniqueFd directory_lock;
  std::unique_ptr<Database> database;

  std::array<std::mutex, kLedgerStripes> stripes;  // one batch of an agent at a time
  Gate gate;                                       // accepting, against setting dirty rows aside
  std::mutex checkpoint_mutex;                     // one checkpoint at a time
  std::mutex expire_mutex;      // one Expire() at a time; taken before all others
  std::mutex backup_mutex;      // one Backup() at a time, and none beside Expire(); taken next
  std::mutex invitation_mutex;  // one change of an invitation at a time; nothing is taken after it
  std::mutex evict_mutex;       // one thread at a time makes room among what is held
  Gate held_gate;               // changing held batches of one agent, against those of any
  std::mutex withdraw_mutex;    // from checking that the sums hold a batch to having taken it away

  mutable std::mutex table_mutex;  // guards the members up to `applied`
  std::condition_variable table_changed;
  DirtyTable dirty;
  DirtyTable frozen;                     // being checkpointed
  std::shared_ptr<Database::View> base;  // stored rows without `frozen`, while there is one
  std::vector<PendingRemoval> pending_removals;
  bool stopping = false;
  bool read_only = false;

  std::uint64_t applied = 0;      // guarded by checkpoint_mutex
  std::uint64_t inbox_begin = 0;  // below it the inbox is empty; guarded by checkpoint_mutex
  Totals totals;                  // of the stored rows; guarded by checkpoint_mutex
  bool inbox_left = false;        // something of it is summed; guarded by checkpoint_mutex
  bool backing_up = false;        // the inbox has to stay; guarded by checkpoint_mutex
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

  // Makes the store failed for good, and is the error to return.
  Error Failed(const Error& cause);

  bool WantsCheckpoint() const {
    return dirty.row_count() >= options.checkpoint_rows ||
           dirty.memory_bytes() >= options.checkpoint_bytes;
  }

  bool IsCheckpointDue() const {
    const std::lock_guard lock(table_mutex);
    return WantsCheckpoint();
  }

  // Opens for reading: nothing on the disk is changed, and what is in the log stays in `dirty`.
  static Result<std::unique_ptr<State>> OpenToRead(StoreOptions options);
  // Checks all tables but the rows, in `view`; `expected` are the totals then.
  Result<LedgerSums> CheckTables(const Database::View* view, const Totals& expected,
                                 VerifyReport& report) const;
  Status CheckStopped(VerifyReport& report) const;  // all tables
  // Fills `applied`, `totals`, the bounds, and what is known of held and kept batches.
  Status LoadProgress();
  Status Replay();
  // These two REQUIRE that checkpoint_mutex is held. Makes `dirty` `frozen`, if it is not empty;
  // the greatest number that is in it.
  std::uint64_t SetDirtyAside();
  Status CheckpointLocked();
  void RunCheckpointer();

  Result<LedgerHead> ReadHead(const std::string& head_key) const;
  // Notes in `changes` which sequences can never come any more once this one is recorded.
  Status NoteSkipped(const std::string& head_key, const LedgerHead& head, std::uint64_t sequence,
                     Database::WriteSet& changes) const;
  // Counts one more withdrawal of a batch of the agent's epoch that never arrived; kUnavailable:
  // too many.
  Status CountUndelivered(const std::string& head_key, Database::WriteSet& changes) const;
  // Whether a sequence that is too old is known never to have been accepted.
  Result<bool> IsSkipped(const std::string& head_key, std::uint64_t sequence) const;
  // The newest sums of a row; `found` is false if there is none.
  Status ReadRow(std::string_view key, CompactRow& sums, bool& found) const;
  // Writes the changes; CommitAdditions() writes with them what a delivery adds, last the addition
  // of `rows`, which are then added to the dirty table.
  Status Commit(Database::WriteSet& changes);
  Status CommitAdditions(Database::WriteSet& changes, std::string_view head_key,
                         std::span<const Addition> additions, const AcceptedRows& rows);
  // As CommitAdditions() for what is subtracted, and for the batch that is removed with it, if it
  // is kept.
  Status CommitWithdrawal(Database::WriteSet& changes, std::string_view withdrawn_record,
                          std::optional<std::uint64_t> kept_number);
  // Waits until there is room for more dirty rows, then writes `changes` in the gate, before that
  // what `number` adds to it, and after it what `take_in` does.
  Status CommitInGate(Database::WriteSet& changes, const std::function<void()>& number,
                      const std::function<Status()>& take_in);
  class RecordAdder;
  Result<bool> IsRevoked(std::string_view agent_id) const;

  // store_probation.cc. REQUIRES, for those with a WriteSet: the agent's stripe is locked, and
  // held_gate has been entered.
  Status LoadHeld();
  Result<std::optional<Probation>> ReadProbation(const std::string& head_key) const;
  // Whether probation concerns any agent.
  bool UsesProbation() const { return options.probation_batches != 0 || held.batches() != 0; }
  // Decides whether the batch is held, and what it releases, and puts both into `changes`. What is
  // held is counted at once; what is released is counted until it is removed from `held`. Without
  // room, nothing is changed.
  Result<ProbationStep> StepProbation(const AcceptedBatch& batch, const std::string& head_key,
                                      Database::WriteSet& changes);
  // Puts into `changes` and `step` that everything held of the agent is released.
  Status ReleaseHeld(const std::string& head_key, Database::WriteSet& changes,
                     ProbationStep& step) const;
  // As StepProbation(), where others have to make room: puts into `changes` that they are dropped.
  // REQUIRES: is alone behind held_gate.
  Result<ProbationStep> StepEvicting(const AcceptedBatch& batch, const std::string& head_key,
                                     Database::WriteSet& changes, std::vector<HeldDrop>& evicted);
  // Removes the batch if it is held, before it returns. False, and no change, if it is not held.
  Result<bool> WithdrawHeld(const std::string& head_key, std::uint64_t sequence,
                            std::uint32_t row_count, Database::WriteSet& changes);
  // Drops all that is held of the agent for epochs before `end`, together with `changes`, but
  // leaves to Expire() what has expired. Returns how many batches were dropped.
  Result<std::uint64_t> DropHeld(std::string_view agent_id, std::uint64_t end,
                                 Database::WriteSet& changes);
  // Puts into `changes` that nothing is held of the agent any more, as if its owner had withdrawn
  // it. Does nothing if there is none.
  Result<HeldDrop> PutHeldDrop(const std::string& head_key, Database::WriteSet& changes) const;
  // The inbox record for what is held now, without rows of weeks that have expired.
  Result<std::string> RecordOfHeld(std::string_view record) const;
  // REQUIRES: withdraw_mutex is held.
  Status CheckWithdrawable(std::string_view accepted_rows) const;

  // Subtracts the rows of a batch that has been delivered, with all that is kept of it. REQUIRES:
  // its agent's stripe is locked.
  Result<WithdrawResult> SubtractDelivered(const std::string& head_key, std::uint64_t sequence,
                                           const std::string& accepted_rows,
                                           Database::WriteSet& changes);

  // store_kept.cc
  Status LoadKept();
  // Puts the record where it is kept, or into the inbox if its epoch's are not. REQUIRES: its
  // agent's stripe is locked.
  void PutAddition(const Addition& addition, std::string_view head_key, std::uint64_t number,
                   Database::WriteSet& changes) const;
  Result<std::optional<std::uint64_t>> KeptNumber(std::string_view head_key,
                                                  std::uint64_t sequence) const;
  // Rows as AcceptedRows::bytes(); nullopt if it is not kept.
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
  // Withdraws a batch of an expired epoch, which the ledger does not know any more.
  Result<WithdrawResult> WithdrawForgotten(const Withdrawal& withdrawal) const;
  // The accepted rows whose weeks have not expired.
  Result<std::string> WithoutExpiredRows(std::string_view accepted_rows) const;
};

// Appends what the inbox holds of the batch: its body as received if there is one, otherwise its
// rows in our own form.
void AppendLoggedBatch(const AcceptedBatch& batch, std::string& bytes);

// Notes in `changes` that the sequence has been delivered and what was answered.
void RecordDelivery(const std::string& head_key, std::uint64_t sequence, std::string_view answer,
                    LedgerHead& head, Database::WriteSet& changes);

// Size of a row key's first part, its API, which ends with the fifth zero byte.
std::size_t SizeOfApi(std::string_view row_key);

// A row key ends in its week.
std::uint32_t WeekOfRowKey(std::string_view row_key);

// Where Store::PutNumber() keeps a number.
std::string NamedNumberKey(std::string_view name);

// One batch of an agent at a time.
inline std::mutex& StripeOf(std::array<std::mutex, kLedgerStripes>& stripes,
                            std::string_view agent_id) {
  return stripes[static_cast<std::uint8_t>(agent_id[0]) % kLedgerStripes];
}

}  // namespace fieldcost::store
