#include "aggregator/ingest/contribution_check.h"

#include <algorithm>

namespace fieldcost::ingest {

void ContributionCheck::Start(const store::Store& store, std::string_view agent_id,
                              wire::Epoch epoch, std::string_view hash_key) {
  store_ = &store;
  agent_id_ = agent_id;
  epoch_ = epoch;
  hash_.SetKey(hash_key);
  known_.clear();
  added_.clear();
}

Result<std::optional<RowRefusal>> ContributionCheck::Try(std::uint32_t week,
                                                         std::string_view key_bytes) {
  const auto place = std::find_if(added_.begin(), added_.end(),
                                  [&](const auto& added) { return added.week == week; });
  const auto index = static_cast<std::size_t>(place - added_.begin());
  if (place == added_.end()) {
    added_.push_back({.week = week});
    known_.emplace_back();
    FIELDCOST_TRY(store_->GetContributions(agent_id_, epoch_, week, known_.back()));
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
