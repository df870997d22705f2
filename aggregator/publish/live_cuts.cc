#include "aggregator/publish/live_cuts.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

#include "common/base/clock.h"

namespace fieldcost::publish {
namespace {

using store::AddRanges;
using store::ClassPart;
using store::CutRange;
using store::PublishedCut;
using store::PublishedUnit;
using store::TrackedClass;

bool IsOld(const PublishedCut& cut, std::uint32_t now_s) {
  const std::uint32_t taken_s = cut.ranges.back().until_s;
  return now_s > taken_s && now_s - taken_s > kSeparateCutSeconds;
}

// Merges the parts of the class that are within the cut, since they are only removed together.
void MergeParts(const PublishedCut& cut, TrackedClass& tracked) {
  std::vector<ClassPart> within;
  std::vector<ClassPart> others;
  for (ClassPart& part : tracked.parts) {
    (Without(part.ranges, cut.ranges).empty() ? within : others).push_back(std::move(part));
  }
  if (!within.empty()) {
    ClassPart& merged = within.front();
    for (std::size_t i = 1; i < within.size(); ++i) {
      AddRanges(within[i].ranges, merged.ranges);
      merged.sums.Add(within[i].sums);
    }
    if (tracked.behind_from == 0 || cut.last_serial < tracked.behind_from) {
      // The rest of the cut has nothing of the class; this way, it takes fewer ranges.
      merged.ranges = cut.ranges;
      for (const ClassPart& part : others) merged.ranges = Without(merged.ranges, part.ranges);
    }
    others.push_back(std::move(merged));
  }
  std::sort(others.begin(), others.end(), [](const ClassPart& a, const ClassPart& b) {
    return a.ranges.back().until_number < b.ranges.back().until_number;
  });
  tracked.parts = std::move(others);
}

// Merges a cut with the next one.
void MergeWithNext(std::size_t index, PublishedUnit& unit) {
  PublishedCut& cut = unit.cuts[index];
  const PublishedCut& next = unit.cuts[index + 1];
  cut.last_serial = next.last_serial;
  cut.weeks |= next.weeks;
  AddRanges(next.ranges, cut.ranges);
  cut.sums.Add(next.sums);
  for (TrackedClass& tracked : unit.classes) MergeParts(cut, tracked);
  unit.cuts.erase(unit.cuts.begin() + static_cast<std::ptrdiff_t>(index) + 1);
}

bool HasTooMany(const PublishedUnit& unit) {
  std::size_t ranges = unit.waiting.size();
  for (const PublishedCut& cut : unit.cuts) ranges += cut.ranges.size();
  return unit.cuts.size() > store::kMaxLiveCuts || ranges > store::kMaxCutRanges;
}

// The first of two successive cuts to merge if there are too many: the oldest two of a period, or
// of all if no period has two.
std::size_t FirstToMerge(const PublishedUnit& unit) {
  for (std::size_t i = 0; i + 1 < unit.cuts.size(); ++i) {
    if (PeriodOf(unit.cuts[i]) == PeriodOf(unit.cuts[i + 1])) return i;
  }
  return 0;
}

}  // namespace

store::CompactRow PublishedSums(const PublishedUnit& unit) {
  store::CompactRow sums;
  for (const PublishedCut& cut : unit.cuts) sums.Add(cut.sums);
  return sums;
}

store::CompactRow PublishedSums(const TrackedClass& tracked) {
  store::CompactRow sums;
  for (const ClassPart& part : tracked.parts) sums.Add(part.sums);
  return sums;
}

std::uint32_t PeriodOf(const PublishedCut& cut) {
  const WallTime taken_at(std::chrono::seconds(cut.ranges.back().until_s));
  return WeekOf(taken_at) / kWeeksPerPeriod;
}

std::vector<CutRange> RangesOf(const TrackedClass& tracked) {
  std::vector<CutRange> ranges;
  for (const ClassPart& part : tracked.parts) AddRanges(part.ranges, ranges);
  return ranges;
}

CutRange LastRange(const PublishedUnit& unit) {
  CutRange last;
  const auto look = [&](const std::vector<CutRange>& ranges) {
    if (!ranges.empty() && ranges.back().until_number > last.until_number) last = ranges.back();
  };
  look(unit.waiting);
  for (const PublishedCut& cut : unit.cuts) look(cut.ranges);
  return last;
}

std::vector<CutRange> Without(const std::vector<CutRange>& ranges,
                              const std::vector<CutRange>& removed) {
  std::vector<CutRange> left;
  for (CutRange range : ranges) {
    for (const CutRange& part : removed) {
      if (part.until_number <= range.after_number || part.after_number >= range.until_number) {
        continue;
      }
      if (part.after_number > range.after_number) {
        left.push_back({.after_number = range.after_number,
                        .until_number = part.after_number,
                        .after_s = range.after_s,
                        .until_s = part.after_s});
      }
      range.after_number = std::min(part.until_number, range.until_number);
      range.after_s = std::min(part.until_s, range.until_s);
    }
    if (range.after_number < range.until_number) left.push_back(range);
  }
  return left;
}

bool Overlap(const std::vector<CutRange>& a, const std::vector<CutRange>& b) {
  return std::any_of(a.begin(), a.end(), [&](const CutRange& one) {
    return std::any_of(b.begin(), b.end(), [&](const CutRange& other) {
      return one.after_number < other.until_number && other.after_number < one.until_number;
    });
  });
}

void ForgetNewcomers(PublishedUnit& unit) {
  unit.recent.clear();
  for (TrackedClass& tracked : unit.classes) tracked.newcomers.clear();
}

void MergeCuts(std::uint32_t now_s, PublishedUnit& unit) {
  for (std::size_t i = 0; i + 1 < unit.cuts.size();) {
    const bool merges =
        IsOld(unit.cuts[i + 1], now_s) && PeriodOf(unit.cuts[i]) == PeriodOf(unit.cuts[i + 1]);
    if (merges) {
      MergeWithNext(i, unit);
    } else {
      ++i;
    }
  }
  while (unit.cuts.size() > 1 && HasTooMany(unit)) MergeWithNext(FirstToMerge(unit), unit);
  for (TrackedClass& tracked : unit.classes) {
    std::size_t ranges = 0;
    for (const ClassPart& part : tracked.parts) ranges += part.ranges.size();
    if (ranges <= store::kMaxCutRanges) continue;
    tracked.parts.clear();
    tracked.behind_from = unit.cuts.front().first_serial;
    ForgetNewcomers(unit);
  }
}

}  // namespace fieldcost::publish
