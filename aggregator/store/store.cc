#include "aggregator/store/store.h"

#include <utility>
#include <vector>

#include "aggregator/store/contributions.h"
#include "aggregator/store/directory_lock.h"
#include "aggregator/store/format_mark.h"
#include "aggregator/store/store_state.h"
#include "common/base/byte_order.h"
#include "common/base/check.h"
#include "common/base/log.h"

namespace fieldcost::store {
namespace {

// Keeps the engine open until the process ends. After a failed write it must not be closed: closing
// writes again, to a file of unknown contents (builds with assertions abort there).
void Abandon(std::unique_ptr<Database> database) {
  static auto* const abandoned = new std::vector<std::unique_ptr<Database>>();
  abandoned->push_back(std::move(database));
}

std::string OpeningOf(const StoreOptions& options) {
  return fmt::format("open the store in {}", (options.data_dir / "store").string());
}

}  // namespace

Store::Store(std::unique_ptr<State> state) : state_(std::move(state)) {}

Store::~Store() {
  {
    const std::lock_guard lock(state_->table_mutex);
    state_->stopping = true;
    state_->table_changed.notify_all();
  }
  if (state_->checkpointer.joinable()) state_->checkpointer.join();
  if (!healthy()) Abandon(std::move(state_->database));
}

Result<std::unique_ptr<Store>> Store::Open(StoreOptions options) {
  FIELDCOST_TRY(MakeDirectories(options.data_dir, 0700));
  auto state = std::make_unique<State>();
  FIELDCOST_ASSIGN(state->directory_lock, LockDirectory(options.data_dir));
  FIELDCOST_TRY(MakeDirectories(options.data_dir / "store", 0700));
  FIELDCOST_TRY(SyncDirectory(options.data_dir));
  // Ignores errors: if we may not read the parent, the creator of the data directory must have
  // synced it.
  static_cast<void>(SyncDirectory(std::filesystem::absolute(options.data_dir).parent_path()));
  DatabaseOptions database_options{.directory = options.data_dir / "store",
                                   .write_buffer_bytes = options.write_buffer_bytes,
                                   .block_cache_bytes = options.block_cache_bytes,
                                   .file_system = options.file_system};
  FIELDCOST_TRY(CheckFormatBeforeTablesAreMade(database_options, OpeningOf(options)));
  FIELDCOST_ASSIGN(state->database, Database::Open(database_options));
  for (const Database::TornLog& log : state->database->torn_logs()) {
    LogWarning(
        "{}: removed {} bytes after byte {}, a record that a crash has torn before it was "
        "acknowledged",
        log.file.string(), log.bytes, log.at);
  }
  state->options = std::move(options);
  Status status = CheckOrMarkFormat(*state->database, OpeningOf(state->options));
  if (status) status = state->Replay();
  if (!status) {
    Error error = state->database->NameFiles(status.error());
    if (state->failed || !state->database->healthy()) Abandon(std::move(state->database));
    return error;
  }
  if (state->options.checkpoint_seconds != 0) {
    state->checkpointer = std::thread([raw = state.get()] { raw->RunCheckpointer(); });
  }
  return std::unique_ptr<Store>(new Store(std::move(state)));
}

Result<std::unique_ptr<Store::State>> Store::State::OpenToRead(StoreOptions options) {
  auto state = std::make_unique<State>();
  FIELDCOST_ASSIGN(state->directory_lock, LockDirectory(options.data_dir));
  FIELDCOST_ASSIGN(state->database,
                   Database::Open({.directory = options.data_dir / "store",
                                   .access = DatabaseAccess::kRead,
                                   .write_buffer_bytes = options.write_buffer_bytes,
                                   .block_cache_bytes = options.block_cache_bytes,
                                   .file_system = options.file_system}));
  state->options = std::move(options);
  state->read_only = true;
  Status status = CheckFormat(*state->database, OpeningOf(state->options));
  if (status) status = state->Replay();
  if (!status) return state->database->NameFiles(status.error());
  return state;
}

// Adds inbox records to the dirty table, one by one.
class Store::State::RecordAdder {
 public:
  explicit RecordAdder(State& state) : state_(state) {}
  Status Add(std::string_view record) {
    FIELDCOST_ASSIGN(const InboxKind kind, InboxKindOf(record));
    if (kind == InboxKind::kBatch) FIELDCOST_TRY(reader_.Read(record, rows_));
    const std::lock_guard lock(state_.table_mutex);
    if (kind != InboxKind::kBatch) return state_.dirty.AddRecord(record);
    state_.dirty.Add(rows_);
    return {};
  }

 private:
  State& state_;
  BatchRecordReader reader_;
  AcceptedRows rows_;
};

Status Store::State::LoadProgress() {
  FIELDCOST_ASSIGN(const auto applied_bytes, database->Get(Table::kProgress, kAppliedKey));
  if (applied_bytes) {
    if (applied_bytes->size() != 8) return Fail(ErrorCode::kCorrupt, "applied number is malformed");
    applied = ReadBigEndian(*applied_bytes);
  }
  FIELDCOST_ASSIGN(const auto totals_bytes, database->Get(Table::kProgress, kTotalsKey));
  if (totals_bytes) {
    FIELDCOST_ASSIGN(totals, Totals::Decode(*totals_bytes));
  }
  FIELDCOST_TRY(LoadBounds());
  FIELDCOST_TRY(LoadHeld());
  return LoadKept();
}

Status Store::State::Replay() {
  FIELDCOST_TRY(LoadProgress());
  last_number = applied;
  const std::lock_guard lock(checkpoint_mutex);
  RecordAdder adder(*this);
  const auto add = [&](std::uint64_t number, std::string_view record) -> Status {
    last_number = number;
    if (Status status = adder.Add(record); !status) {
      return Within(std::move(status).error(), fmt::format("batch {} of the inbox", number));
    }
    if (!read_only && WantsCheckpoint()) return CheckpointLocked();
    return {};
  };
  // Read both tables in the order of numbers, since a checkpoint covers all numbers up to one.
  std::uint64_t next = applied + 1;
  Database::Lookup inbox(*database, Table::kInbox, nullptr);
  const auto add_batch = [&](std::string_view key, std::string_view value) -> Status {
    if (key.size() != 8) return Fail(ErrorCode::kCorrupt, "a batch's key is malformed");
    const std::uint64_t number = ReadBigEndian(key);
    for (; next < number; ++next) {
      FIELDCOST_ASSIGN(const auto other, inbox.Find(NumberKey(next)));
      if (other) FIELDCOST_TRY(add(next, *other));
    }
    ++next;
    return add(number, value);
  };
  FIELDCOST_TRY(database->ForEach(Table::kBatches, NumberKey(next), nullptr, add_batch));
  return database->ForEach(Table::kInbox, NumberKey(next), nullptr,
                           [&](std::string_view key, std::string_view value) -> Status {
                             if (key.size() != 8) return {};
                             return add(ReadBigEndian(key), value);
                           });
}

Error Store::State::Failed(const Error& cause) {
  if (!failed.exchange(true)) {
    LogError("the store has failed and accepts no more: {}", cause.message);
  }
  const std::lock_guard lock(table_mutex);
  table_changed.notify_all();
  return Error{ErrorCode::kIo, cause.message};
}

Result<LedgerHead> Store::State::ReadHead(const std::string& head_key) const {
  FIELDCOST_ASSIGN(const auto bytes, database->Get(Table::kLedger, head_key));
  if (!bytes) return LedgerHead();
  return LedgerHead::Decode(*bytes);
}

void RecordDelivery(const std::string& head_key, std::uint64_t sequence, std::string_view answer,
                    LedgerHead& head, Database::WriteSet& changes) {
  std::vector<std::uint64_t> forgotten;
  head.Record(sequence, forgotten);
  changes.Put(Table::kLedger, head_key, head.Encode());
  changes.Put(Table::kLedger, AnswerKey(head_key, sequence), answer);
  for (const std::uint64_t old : forgotten) {
    changes.Delete(Table::kLedger, AnswerKey(head_key, old));
  }
}

void AppendLoggedBatch(const AcceptedBatch& batch, std::string& bytes) {
  if (batch.received.body.empty()) {
    bytes += batch.rows->bytes();
  } else {
    bytes += BatchRecordHead(batch.received.refused);
    bytes += batch.received.body;
  }
}

// Returns the original response to the batch.
static Result<std::string> FirstAnswer(const Database& database, const std::string& head_key,
                                       std::uint64_t sequence) {
  FIELDCOST_ASSIGN(auto answer, database.Get(Table::kLedger, AnswerKey(head_key, sequence)));
  if (answer) return std::move(*answer);
  const Error missing = Fail(ErrorCode::kCorrupt, "the answer of an accepted batch is missing");
  database.NoteDamage(missing.message);
  return missing;
}

static void NoteContributions(const AcceptedBatch& batch, const std::string& head_key,
                              Database::WriteSet& changes) {
  for (const WeekContributions& part : batch.contributions) {
    if (part.hashes.empty()) continue;
    changes.Put(Table::kLedger, ContributionKey(head_key, part.week, batch.sequence.value()),
                EncodeContributions(part.hashes));
  }
  if (batch.bind) {
    changes.Put(Table::kLedger, BindingKey(head_key), EncodeBinding(*batch.bind));
  }
}

// Returns the response to a batch that was delivered before, or an error if it is unknown whether
// it was; nullopt for a new one.
static Result<std::optional<AcceptResult>> AnswerIfKnown(const Database& database,
                                                         const LedgerHead& head,
                                                         const std::string& head_key,
                                                         std::uint64_t sequence) {
  switch (head.Classify(sequence)) {
    case LedgerHead::Seen::kTooOld:
      return Fail(ErrorCode::kInvalidArgument,
                  "sequence too old: {} is more than {} behind {}, the newest accepted", sequence,
                  kLedgerWindow - 1, head.high_water());
    case LedgerHead::Seen::kReplay: {
      FIELDCOST_ASSIGN(std::string answer, FirstAnswer(database, head_key, sequence));
      return std::optional(AcceptResult{.answer = std::move(answer), .replay = true});
    }
    case LedgerHead::Seen::kNew:
      break;
  }
  return std::optional<AcceptResult>();
}

Result<AcceptResult> Store::Accept(const AcceptedBatch& batch) {
  FIELDCOST_CHECK(batch.agent_id.size() == kAgentIdBytes && batch.rows != nullptr);
  FIELDCOST_CHECK(batch.answer.size() <= kMaxAnswerBytes);
  const std::uint64_t sequence = batch.sequence.value();
  if (sequence == 0) return Fail(ErrorCode::kInvalidArgument, "sequence numbers start at 1");
  const std::string key = LedgerHeadKey(batch.agent_id, batch.epoch.value());

  const std::lock_guard stripe_lock(StripeOf(state_->stripes, batch.agent_id));
  if (state_->failed) return StoreFailed();
  FIELDCOST_TRY(state_->CheckEpoch(batch.epoch));
  FIELDCOST_ASSIGN(LedgerHead head, state_->ReadHead(key));
  FIELDCOST_ASSIGN(auto known, AnswerIfKnown(*state_->database, head, key, sequence));
  if (known) return std::move(*known);

  // 1. Decide whether the batch is held or summed, and whether it releases held batches.
  Database::WriteSet changes(*state_->database);
  NoteContributions(batch, key, changes);
  std::optional<HeldAccess> access;
  if (state_->UsesProbation()) access.emplace(state_->evict_mutex, state_->held_gate);
  FIELDCOST_ASSIGN(ProbationStep step, state_->StepProbation(batch, key, changes));
  std::vector<HeldDrop> evicted;
  if (step.no_room) {
    access->BeAlone();
    FIELDCOST_ASSIGN(step, state_->StepEvicting(batch, key, changes, evicted));
  }
  // 2. Record the delivery and the response.
  AcceptResult result{
      .answer = step.held && batch.held_answer ? batch.held_answer() : std::string(batch.answer),
      .held = step.held,
      .held_bytes = step.held ? step.held_bytes : 0,
      .released_batches = step.released.size()};
  for (const HeldDrop& drop : evicted) result.evicted_batches += drop.batches;
  FIELDCOST_CHECK(result.answer.size() <= kMaxAnswerBytes);
  FIELDCOST_TRY(state_->NoteSkipped(key, head, sequence, changes));
  RecordDelivery(key, sequence, result.answer, head, changes);
  // 3. Write everything at once; if the batch is summed, together with its additions.
  if (step.held) {
    FIELDCOST_TRY(state_->Commit(changes));
    state_->evicted_batches += result.evicted_batches;
    return result;
  }
  std::vector<Addition> additions = std::move(step.released);
  AppendLoggedBatch(batch, additions.emplace_back(Addition{.sequence = sequence}).record);
  FIELDCOST_TRY(state_->CommitAdditions(changes, key, additions, *batch.rows));
  state_->held.Remove(key, result.released_batches, step.released_bytes);
  return result;
}

Status Store::State::Commit(Database::WriteSet& changes) {
  return CommitInGate(
      changes, [] {}, []() -> Status { return {}; });
}

Status Store::State::CommitAdditions(Database::WriteSet& changes, std::string_view head_key,
                                     std::span<const Addition> additions,
                                     const AcceptedRows& rows) {
  const auto number = [&] {
    for (const Addition& addition : additions) {
      PutAddition(addition, head_key, last_number.fetch_add(1) + 1, changes);
    }
  };
  const auto take_in = [&]() -> Status {
    RecordAdder adder(*this);
    for (const Addition& addition : additions.first(additions.size() - 1)) {
      FIELDCOST_TRY(adder.Add(addition.record));
    }
    const std::lock_guard lock(table_mutex);
    dirty.Add(rows);
    return {};
  };
  return CommitInGate(changes, number, take_in);
}

Status Store::State::CommitWithdrawal(Database::WriteSet& changes,
                                      std::string_view withdrawn_record,
                                      std::optional<std::uint64_t> kept_number) {
  std::optional<PendingRemoval> one;
  const auto number = [&] {
    const std::uint64_t withdrawal = last_number.fetch_add(1) + 1;
    changes.Put(Table::kInbox, NumberKey(withdrawal), withdrawn_record);
    if (!kept_number) return;
    one = PendingRemoval{.withdrawal = withdrawal, .batch = *kept_number};
    changes.Put(Table::kInbox, RemovalKey(withdrawal, *kept_number), {});
  };
  const auto take_in = [&]() -> Status {
    const std::lock_guard lock(table_mutex);
    if (one) pending_removals.push_back(*one);
    return dirty.AddRecord(withdrawn_record);
  };
  return CommitInGate(changes, number, take_in);
}

Status Store::State::CommitInGate(Database::WriteSet& changes, const std::function<void()>& number,
                                  const std::function<Status()>& take_in) {
  {
    std::unique_lock lock(table_mutex);
    table_changed.wait(lock, [this] {
      return failed || options.checkpoint_seconds == 0 ||
             dirty.memory_bytes() + frozen.memory_bytes() <
                 kDirtyOverdraft * options.checkpoint_bytes;
    });
  }
  gate.Enter();
  number();
  Status status =
      failed ? Status(Fail(ErrorCode::kIo, "the store has failed")) : database->Write(changes);
  if (status) status = take_in();
  {
    const std::lock_guard lock(table_mutex);
    if (WantsCheckpoint()) table_changed.notify_all();
  }
  // Must happen before the next checkpoint, which would cover the number of a record that may still
  // be in the log.
  if (!status) status = Failed(status.error());
  gate.Leave();
  return status;
}

Status Store::State::ReadRow(std::string_view key, CompactRow& sums, bool& found) const {
  const std::lock_guard lock(table_mutex);
  FIELDCOST_ASSIGN(const auto stored, database->Get(Table::kRows, key, base.get()));
  sums.Clear();
  if (stored) FIELDCOST_TRY(DecodeRowValue(*stored, sums));
  found = stored.has_value();
  for (const DirtyTable* table : {&frozen, &dirty}) {
    FIELDCOST_TRY(table->Apply(key, sums, found));
  }
  found = found && !sums.buckets.empty();
  return {};
}

Result<std::optional<stats::StatRow>> Store::Get(const stats::RowKey& key) const {
  std::string bytes;
  AppendRowKey(key, bytes);
  CompactRow sums;
  bool found = false;
  FIELDCOST_TRY(state_->ReadRow(bytes, sums, found));
  if (!found) return std::optional<stats::StatRow>();
  return std::optional(stats::StatRow{key, sums.ToHistogram(), sums.scalars, sums.ToWeights(),
                                      sums.sizes.Bounded()});
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

Result<bool> Store::IsBound(std::string_view name) const {
  FIELDCOST_ASSIGN(const auto stored,
                   state_->database->Get(Table::kMeta, kBindingPrefix + std::string(name)));
  return stored.has_value();
}

bool Store::healthy() const { return !state_->failed && state_->database->healthy(); }
std::uint64_t Store::sequence() const { return state_->last_number; }

}  // namespace fieldcost::store
