#include "tools/cli/recorded_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/tree/merge.h"

namespace fieldcost::cli {
namespace {

using recording::Interval;
using recording::Recording;
using recording::StreamKind;

// The part of a run that is in `interval`.
Interval PartOf(const recording::Run& run, const std::optional<Interval>& interval) {
  const std::uint64_t end_ns = run.has_ended ? run.end_ns : recording::kMaxTimeNs;
  if (!interval) return {.from_ns = run.begin_ns, .to_ns = end_ns};
  const std::uint64_t length_ns = end_ns - std::min(end_ns, run.begin_ns);
  return {.from_ns = run.begin_ns + std::min(interval->from_ns, length_ns),
          .to_ns = run.begin_ns + std::min(interval->to_ns, length_ns)};
}

// Which of the recording's metrics are of events, and which of samples.
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

// The merge divides wall time by time that was sampled: what has neither stays beside each other.
bool CanMerge(const RecordedRuns& recorded, const Kinds& kinds) {
  const tree::MergeOptions options;
  const auto name_of = [&](std::size_t i) { return recorded.metrics[i].name; };
  return std::ranges::any_of(kinds.events,
                             [&](std::size_t i) { return name_of(i) == options.divided; }) &&
         std::ranges::any_of(kinds.samples, [&](std::size_t i) {
           return std::ranges::find(options.weights, name_of(i)) != options.weights.end();
         });
}

// Merged runs, by paths of one dictionary.
class JoinedRuns {
 public:
  Status Add(const tree::MergedRun& merged) {
    const tree::Dictionary& from = *merged.run.dictionary;
    std::vector<tree::PathId> to(from.paths.size(), tree::kRootPath);
    for (std::uint32_t path = 1; path < to.size(); ++path) {
      FIELDCOST_ASSIGN(const tree::FrameId frame,
                       dictionary_->frames.Intern(from.frame(tree::PathId(path))));
      FIELDCOST_ASSIGN(to[path], dictionary_->paths.Intern(to[from.paths.parents()[path]], frame));
    }
    metrics_ = merged.run.metrics;
    runs_.emplace_back(metrics_.size());
    for (std::size_t metric = 0; metric < metrics_.size(); ++metric) {
      const std::span<const std::uint64_t> column = merged.run.values.column(metric);
      for (std::size_t path = 0; path < column.size(); ++path) {
        FIELDCOST_TRY(runs_.back().Add(metric, to[path], column[path]));
      }
    }
    stacks_with_dropped_ += merged.stacks_with_dropped;
    return {};
  }

  RecordedRuns Take(std::vector<std::string> remarks) && {
    if (stacks_with_dropped_ != 0) {
      remarks.push_back(fmt::format("stacks with functions between those that have events: {}",
                                    stacks_with_dropped_));
    }
    return {.dictionary = std::move(dictionary_),
            .metrics = std::move(metrics_),
            .runs = std::move(runs_),
            .remarks = std::move(remarks)};
  }

 private:
  std::shared_ptr<tree::Dictionary> dictionary_ = std::make_shared<tree::Dictionary>();
  std::vector<tree::Metric> metrics_;
  std::vector<tree::RunValues> runs_;
  std::uint64_t stacks_with_dropped_ = 0;
};

Result<RecordedRuns> Merge(RecordedRuns recorded, const Kinds& kinds) {
  JoinedRuns joined;
  for (const tree::RunValues& run : recorded.runs) {
    FIELDCOST_ASSIGN(const tree::MergedRun merged,
                     tree::MergeEventsAndSamples(Part(recorded, run, kinds.events),
                                                 Part(recorded, run, kinds.samples)));
    FIELDCOST_TRY(joined.Add(merged));
  }
  return std::move(joined).Take(std::move(recorded.remarks));
}

}  // namespace

Result<RecordedRuns> RunsOf(const Recording& recording, const std::optional<Interval>& interval) {
  const recording::Contents& contents = recording.contents();
  const recording::Descriptions& about = contents.descriptions;
  RecordedRuns recorded{
      .dictionary = contents.dictionary, .metrics = about.metrics, .runs = {}, .remarks = {}};
  for (const recording::Run& run : about.runs) {
    FIELDCOST_ASSIGN(tree::RunValues values, recording.Values(PartOf(run, interval)));
    recorded.runs.push_back(std::move(values));
  }
  if (recorded.runs.empty()) {
    FIELDCOST_ASSIGN(tree::RunValues values, recording.Values(interval.value_or(Interval{})));
    recorded.runs.push_back(std::move(values));
  }
  for (const recording::Count& count : about.counts) {
    if (count.value == 0) continue;
    recorded.remarks.push_back(fmt::format("{}: {}", count.name, count.value));
  }
  if (!contents.stop.reason.empty()) {
    recorded.remarks.push_back(fmt::format("what follows byte {} is lost: {}", contents.stop.offset,
                                           contents.stop.reason));
  }
  const Kinds kinds = KindsOf(about);
  if (!CanMerge(recorded, kinds)) return recorded;
  return Merge(std::move(recorded), kinds);
}

}  // namespace fieldcost::cli
