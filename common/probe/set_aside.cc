#include "common/probe/set_aside.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "common/base/check.h"

namespace fieldcost::probe {
namespace {

constexpr double kDeviations = 5;
constexpr double kNormalMad = 1.4826;   // MAD times this is the deviation of a normal distribution
constexpr double kLeastSpread = 0.05;   // octaves, for runs that hardly differ
constexpr std::size_t kFewestKept = 5;  // of 5, at most 1 is set aside

// REQUIRES: not empty.
double MedianOf(std::vector<double> values) {
  FIELDCOST_CHECK(!values.empty());
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

std::string OutlierReason(double octaves, std::size_t runs) {
  const double times = std::exp2(std::abs(octaves));
  return fmt::format("{}{:.1f}{} the median of {} such runs", octaves < 0 ? "1/" : "", times,
                     octaves < 0 ? " of" : " times", runs);
}

// The verdict without comparing with others; kNot if it must be compared.
Judgement JudgeAlone(const EventRow& event) {
  if (event.mark == Mark::kKept) return {};
  if (event.mark == Mark::kSetAside) {
    return {Why::kByHand, event.mark_reason.empty() ? "set aside by hand" : event.mark_reason};
  }
  // Checked first: an event whose end was lost would otherwise count as not over.
  if (event.is_incomplete) return {Why::kIncomplete, "some of its points were lost"};
  if (event.end_ns == 0) return {Why::kNotOver, "it is not over"};
  if (event.is_suspended) return {Why::kSuspended, "the machine was suspended meanwhile"};
  return {};
}

bool IsComparable(const EventRow& event) {
  return event.mark != Mark::kSetAside && event.end_ns != 0 && !event.is_incomplete &&
         !event.is_suspended;
}

auto GroupOf(const EventRow& event) {
  return std::tie(event.label, event.program, event.build, event.tags, event.points_key);
}

void JudgeGroup(std::span<const EventRow> events, const std::vector<std::size_t>& group,
                std::vector<Judgement>& verdicts) {
  if (group.size() < kLeastToJudge) return;
  std::vector<double> octaves;
  for (const std::size_t i : group) {
    octaves.push_back(
        std::log2(static_cast<double>(std::max<std::uint64_t>(events[i].TotalNs(), 1))));
  }
  const double median = MedianOf(octaves);
  std::vector<double> distances;
  for (const double x : octaves) distances.push_back(std::abs(x - median));
  const double most = kDeviations * std::max(kNormalMad * MedianOf(distances), kLeastSpread);
  const auto odd = static_cast<std::size_t>(
      std::ranges::count_if(distances, [&](double distance) { return distance > most; }));
  const bool two_kinds = odd * kFewestKept > group.size();
  for (std::size_t member = 0; member < group.size(); ++member) {
    const std::size_t i = group[member];
    if (distances[member] <= most || events[i].mark == Mark::kKept) continue;
    if (two_kinds) {
      verdicts[i].two_kinds = true;
    } else {
      verdicts[i] = {Why::kOutlier, OutlierReason(octaves[member] - median, group.size())};
    }
  }
}

}  // namespace

std::vector<Judgement> Judge(std::span<const EventRow> events) {
  std::vector<Judgement> verdicts;
  std::map<decltype(GroupOf(events.front())), std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < events.size(); ++i) {
    verdicts.push_back(JudgeAlone(events[i]));
    if (IsComparable(events[i])) groups[GroupOf(events[i])].push_back(i);
  }
  for (const auto& [key, group] : groups) JudgeGroup(events, group, verdicts);
  return verdicts;
}

}  // namespace fieldcost::probe
