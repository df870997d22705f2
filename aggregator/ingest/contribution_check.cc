#include "aggregator/ingest/contribution_check.h"

#include <algorithm>

namespace fieldcost::ingest {

Status ContributionCheck::Start(const store::Store& store, const Agent& agent,
                                const stats::HardwareClass& hardware) {
  store_ = &store;
  agent_id_ = agent.id;
  hash_.SetKey(agent.hash_key);
  known_.clear();
  added_.clear();
  key_bytes_.clear();
  stats::RowKey nothing;
  nothing.hardware = hardware;
  store::AppendRowKey(nothing, key_bytes_);
  const std::uint64_t hash = hash_(key_bytes_);
  FIELDCOST_ASSIGN(const auto bound, store.GetClass(agent.id, agent.epoch));
  is_other_class_ = bound && *bound != hash;
  class_to_bind_ = bound ? std::nullopt : std::optional(hash);
  return {};
}

Status ContributionCheck::ReadKnown(std::uint32_t week, std::vector<std::uint64_t>& hashes) {
  // The epochs of which a batch with rows of this week may be accepted at any time.
  const std::uint64_t first = (week - std::min(week, kWeeksAhead)) / store::kWeeksPerEpoch;
  const std::uint64_t last = (std::uint64_t{week} + kWeeksBack) / store::kWeeksPerEpoch;
  for (std::uint64_t epoch = first - std::min<std::uint64_t>(first, kEpochsAround);
       epoch <= last + kEpochsAround; ++epoch) {
    FIELDCOST_TRY(store_->GetContributions(agent_id_, wire::Epoch(epoch), week, of_epoch_));
    hashes.insert(hashes.end(), of_epoch_.begin(), of_epoch_.end());
  }
  std::sort(hashes.begin(), hashes.end());
  return {};
}

Result<std::size_t> ContributionCheck::PlaceOf(std::uint32_t week) {
  const auto place = std::find_if(added_.begin(), added_.end(),
                                  [&](const auto& added) { return added.week == week; });
  const auto index = static_cast<std::size_t>(place - added_.begin());
  if (place == added_.end()) {
    added_.push_back({.week = week});
    known_.emplace_back();
    FIELDCOST_TRY(ReadKnown(week, known_.back()));
  }
  return index;
}

Result<std::optional<RowRefusal>> ContributionCheck::Try(const stats::RowKey& key, bool is_first) {
  FIELDCOST_ASSIGN(const std::size_t index, PlaceOf(key.week));
  std::vector<std::uint64_t>& added = added_[index].hashes;
  const std::vector<std::uint64_t>& known = known_[index];
  key_bytes_.clear();
  store::AppendContributionKey(key, key_bytes_);
  const std::uint64_t hash = hash_(key_bytes_);
  const bool has_contributed = std::binary_search(known.begin(), known.end(), hash);
  if (!is_first) {
    if (has_contributed) return std::optional<RowRefusal>();
    return std::optional(RowRefusal{
        .problem = RowProblem::kNeverContributed,
        .reason =
            "the agent has not contributed to this row: its first contribution must come before"});
  }
  if (has_contributed) {
    return std::optional(
        RowRefusal{.problem = RowProblem::kContributed,
                   .reason = "contributed before: only one batch can be the first with this row"});
  }
  if (known.size() + added.size() >= kMaxContributionsPerWeek) {
    return std::optional(
        RowRefusal{.problem = RowProblem::kTooManyContributed,
                   .reason = fmt::format("an agent contributes to at most {} rows a week",
                                         kMaxContributionsPerWeek)});
  }
  added.push_back(hash);
  return std::optional<RowRefusal>();
}

std::span<const store::WeekContributions> ContributionCheck::Finish() {
  for (store::WeekContributions& added : added_) {
    std::sort(added.hashes.begin(), added.hashes.end());
    added.hashes.erase(std::unique(added.hashes.begin(), added.hashes.end()), added.hashes.end());
  }
  return added_;
}

}  // namespace fieldcost::ingest
