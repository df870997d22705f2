#include "aggregator/store/probation.h"

#include <limits>
#include <set>

#include "aggregator/store/contributions.h"
#include "aggregator/store/store_state.h"
#include "common/base/check.h"

namespace fieldcost::store {
namespace {

constexpr char kFormatVersion = 1;
constexpr char kProbationMark = 'p';

std::uint64_t BytesOf(std::string_view key, std::string_view rows) {
  return key.size() + rows.size();
}

}  // namespace

std::string Probation::Encode() const {
  std::string bytes(1, kFormatVersion);
  AppendVarint(honest_batches, bytes);
  AppendVarint(held_batches, bytes);
  bytes.push_back(released ? 1 : 0);
  return bytes;
}

Result<Probation> Probation::Decode(std::string_view untrusted_bytes) {
  constexpr stats::Uint128 kMax64 = std::numeric_limits<std::uint64_t>::max();
  const Error malformed = Fail(ErrorCode::kCorrupt, "an agent's record of probation is malformed");
  if (untrusted_bytes.empty() || untrusted_bytes[0] != kFormatVersion) return malformed;
  std::string_view rest = untrusted_bytes.substr(1);
  stats::Uint128 honest = 0;
  stats::Uint128 held = 0;
  if (!TakeVarint(rest, honest) || honest > kMax64 || !TakeVarint(rest, held) || held > kMax64 ||
      rest.size() != 1 || (rest[0] & ~1) != 0) {
    return malformed;
  }
  return Probation{.honest_batches = static_cast<std::uint64_t>(honest),
                   .held_batches = static_cast<std::uint64_t>(held),
                   .released = rest[0] == 1};
}

std::string ProbationKey(std::string_view head_key) {
  return std::string(head_key) + kProbationMark;
}

std::string HeldKey(std::string_view head_key, std::uint64_t sequence) {
  return AnswerKey(head_key, sequence);
}

Status Store::State::LoadHeld() {
  return database->ForEach(Table::kHeld, "", nullptr,
                           [this](std::string_view key, std::string_view rows) -> Status {
                             ++held_batches;
                             held_bytes += BytesOf(key, rows);
                             return {};
                           });
}

void Store::State::NoteNotHeld(std::uint64_t batches, std::uint64_t bytes) {
  held_batches -= batches;
  held_bytes -= bytes;
}

Result<std::optional<Probation>> Store::State::ReadProbation(const std::string& head_key) const {
  FIELDCOST_ASSIGN(const auto bytes, database->Get(Table::kLedger, ProbationKey(head_key)));
  if (!bytes) return std::optional<Probation>();
  FIELDCOST_ASSIGN(const Probation probation, Probation::Decode(*bytes));
  return std::optional(probation);
}

Result<ProbationStep> Store::State::StepProbation(const AcceptedBatch& batch,
                                                  const std::string& head_key,
                                                  Database::WriteSet& changes) {
  ProbationStep step;
  const std::uint64_t needed = options.probation_batches;
  if (needed == 0 && held_batches == 0) return step;
  FIELDCOST_ASSIGN(const auto known, ReadProbation(head_key));
  if (known ? known->released : needed == 0) return step;
  FIELDCOST_ASSIGN(const bool revoked, IsRevoked(batch.agent_id));
  if (revoked) return Fail(ErrorCode::kPermissionDenied, "the agent has been revoked");
  Probation probation = known.value_or(Probation());
  probation.honest_batches += batch.honest ? 1 : 0;
  if (probation.honest_batches >= needed) {
    FIELDCOST_TRY(database->ForPrefix(
        Table::kHeld, head_key, [&](std::string_view key, std::string_view rows) -> Status {
          // What has expired while it was held is not wanted back.
          FIELDCOST_ASSIGN(std::string record, WithoutExpiredRows(rows));
          step.released.push_back(std::move(record));
          step.released_bytes += BytesOf(key, rows);
          changes.Delete(Table::kHeld, key);
          return {};
        }));
    probation.held_batches = 0;
    probation.released = true;
    changes.Put(Table::kLedger, ProbationKey(head_key), probation.Encode());
    return step;
  }
  const std::string key = HeldKey(head_key, batch.sequence.value());
  const std::string rows = batch.rows->bytes();
  const std::uint64_t bytes = BytesOf(key, rows);
  const bool room = held_bytes.fetch_add(bytes) + bytes <= options.held_bytes;
  if (!room || probation.held_batches >= needed + kMaxHeldBeyondProbation) {
    held_bytes -= bytes;
    return Fail(ErrorCode::kUnavailable, "there is no room for more batches of new agents");
  }
  ++held_batches;
  ++probation.held_batches;
  changes.Put(Table::kHeld, key, rows);
  changes.Put(Table::kLedger, ProbationKey(head_key), probation.Encode());
  step.held = true;
  return step;
}

Result<bool> Store::State::WithdrawHeld(const std::string& head_key, std::uint64_t sequence,
                                        const AcceptedRows& rows, Database::WriteSet& changes) {
  const std::string key = HeldKey(head_key, sequence);
  FIELDCOST_ASSIGN(const auto held, database->Get(Table::kHeld, key));
  if (!held) return false;
  FIELDCOST_ASSIGN(auto probation, ReadProbation(head_key));
  if (!probation || probation->held_batches == 0) {
    return Fail(ErrorCode::kCorrupt, "a held batch is not in its agent's record of probation");
  }
  --probation->held_batches;
  changes.Delete(Table::kHeld, key);
  changes.Put(Table::kLedger, ProbationKey(head_key), probation->Encode());
  changes.Put(Table::kLedger, TombstoneKey(head_key, sequence), EncodeTombstone(rows.row_count()));
  FIELDCOST_TRY(Commit(changes, {}));
  NoteNotHeld(1, BytesOf(key, *held));
  return true;
}

Result<std::uint64_t> Store::State::DropHeld(std::string_view agent_id, std::uint64_t end,
                                             Database::WriteSet& changes) {
  std::uint64_t batches = 0;
  std::uint64_t bytes = 0;
  std::string last_head_key;
  const auto drop = [&](std::string_view key, std::string_view rows) -> Status {
    if (key.size() != HeldKey(LedgerHeadKey(agent_id, 0), 0).size()) {
      return Fail(ErrorCode::kCorrupt, "the key of a held batch is malformed");
    }
    const std::uint64_t epoch = ReadBigEndian64(key.substr(kAgentIdBytes, 8));
    if (epoch < first_epoch || epoch >= end) return {};
    const std::string head_key(key.substr(0, key.size() - 8));
    const std::uint64_t sequence = ReadBigEndian64(key.substr(key.size() - 8));
    std::uint32_t row_count = 0;
    FIELDCOST_TRY(
        ForEachAcceptedRow(rows, [&](std::string_view, const CompactRow&) { ++row_count; }));
    changes.Delete(Table::kHeld, key);
    // As if it had been withdrawn: its owner may still ask for that.
    changes.Put(Table::kLedger, TombstoneKey(head_key, sequence), EncodeTombstone(row_count));
    FIELDCOST_TRY(DropContributions(head_key, sequence, rows, changes));
    ++batches;
    bytes += BytesOf(key, rows);
    if (head_key == last_head_key) return {};
    last_head_key = head_key;
    FIELDCOST_ASSIGN(auto probation, ReadProbation(head_key));
    if (!probation) return {};
    probation->held_batches = 0;
    changes.Put(Table::kLedger, ProbationKey(head_key), probation->Encode());
    return {};
  };
  FIELDCOST_TRY(database->ForPrefix(Table::kHeld, agent_id, drop));
  FIELDCOST_TRY(Commit(changes, {}));
  NoteNotHeld(batches, bytes);
  return batches;
}

Result<std::uint64_t> Store::DropHeldBefore(wire::Epoch epoch) {
  if (state_->failed) return Fail(ErrorCode::kIo, "the store has failed; see the server's log");
  std::uint64_t dropped = 0;
  std::string next;
  do {
    std::set<std::string> agents;
    FIELDCOST_ASSIGN(
        next, state_->database->ForSome(Table::kHeld, next, kDropStepEntries,
                                        [&](std::string_view key, std::string_view) -> Status {
                                          if (key.size() < kAgentIdBytes + 8) return {};
                                          if (ReadBigEndian64(key.substr(kAgentIdBytes, 8)) <
                                              epoch.value()) {
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
