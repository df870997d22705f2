#include "tools/analysis/check_field.h"

#include <algorithm>
#include <set>

#include "common/wire/epoch.h"

namespace fieldcost::analysis {
namespace {

using stats::RowKey;
using stats::StatRow;
using Rows = std::vector<const StatRow*>;

template <typename Wanted>
Rows Filter(const Rows& rows, const Wanted& wanted) {
  Rows some;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(some),
               [&](const StatRow* row) { return wanted(row->key); });
  return some;
}

// Whether both are the same function, disregarding the library's version.
bool IsSameApi(const RowKey& a, const RowKey& b) {
  return a.metric == b.metric && a.api.soname == b.api.soname && a.api.symbol == b.api.symbol &&
         a.api.symbol_version == b.api.symbol_version;
}

// Rows over everything, if there are any, include the data of the others.
template <typename IsOverall>
Rows Widest(const Rows& rows, const IsOverall& is_overall) {
  Rows overall = Filter(rows, is_overall);
  return overall.empty() ? rows : overall;
}

bool IsOfAllClasses(const RowKey& key) { return key.hardware == stats::HardwareClass{}; }
bool IsOfAllWeeks(const RowKey& key) { return key.week == 0; }

// The classes of an API may be published for different weeks or versions.
Rows OverAllClasses(const Rows& rows) { return Widest(rows, IsOfAllClasses); }

stats::ApiSums Sum(const Rows& rows) {
  stats::ApiSums sums;
  for (const StatRow* row : rows) sums.Merge(*row);
  return sums;
}

// Whether the row's sums include the data counted under `part`.
bool Holds(const StatRow& row, const RowKey& part) {
  return row.key.api == part.api &&
         (IsOfAllClasses(row.key) || row.key.hardware == part.hardware) &&
         (IsOfAllWeeks(row.key) || row.key.week == part.week);
}

// The row whose fullest quarter is also that of the sum of `rows`.
const StatRow& FullestOf(const Rows& rows) {
  const auto machines = [](const StatRow* row) {
    return stats::FullestQuarterOf(*row).scalars.contributions;
  };
  return **std::ranges::max_element(rows, {}, machines);
}

// The sums of `chosen` minus the rows of `own` that they include. REQUIRES: `chosen` is not empty.
FieldChoice Choose(Stratum stratum, const Rows& chosen, const Rows& own) {
  FieldChoice choice{.stratum = stratum, .versions = {}, .sums = {}};
  const Rows rows = Widest(chosen, IsOfAllWeeks);
  choice.sums = Sum(rows);
  std::set<std::string> versions;
  for (const StatRow* row : rows) versions.insert(row->key.api.package_version);
  choice.versions.assign(versions.begin(), versions.end());
  stats::ApiSums mine = Sum(Filter(own, [&](const RowKey& key) {
    return std::any_of(rows.begin(), rows.end(),
                       [&](const StatRow* row) { return Holds(*row, key); });
  }));
  const StatRow& fullest = FullestOf(rows);
  const wire::Epoch quarter = wire::EpochOfWeek(choice.sums.fullest_quarter.week);
  mine.fullest_quarter = Sum(Filter(own, [&](const RowKey& key) {
                           return wire::EpochOfWeek(key.week) == quarter && Holds(fullest, key);
                         })).fullest_quarter;
  // It represents its quarter, like the field's.
  if (mine.fullest_quarter.week != 0) mine.fullest_quarter.week = choice.sums.fullest_quarter.week;
  if (!mine.histogram.empty()) choice.own_removed = inference::TakeOut(mine, choice.sums);
  return choice;
}

std::uint64_t MachinesOf(const FieldChoice& choice) {
  return choice.sums.fullest_quarter.scalars.contributions;
}

Rows OfVersion(const Rows& rows, const RowKey& mine) {
  const Rows same_build = Filter(rows, [&](const RowKey& key) { return key.api == mine.api; });
  if (!same_build.empty() || mine.api.package_version.empty()) return same_build;
  return Filter(
      rows, [&](const RowKey& key) { return key.api.package_version == mine.api.package_version; });
}

}  // namespace

std::string_view Name(Stratum stratum) {
  switch (stratum) {
    case Stratum::kNone:
      return "not in the catalogue";
    case Stratum::kSameClass:
      return "same version, same hardware class";
    case Stratum::kAllClasses:
      return "same version, all hardware classes";
    case Stratum::kOtherVersions:
      return "other versions, all hardware classes";
  }
  return "";
}

FieldChoice ChooseField(std::span<const StatRow> rows, std::span<const StatRow> own,
                        const RowKey& mine) {
  const auto same_api = [&](std::span<const StatRow> all) {
    Rows some;
    for (const StatRow& row : all) {
      if (IsSameApi(row.key, mine)) some.push_back(&row);
    }
    return some;
  };
  const Rows known = same_api(rows);
  const Rows known_own = same_api(own);
  const Rows of_version = OfVersion(known, mine);
  std::vector<FieldChoice> choices;
  const auto is_my_class = [&](const RowKey& key) { return key.hardware == mine.hardware; };
  if (const Rows same_class = Filter(of_version, is_my_class); !same_class.empty()) {
    choices.push_back(Choose(Stratum::kSameClass, same_class, Filter(known_own, is_my_class)));
  }
  if (!of_version.empty()) {
    choices.push_back(Choose(Stratum::kAllClasses, OverAllClasses(of_version), known_own));
  } else if (!known.empty()) {
    choices.push_back(Choose(Stratum::kOtherVersions, OverAllClasses(known), known_own));
  }
  FieldChoice best;
  for (FieldChoice& choice : choices) {
    const std::uint64_t others = MachinesOf(choice);
    if (best.stratum != Stratum::kNone && others <= MachinesOf(best)) continue;
    best = std::move(choice);
    if (others >= inference::kFieldThresholds.least_machines) break;
  }
  return best;
}

}  // namespace fieldcost::analysis
