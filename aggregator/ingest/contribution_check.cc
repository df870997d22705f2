#include "aggregator/ingest/contribution_check.h"

#include <algorithm>

namespace fieldcost::ingest {

void ContributionCheck::Start(const store::Store& store, std::string_view agent_id,
                              std::string_view hash_key) {
  store_ = &store;
  agent_id_ = agent_id;
  hash_.SetKey(hash_key);
  known_.clear();
  added_.clear();
}

Status ContributionCheck::ReadKnown(std::uint32_t week, std::vector<std::uint64_t>& hashes) {
  // The epochs of which a batch with rows of this week is ever taken.
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

Result<std::optional<RowRefusal>> ContributionCheck::Try(std::uint32_t week,
                                                         std::string_view key_bytes) {
  const auto place = std::find_if(added_.begin(), added_.end(),
                                  [&](const auto& added) { return added.week == week; });
  const auto index = static_cast<std::size_t>(place - added_.begin());
  if (place == added_.end()) {
    added_.push_back({.week = week});
    known_.emplace_back();
    FIELDCOST_TRY(ReadKnown(week, known_.back()));
  }
  std::vector<std::uint64_t>& added = added_[index].hashes;
  const std::vector<std::uint64_t>& known = known_[index];
  const std::uint64_t hash = hash_(key_bytes);
  if (std::binary_search(known.begin(), known.end(), hash)) {
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
