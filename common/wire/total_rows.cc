#include "common/wire/total_rows.h"

#include <algorithm>

#include "common/base/check.h"

namespace fieldcost::wire {
namespace {

using stats::Bucket;
using stats::ContributionScalars;
using stats::CostHistogram;
using stats::StatRow;
using stats::Uint128;

// Whether no sum of `part` is above that of `whole`. Means and their cubes may have any sign.
bool IsWithin(const ContributionScalars& part, const ContributionScalars& whole) {
  return part.contributions <= whole.contributions &&
         part.sum_mean_squared <= whole.sum_mean_squared &&
         part.sum_inverse_calls <= whole.sum_inverse_calls &&
         part.sum_within_squares <= whole.sum_within_squares &&
         part.sum_within_freedom <= whole.sum_within_freedom;
}

// False if a sum would become negative, or if sums remain without contributions.
bool Take(const ContributionScalars& part, ContributionScalars& from) {
  if (!IsWithin(part, from)) return false;
  from.contributions -= part.contributions;
  from.sum_mean = static_cast<stats::Int128>(static_cast<Uint128>(from.sum_mean) -
                                             static_cast<Uint128>(part.sum_mean));
  from.sum_mean_squared -= part.sum_mean_squared;
  from.sum_inverse_calls -= part.sum_inverse_calls;
  from.sum_within_squares -= part.sum_within_squares;
  from.sum_within_freedom -= part.sum_within_freedom;
  from.sum_mean_cubed = static_cast<stats::Int128>(static_cast<Uint128>(from.sum_mean_cubed) -
                                                   static_cast<Uint128>(part.sum_mean_cubed));
  return true;
}

bool Take(const CostHistogram& part, CostHistogram& from) {
  if (part.untimed() > from.untimed()) return false;
  from.SetUntimed(from.untimed() - part.untimed());
  bool fits = true;
  part.ForEachUsed([&](unsigned slot, const Bucket& theirs) {
    const Bucket& ours = from.bucket(slot);
    fits = fits && theirs.count <= ours.count && theirs.sum <= ours.sum &&
           theirs.sum_of_squares <= ours.sum_of_squares;
    from.SetBucket(slot, {.count = ours.count - theirs.count,
                          .sum = ours.sum - theirs.sum,
                          .sum_of_squares = ours.sum_of_squares - theirs.sum_of_squares});
  });
  return fits;
}

bool HasSumsWithoutCount(const CostHistogram& histogram) {
  bool has = false;
  histogram.ForEachUsed([&](unsigned, const Bucket& bucket) { has = has || bucket.count == 0; });
  return has;
}

bool HasSumsWithoutContributions(const ContributionScalars& scalars) {
  return scalars.contributions == 0 && scalars != ContributionScalars{};
}

// False if a sum overflows.
bool Add(const ContributionScalars& part, ContributionScalars& to) {
  to.Merge(part);  // sums wrap
  return IsWithin(part, to);
}

// Without making a class to compare with, for speed.
bool IsOfAllClasses(const stats::HardwareClass& hardware) {
  return hardware.architecture.empty() && hardware.cpu_family.empty() && hardware.log2_cores == 0 &&
         hardware.log2_memory_mib == 0 && hardware.os_release.empty();
}

bool IsInQuarterOf(const StatRow& part, const StatRow& total) {
  return total.fullest_quarter.week != 0 && part.fullest_quarter.week == total.fullest_quarter.week;
}

}  // namespace

std::size_t GroupLength(std::span<const StatRow> rows) {
  const auto end = std::find_if(rows.begin(), rows.end(), [&](const StatRow& row) {
    return row.key.metric != rows.front().key.metric || row.key.api != rows.front().key.api;
  });
  return static_cast<std::size_t>(end - rows.begin());
}

bool HasTotal(std::span<const StatRow> group) {
  const stats::RowKey& first = group.front().key;
  return IsOfAllClasses(first.hardware) && first.week == 0 &&
         std::any_of(group.begin(), group.end(), IsPart);
}

bool IsPart(const StatRow& row) { return row.key.week == 0 && !IsOfAllClasses(row.key.hardware); }

std::optional<TotalRest> RestOfTotal(std::span<const StatRow> group) {
  const StatRow& total = group.front();
  TotalRest rest{.histogram = total.histogram,
                 .quarter = total.fullest_quarter.scalars,
                 .scalars = total.scalars};
  for (const StatRow& part : group) {
    if (!IsPart(part)) continue;
    if (!Take(part.histogram, rest.histogram) || !Take(part.scalars, rest.scalars)) return {};
    if (IsInQuarterOf(part, total) && !Take(part.fullest_quarter.scalars, rest.quarter)) return {};
  }
  if (HasSumsWithoutCount(rest.histogram) || HasSumsWithoutContributions(rest.scalars) ||
      HasSumsWithoutContributions(rest.quarter)) {
    return {};
  }
  return rest;
}

bool AddPartsToTotal(std::span<StatRow> group) {
  StatRow& total = group.front();
  for (const StatRow& part : group.subspan(1)) {
    if (!IsPart(part)) continue;
    total.histogram.Merge(part.histogram);
    if (!Add(part.scalars, total.scalars)) return false;
    if (IsInQuarterOf(part, total) &&
        !Add(part.fullest_quarter.scalars, total.fullest_quarter.scalars)) {
      return false;
    }
  }
  return !total.histogram.saturated();
}

ContributionScalars OutsideQuarter(const StatRow& row) {
  ContributionScalars rest = row.scalars;
  FIELDCOST_CHECK(Take(row.fullest_quarter.scalars, rest));
  return rest;
}

}  // namespace fieldcost::wire
