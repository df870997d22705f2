#include "aggregator/store/store.h"

#include <utility>
#include <vector>

#include "aggregator/store/directory_lock.h"
#include "aggregator/store/format_mark.h"
#include "aggregator/store/store_state.h"
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
  state_->sums.StopCheckpoints();
  if (!healthy()) Abandon(std::move(state_->database));
}

Result<std::unique_ptr<Store>> Store::Open(StoreOptions options) {
  FIELDCOST_TRY(MakeDirectories(options.data_dir, 0700));
  FIELDCOST_ASSIGN(UniqueFd directory_lock, LockDirectory(options.data_dir));
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
  FIELDCOST_ASSIGN(auto database, Database::Open(database_options));
  for (const Database::TornLog& log : database->torn_logs()) {
    LogWarning(
        "{}: removed {} bytes after byte {}, a record that a crash has torn before it was "
        "acknowledged",
        log.file.string(), log.bytes, log.at);
  }
  auto state =
      std::make_unique<State>(std::move(options), std::move(directory_lock), std::move(database));
  Status status = CheckOrMarkFormat(*state->database, OpeningOf(state->options));
  if (status) status = state->Load(/*read_only=*/false);
  if (!status) {
    Error error = state->database->NameFiles(status.error());
    const bool healthy = !state->failure.has_happened() && state->database->healthy();
    if (!healthy) Abandon(std::move(state->database));
    return error;
  }
  state->sums.StartCheckpoints();
  return std::unique_ptr<Store>(new Store(std::move(state)));
}

Result<std::unique_ptr<Store::State>> Store::State::OpenToRead(StoreOptions options) {
  FIELDCOST_ASSIGN(UniqueFd directory_lock, LockDirectory(options.data_dir));
  FIELDCOST_ASSIGN(auto database, Database::Open({.directory = options.data_dir / "store",
                                                  .access = DatabaseAccess::kRead,
                                                  .write_buffer_bytes = options.write_buffer_bytes,
                                                  .block_cache_bytes = options.block_cache_bytes,
                                                  .file_system = options.file_system}));
  auto state =
      std::make_unique<State>(std::move(options), std::move(directory_lock), std::move(database));
  Status status = CheckFormat(*state->database, OpeningOf(state->options));
  if (status) status = state->Load(/*read_only=*/true);
  if (!status) return state->database->NameFiles(status.error());
  return state;
}

Status Store::State::Load(bool read_only) {
  FIELDCOST_TRY(sums.LoadProgress());
  FIELDCOST_TRY(bounds.Load());
  FIELDCOST_TRY(held.Load());
  FIELDCOST_TRY(kept.Load());
  FIELDCOST_TRY(published.Load());
  return sums.Replay(read_only);
}

Result<AcceptResult> Store::Accept(const AcceptedBatch& batch) {
  FIELDCOST_CHECK(batch.agent_id.size() == kAgentIdBytes && batch.rows != nullptr);
  FIELDCOST_CHECK(batch.answer.size() <= kMaxAnswerBytes);
  const std::uint64_t sequence = batch.sequence.value();
  if (sequence == 0) return Fail(ErrorCode::kInvalidArgument, "sequence numbers start at 1");
  const std::string key = LedgerHeadKey(batch.agent_id, batch.epoch.value());

  const AgentLock agent_lock(state_->ledger.agent_locks(), batch.agent_id);
  if (state_->failure.has_happened()) return StoreFailed();
  FIELDCOST_TRY(state_->bounds.CheckEpoch(batch.epoch));
  FIELDCOST_ASSIGN(LedgerHead head, state_->ledger.ReadHead(key));
  FIELDCOST_ASSIGN(auto known, state_->ledger.AnswerIfKnown(head, key, sequence));
  if (known) {
    EndStage(batch.stages, BatchStage::kLedger);
    return std::move(*known);
  }

  // 1. Decide whether the batch is held or summed, and whether it releases held batches.
  Database::WriteSet changes(*state_->database);
  state_->ledger.PutContributions(batch, key, changes);
  HeldBatches::Access access(state_->held);
  FIELDCOST_ASSIGN(ProbationStep step, state_->held.Step(batch, key, changes));
  std::vector<HeldDrop> evicted;
  if (step.no_room) {
    FIELDCOST_ASSIGN(step, state_->held.StepEvicting(access, batch, key, changes, evicted));
  }
  // 2. Record the delivery and the response.
  AcceptResult result{
      .answer = step.held && batch.held_answer ? batch.held_answer() : std::string(batch.answer),
      .held = step.held,
      .held_bytes = step.held ? step.held_bytes : 0,
      .released_batches = step.released.size()};
  for (const HeldDrop& drop : evicted) result.evicted_batches += drop.batches;
  FIELDCOST_CHECK(result.answer.size() <= kMaxAnswerBytes);
  FIELDCOST_CHECK(!step.held || step.released.empty());
  FIELDCOST_TRY(state_->ledger.PutDelivery(key, sequence, result.answer, head, changes));
  // 3. Write everything at once; if the batch is summed, together with its additions.
  EndStage(batch.stages, BatchStage::kLedger);
  if (step.held) {
    FIELDCOST_TRY(state_->sums.Commit(changes));
    EndStage(batch.stages, BatchStage::kLog);
    state_->held.CountEvicted(result.evicted_batches);
    return result;
  }
  std::vector<Addition> additions = std::move(step.released);
  AppendLoggedBatch(batch, additions.emplace_back(Addition{.sequence = sequence}).record);
  FIELDCOST_TRY(state_->sums.CommitAdditions(changes, key, additions, *batch.rows, batch.stages));
  state_->held.RemoveReleased(key, result.released_batches, step.released_bytes);
  return result;
}

Result<std::optional<stats::StatRow>> Store::Get(const stats::RowKey& key) const {
  std::string bytes;
  AppendRowKey(key, bytes);
  CompactRow sums;
  bool found = false;
  FIELDCOST_TRY(state_->sums.ReadRow(bytes, sums, found));
  if (!found) return std::optional<stats::StatRow>();
  return std::optional(stats::StatRow{key, sums.ToHistogram(), sums.scalars, sums.ToWeights(),
                                      sums.sizes.Bounded()});
}

Status Store::Bind(std::string_view name, std::string_view value) {
  FIELDCOST_CHECK(value.size() <= kMaxBindingBytes);
  const std::string key = kBindingPrefix + std::string(name);
  const MutexLock lock(state_->bind_mutex);
  FIELDCOST_ASSIGN(const auto stored, state_->database->Get(Table::kMeta, key));
  if (stored) {
    if (*stored == value) return {};
    return Fail(ErrorCode::kCorrupt, "{} is not the one that {} was filled with", name,
                (state_->options.data_dir / "store").string());
  }
  Database::WriteSet changes(*state_->database);
  changes.Put(Table::kMeta, key, value);
  if (Status status = state_->database->Write(changes); !status) {
    return state_->failure.Record(status.error());
  }
  return {};
}

Result<bool> Store::IsBound(std::string_view name) const {
  FIELDCOST_ASSIGN(const auto stored,
                   state_->database->Get(Table::kMeta, kBindingPrefix + std::string(name)));
  return stored.has_value();
}

bool Store::healthy() const {
  return !state_->failure.has_happened() && state_->database->healthy();
}
std::uint64_t Store::sequence() const { return state_->sums.last_number(); }

}  // namespace fieldcost::store
