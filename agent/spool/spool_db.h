#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/spool/state_db.h"
#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/sqlite/sqlite.h"
#include "common/wire/batch.h"
#include "common/wire/epoch.h"

namespace fieldcost::spool {

// The state of a batch. The numbers are stored.
enum class SpoolState : std::uint8_t {
  kQueued = 0,
  kSent = 1,         // the service has acknowledged it
  kQuarantined = 2,  // the service has refused it permanently
  kWithdrawn = 3,    // it was withdrawn (forget)
  kDropped = 4,      // never sent: too old, too many, or consent was withdrawn
};

// A batch with its bytes.
struct SpooledBatch {
  std::uint64_t id = 0;  // of this machine's log; never sent
  wire::Epoch epoch{};
  std::uint64_t sequence = 0;
  SpoolState state = SpoolState::kQueued;
  std::uint64_t attempts = 0;  // to send it; incremented before the first byte is sent
  std::uint64_t rows = 0;
  std::string receipt;
  std::string body;
};

// An entry of the log: a batch, sent or not.
struct LoggedBatch {
  std::uint64_t id = 0;  // of this machine's log: 1, 2, 3, ...; never sent
  wire::Epoch epoch{};
  std::uint64_t sequence = 0;
  SpoolState state = SpoolState::kQueued;
  std::uint64_t rows = 0;
  std::uint64_t rejected_rows = 0;  // by the server
  WallTime created{};
  WallTime sent{};  // or quarantined, dropped or withdrawn; 0 = not yet
  std::uint64_t size_bytes = 0;
  std::string sha256;         // hex, of the bytes as sent
  std::string reason;         // why it was not sent, or the service's remark about a sent one
  bool can_withdraw = false;  // its bytes and receipt are still stored
};

struct SpoolTotals {
  std::uint64_t queued = 0;
  std::uint64_t queued_bytes = 0;
  std::uint64_t sent = 0;
  std::uint64_t quarantined = 0;
  std::uint64_t withdrawn = 0;
};

// Identifies a batch to the service.
struct BatchNumber {
  wire::Epoch epoch{};
  std::uint64_t sequence = 0;
};

// The spool's data for the upload schedule.
struct SpoolPace {
  std::uint64_t queued = 0;
  WallTime oldest_queued{};
  std::uint64_t made_last_week = 0;
};

// Names of numbers in the database.
inline constexpr char kEpochNumber[] = "epoch";  // SpoolDb::LastEpoch()
inline constexpr char kNextSequenceNumber[] = "next_sequence";
inline constexpr char kDroppedBatchesNumber[] = "dropped_batches";
inline constexpr char kDroppedRowsNumber[] = "dropped_rows";
inline constexpr char kLastSeenNumber[] = "last_seen";  // microseconds: when batches were last aged

// The outbox: immutable batches to be sent, and the log of all earlier ones. README.md has the
// states and their transitions. Callers group calls in transactions. Not thread-safe; must
// not outlive the StateDb.
class SpoolDb {
 public:
  explicit SpoolDb(StateDb& state) : state_(&state), database_(&state.connection()) {}

  // The epoch used last; 0 = none yet.
  Result<wire::Epoch> LastEpoch();

  // The number of the next batch if the clock was in this epoch when its rows were measured. A
  // clock before wire::kEarliestEpoch is wrong and leaves the last epoch in use. Any other clock is
  // trusted, even if it goes back: a clock that was briefly far ahead must not keep the key from
  // changing for years.
  Result<BatchNumber> NextNumber(wire::Epoch clock_epoch);
  // The hardware class of all batches of an epoch: that of its first batch, or `now` if there is
  // none. For the service, a key is one machine, so a changed class takes effect in the next epoch.
  Result<stats::HardwareClass> ClassOf(wire::Epoch epoch, const stats::HardwareClass& now);
  // Stores the class unless the epoch already has one.
  Status PinClass(wire::Epoch epoch, const stats::HardwareClass& hardware);
  // Deletes the classes of all other epochs.
  Status KeepClasses(const std::vector<wire::Epoch>& epochs);
  // Adds a batch with the next number; returns its id.
  Result<std::uint64_t> Add(std::string_view body, std::uint64_t rows, wire::Epoch clock_epoch,
                            WallTime now);
  Result<std::optional<SpooledBatch>> FirstQueued();
  Result<std::optional<SpooledBatch>> Find(std::uint64_t id);

  // Returns false if it is no longer queued.
  Result<bool> MarkAttempted(std::uint64_t id);
  // Records that the batch was not sent completely. If it was dropped meanwhile and no earlier
  // attempt can have arrived, deletes its bytes.
  Status TakeBackAttempt(std::uint64_t id);
  // Records that the batch has arrived, even if consent was withdrawn meanwhile.
  Status MarkSent(std::uint64_t id, const wire::BatchAnswer& answer, WallTime now);
  // Does nothing if it is no longer queued.
  Status MarkQuarantined(std::uint64_t id, std::string_view reason, WallTime now);

  // Drops pending rows and queued batches, because consent was withdrawn or everything is to be
  // forgotten. Batches that may have reached the service keep their bytes, so that they can be
  // withdrawn. Returns the number of dropped batches that were never sent.
  Result<std::uint64_t> DropUnsent(std::string_view reason, WallTime now);
  // Ages queued batches by the time since the last call, but by at most kMaxAgeStep, in case the
  // clock jumped.
  Status GrowOlder(WallTime now);
  // Drops queued batches that exceed these limits, oldest first, and counts them.
  Status DropExcess(std::chrono::hours max_age, std::uint64_t max_bytes, WallTime now);
  // Drops bytes of batches that are not queued, oldest first, until they take at most `max_bytes`.
  Status DropOldBytes(std::uint64_t max_bytes);

  // The first batch after `after_id` that has stored bytes and that the service may hold.
  Result<std::optional<SpooledBatch>> NextToWithdraw(std::uint64_t after_id);
  Status MarkWithdrawn(std::uint64_t id, WallTime now);
  Status NoteRefusal(std::uint64_t id, std::string_view reason);  // the withdrawal was refused
  Result<std::uint64_t> CountTooOld();                            // sent, but no longer stored

  Result<SpoolTotals> Totals();
  Result<SpoolPace> Pace(WallTime now);
  Result<std::vector<LoggedBatch>> Log();
  // Epochs of batches that are queued or can be withdrawn, so that their keys may still be needed.
  Result<std::vector<wire::Epoch>> EpochsInUse();

  static constexpr std::chrono::hours kMaxAgeStep{7 * 24};

 private:
  Status DropContributed(std::uint64_t id);
  Status PruneLog();

  StateDb* state_;
  sqlite::Database* database_;
};

}  // namespace fieldcost::spool
