// Removes everything that an agent contributed, and reports beforehand what that would change.
#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "aggregator/store/store_state.h"
#include "common/base/check.h"
#include "common/wire/epoch.h"

namespace fieldcost::store {
namespace {

// An agent's part of one stored row.
struct Part {
  stats::Uint128 calls = 0;
  std::uint64_t contributions = 0;

  void Add(const CompactRow& row) {
    for (const CompactBucket& bucket : row.buckets) calls += bucket.sums.count;
    contributions += row.scalars.contributions;
  }
};

std::uint64_t Clamped(stats::Uint128 value) {
  constexpr stats::Uint128 kMax = std::numeric_limits<std::uint64_t>::max();
  return static_cast<std::uint64_t>(std::min(value, kMax));
}

// Contributions to one metric by quarter (identified by its first week), over all hardware classes.
// The threshold of publication applies to these.
struct Quarters {
  std::map<std::uint32_t, std::uint64_t> before;
  std::map<std::uint32_t, std::uint64_t> taken;

  bool FallsBelow(std::uint32_t threshold) const {
    bool was = false;
    bool is = false;
    for (const auto& [quarter, contributions] : before) {
      const auto place = taken.find(quarter);
      const std::uint64_t gone = place == taken.end() ? 0 : place->second;
      was = was || contributions >= threshold;
      is = is || contributions - std::min(contributions, gone) >= threshold;
    }
    return was && !is;
  }
};

using Parts = std::map<std::string, Part>;  // by row key

// How removing an agent's parts changes one API.
struct ApiEffect {
  ApiChange change;
  Part taken;
  std::uint64_t below_threshold = 0;
};

// Returns the effect on the API of the part at `place`, and advances `place` past the last part of
// this API.
Result<ApiEffect> EffectOnApi(const Store::Snapshot& snapshot, std::uint32_t threshold,
                              Parts::const_iterator end_of_parts, Parts::const_iterator& place) {
  const std::string api(place->first.substr(0, SizeOfApi(place->first)));
  std::string end = api;
  ++end.back();  // the zero byte that ends the last text
  ApiEffect effect;
  ApiChange& change = effect.change;
  std::map<stats::Metric, Quarters> metrics;
  Part before;
  const auto add_row = [&](const stats::RowKey& key, const CompactRow& row) -> Status {
    change.api = key.api;
    before.Add(row);
    metrics[key.metric].before[wire::FirstWeekOfQuarter(key.week)] += row.scalars.contributions;
    return {};
  };
  FIELDCOST_TRY(snapshot.ForEach(add_row, {.begin = api, .end = end}));
  stats::RowKey key;
  for (; place != end_of_parts && place->first.starts_with(api); ++place) {
    FIELDCOST_TRY(DecodeRowKey(place->first, key));
    change.api = key.api;
    effect.taken.calls += place->second.calls;
    effect.taken.contributions += place->second.contributions;
    metrics[key.metric].taken[wire::FirstWeekOfQuarter(key.week)] += place->second.contributions;
  }
  for (const auto& [metric, quarters] : metrics) {
    effect.below_threshold += quarters.FallsBelow(threshold) ? 1 : 0;
  }
  change.calls_before = Clamped(before.calls);
  change.calls_after = Clamped(before.calls - std::min(before.calls, effect.taken.calls));
  change.contributions_before = before.contributions;
  change.contributions_after =
      before.contributions - std::min(before.contributions, effect.taken.contributions);
  return effect;
}

bool ChangesMore(const ApiChange& a, const ApiChange& b) {
  const auto share = [](const ApiChange& change) {
    return change.calls_before == 0
               ? 0.0
               : static_cast<double>(change.calls_before - change.calls_after) /
                     static_cast<double>(change.calls_before);
  };
  if (share(a) != share(b)) return share(a) > share(b);
  if (a.calls_before != b.calls_before) return a.calls_before > b.calls_before;
  return a.api < b.api;
}

}  // namespace

Result<RemovalEffect> Store::EffectOfRemoving(std::string_view agent_id, std::uint32_t threshold) {
  RemovalEffect effect;
  FIELDCOST_ASSIGN(const AgentBatches batches, BatchesOf(agent_id));
  effect.batches = batches.kept.size();
  effect.held_batches = batches.held;
  effect.not_kept = batches.not_kept;
  Parts parts;
  const std::uint32_t bound = state_->bounds.first_week();
  for (const auto& [epoch, sequence] : batches.kept) {
    FIELDCOST_ASSIGN(const auto rows, KeptRows(agent_id, epoch, sequence));
    if (!rows) continue;
    FIELDCOST_TRY(ForEachAcceptedRow(*rows, [&](std::string_view key, const CompactRow& row) {
      if (WeekOfRowKey(key) >= bound) parts[std::string(key)].Add(row);
    }));
  }
  effect.rows = parts.size();
  stats::Uint128 calls = 0;
  FIELDCOST_ASSIGN(const Snapshot snapshot, TakeSnapshot());
  for (auto place = parts.cbegin(); place != parts.cend();) {
    FIELDCOST_ASSIGN(ApiEffect on_api, EffectOnApi(snapshot, threshold, parts.cend(), place));
    calls += on_api.taken.calls;
    effect.contributions += on_api.taken.contributions;
    effect.below_threshold += on_api.below_threshold;
    effect.most_changed.push_back(std::move(on_api.change));
    std::sort(effect.most_changed.begin(), effect.most_changed.end(), ChangesMore);
    if (effect.most_changed.size() > kMaxShownChanges) effect.most_changed.pop_back();
  }
  effect.calls = Clamped(calls);
  return effect;
}

Result<RemovalReport> Store::RemoveAll(std::string_view agent_id, const Progress& progress) {
  FIELDCOST_ASSIGN(const AgentBatches batches, BatchesOf(agent_id));
  RemovalReport report{.not_kept = batches.not_kept};
  for (const auto& [epoch, sequence] : batches.kept) {
    if (progress) {
      progress(static_cast<int>(report.batches + report.not_taken),
               static_cast<int>(batches.kept.size()));
    }
    const auto result = WithdrawKept(agent_id, epoch, sequence);
    if (!result && result.error().code == ErrorCode::kUnsupported) {
      ++report.not_taken;  // a saturated row; it is never published
      continue;
    }
    if (!result) return result.error();
    report.batches += result->kind == WithdrawalKind::kWithdrawn ? 1 : 0;
    report.rows += result->withdrawn_rows;
  }
  return report;
}

}  // namespace fieldcost::store
