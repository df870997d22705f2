#include "aggregator/store/held_batches.h"

#include <map>
#include <set>
#include <utility>

#include "aggregator/store/batch_record.h"
#include "aggregator/store/contributions.h"
#include "aggregator/store/store_limits.h"
#include "common/base/byte_order.h"

namespace fieldcost::store {
namespace {

Error NoRoom(std::string_view whose) {
  return Fail(ErrorCode::kUnavailable, "there is no room for more batches of {}", whose);
}

}  // namespace

Status HeldBatches::Load() {
  std::string agent;
  bool dishonest = false;
  return database_.ForEach(
      Table::kHeld, "", nullptr, [&](std::string_view key, std::string_view value) -> Status {
        if (key.size() != kHeadKeyBytes + 8) {
          return Fail(ErrorCode::kCorrupt, "the key of a held batch is malformed");
        }
        if (key.substr(0, kHeadKeyBytes) != agent) {
          agent = key.substr(0, kHeadKeyBytes);
          FIELDCOST_ASSIGN(const auto probation, ReadProbation(agent));
          dishonest = probation && probation->dishonest;
        }
        FIELDCOST_ASSIGN(const std::uint64_t room, HeldRoom(key, value));
        index_.Add(agent, room, dishonest);
        return {};
      });
}

Result<std::optional<Probation>> HeldBatches::ReadProbation(const std::string& head_key) const {
  FIELDCOST_ASSIGN(const auto bytes, database_.Get(Table::kLedger, ProbationKey(head_key)));
  if (!bytes) return std::optional<Probation>();
  FIELDCOST_ASSIGN(const Probation probation, Probation::Decode(*bytes));
  return std::optional(probation);
}

Result<std::string> HeldBatches::RecordOf(std::string_view held_record) const {
  FIELDCOST_ASSIGN(const std::string rows, AcceptedRowsOf(held_record));
  FIELDCOST_ASSIGN(std::string left, bounds_.WithoutExpiredRows(rows));
  return left.size() == rows.size() ? std::string(held_record) : std::move(left);
}

Status HeldBatches::Release(const std::string& head_key, Database::WriteSet& changes,
                            ProbationStep& step) const {
  return database_.ForPrefix(
      Table::kHeld, head_key, [&](std::string_view key, std::string_view value) -> Status {
        FIELDCOST_ASSIGN(const HeldBatch held_batch, HeldBatch::Decode(value));
        // Rows that have expired while held are left out.
        FIELDCOST_ASSIGN(std::string record, RecordOf(held_batch.record));
        FIELDCOST_ASSIGN(const std::uint64_t room, HeldRoom(key, value));
        step.released.push_back(
            {.record = std::move(record), .sequence = ReadBigEndian(key.substr(key.size() - 8))});
        step.released_bytes += room;
        changes.Delete(Table::kHeld, key);
        return {};
      });
}

Result<ProbationStep> HeldBatches::Step(const AcceptedBatch& batch, const std::string& head_key,
                                        Database::WriteSet& changes) {
  ProbationStep step;
  const std::uint64_t needed = options_.probation_batches;
  if (!IsUsed()) return step;
  FIELDCOST_ASSIGN(const auto known, ReadProbation(head_key));
  if (known ? known->released : needed == 0) return step;
  FIELDCOST_ASSIGN(const bool revoked, ledger_.IsRevoked(batch.agent_id));
  if (revoked) return Fail(ErrorCode::kPermissionDenied, "the agent has been revoked");
  // 1. Count the batch; if that ends the probation, release the held batches.
  Probation probation = known.value_or(Probation{.began = batch.received_at});
  probation.honest_batches += batch.honest ? 1 : 0;
  probation.dishonest = probation.dishonest || batch.dishonest;
  const bool is_old = needed == 0 || batch.received_at >= probation.began + options_.probation_age;
  if (probation.honest_batches >= needed && is_old) {
    FIELDCOST_TRY(Release(head_key, changes, step));
    probation.held_batches = 0;
    probation.released = true;
    changes.Put(Table::kLedger, ProbationKey(head_key), probation.Encode());
    return step;
  }
  // 2. Otherwise hold it, if there is room.
  FIELDCOST_TRY(Hold(batch, head_key, probation, changes, step));
  return step;
}

Status HeldBatches::Hold(const AcceptedBatch& batch, const std::string& head_key,
                         Probation& probation, Database::WriteSet& changes, ProbationStep& step) {
  const std::string key = HeldKey(head_key, batch.sequence.value());
  const std::string value = HeldBatch::Encode(batch);
  FIELDCOST_ASSIGN(step.held_bytes, HeldRoom(key, value));
  if (!batch.may_be_held) return NoRoom("new agents at this address today");
  switch (index_.Try(head_key, step.held_bytes, probation.dishonest,
                     {.all_bytes = options_.held_bytes,
                      .agent_bytes = options_.held_bytes_per_agent,
                      .agent_batches = options_.probation_batches + kMaxHeldBeyondProbation})) {
    case HeldIndex::Added::kOverShare:
      return NoRoom("this agent as long as it is new");
    case HeldIndex::Added::kNoRoom:
      step.no_room = true;
      return {};
    case HeldIndex::Added::kYes:
      break;
  }
  ++probation.held_batches;
  changes.Put(Table::kHeld, key, value);
  changes.Put(Table::kLedger, ProbationKey(head_key), probation.Encode());
  step.held = true;
  return {};
}

Result<ProbationStep> HeldBatches::StepEvicting(Access& access, const AcceptedBatch& batch,
                                                const std::string& head_key,
                                                Database::WriteSet& changes,
                                                std::vector<HeldDrop>& evicted) {
  access.BeAlone();
  // Other threads may have removed or added held batches meanwhile.
  FIELDCOST_ASSIGN(ProbationStep step, Step(batch, head_key, changes));
  if (!step.no_room) return step;
  FIELDCOST_ASSIGN(const auto known, ReadProbation(head_key));
  const bool dishonest = batch.dishonest || (known && known->dishonest);
  const std::vector<std::string> victims =
      index_.WhoMakesRoom(head_key, step.held_bytes, dishonest, options_.held_bytes);
  if (victims.empty()) return NoRoom("new agents");
  for (const std::string& victim : victims) {
    FIELDCOST_ASSIGN(HeldDrop drop, PutDrop(victim, changes));
    // Becomes durable with the batch that takes the room. If that write fails, the store has
    // failed.
    index_.Remove(victim, drop.batches, drop.bytes);
    evicted.push_back(std::move(drop));
  }
  return Step(batch, head_key, changes);
}

Result<bool> HeldBatches::Withdraw(const std::string& head_key, std::uint64_t sequence,
                                   std::uint32_t row_count, Database::WriteSet& changes) {
  if (index_.batches() == 0) return false;
  const Access access(*this);
  const std::string key = HeldKey(head_key, sequence);
  FIELDCOST_ASSIGN(const auto value, database_.Get(Table::kHeld, key));
  if (!value) return false;
  FIELDCOST_ASSIGN(auto probation, ReadProbation(head_key));
  if (!probation || probation->held_batches == 0) {
    return Fail(ErrorCode::kCorrupt, "a held batch is not in its agent's record of probation");
  }
  --probation->held_batches;
  changes.Delete(Table::kHeld, key);
  changes.Put(Table::kLedger, ProbationKey(head_key), probation->Encode());
  ledger_.PutWithdrawal(head_key, sequence, row_count, changes);
  FIELDCOST_ASSIGN(const std::uint64_t room, HeldRoom(key, *value));
  FIELDCOST_TRY(sums_.Commit(changes));
  index_.Remove(head_key, 1, room);
  return true;
}

Result<HeldDrop> HeldBatches::PutDrop(const std::string& head_key,
                                      Database::WriteSet& changes) const {
  HeldDrop drop{.agent = head_key};
  const auto put = [&](std::string_view key, std::string_view value)
                       FIELDCOST_REQUIRES(lock_order::kAgent) -> Status {
    const std::uint64_t sequence = ReadBigEndian(key.substr(key.size() - 8));
    FIELDCOST_ASSIGN(const HeldBatch batch, HeldBatch::Decode(value));
    FIELDCOST_ASSIGN(const std::uint64_t room, HeldRoom(key, value));
    changes.Delete(Table::kHeld, key);
    // As if it were withdrawn, since its owner may still request that.
    ledger_.PutWithdrawal(head_key, sequence, batch.accepted_rows, changes);
    for (const auto& [week, count] : batch.contributions) {
      changes.Delete(Table::kLedger, ContributionKey(head_key, week, sequence));
    }
    ++drop.batches;
    drop.bytes += room;
    return {};
  };
  FIELDCOST_TRY(database_.ForPrefix(Table::kHeld, head_key, put));
  if (drop.batches == 0) return drop;
  FIELDCOST_ASSIGN(auto probation, ReadProbation(head_key));
  if (!probation) return drop;
  probation->held_batches = 0;
  changes.Put(Table::kLedger, ProbationKey(head_key), probation->Encode());
  return drop;
}

Result<std::uint64_t> HeldBatches::Drop(std::string_view agent_id, std::uint64_t end,
                                        Database::WriteSet& changes) {
  const Access access(*this);
  std::set<std::string> agents;
  const std::uint64_t first_epoch = bounds_.first_epoch();
  FIELDCOST_TRY(database_.ForPrefix(
      Table::kHeld, agent_id, [&](std::string_view key, std::string_view) -> Status {
        const std::uint64_t epoch = ReadBigEndian(key.substr(kAgentIdBytes, 8));
        if (epoch >= first_epoch && epoch < end) agents.emplace(key.substr(0, kHeadKeyBytes));
        return {};
      }));
  std::vector<HeldDrop> drops;
  for (const std::string& head_key : agents) {
    FIELDCOST_ASSIGN(HeldDrop drop, PutDrop(head_key, changes));
    drops.push_back(std::move(drop));
  }
  FIELDCOST_TRY(sums_.Commit(changes));
  std::uint64_t batches = 0;
  for (const HeldDrop& drop : drops) {
    index_.Remove(drop.agent, drop.batches, drop.bytes);
    batches += drop.batches;
  }
  return batches;
}

Status HeldBatches::Expire(Table table, std::uint64_t first_epoch, std::uint64_t& removed) {
  std::string next;
  do {
    const Access access(*this);
    Database::WriteSet changes(database_);
    std::uint64_t found = 0;
    std::map<std::string, HeldDrop> drops;
    const auto examine = [&](std::string_view key, std::string_view value) -> Status {
      if (key.size() < kHeadKeyBytes) return {};
      if (ReadBigEndian(key.substr(kAgentIdBytes, 8)) >= first_epoch) return {};
      changes.Delete(table, key);
      ++found;
      if (table != Table::kHeld) return {};
      FIELDCOST_ASSIGN(const std::uint64_t room, HeldRoom(key, value));
      HeldDrop& drop = drops[std::string(key.substr(0, kHeadKeyBytes))];
      ++drop.batches;
      drop.bytes += room;
      return {};
    };
    FIELDCOST_ASSIGN(next, database_.ForSome(table, next, kExpiryStepEntries, examine));
    if (found != 0) FIELDCOST_TRY(database_.Write(changes));
    for (const auto& [agent, drop] : drops) index_.Remove(agent, drop.batches, drop.bytes);
    removed += found;
  } while (!next.empty());
  return {};
}

void HeldBatches::AddTo(StoreGauges& gauges) const {
  gauges.held_batches = index_.batches();
  gauges.held_bytes = index_.bytes();
  gauges.held_room_bytes = options_.held_bytes;
  gauges.honest_held_bytes = index_.honest_bytes();
  gauges.evicted_batches = evicted_batches_;
}

}  // namespace fieldcost::store
