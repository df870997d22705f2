// Checks the rows of a batch and passes them to the store: the part of Ingest about batches.
#include "aggregator/ingest/ingest_limits.h"
#include "aggregator/ingest/ingest_workspace.h"
#include "common/wire/wire_limits.h"

namespace fieldcost::ingest {
namespace {

// Whether the response to the first batch with this number was for another body: two machines have
// the same key (a copied disk), or an old state was restored from a backup. False if unknown.
bool IsOfAnotherBody(const std::string& stored_answer, const BatchIdentity& batch,
                     const Receipts& receipts) {
  const auto first = wire::DecodeAnswer(stored_answer);
  return first && !first->receipt.empty() && !receipts.Open(first->receipt, batch);
}

std::atomic<std::uint64_t>& CounterOf(Counters& counters, RowProblem problem) {
  switch (problem) {
    case RowProblem::kMalformed:
      break;
    case RowProblem::kUnknownMetric:
      return counters.rows_unknown_metric;
    case RowProblem::kWeek:
      return counters.rows_wrong_week;
    case RowProblem::kModule:
      return counters.rows_unlisted_module;
    case RowProblem::kClass:
      return counters.rows_other_class;
    case RowProblem::kNeverContributed:
      return counters.rows_never_contributed;
    case RowProblem::kNoRoom:
      return counters.rows_without_room;
    case RowProblem::kImpossible:
      return counters.rows_impossible;
    case RowProblem::kImplausible:
      return counters.rows_implausible;
    case RowProblem::kDuplicate:
      return counters.rows_duplicate;
    case RowProblem::kContributed:
      return counters.rows_contributed_before;
    case RowProblem::kTooManyContributed:
      return counters.rows_over_contribution_limit;
  }
  return counters.rows_malformed;
}

}  // namespace

void Ingest::Workspace::Start() {
  accepted.Clear();
  answer = {};
  refused.clear();
  problems = {};
  greatest_key.clear();
  seen.clear();
  key.hardware = decoder.hardware();
}

void Ingest::Workspace::MakeKey() {
  std::swap(key.api, row.api);
  key.metric = static_cast<stats::Metric>(row.metric_number);
  key.week = row.week;
  key_bytes.clear();
  store::AppendRowKey(key, key_bytes);
}

bool Ingest::Workspace::IsDuplicate() {
  if (key_bytes > greatest_key && seen.empty()) {
    greatest_key = key_bytes;
    return false;
  }
  if (seen.empty()) {
    for (std::size_t i = 0; i < accepted.row_count(); ++i) seen.emplace(accepted.row(i).key);
  }
  return !seen.insert(key_bytes).second;
}

void Ingest::Workspace::RefuseRow(std::size_t index, RowRefusal refusal) {
  ++problems[static_cast<std::size_t>(refusal.problem)];
  ++answer.rejected_rows;
  refused.push_back(static_cast<std::uint32_t>(index));
  if (answer.rejects.size() < wire::kMaxListedRejects) {
    answer.rejects.push_back(
        {.row = static_cast<std::uint32_t>(index), .reason = std::move(refusal.reason)});
  }
}

bool Ingest::Workspace::IsDishonest() const {
  for (std::size_t i = 0; i < kRowProblems; ++i) {
    if (problems[i] != 0 && ingest::IsDishonest(static_cast<RowProblem>(i))) return true;
  }
  return false;
}

bool Ingest::Workspace::IsHonest() const { return answer.accepted_rows != 0 && !IsDishonest(); }

Result<std::optional<RowRefusal>> Ingest::CheckSumsFit(const stats::RowKey& key,
                                                       const stats::Bucket& totals) const {
  if (!IsLarge(totals)) return std::optional<RowRefusal>();
  FIELDCOST_ASSIGN(const auto stored, store_.Get(key));
  if (SumsFit(totals, stored ? stored->histogram.Totals() : stats::Bucket())) {
    return std::optional<RowRefusal>();
  }
  return std::optional(RowRefusal{
      .problem = RowProblem::kNoRoom,
      .reason = "this row's sums are too close to their limit for a value of this size"});
}

Status Ingest::CheckRows(const std::string& agent_id, wire::Epoch epoch, Workspace& workspace,
                         store::StageTimes& stages) {
  workspace.Start();
  const WallTime now = clock_.Now();
  const std::string hash_key = pseudonyms_.ContributionKeyOf(agent_id);
  ContributionCheck& contributions = workspace.contributions;
  FIELDCOST_TRY(contributions.Start(
      store_, {.id = agent_id, .epoch = epoch, .hash_key = hash_key, .current_week = WeekOf(now)},
      workspace.key.hardware));
  stages.End(store::BatchStage::kContribution);
  workspace.rows.Start({.current_week = WeekOf(now),
                        .last_week = WeekOf(now + kClockSkew),
                        .first_week = store_.first_week(),
                        .first_batch_week = contributions.first_week(),
                        .epoch = epoch,
                        .log2_cores = workspace.decoder.hardware().log2_cores,
                        .modules = &options_.modules});
  for (std::size_t index = 0; index < workspace.decoder.row_count(); ++index) {
    workspace.decoder.GetRow(index, workspace.row);
    auto refusal =
        contributions.is_other_class()
            ? std::optional(RowRefusal{
                  .problem = RowProblem::kClass,
                  .reason = "the agent has reported another hardware class in this quarter"})
            : workspace.rows.Check(workspace.row);
    if (!refusal) {
      workspace.MakeKey();
      if (workspace.IsDuplicate()) {
        refusal = RowRefusal{.problem = RowProblem::kDuplicate,
                             .reason = "the batch contains this row twice"};
      } else {
        FIELDCOST_ASSIGN(refusal, CheckSumsFit(workspace.key, workspace.rows.totals()));
        if (!refusal) {
          FIELDCOST_ASSIGN(refusal,
                           contributions.Try(workspace.key, workspace.row.first_contribution));
        }
      }
    }
    if (refusal) {
      workspace.RefuseRow(index, std::move(*refusal));
      continue;
    }
    workspace.rows.NoteAccepted(workspace.row);
    workspace.accepted.Add(workspace.key_bytes, workspace.row.histogram,
                           workspace.row.first_contribution ? store::Contribution::kFirst
                                                            : store::Contribution::kNone);
    ++workspace.answer.accepted_rows;
  }
  stages.End(store::BatchStage::kCheck);
  return {};
}

std::optional<http::Response> Ingest::CheckOneEpoch(wire::Epoch epoch,
                                                    const std::string& agent_id) {
  const auto first = store_.FirstEpochOf(agent_id);
  if (!first) return RefuseStoreFailure();
  if (!*first || **first == epoch) return std::nullopt;
  ++counters_.bad_epoch;
  abuse_log_.Note(Abuse::kWrongEpoch, agent_id, clock_.Now());
  return Refuse(Fail(ErrorCode::kInvalidArgument,
                     "a key belongs to one epoch: this one was used in {}, not in {}",
                     (*first)->value(), epoch.value()));
}

http::Response Ingest::AddBatch(const BatchIdentity& batch, const std::string& agent_id,
                                const http::Request& request, Workspace& workspace,
                                store::StageTimes& stages) {
  // The agent's contributions must not change between the check and the acceptance.
  const MutexLock agent_lock(LockOf(agent_id));
  if (admission_.IsRevoked(agent_id)) return RefuseRevoked(agent_id);
  if (auto refusal = CheckOneEpoch(batch.epoch, agent_id)) return *refusal;
  if (!CheckRows(agent_id, batch.epoch, workspace, stages)) return RefuseStoreFailure();
  const std::span<const store::WeekContributions> contributions = workspace.contributions.Finish();
  stages.End(store::BatchStage::kContribution);
  workspace.answer.receipt = receipts_.Issue(batch, workspace.refused);
  const std::string answer = wire::EncodeAnswer(workspace.answer);
  stages.End(store::BatchStage::kAnswer);
  auto result =
      store_.Accept({.agent_id = agent_id,
                     .epoch = batch.epoch,
                     .sequence = batch.sequence,
                     .rows = &workspace.accepted,
                     .received = {.body = request.body, .refused = workspace.refused},
                     .answer = answer,
                     .received_at = std::chrono::floor<std::chrono::seconds>(clock_.Now()),
                     .honest = workspace.IsHonest(),
                     .dishonest = workspace.IsDishonest(),
                     .may_be_held = held_share_.HasRoom(request.peer_address, clock_.Now()),
                     .held_answer =
                         [&workspace] {
                           workspace.answer.held = true;
                           return wire::EncodeAnswer(workspace.answer);
                         },
                     .bind = workspace.contributions.binding_to_note(),
                     .contributions = contributions,
                     .stages = &stages});
  if (!result) return RefuseByStore(result.error(), agent_id);
  if (result->replay && IsOfAnotherBody(result->answer, batch, receipts_)) {
    ++counters_.bad_sequence;
    abuse_log_.Note(Abuse::kOtherBody, agent_id, clock_.Now());
    return Refuse(
        409, Fail(ErrorCode::kAlreadyExists, "sequence {} was used for another batch of this agent",
                  batch.sequence.value()));
  }
  if (result->replay) {
    ++counters_.replayed_batches;
  } else {
    if (result->held) held_share_.Take(request.peer_address, result->held_bytes, clock_.Now());
    CountAccepted(*result, agent_id, workspace);
  }
  http::Response response = AnswerJson(std::move(result->answer));
  stages.End(store::BatchStage::kAnswer);
  return response;
}

void Ingest::CountAccepted(const store::AcceptResult& result, const std::string& agent_id,
                           const Workspace& workspace) {
  ++counters_.accepted_batches;
  counters_.accepted_rows += workspace.answer.accepted_rows;
  counters_.rejected_rows += workspace.answer.rejected_rows;
  counters_.held_batches += result.held ? 1 : 0;
  counters_.released_batches += result.released_batches;
  if (workspace.answer.rejected_rows == 0) return;
  const auto count = [&](RowProblem problem) {
    return workspace.problems[static_cast<std::size_t>(problem)];
  };
  for (std::size_t i = 0; i < kRowProblems; ++i) {
    const auto problem = static_cast<RowProblem>(i);
    if (count(problem) != 0) CounterOf(counters_, problem) += count(problem);
  }
  if (count(RowProblem::kImpossible) + count(RowProblem::kImplausible) +
          count(RowProblem::kDuplicate) !=
      0) {
    abuse_log_.Note(Abuse::kImplausibleRows, agent_id, clock_.Now());
  }
  if (count(RowProblem::kContributed) + count(RowProblem::kTooManyContributed) != 0) {
    abuse_log_.Note(Abuse::kContributedBefore, agent_id, clock_.Now());
  }
  if (count(RowProblem::kClass) != 0) {
    abuse_log_.Note(Abuse::kOtherClass, agent_id, clock_.Now());
  }
}

http::Response Ingest::RefuseByStore(const Error& error, const std::string& agent_id) {
  switch (error.code) {
    case ErrorCode::kInvalidArgument:
      ++counters_.bad_sequence;
      return Refuse(error);
    case ErrorCode::kUnavailable:
      ++counters_.no_room_to_hold;
      return Refuse(503, error);
    case ErrorCode::kPermissionDenied:
      ++counters_.revoked;
      abuse_log_.Note(Abuse::kRevoked, agent_id, clock_.Now());
      return Refuse(error);
    default:
      return RefuseStoreFailure();
  }
}

}  // namespace fieldcost::ingest
