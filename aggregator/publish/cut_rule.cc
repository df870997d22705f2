#include "aggregator/publish/cut_rule.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

#include "aggregator/publish/class_move.h"
#include "aggregator/publish/collapse.h"
#include "aggregator/publish/live_cuts.h"
#include "common/base/check.h"

namespace fieldcost::publish {
namespace {

using store::AddRanges;
using store::ClassNewcomers;
using store::ClassPart;
using store::CompactRow;
using store::CutRange;
using store::PublishedCut;
using store::PublishedUnit;
using store::RecentCut;
using store::TrackedClass;

constexpr std::uint16_t kAllWeeks = (1U << store::kWeeksOfUnit) - 1;

std::uint64_t Excess(std::uint64_t a, std::uint64_t b) { return a > b ? a - b : 0; }

std::uint64_t ContributionsIn(const UnitSums& sums, const stats::HardwareClass& hardware) {
  const ClassInStore* found = FindClass(sums, hardware);
  return found == nullptr ? 0 : found->sums.scalars.contributions;
}

// The weeks in which the store has calls that it did not have at the last cut or settlement.
std::uint16_t ChangedWeeks(const PublishedUnit& unit, const UnitSums& in_store) {
  std::uint16_t weeks = 0;
  for (unsigned week = 0; week < store::kWeeksOfUnit; ++week) {
    if (unit.week_calls[week] != in_store.week_calls[week]) {
      weeks = static_cast<std::uint16_t>(weeks | 1U << week);
    }
  }
  return weeks;
}

// --- Removal.

bool Holds(const PublishedCut& cut, std::uint64_t number) {
  return std::any_of(cut.ranges.begin(), cut.ranges.end(), [&](const CutRange& range) {
    return range.after_number < number && number <= range.until_number;
  });
}

bool IsWithdrawn(const PublishedCut& cut, std::span<const WithdrawalMark> withdrawals) {
  return std::any_of(withdrawals.begin(), withdrawals.end(), [&](const WithdrawalMark& mark) {
    return mark.number ? Holds(cut, *mark.number) : (cut.weeks & mark.weeks) != 0;
  });
}

bool IsExpired(const PublishedCut& cut, unsigned expired_weeks) {
  return static_cast<unsigned>(std::countr_zero(cut.weeks)) < expired_weeks;
}

// Removes the parts of the class that may contain something of the removed ranges.
void RemoveParts(const std::vector<CutRange>& removed, const std::vector<PublishedCut>& cuts,
                 TrackedClass& tracked) {
  std::erase_if(tracked.parts, [&](const ClassPart& part) {
    if (!Overlap(part.ranges, removed)) return false;
    for (const PublishedCut& cut : cuts) {
      if (!Overlap(part.ranges, cut.ranges)) continue;
      if (tracked.behind_from == 0 || cut.first_serial < tracked.behind_from) {
        tracked.behind_from = cut.first_serial;
      }
    }
    return true;
  });
}

// Moves `behind_from` to the next serial of a live cut.
void AdvanceBehindFrom(TrackedClass& tracked, const std::vector<PublishedCut>& cuts) {
  if (tracked.behind_from == 0) return;
  const auto next = std::find_if(cuts.begin(), cuts.end(), [&](const PublishedCut& cut) {
    return cut.last_serial >= tracked.behind_from;
  });
  tracked.behind_from = next == cuts.end() ? 0 : std::max(tracked.behind_from, next->first_serial);
}

// Removes the cuts of withdrawn records and expired weeks; returns their number.
std::size_t RemoveCuts(const UnitPublication& publication, PublishedUnit& unit) {
  std::vector<PublishedCut> left;
  std::vector<PublishedCut> removed;
  for (PublishedCut& cut : unit.cuts) {
    const bool goes =
        IsWithdrawn(cut, publication.withdrawals) || IsExpired(cut, publication.expired_weeks);
    (goes ? removed : left).push_back(std::move(cut));
  }
  unit.cuts = std::move(left);
  if (removed.empty()) return 0;
  std::vector<CutRange> ranges;
  for (const PublishedCut& cut : removed) {
    AddRanges(cut.ranges, ranges);
    unit.waiting_weeks |= cut.weeks;
  }
  AddRanges(ranges, unit.waiting);
  for (TrackedClass& tracked : unit.classes) {
    AdvanceBehindFrom(tracked, unit.cuts);
    RemoveParts(ranges, unit.cuts, tracked);
  }
  ForgetNewcomers(unit);
  return removed.size();
}

// Keeps only what is needed to publish and remove the live cuts, since there will be no others.
void Close(PublishedUnit& unit) {
  if (unit.cuts.empty()) {
    unit = {};
    return;
  }
  ForgetNewcomers(unit);
  std::erase_if(unit.classes, [](const TrackedClass& tracked) { return tracked.parts.empty(); });
  for (TrackedClass& tracked : unit.classes) tracked.seen = 0;
  unit.seen = 0;
  unit.has_untracked = false;
  unit.week_calls = {};
  unit.waiting_weeks = 0;
}

// --- Which classes are tracked.

bool HasMore(const ClassInStore* a, const ClassInStore* b) {
  const std::uint64_t of_a = a->sums.scalars.contributions;
  const std::uint64_t of_b = b->sums.scalars.contributions;
  return of_a != of_b ? of_a > of_b : a->hardware < b->hardware;
}

TrackedClass* FindTracked(PublishedUnit& unit, const stats::HardwareClass& hardware) {
  const auto found =
      std::find_if(unit.classes.begin(), unit.classes.end(),
                   [&](const TrackedClass& tracked) { return tracked.hardware == hardware; });
  return found == unit.classes.end() ? nullptr : &*found;
}

// Counts the class among the others from now on.
void StopTracking(const stats::HardwareClass& hardware, PublishedUnit& unit) {
  TrackedClass* const tracked = FindTracked(unit, hardware);
  for (const ClassNewcomers& share : tracked->newcomers) {
    for (RecentCut& recent : unit.recent) {
      if (recent.serial != share.serial) continue;
      recent.is_whole = false;
      if (share.moved_with == 0) recent.others += share.newcomers;
    }
  }
  unit.classes.erase(unit.classes.begin() + (tracked - unit.classes.data()));
}

// The class without published parts that has the fewest contributions; null if there is none.
const TrackedClass* LeastUnpublished(const PublishedUnit& unit, const UnitSums& in_store) {
  const TrackedClass* least = nullptr;
  for (const TrackedClass& tracked : unit.classes) {
    if (!tracked.parts.empty()) continue;
    if (least == nullptr ||
        ContributionsIn(in_store, tracked.hardware) < ContributionsIn(in_store, least->hardware)) {
      least = &tracked;
    }
  }
  return least;
}

// Makes room for a class; false if none deserves to be replaced.
bool MakeRoom(const ClassInStore& newcomer, const UnitPublication& publication,
              PublishedUnit& unit) {
  if (unit.classes.size() < store::kMaxTrackedClasses) return true;
  const TrackedClass* const least = LeastUnpublished(unit, publication.in_store);
  const std::uint64_t contributions = newcomer.sums.scalars.contributions;
  if (least == nullptr || contributions < publication.threshold ||
      contributions / kReplacingClassFactor <
          ContributionsIn(publication.in_store, least->hardware)) {
    return false;
  }
  StopTracking(stats::HardwareClass(least->hardware), unit);
  return true;
}

// Tracks the classes with the most contributions. REQUIRES: unit.seen and the like are still those
// of the last cut or settlement.
void UpdateTracked(const UnitPublication& publication, PublishedUnit& unit) {
  const UnitSums& in_store = publication.in_store;
  std::vector<stats::HardwareClass> gone;
  for (const TrackedClass& tracked : unit.classes) {
    if (tracked.parts.empty() && FindClass(in_store, tracked.hardware) == nullptr) {
      gone.push_back(tracked.hardware);
    }
  }
  for (const stats::HardwareClass& hardware : gone) StopTracking(hardware, unit);

  std::vector<const ClassInStore*> candidates;
  for (const ClassInStore& one : in_store.classes) {
    if (FindTracked(unit, one.hardware) == nullptr) candidates.push_back(&one);
  }
  std::sort(candidates.begin(), candidates.end(), HasMore);
  // Unless there were other classes, a class that is not tracked has arrived since.
  const bool is_new = !unit.has_untracked;
  bool forgets = false;
  for (const ClassInStore* candidate : candidates) {
    if (!MakeRoom(*candidate, publication, unit)) break;
    TrackedClass tracked{.hardware = candidate->hardware};
    if (!is_new) {
      tracked.seen = candidate->sums.scalars.contributions;
      tracked.behind_from = unit.cuts.empty() ? 0 : unit.cuts.front().first_serial;
      forgets = true;
    }
    const auto place = std::find_if(
        unit.classes.begin(), unit.classes.end(),
        [&](const TrackedClass& other) { return candidate->hardware < other.hardware; });
    unit.classes.insert(place, std::move(tracked));
  }
  // The newcomers of others in earlier cuts may be of a class that is tracked now.
  if (forgets) ForgetNewcomers(unit);
}

// Notes what the store holds at a cut or settlement. REQUIRES: UpdateTracked().
void NoteSeen(const UnitSums& in_store, PublishedUnit& unit) {
  unit.seen = in_store.total.scalars.contributions;
  unit.week_calls = in_store.week_calls;
  unit.has_untracked = in_store.has_more;
  for (const ClassInStore& one : in_store.classes) {
    TrackedClass* const tracked = FindTracked(unit, one.hardware);
    if (tracked == nullptr) unit.has_untracked = true;
  }
  for (TrackedClass& tracked : unit.classes) {
    tracked.seen = ContributionsIn(in_store, tracked.hardware);
  }
}

void Settle(const UnitPublication& publication, PublishedUnit& unit) {
  unit.waiting_weeks |= ChangedWeeks(unit, publication.in_store);
  UpdateTracked(publication, unit);
  ForgetNewcomers(unit);
  NoteSeen(publication.in_store, unit);
}

// --- Cuts.

// The newcomers of the classes that are not tracked, at least. REQUIRES: as UpdateTracked(), which
// was called with a copy of `before`.
std::uint64_t NewcomersOfOthers(const UnitSums& in_store, const PublishedUnit& before,
                                const PublishedUnit& unit) {
  std::uint64_t now = in_store.total.scalars.contributions;
  std::uint64_t seen = before.seen;
  for (const TrackedClass& tracked : unit.classes) {
    now = Excess(now, ContributionsIn(in_store, tracked.hardware));
    const auto was_tracked =
        std::find_if(before.classes.begin(), before.classes.end(),
                     [&](const TrackedClass& other) { return other.hardware == tracked.hardware; });
    if (was_tracked != before.classes.end()) seen = Excess(seen, was_tracked->seen);
  }
  return Excess(now, seen);
}

// What of the class is in the store but in no part; nullopt if the store lacks something.
std::optional<CompactRow> Unpublished(const TrackedClass& tracked, const UnitSums& in_store) {
  const ClassInStore* const found = FindClass(in_store, tracked.hardware);
  CompactRow rest = found == nullptr ? CompactRow{} : found->sums;
  for (const ClassPart& part : tracked.parts) {
    if (!rest.Subtract(part.sums)) return std::nullopt;
  }
  return rest;
}

// Publishes the class's unpublished sums with the newest cut.
void Move(std::size_t class_index, CompactRow sums, PublishedUnit& unit) {
  TrackedClass& tracked = unit.classes[class_index];
  const std::uint32_t serial = unit.recent.back().serial;
  const bool is_outside = tracked.behind_from < unit.recent.front().serial;
  for (ClassNewcomers& share : tracked.newcomers) {
    if (share.moved_with != 0) continue;
    share.moved_with = serial;
    if (!is_outside) continue;
    // The part also has shares of cuts that are not recent.
    for (RecentCut& recent : unit.recent) {
      if (recent.serial == share.serial) recent.is_whole = false;
    }
  }
  ClassPart part{.ranges = {}, .sums = std::move(sums)};
  for (const PublishedCut& cut : unit.cuts) {
    if (cut.last_serial >= tracked.behind_from) AddRanges(cut.ranges, part.ranges);
  }
  part.ranges = Without(part.ranges, RangesOf(tracked));
  tracked.parts.push_back(std::move(part));
  tracked.behind_from = 0;
}

// Forgets the oldest recent cut.
void ForgetOldest(PublishedUnit& unit) {
  const std::uint32_t oldest = unit.recent.front().serial;
  unit.recent.erase(unit.recent.begin());
  for (TrackedClass& tracked : unit.classes) {
    if (tracked.newcomers.empty() || tracked.newcomers.front().serial != oldest) continue;
    const std::uint32_t moved_with = tracked.newcomers.front().moved_with;
    tracked.newcomers.erase(tracked.newcomers.begin());
    if (moved_with == 0) continue;  // behind_from is lower then
    for (const ClassNewcomers& share : tracked.newcomers) {
      if (share.moved_with != moved_with) continue;
      for (RecentCut& recent : unit.recent) {
        if (recent.serial == share.serial) recent.is_whole = false;
      }
    }
  }
}

// Adds the newest cut's shares to the classes; their unpublished sums are returned by class. False
// if the store lacks something that was published.
bool AddShares(const UnitPublication& publication, const PublishedUnit& before, PublishedUnit& unit,
               std::vector<CompactRow>& unpublished) {
  const UnitSums& in_store = publication.in_store;
  const std::uint32_t serial = unit.recent.back().serial;
  for (TrackedClass& tracked : unit.classes) {
    auto rest = Unpublished(tracked, in_store);
    if (!rest) return false;
    unpublished.push_back(std::move(*rest));
    if (tracked.behind_from == 0 && unpublished.back() == CompactRow{}) continue;
    if (tracked.behind_from == 0) tracked.behind_from = serial;
    tracked.newcomers.push_back(
        {.serial = serial,
         .newcomers = Excess(ContributionsIn(in_store, tracked.hardware), tracked.seen)});
  }
  unit.recent.back().others = NewcomersOfOthers(in_store, before, unit);
  return true;
}

// Moves as many classes as possible, those with more contributions first.
std::size_t MoveClasses(const UnitPublication& publication, std::vector<CompactRow> unpublished,
                        PublishedUnit& unit) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < unit.classes.size(); ++i) {
    // Rows without a class would look like the sum over all classes.
    if (unit.classes[i].behind_from == 0 || unit.classes[i].hardware == stats::HardwareClass{}) {
      continue;
    }
    if (unpublished[i].scalars.contributions >= publication.threshold && IsSound(unpublished[i])) {
      order.push_back(i);
    }
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return ContributionsIn(publication.in_store, unit.classes[a].hardware) >
           ContributionsIn(publication.in_store, unit.classes[b].hardware);
  });
  std::size_t moved = 0;
  for (const std::size_t i : order) {
    if (!MayMove(unit, i, publication.threshold)) continue;
    Move(i, std::move(unpublished[i]), unit);
    ++moved;
  }
  return moved;
}

// The sums of the next cut; nullopt if the store lacks something that was published.
std::optional<CompactRow> SumsOfNextCut(const UnitPublication& publication,
                                        const PublishedUnit& unit) {
  CompactRow sums = publication.in_store.total;
  for (const PublishedCut& cut : unit.cuts) {
    if (!sums.Subtract(cut.sums)) return std::nullopt;
  }
  return sums;
}

// Takes everything of the unit that is in no live cut. REQUIRES: at least `threshold` newcomers.
UnitChange TakeCut(const UnitPublication& publication, PublishedUnit& unit) {
  const UnitSums& in_store = publication.in_store;
  const CutRange last = LastRange(unit);
  auto sums = SumsOfNextCut(publication, unit);
  if (!sums || publication.number <= last.until_number) {
    return {.obstacle = CutObstacle::kNotContained};
  }
  if (!IsSound(*sums) || !IsSound(in_store.total)) return {.obstacle = CutObstacle::kUnsound};

  PublishedUnit next = unit;
  UpdateTracked(publication, next);
  const std::uint32_t serial = next.next_serial++;
  std::uint16_t weeks = ChangedWeeks(unit, in_store) | unit.waiting_weeks;
  if (weeks == 0) weeks = kAllWeeks;
  PublishedCut cut{.first_serial = serial,
                   .last_serial = serial,
                   .weeks = weeks,
                   .ranges = {},
                   .sums = std::move(*sums)};
  AddRanges(next.waiting, cut.ranges);
  AddRanges({{{.after_number = last.until_number,
               .until_number = publication.number,
               .after_s = last.until_s,
               .until_s = std::max(publication.now_s, last.until_s)}}},
            cut.ranges);
  next.cuts.push_back(std::move(cut));
  next.waiting.clear();
  next.waiting_weeks = 0;

  next.recent.push_back({.serial = serial});
  std::vector<CompactRow> unpublished;
  if (!AddShares(publication, unit, next, unpublished)) {
    return {.obstacle = CutObstacle::kNotContained};
  }
  NoteSeen(in_store, next);
  next.recent.back().is_whole = !next.has_untracked;
  UnitChange change{.took_cut = true};
  change.moved_classes = MoveClasses(publication, std::move(unpublished), next);
  const bool is_behind =
      std::any_of(next.classes.begin(), next.classes.end(),
                  [](const TrackedClass& tracked) { return tracked.behind_from != 0; });
  if (!is_behind) ForgetNewcomers(next);
  while (next.recent.size() > store::kMaxRecentCuts) ForgetOldest(next);
  unit = std::move(next);
  return change;
}

}  // namespace

UnitChange Advance(const UnitPublication& publication, PublishedUnit& unit) {
  FIELDCOST_CHECK(publication.threshold != 0 && unit.next_serial != 0);
  const std::size_t removed = RemoveCuts(publication, unit);
  UnitChange change;
  if (publication.expired_weeks != 0) {
    Close(unit);
  } else if (publication.settles) {
    Settle(publication, unit);
  } else if (publication.in_store.total.scalars.contributions >= unit.seen &&
             publication.in_store.total.scalars.contributions - unit.seen >=
                 publication.threshold) {
    change = TakeCut(publication, unit);
  }
  change.removed_cuts = removed;
  MergeCuts(publication.now_s, unit);
  return change;
}

}  // namespace fieldcost::publish
