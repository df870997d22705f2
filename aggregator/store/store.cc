#include "aggregator/store/store.h"

#include <fcntl.h>
#include <sys/file.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "aggregator/store/database.h"
#include "aggregator/store/gate.h"
#include "aggregator/store/ledger.h"
#include "common/base/check.h"
#include "common/base/file.h"
#include "common/base/log.h"

namespace fieldcost::store {
namespace {

constexpr char kAppliedKey[] = "applied";
constexpr char kTotalsKey[] = "totals";
constexpr char kBindingPrefix[] = "binding/";

std::string NumberKey(std::uint64_t number) {
  std::string key;
  AppendBigEndian64(number, key);
  return key;
}

// After a failed write the engine must not be closed: closing writes again, to a file of unknown
// contents (builds with assertions abort there). It stays open until the process ends.
void Abandon(std::unique_ptr<Database> database) {
  static auto* const abandoned = new std::vector<std::unique_ptr<Database>>();
  abandoned->push_back(std::move(database));
}

// Only one process may have a data directory; the lock goes with the process.
Result<UniqueFd> LockDirectory(const std::filesystem::path& directory) {
  const std::filesystem::path path = directory / "lock";
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd.valid()) return ErrnoError("open", path, errno);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return ErrnoError("lock", path, errno);
    return Fail(ErrorCode::kAlreadyExists,
                "data directory {} is in use by another fieldcost-aggregator", directory.string());
  }
  return fd;
}

}  // namespace

struct Store::State {
  StoreOptions options;
  UniqueFd directory_lock;
  std::unique_ptr<Database> database;

  std::array<std::mutex, kLedgerStripes> stripes;  // one batch of an agent at a time
  Gate gate;                                       // accepting, against setting dirty rows aside
  std::mutex checkpoint_mutex;                     // one checkpoint at a time

  mutable std::mutex table_mutex;  // guards the members up to `applied`
  std::condition_variable table_changed;
  DirtyTable dirty;
  DirtyTable frozen;                     // being checkpointed
  std::shared_ptr<Database::View> base;  // stored rows without `frozen`, while there is one
  bool stopping = false;

  std::uint64_t applied = 0;  // guarded by checkpoint_mutex
  Totals totals;              // of the stored rows; guarded by checkpoint_mutex
  std::atomic<std::uint64_t> last_number{0};
  std::atomic<bool> failed{false};
  std::thread checkpointer;

  Error Failed(const Error& cause) {
    if (!failed.exchange(true))
      LogError("the store has failed and accepts no more: {}", cause.message);
    const std::lock_guard lock(table_mutex);
    table_changed.notify_all();
    return Error{ErrorCode::kIo, cause.message};
  }

  bool WantsCheckpoint() const {
    return dirty.rows().size() >= options.checkpoint_rows ||
           dirty.memory_bytes() >= options.checkpoint_bytes;
  }

  Status Replay();
  Status CheckpointLocked();
  void RunCheckpointer();
  Result<std::string> WriteBatch(const AcceptedBatch& batch, LedgerHead& head,
                                 const std::string& ledger_key);
};

Store::Store(std::unique_ptr<State> state) : state_(std::move(state)) {}

Store::~Store() {
  {
    const std::lock_guard lock(state_->table_mutex);
    state_->stopping = true;
    state_->table_changed.notify_all();
  }
  if (state_->checkpointer.joinable()) state_->checkpointer.join();
  if (state_->failed) Abandon(std::move(state_->database));
}

Result<std::unique_ptr<Store>> Store::Open(StoreOptions options) {
  FIELDCOST_TRY(MakeDirectories(options.data_dir, 0700));
  auto state = std::make_unique<State>();
  FIELDCOST_ASSIGN(state->directory_lock, LockDirectory(options.data_dir));
  FIELDCOST_TRY(MakeDirectories(options.data_dir / "store", 0700));
  FIELDCOST_ASSIGN(state->database,
                   Database::Open({.directory = options.data_dir / "store",
                                   .write_buffer_bytes = options.write_buffer_bytes,
                                   .block_cache_bytes = options.block_cache_bytes}));
  state->options = std::move(options);
  FIELDCOST_TRY(state->Replay());
  if (state->options.checkpoint_seconds != 0) {
    state->checkpointer = std::thread([raw = state.get()] { raw->RunCheckpointer(); });
  }
  return std::unique_ptr<Store>(new Store(std::move(state)));
}

Status Store::State::Replay() {
  FIELDCOST_ASSIGN(const auto applied_bytes, database->Get(Table::kMeta, kAppliedKey));
  if (applied_bytes) {
    if (applied_bytes->size() != 8) return Fail(ErrorCode::kCorrupt, "applied number is malformed");
    applied = ReadBigEndian64(*applied_bytes);
  }
  FIELDCOST_ASSIGN(const auto totals_bytes, database->Get(Table::kMeta, kTotalsKey));
  if (totals_bytes) {
    FIELDCOST_ASSIGN(totals, Totals::Decode(*totals_bytes));
  }
  last_number = applied;
  const std::lock_guard lock(checkpoint_mutex);
  return database->ForEach(Table::kInbox, NumberKey(applied + 1), nullptr,
                           [this](std::string_view key, std::string_view value) -> Status {
                             if (key.size() != 8)
                               return Fail(ErrorCode::kCorrupt, "inbox key is malformed");
                             FIELDCOST_TRY(dirty.AddBatch(value));
                             last_number = ReadBigEndian64(key);
                             if (WantsCheckpoint()) return CheckpointLocked();
                             return {};
                           });
}

Result<AcceptResult> Store::Accept(const AcceptedBatch& batch) {
  FIELDCOST_CHECK(batch.agent_id.size() == kAgentIdBytes && batch.rows != nullptr);
  FIELDCOST_CHECK(batch.answer.size() <= kMaxAnswerBytes);
  const std::uint64_t sequence = batch.sequence.value();
  if (sequence == 0) return Fail(ErrorCode::kInvalidArgument, "sequence numbers start at 1");
  std::string key(batch.agent_id);
  AppendBigEndian64(batch.epoch.value(), key);

  const auto stripe = static_cast<std::uint8_t>(batch.agent_id[0]) % kLedgerStripes;
  const std::lock_guard stripe_lock(state_->stripes[stripe]);
  if (state_->failed) return Fail(ErrorCode::kIo, "the store has failed; see the server's log");
  FIELDCOST_ASSIGN(const auto head_bytes, state_->database->Get(Table::kLedger, key));
  LedgerHead head;
  if (head_bytes) {
    FIELDCOST_ASSIGN(head, LedgerHead::Decode(*head_bytes));
  }
  switch (head.Classify(sequence)) {
    case LedgerHead::Seen::kTooOld:
      return Fail(ErrorCode::kInvalidArgument,
                  "sequence too old: {} is more than {} behind {}, the newest accepted", sequence,
                  kLedgerWindow - 1, head.high_water());
    case LedgerHead::Seen::kReplay: {
      FIELDCOST_ASSIGN(auto answer,
                       state_->database->Get(Table::kLedger, key + NumberKey(sequence)));
      if (!answer) return Fail(ErrorCode::kCorrupt, "the answer of an accepted batch is missing");
      return AcceptResult{.answer = std::move(*answer), .replay = true};
    }
    case LedgerHead::Seen::kNew:
      break;
  }
  FIELDCOST_ASSIGN(std::string answer, state_->WriteBatch(batch, head, key));
  return AcceptResult{.answer = std::move(answer), .replay = false};
}

Result<std::string> Store::State::WriteBatch(const AcceptedBatch& batch, LedgerHead& head,
                                             const std::string& ledger_key) {
  {
    std::unique_lock lock(table_mutex);
    table_changed.wait(lock, [this] {
      return failed || options.checkpoint_seconds == 0 ||
             dirty.memory_bytes() < kDirtyOverdraft * options.checkpoint_bytes;
    });
  }
  Database::WriteSet changes(*database);
  std::vector<std::uint64_t> forgotten;
  head.Record(batch.sequence.value(), forgotten);
  changes.Put(Table::kLedger, ledger_key, head.Encode());
  changes.Put(Table::kLedger, ledger_key + NumberKey(batch.sequence.value()), batch.answer);
  for (const std::uint64_t sequence : forgotten) {
    changes.Delete(Table::kLedger, ledger_key + NumberKey(sequence));
  }

  gate.Enter();
  const std::uint64_t number = last_number.fetch_add(1) + 1;
  changes.Put(Table::kInbox, NumberKey(number), batch.rows->bytes());
  Status status =
      failed ? Status(Fail(ErrorCode::kIo, "the store has failed")) : database->Write(changes);
  if (status) {
    const std::lock_guard lock(table_mutex);
    status = dirty.AddBatch(batch.rows->bytes());
    if (WantsCheckpoint()) table_changed.notify_all();
  }
  gate.Leave();
  if (!status) return Failed(status.error());
  return std::string(batch.answer);
}

Status Store::Checkpoint() {
  const std::lock_guard lock(state_->checkpoint_mutex);
  return state_->CheckpointLocked();
}

Status Store::State::CheckpointLocked() {
  if (failed) return Fail(ErrorCode::kIo, "the store has failed; see the server's log");
  // With nobody inside the gate, every number given out so far is in the dirty table.
  gate.Close();
  const std::uint64_t number = last_number;
  {
    const std::lock_guard lock(table_mutex);
    if (!dirty.empty()) {
      std::swap(dirty, frozen);
      base = database->Freeze();
    }
  }
  gate.Open();
  if (frozen.empty()) return {};
  if (options.on_checkpoint) options.on_checkpoint(CheckpointStage::kFrozen);

  Database::WriteSet changes(*database);
  CompactRow sums;
  std::string value;
  for (const auto& [key, row] : frozen.rows()) {
    auto stored = database->Get(Table::kRows, key, base.get());
    if (!stored) return Failed(stored.error());
    sums.Clear();
    if (*stored) {
      if (Status status = DecodeRowValue(**stored, sums); !status) return Failed(status.error());
    }
    sums.Add(row);
    value.clear();
    AppendRowValue(sums, value);
    changes.Put(Table::kRows, key, value);
  }
  Totals new_totals = totals;
  new_totals.Add(frozen.totals());
  changes.Put(Table::kMeta, kAppliedKey, NumberKey(number));
  changes.Put(Table::kMeta, kTotalsKey, new_totals.Encode());
  changes.DeleteRange(Table::kInbox, NumberKey(applied + 1), NumberKey(number + 1));
  if (Status status = database->Write(changes); !status) return Failed(status.error());
  if (options.on_checkpoint) options.on_checkpoint(CheckpointStage::kWritten);

  applied = number;
  totals = new_totals;
  const std::lock_guard lock(table_mutex);
  frozen = DirtyTable();
  base.reset();
  table_changed.notify_all();
  return {};
}

void Store::State::RunCheckpointer() {
  std::unique_lock lock(table_mutex);
  while (!stopping && !failed) {
    table_changed.wait_for(lock, std::chrono::seconds(options.checkpoint_seconds),
                           [this] { return stopping || failed || WantsCheckpoint(); });
    if (stopping || failed) return;
    lock.unlock();
    {
      const std::lock_guard checkpoint_lock(checkpoint_mutex);
      if (Status status = CheckpointLocked(); !status) {
        LogError("checkpoint failed: {}", status.error().message);
      }
    }
    lock.lock();
  }
}

Result<std::optional<stats::StatRow>> Store::Get(const stats::RowKey& key) const {
  std::string bytes;
  AppendRowKey(key, bytes);
  CompactRow sums;
  const std::lock_guard lock(state_->table_mutex);
  FIELDCOST_ASSIGN(const auto stored,
                   state_->database->Get(Table::kRows, bytes, state_->base.get()));
  if (stored) FIELDCOST_TRY(DecodeRowValue(*stored, sums));
  bool found = stored.has_value();
  for (const DirtyTable* table : {&state_->frozen, &state_->dirty}) {
    const CompactRow* row = table->Find(bytes);
    if (row == nullptr) continue;
    sums.Add(*row);
    found = true;
  }
  if (!found) return std::optional<stats::StatRow>();
  return std::optional(stats::StatRow{key, sums.ToHistogram(), sums.scalars});
}

Status Store::Bind(std::string_view name, std::string_view value) {
  FIELDCOST_CHECK(value.size() <= kMaxBindingBytes);
  const std::string key = kBindingPrefix + std::string(name);
  const std::lock_guard lock(state_->checkpoint_mutex);
  FIELDCOST_ASSIGN(const auto stored, state_->database->Get(Table::kMeta, key));
  if (stored) {
    if (*stored == value) return {};
    return Fail(ErrorCode::kCorrupt, "{} is not the one that {} was filled with", name,
                (state_->options.data_dir / "store").string());
  }
  Database::WriteSet changes(*state_->database);
  changes.Put(Table::kMeta, key, value);
  if (Status status = state_->database->Write(changes); !status) {
    return state_->Failed(status.error());
  }
  return {};
}

bool Store::healthy() const { return !state_->failed; }
std::uint64_t Store::sequence() const { return state_->last_number; }

struct Store::Snapshot::State {
  const Database* database = nullptr;
  std::shared_ptr<Database::View> view;
  std::uint64_t sequence = 0;
  Totals totals;
};

Store::Snapshot::Snapshot(std::unique_ptr<State> state) : state_(std::move(state)) {}
Store::Snapshot::Snapshot(Snapshot&&) noexcept = default;
Store::Snapshot& Store::Snapshot::operator=(Snapshot&&) noexcept = default;
Store::Snapshot::~Snapshot() = default;
std::uint64_t Store::Snapshot::sequence() const { return state_->sequence; }
const Totals& Store::Snapshot::totals() const { return state_->totals; }

Status Store::Snapshot::ForEach(const Visitor& visit) const {
  stats::RowKey key;
  CompactRow row;
  return state_->database->ForEach(
      Table::kRows, "", state_->view.get(),
      [&](std::string_view key_bytes, std::string_view value) -> Status {
        FIELDCOST_TRY(DecodeRowKey(key_bytes, key));
        FIELDCOST_TRY(DecodeRowValue(value, row));
        return visit(key, row);
      });
}

Result<Store::Snapshot> Store::TakeSnapshot() {
  const std::lock_guard lock(state_->checkpoint_mutex);
  FIELDCOST_TRY(state_->CheckpointLocked());
  auto snapshot = std::make_unique<Snapshot::State>();
  snapshot->database = state_->database.get();
  snapshot->view = state_->database->Freeze();
  snapshot->sequence = state_->applied;
  snapshot->totals = state_->totals;
  return Snapshot(std::move(snapshot));
}

}  // namespace fieldcost::store
