#include "tools/cli/tree/recorded_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/base/text.h"
#include "common/recording/by_thread.h"
#include "common/stats/uint128.h"
#include "common/tree/merge_trees.h"
#include "common/tree/remap.h"

namespace fieldcost::cli {
namespace {

using recording::Interval;
using recording::Recording;
using recording::StreamKind;

// The part of a run that lies in `interval`.
Interval PartOf(const recording::Run& run, const std::optional<Interval>& interval) {
  const std::uint64_t end_ns = run.has_ended ? run.end_ns : recording::kMaxTimeNs;
  if (!interval) return {.from_ns = run.begin_ns, .to_ns = end_ns};
  const std::uint64_t length_ns = end_ns - std::min(end_ns, run.begin_ns);
  return {.from_ns = run.begin_ns + std::min(interval->from_ns, length_ns),
          .to_ns = run.begin_ns + std::min(interval->to_ns, length_ns)};
}

// Divides the part into equal lengths; the last one includes the remainder.
void Divide(const Interval& part, std::uint64_t count, const std::optional<Interval>& span,
            std::vector<Interval>& divided) {
  const std::uint64_t to_ns = std::min(part.to_ns, span ? span->to_ns : 0);
  const std::uint64_t length_ns = to_ns - std::min(to_ns, part.from_ns);
  const auto edge = [&](std::uint64_t i) {
    return part.from_ns + static_cast<std::uint64_t>(stats::Uint128{length_ns} * i / count);
  };
  for (std::uint64_t i = 0; i < count; ++i) {
    divided.push_back({.from_ns = edge(i), .to_ns = i + 1 == count ? part.to_ns : edge(i + 1)});
  }
}

// Which of the recording's metrics come from events, and which from samples.
struct Kinds {
  std::vector<std::size_t> events;
  std::vector<std::size_t> samples;
};

Kinds KindsOf(const recording::Descriptions& about) {
  std::vector<bool> of_events(about.metrics.size());
  for (const recording::Stream& stream : about.streams) {
    if (stream.kind != StreamKind::kSnapshots && stream.kind != StreamKind::kEvents) continue;
    for (const std::uint16_t metric : stream.metrics) of_events[metric] = true;
  }
  Kinds kinds;
  for (std::size_t i = 0; i < of_events.size(); ++i) {
    (of_events[i] ? kinds.events : kinds.samples).push_back(i);
  }
  return kinds;
}

tree::Measured Part(const RecordedRuns& recorded, const tree::RunValues& values,
                    const std::vector<std::size_t>& metrics) {
  tree::Measured part{
      .dictionary = recorded.dictionary, .metrics = {}, .values = tree::RunValues(metrics.size())};
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    part.metrics.push_back(recorded.metrics[metrics[i]]);
    const std::span<const std::uint64_t> column = values.column(metrics[i]);
    std::ranges::copy(column, part.values.MutableColumn(i, column.size()).begin());
  }
  return part;
}

// The merge divides wall time by sampled time: recordings without both stay separate.
bool CanMerge(const recording::Descriptions& about, const Kinds& kinds) {
  const tree::MergeOptions options;
  const auto name_of = [&](std::size_t i) { return about.metrics[i].name; };
  return std::ranges::any_of(kinds.events,
                             [&](std::size_t i) { return name_of(i) == options.divided; }) &&
         std::ranges::any_of(kinds.samples, [&](std::size_t i) {
           return std::ranges::find(options.weights, name_of(i)) != options.weights.end();
         });
}

Result<RecordedRuns> Merge(RecordedRuns recorded, const Kinds& kinds) {
  std::vector<tree::MergedRun> merged;
  std::vector<std::shared_ptr<const tree::Dictionary>> dictionaries;
  std::uint64_t stacks_with_dropped = 0;
  for (const tree::RunValues& run : recorded.runs) {
    FIELDCOST_ASSIGN(tree::MergedRun one,
                     tree::MergeEventsAndSamples(Part(recorded, run, kinds.events),
                                                 Part(recorded, run, kinds.samples)));
    dictionaries.push_back(one.run.dictionary);
    stacks_with_dropped += one.stacks_with_dropped;
    merged.push_back(std::move(one));
  }
  FIELDCOST_ASSIGN(const tree::Union all, tree::Unite(dictionaries));
  RecordedRuns joined{.dictionary = all.dictionary,
                      .metrics = merged[0].run.metrics,
                      .runs = {},
                      .remarks = std::move(recorded.remarks),
                      .command = std::move(recorded.command)};
  for (std::size_t i = 0; i < merged.size(); ++i) {
    tree::RunValues& values = merged[i].run.values;
    if (!all.to[i].empty()) {
      const tree::PathMap map{.dictionary = all.dictionary, .to = all.to[i]};
      FIELDCOST_ASSIGN(values, tree::Apply(map, values));
    }
    joined.runs.push_back(std::move(values));
  }
  if (stacks_with_dropped != 0) {
    joined.remarks.push_back(fmt::format("stacks with functions between those that have events: {}",
                                         stacks_with_dropped));
  }
  return joined;
}

// "15.609726 ms".
std::string MillisecondsText(std::uint64_t ns) {
  constexpr std::uint64_t kNsOfMs = 1'000'000;
  return fmt::format("{}.{:06} ms", ns / kNsOfMs, ns % kNsOfMs);
}

// "lost records: 5"; for "idle time, ns": "idle time: 15.609726 ms".
std::string CountText(const recording::Count& count) {
  if (!count.name.ends_with(recording::kCountOfTime)) {
    return fmt::format("{}: {}", count.name, FormatCount(count.value));
  }
  const std::size_t end = count.name.size() - std::string_view(recording::kCountOfTime).size();
  return fmt::format("{}: {}", count.name.substr(0, end), MillisecondsText(count.value));
}

// One line each. For idle CPUs "15.609726 ms idle in 45,588 switches". Omits the number of stacks
// read, because it does not describe the program.
std::vector<std::string> CountTexts(const std::vector<recording::Count>& counts) {
  const auto value_of = [&](std::string_view name) -> std::uint64_t {
    const auto place = std::ranges::find(counts, name, &recording::Count::name);
    return place == counts.end() ? 0 : place->value;
  };
  constexpr std::string_view kIdle = "idle time, ns";
  constexpr std::string_view kSwitches = "switches";
  std::vector<std::string> texts;
  const bool has_both = value_of(kIdle) != 0 && value_of(kSwitches) != 0;
  if (has_both) {
    texts.push_back(fmt::format("{} idle in {}", MillisecondsText(value_of(kIdle)),
                                Counted(value_of(kSwitches), "switch", "switches")));
  }
  for (const recording::Count& count : counts) {
    const bool is_told = has_both && (count.name == kIdle || count.name == kSwitches);
    const bool is_of_reading = count.name == "stacks" || count.name == "stacks of wakers";
    if (count.value != 0 && !is_told && !is_of_reading) texts.push_back(CountText(count));
  }
  return texts;
}

}  // namespace

std::string RemarkOfStop(std::uint64_t offset, std::string_view reason) {
  return fmt::format("everything after byte {} is lost: {}", offset, reason);
}

Result<RecordedRuns> RunsOf(const Recording& recording, const std::optional<Interval>& interval,
                            std::uint64_t divided_by) {
  const recording::Contents& contents = recording.contents();
  const recording::Descriptions& about = contents.descriptions;
  if ((interval || divided_by > 1) && !HasTimes(recording)) {
    return Fail(ErrorCode::kInvalidArgument, "it has no times: no interval can be selected");
  }
  RecordedRuns recorded{
      .dictionary = contents.dictionary, .metrics = about.metrics, .runs = {}, .remarks = {}};
  if (!about.runs.empty()) recorded.command = about.runs.front().command;
  for (const Interval& part : PartsOf(recording, interval, divided_by)) {
    FIELDCOST_ASSIGN(tree::RunValues values, recording.Values(part));
    recorded.runs.push_back(std::move(values));
  }
  recorded.remarks = CountTexts(about.counts);
  if (!contents.stop.reason.empty()) {
    recorded.remarks.push_back(RemarkOfStop(contents.stop.offset, contents.stop.reason));
  }
  const Kinds kinds = KindsOf(about);
  if (!CanMerge(about, kinds)) return recorded;
  return Merge(std::move(recorded), kinds);
}

std::vector<Interval> PartsOf(const Recording& recording, const std::optional<Interval>& interval,
                              std::uint64_t divided_by) {
  std::vector<Interval> parts;
  for (const recording::Run& run : recording.contents().descriptions.runs) {
    parts.push_back(PartOf(run, interval));
  }
  if (parts.empty()) parts.push_back(interval.value_or(Interval{}));
  if (divided_by <= 1) return parts;
  std::vector<Interval> divided;
  for (const Interval& part : parts) Divide(part, divided_by, recording.Span(), divided);
  return divided;
}

void KeepMetrics(std::span<const std::string_view> names, RecordedRuns& recorded) {
  std::vector<std::size_t> kept;
  std::vector<tree::Metric> metrics;
  for (std::size_t i = 0; i < recorded.metrics.size(); ++i) {
    if (std::ranges::find(names, recorded.metrics[i].name) == names.end()) continue;
    kept.push_back(i);
    metrics.push_back(recorded.metrics[i]);
  }
  for (tree::RunValues& run : recorded.runs) run = Part(recorded, run, kept).values;
  recorded.metrics = std::move(metrics);
}

bool HasTimes(const Recording& recording) {
  return std::ranges::find(recording.contents().descriptions.counts, recording::kSamplesWithoutTime,
                           &recording::Count::name) ==
         recording.contents().descriptions.counts.end();
}

bool AreMerged(const Recording& recording) {
  const recording::Descriptions& about = recording.contents().descriptions;
  return CanMerge(about, KindsOf(about));
}

}  // namespace fieldcost::cli
