#include "aggregator/ingest/contribution_check.h"

#include <algorithm>

namespace fieldcost::ingest {

Status ContributionCheck::Start(const store::Store& store, const Agent& agent,
                                const stats::HardwareClass& hardware) {
  hash_.SetKey(agent.hash_key);
  current_week_ = agent.current_week;
  of_batch_.clear();
  added_.clear();
  key_bytes_.clear();
  stats::RowKey nothing;
  nothing.hardware = hardware;
  store::AppendRowKey(nothing, key_bytes_);
  class_hash_ = hash_(key_bytes_);
  FIELDCOST_ASSIGN(binding_, store.GetBinding(agent.id, agent.epoch));
  return store.GetContributions(agent.id, agent.epoch, known_);
}

std::size_t ContributionCheck::MostContributions() const {
  const std::size_t weeks = std::size_t{current_week_ - std::min(current_week_, first_week())} + 1;
  return std::min(kMaxContributions, weeks * kMaxContributionsPerWeekOfHistory);
}

std::vector<std::uint64_t>& ContributionCheck::AddedIn(std::uint32_t week) {
  const auto place = std::find_if(added_.begin(), added_.end(),
                                  [&](const auto& added) { return added.week == week; });
  if (place != added_.end()) return place->hashes;
  return added_.emplace_back(store::WeekContributions{.week = week}).hashes;
}

Result<std::optional<RowRefusal>> ContributionCheck::Try(const stats::RowKey& key, bool is_first) {
  key_bytes_.clear();
  store::AppendContributionKey(key, key_bytes_);
  const std::uint64_t hash = hash_(key_bytes_);
  const bool has_contributed =
      of_batch_.contains(hash) || std::binary_search(known_.begin(), known_.end(), hash);
  if (!is_first) {
    if (has_contributed) return std::optional<RowRefusal>();
    return std::optional(RowRefusal{
        .problem = RowProblem::kNeverContributed,
        .reason =
            "the agent has not contributed to this row: its first contribution must come before"});
  }
  if (has_contributed) {
    return std::optional(RowRefusal{
        .problem = RowProblem::kContributed,
        .reason = "contributed before: only a key's first row of an API and metric counts, "
                  "regardless of its week"});
  }
  if (known_.size() + of_batch_.size() >= MostContributions()) {
    return std::optional(RowRefusal{
        .problem = RowProblem::kTooManyContributed,
        .reason =
            fmt::format("an agent contributes to at most {} rows by now", MostContributions())});
  }
  of_batch_.insert(hash);
  AddedIn(key.week).push_back(hash);
  return std::optional<RowRefusal>();
}

std::span<const store::WeekContributions> ContributionCheck::Finish() {
  for (store::WeekContributions& added : added_) std::ranges::sort(added.hashes);
  return added_;
}

std::optional<store::AgentBinding> ContributionCheck::binding_to_note() const {
  if (binding_) return std::nullopt;
  return store::AgentBinding{.class_hash = class_hash_, .first_week = current_week_};
}

}  // namespace fieldcost::ingest
