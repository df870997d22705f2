// Holds the batches of new agents, and releases or drops them: the part of Store about probation.
#include <set>
#include <utility>

#include "aggregator/store/contributions.h"
#include "aggregator/store/store_state.h"
#include "common/base/byte_order.h"

namespace fieldcost::store {
namespace {

Error NoRoom(std::string_view whose) {
  return Fail(ErrorCode::kUnavailable, "there is no room for more batches of {}", whose);
}

}  // namespace

Status Store::State::LoadHeld() {
  std::string agent;
  bool dishonest = false;
  return database->ForEach(
      Table::kHeld, "", nullptr, [&](std::string_view key, std::string_view value) -> Status {
        if (key.size() != kAgentIdBytes + 16) {
          return Fail(ErrorCode::kCorrupt, "the key of a held batch is malformed");
        }
        if (key.substr(0, kAgentIdBytes + 8) != agent) {
          agent = key.substr(0, kAgentIdBytes + 8);
          FIELDCOST_ASSIGN(const auto probation, ReadProbation(agent));
          dishonest = probation && probation->dishonest;
        }
        FIELDCOST_ASSIGN(const std::uint64_t room, HeldRoom(key, value));
        held.Add(agent, room, dishonest);
        return {};
      });
}

Result<std::optional<Probation>> Store::State::ReadProbation(const std::string& head_key) const {
  FIELDCOST_ASSIGN(const auto bytes, database->Get(Table::kLedger, ProbationKey(head_key)));
  if (!bytes) return std::optional<Probation>();
  FIELDCOST_ASSIGN(const Probation probation, Probation::Decode(*bytes));
  return std::optional(probation);
}

Result<std::string> Store::State::RecordOfHeld(std::string_view record) const {
  FIELDCOST_ASSIGN(const std::string rows, AcceptedRowsOf(record));
  FIELDCOST_ASSIGN(std::string left, WithoutExpiredRows(rows));
  return left.size() == rows.size() ? std::string(record) : std::move(left);
}

Status Store::State::ReleaseHeld(const std::string& head_key, Database::WriteSet& changes,
                                 ProbationStep& step) const {
  return database->ForPrefix(
      Table::kHeld, head_key, [&](std::string_view key, std::string_view value) -> Status {
        FIELDCOST_ASSIGN(const HeldBatch held_batch, HeldBatch::Decode(value));
        // Rows that have expired while held are left out.
        FIELDCOST_ASSIGN(std::string record, RecordOfHeld(held_batch.record));
        FIELDCOST_ASSIGN(const std::uint64_t room, HeldRoom(key, value));
        step.released.push_back(
            {.record = std::move(record), .sequence = ReadBigEndian(key.substr(key.size() - 8))});
        step.released_bytes += room;
        changes.Delete(Table::kHeld, key);
        return {};
      });
}

Result<ProbationStep> Store::State::StepProbation(const AcceptedBatch& batch,
                                                  const std::string& head_key,
                                                  Database::WriteSet& changes) {
  ProbationStep step;
  const std::uint64_t needed = options.probation_batches;
  if (!UsesProbation()) return step;
  FIELDCOST_ASSIGN(const auto known, ReadProbation(head_key));
  if (known ? known->released : needed == 0) return step;
  FIELDCOST_ASSIGN(const bool revoked, IsRevoked(batch.agent_id));
  if (revoked) return Fail(ErrorCode::kPermissionDenied, "the agent has been revoked");
  // 1. Count the batch; if that ends the probation, release the held batches.
  Probation probation = known.value_or(Probation{.began = batch.received_at});
  probation.honest_batches += batch.honest ? 1 : 0;
  probation.dishonest = probation.dishonest || batch.dishonest;
  const bool is_old = needed == 0 || batch.received_at >= probation.began + options.probation_age;
  if (probation.honest_batches >= needed && is_old) {
    FIELDCOST_TRY(ReleaseHeld(head_key, changes, step));
    probation.held_batches = 0;
    probation.released = true;
    changes.Put(Table::kLedger, ProbationKey(head_key), probation.Encode());
    return step;
  }
  // 2. Otherwise hold it, if there is room.
  const std::string key = HeldKey(head_key, batch.sequence.value());
  const std::string value = HeldBatch::Encode(batch);
  FIELDCOST_ASSIGN(step.held_bytes, HeldRoom(key, value));
  if (!batch.may_be_held) return NoRoom("new agents at this address today");
  switch (held.Try(head_key, step.held_bytes, probation.dishonest,
                   {.all_bytes = options.held_bytes,
                    .agent_bytes = options.held_bytes_per_agent,
                    .agent_batches = needed + kMaxHeldBeyondProbation})) {
    case HeldIndex::Added::kOverShare:
      return NoRoom("this agent as long as it is new");
    case HeldIndex::Added::kNoRoom:
      step.no_room = true;
      return step;
    case HeldIndex::Added::kYes:
      break;
  }
  ++probation.held_batches;
  changes.Put(Table::kHeld, key, value);
  changes.Put(Table::kLedger, ProbationKey(head_key), probation.Encode());
  step.held = true;
  return step;
}

Result<ProbationStep> Store::State::StepEvicting(const AcceptedBatch& batch,
                                                 const std::string& head_key,
                                                 Database::WriteSet& changes,
                                                 std::vector<HeldDrop>& evicted) {
  // Other threads may have removed or added held batches meanwhile.
  FIELDCOST_ASSIGN(ProbationStep step, StepProbation(batch, head_key, changes));
  if (!step.no_room) return step;
  FIELDCOST_ASSIGN(const auto known, ReadProbation(head_key));
  const bool dishonest = batch.dishonest || (known && known->dishonest);
  const std::vector<std::string> victims =
      held.WhoMakesRoom(head_key, step.held_bytes, dishonest, options.held_bytes);
  if (victims.empty()) return NoRoom("new agents");
  for (const std::string& victim : victims) {
    FIELDCOST_ASSIGN(HeldDrop drop, PutHeldDrop(victim, changes));
    // Becomes durable with the batch that takes the room. If that write fails, the store has
    // failed.
    held.Remove(victim, drop.batches, drop.bytes);
    evicted.push_back(std::move(drop));
  }
  return StepProbation(batch, head_key, changes);
}

Result<bool> Store::State::WithdrawHeld(const std::string& head_key, std::uint64_t sequence,
                                        std::uint32_t row_count, Database::WriteSet& changes) {
  const HeldAccess access(evict_mutex, held_gate);
  const std::string key = HeldKey(head_key, sequence);
  FIELDCOST_ASSIGN(const auto value, database->Get(Table::kHeld, key));
  if (!value) return false;
  FIELDCOST_ASSIGN(auto probation, ReadProbation(head_key));
  if (!probation || probation->held_batches == 0) {
    return Fail(ErrorCode::kCorrupt, "a held batch is not in its agent's record of probation");
  }
  --probation->held_batches;
  changes.Delete(Table::kHeld, key);
  changes.Put(Table::kLedger, ProbationKey(head_key), probation->Encode());
  changes.Put(Table::kLedger, TombstoneKey(head_key, sequence), EncodeTombstone(row_count));
  FIELDCOST_ASSIGN(const std::uint64_t room, HeldRoom(key, *value));
  FIELDCOST_TRY(Commit(changes));
  held.Remove(head_key, 1, room);
  return true;
}

Result<HeldDrop> Store::State::PutHeldDrop(const std::string& head_key,
                                           Database::WriteSet& changes) const {
  HeldDrop drop{.agent = head_key};
  FIELDCOST_TRY(database->ForPrefix(
      Table::kHeld, head_key, [&](std::string_view key, std::string_view value) -> Status {
        const std::uint64_t sequence = ReadBigEndian(key.substr(key.size() - 8));
        FIELDCOST_ASSIGN(const HeldBatch batch, HeldBatch::Decode(value));
        FIELDCOST_ASSIGN(const std::uint64_t room, HeldRoom(key, value));
        changes.Delete(Table::kHeld, key);
        // As if it were withdrawn, since its owner may still request that.
        changes.Put(Table::kLedger, TombstoneKey(head_key, sequence),
                    EncodeTombstone(batch.accepted_rows));
        for (const auto& [week, count] : batch.contributions) {
          changes.Delete(Table::kLedger, ContributionKey(head_key, week, sequence));
        }
        ++drop.batches;
        drop.bytes += room;
        return {};
      }));
  if (drop.batches == 0) return drop;
  FIELDCOST_ASSIGN(auto probation, ReadProbation(head_key));
  if (!probation) return drop;
  probation->held_batches = 0;
  changes.Put(Table::kLedger, ProbationKey(head_key), probation->Encode());
  return drop;
}

Result<std::uint64_t> Store::State::DropHeld(std::string_view agent_id, std::uint64_t end,
                                             Database::WriteSet& changes) {
  const HeldAccess access(evict_mutex, held_gate);
  std::set<std::string> agents;
  FIELDCOST_TRY(database->ForPrefix(
      Table::kHeld, agent_id, [&](std::string_view key, std::string_view) -> Status {
        const std::uint64_t epoch = ReadBigEndian(key.substr(kAgentIdBytes, 8));
        if (epoch >= first_epoch && epoch < end) agents.emplace(key.substr(0, kAgentIdBytes + 8));
        return {};
      }));
  std::vector<HeldDrop> drops;
  for (const std::string& head_key : agents) {
    FIELDCOST_ASSIGN(HeldDrop drop, PutHeldDrop(head_key, changes));
    drops.push_back(std::move(drop));
  }
  FIELDCOST_TRY(Commit(changes));
  std::uint64_t batches = 0;
  for (const HeldDrop& drop : drops) {
    held.Remove(drop.agent, drop.batches, drop.bytes);
    batches += drop.batches;
  }
  return batches;
}

Result<std::uint64_t> Store::DropHeldBefore(wire::Epoch epoch) {
  if (state_->failed) return StoreFailed();
  std::uint64_t dropped = 0;
  std::string next;
  do {
    std::set<std::string> agents;
    FIELDCOST_ASSIGN(next, state_->database->ForSome(
                               Table::kHeld, next, kDropStepEntries,
                               [&](std::string_view key, std::string_view) -> Status {
                                 if (key.size() < kAgentIdBytes + 8) return {};
                                 if (ReadBigEndian(key.substr(kAgentIdBytes, 8)) < epoch.value()) {
                                   agents.emplace(key.substr(0, kAgentIdBytes));
                                 }
                                 return {};
                               }));
    for (const std::string& agent_id : agents) {
      const std::lock_guard stripe_lock(StripeOf(state_->stripes, agent_id));
      Database::WriteSet changes(*state_->database);
      FIELDCOST_ASSIGN(const std::uint64_t batches,
                       state_->DropHeld(agent_id, epoch.value(), changes));
      dropped += batches;
    }
  } while (!next.empty());
  return dropped;
}

}  // namespace fieldcost::store
