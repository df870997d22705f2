#include "aggregator/store/published_unit.h"

#include <algorithm>
#include <iterator>

namespace fieldcost::store {
namespace {

constexpr std::uint16_t kAllWeeks = (1U << kWeeksOfUnit) - 1;

bool IsBefore(const CutRange& a, const CutRange& b) { return a.after_number < b.after_number; }

bool IsInterval(std::uint32_t first, std::uint32_t last, std::uint32_t next_serial) {
  return first >= 1 && first <= last && last < next_serial;
}

bool HasSums(const CompactRow& sums) { return sums.scalars.contributions != 0 && !sums.saturated; }

// Ascending and disjoint; not adjacent, because adjacent ranges are one.
bool AreRanges(const std::vector<CutRange>& ranges) {
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const CutRange& range = ranges[i];
    if (range.until_number <= range.after_number || range.until_s < range.after_s) return false;
    if (i != 0 && range.after_number <= ranges[i - 1].until_number) return false;
  }
  return true;
}

bool AreCuts(const PublishedUnit& unit) {
  std::uint32_t before = 0;
  for (const PublishedCut& cut : unit.cuts) {
    if (!IsInterval(cut.first_serial, cut.last_serial, unit.next_serial)) return false;
    if (cut.first_serial <= before) return false;
    before = cut.last_serial;
    if (cut.weeks == 0 || (cut.weeks & ~kAllWeeks) != 0) return false;
    if (cut.ranges.empty() || !AreRanges(cut.ranges) || !HasSums(cut.sums)) return false;
  }
  return true;
}

// Whether the ranges leave no gap.
bool CoverEverything(const PublishedUnit& unit) {
  std::vector<CutRange> all = unit.waiting;
  for (const PublishedCut& cut : unit.cuts) {
    all.insert(all.end(), cut.ranges.begin(), cut.ranges.end());
  }
  if (all.size() > kMaxCutRanges || (all.empty() && unit.next_serial != 1)) return false;
  std::sort(all.begin(), all.end(),
            [](const CutRange& a, const CutRange& b) { return a.after_number < b.after_number; });
  CutRange before;
  for (const CutRange& range : all) {
    if (range.after_number != before.until_number || range.after_s != before.until_s) return false;
    before = range;
  }
  return true;
}

// Whether every range of `parts` is within one of `all`, which are ascending; and no two overlap.
bool AreParts(const std::vector<ClassPart>& parts, const std::vector<CutRange>& all) {
  std::vector<CutRange> ranges;
  std::uint64_t before = 0;
  for (const ClassPart& part : parts) {
    if (part.ranges.empty() || !AreRanges(part.ranges) || !HasSums(part.sums)) return false;
    if (part.ranges.back().until_number <= before) return false;
    before = part.ranges.back().until_number;
    ranges.insert(ranges.end(), part.ranges.begin(), part.ranges.end());
  }
  if (ranges.size() > kMaxCutRanges) return false;
  std::sort(ranges.begin(), ranges.end(), IsBefore);
  auto within = all.begin();
  std::uint64_t end = 0;
  for (const CutRange& range : ranges) {
    if (range.after_number < end) return false;
    end = range.until_number;
    while (within != all.end() && within->until_number < range.until_number) ++within;
    if (within == all.end() || range.after_number < within->after_number) return false;
  }
  return true;
}

bool AreNewcomers(const PublishedUnit& unit, const TrackedClass& tracked) {
  std::uint32_t before = 0;
  for (const ClassNewcomers& entry : tracked.newcomers) {
    if (entry.serial <= before) return false;
    before = entry.serial;
    if (entry.moved_with != 0 &&
        (entry.moved_with < entry.serial || entry.moved_with >= unit.next_serial)) {
      return false;
    }
    const bool is_recent =
        std::any_of(unit.recent.begin(), unit.recent.end(),
                    [&](const RecentCut& recent) { return recent.serial == entry.serial; });
    if (!is_recent) return false;
  }
  return true;
}

bool AreClasses(const PublishedUnit& unit) {
  const std::vector<CutRange> live = LiveRanges(unit);
  const TrackedClass* last = nullptr;
  for (const TrackedClass& tracked : unit.classes) {
    if (last != nullptr && !(last->hardware < tracked.hardware)) return false;
    last = &tracked;
    if (tracked.behind_from >= unit.next_serial) return false;
    if (!AreParts(tracked.parts, live)) return false;
    if (!AreNewcomers(unit, tracked)) return false;
  }
  return true;
}

bool AreRecent(const PublishedUnit& unit) {
  std::uint32_t before = 0;
  for (const RecentCut& recent : unit.recent) {
    if (recent.serial <= before || recent.serial >= unit.next_serial) return false;
    before = recent.serial;
  }
  return unit.recent.empty() ||
         std::any_of(unit.classes.begin(), unit.classes.end(),
                     [](const TrackedClass& tracked) { return tracked.behind_from != 0; });
}

}  // namespace

void AddRanges(const std::vector<CutRange>& ranges, std::vector<CutRange>& to) {
  std::vector<CutRange> all;
  std::merge(to.begin(), to.end(), ranges.begin(), ranges.end(), std::back_inserter(all), IsBefore);
  to.clear();
  for (const CutRange& range : all) {
    if (!to.empty() && to.back().until_number == range.after_number) {
      to.back().until_number = range.until_number;
      to.back().until_s = range.until_s;
    } else {
      to.push_back(range);
    }
  }
}

std::vector<CutRange> LiveRanges(const PublishedUnit& unit) {
  std::vector<CutRange> ranges;
  for (const PublishedCut& cut : unit.cuts) AddRanges(cut.ranges, ranges);
  return ranges;
}

Status Validate(const PublishedUnit& unit) {
  const bool fits = unit.next_serial >= 1 && unit.cuts.size() <= kMaxLiveCuts &&
                    unit.classes.size() <= kMaxTrackedClasses &&
                    unit.recent.size() <= kMaxRecentCuts;
  if (!fits || (unit.waiting_weeks & ~kAllWeeks) != 0 || !AreRanges(unit.waiting) ||
      !AreCuts(unit) || !CoverEverything(unit) || !AreClasses(unit) || !AreRecent(unit)) {
    return Fail(ErrorCode::kCorrupt, "impossible state of published cuts");
  }
  return {};
}

}  // namespace fieldcost::store
