#include "tools/cli/tree/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "common/base/check.h"
#include "common/recording/by_thread.h"
#include "common/recording/recording_limits.h"
#include "common/recording/spans.h"
#include "common/stats/uint128.h"
#include "common/tree/tree.h"

namespace fieldcost::cli {
namespace {

using recording::Interval;
using recording::Recording;
using report::Timeline;

// Samples in a bin are summed by path when it holds at least this many.
constexpr std::size_t kLeastToAddUp = 1'024;

// Times since the start of a run, shared by all runs.
struct Axis {
  std::uint64_t from_ns = 0;
  std::uint64_t length_ns = 0;
  std::size_t bins = 0;

  std::uint64_t Edge(std::size_t i) const {
    return from_ns + static_cast<std::uint64_t>(stats::Uint128{length_ns} * i / bins);
  }
  // The last bin that does not begin after `time_ns`. REQUIRES: from_ns <= time_ns < Edge(bins).
  std::size_t BinOf(std::uint64_t time_ns) const {
    FIELDCOST_CHECK(time_ns >= from_ns && time_ns - from_ns < length_ns);
    return static_cast<std::size_t>((stats::Uint128{time_ns - from_ns + 1} * bins - 1) / length_ns);
  }
};

// The runs; open ones end with the last sample. The whole recording if it has none.
std::vector<Interval> RunIntervals(const Recording& recording, std::uint64_t end_ns) {
  std::vector<Interval> runs;
  for (const recording::Run& run : recording.contents().descriptions.runs) {
    runs.push_back({.from_ns = run.begin_ns, .to_ns = run.has_ended ? run.end_ns : end_ns});
  }
  if (runs.empty()) runs.push_back({.from_ns = 0, .to_ns = end_ns});
  return runs;
}

std::optional<Axis> AxisOf(const Recording& recording, const std::vector<Interval>& runs,
                           const Interval& wanted, const Interval& span) {
  std::uint64_t longest_ns = 0;
  for (const Interval& run : runs) {
    longest_ns = std::max(longest_ns, run.to_ns - std::min(run.to_ns, run.from_ns));
  }
  Axis axis{.from_ns = wanted.from_ns};
  // Without runs, times are those of the clock, which may begin anywhere.
  if (recording.contents().descriptions.runs.empty()) {
    axis.from_ns = std::max(axis.from_ns, span.from_ns);
  }
  const std::uint64_t to_ns = std::min(longest_ns, wanted.to_ns);
  if (to_ns <= axis.from_ns) return std::nullopt;
  axis.length_ns = to_ns - axis.from_ns;
  axis.bins = static_cast<std::size_t>(std::min<std::uint64_t>(kPageBins, axis.length_ns));
  return axis;
}

// Sorts by path and sums the values of equal paths.
Status AddUp(Timeline::Bin& bin) {
  std::ranges::sort(bin);
  std::size_t kept = 0;
  bool saturated = false;
  for (std::size_t i = 0; i < bin.size(); ++i) {
    if (kept > 0 && bin[kept - 1].first == bin[i].first) {
      auto& sum = bin[kept - 1].second;
      sum = stats::SaturatingAdd(sum, bin[i].second, saturated);
    } else {
      bin[kept++] = bin[i];
    }
  }
  bin.resize(kept);
  if (saturated) return Fail(ErrorCode::kTooLarge, "a path's value exceeds 64 bits");
  return {};
}

// The selectable threads.
struct ThreadGroups {
  std::vector<std::string> labels;    // [group]; empty: no selection
  std::vector<std::size_t> group_of;  // [thread of the recording]
};

Result<std::vector<std::uint64_t>> SamplesByThread(const Recording& recording) {
  std::vector<std::uint64_t> samples(recording.contents().descriptions.threads.size());
  for (std::size_t i = 0; i < recording.contents().streams.size(); ++i) {
    FIELDCOST_TRY(
        recording.ForEachThreadSample(recording::StreamId(static_cast<std::uint16_t>(i)), {},
                                      [&](std::uint64_t, std::uint32_t, recording::ThreadId thread,
                                          auto) { ++samples[thread.value()]; }));
  }
  return samples;
}

Result<ThreadGroups> GroupsOf(const Recording& recording, const TreeOperand& operand) {
  ThreadGroups groups;
  if (operand.by || recording.contents().descriptions.threads.size() == 1) return groups;
  const std::vector<std::string> of_thread =
      recording::ThreadLabelsOf(recording, recording::DivideBy::kThread, operand.by_name);
  std::map<std::string, std::uint64_t> samples_of;
  for (const std::string& label : of_thread) samples_of[label] = 0;
  if (samples_of.size() > kPageThreads) {
    FIELDCOST_ASSIGN(const std::vector<std::uint64_t> samples, SamplesByThread(recording));
    for (std::size_t i = 0; i < of_thread.size(); ++i) samples_of[of_thread[i]] += samples[i];
  }
  std::vector<std::pair<std::uint64_t, std::string>> ranked;
  for (const auto& [label, samples] : samples_of) ranked.emplace_back(samples, label);
  std::ranges::stable_sort(ranked, std::greater(), [](const auto& one) { return one.first; });
  const std::size_t single = ranked.size() > kPageThreads ? kPageThreads - 1 : ranked.size();
  std::map<std::string, std::size_t> group_of;
  for (std::size_t i = 0; i < single; ++i) group_of[ranked[i].second] = 0;
  for (auto& [label, group] : group_of) {
    group = groups.labels.size();
    groups.labels.push_back(label);
  }
  if (single < ranked.size()) {
    groups.labels.push_back(fmt::format("[{} other threads]", ranked.size() - single));
  }
  for (const std::string& label : of_thread) {
    const auto known = group_of.find(label);
    groups.group_of.push_back(known == group_of.end() ? groups.labels.size() - 1 : known->second);
  }
  return groups;
}

class BinAdder {
 public:
  BinAdder(const Recording& recording, const std::vector<tree::Metric>& metrics, const Axis& axis,
           ThreadGroups groups)
      : recording_(recording), axis_(axis), groups_(std::move(groups)) {
    parts_.resize(1 + groups_.labels.size());
    for (Part& part : parts_) {
      part.bins.resize(metrics.size(), std::vector<Timeline::Bin>(axis.bins));
      part.add_up_at.resize(metrics.size(), std::vector<std::size_t>(axis.bins, kLeastToAddUp));
    }
    for (const tree::Metric& one : recording.contents().descriptions.metrics) {
      metric_of_.push_back(tree::FindMetric(metrics, one.name));
    }
  }

  Status AddRun(const Interval& run) {
    const std::uint64_t length_ns = run.to_ns - std::min(run.to_ns, run.from_ns);
    if (length_ns <= axis_.from_ns) return {};
    const Interval part{.from_ns = run.from_ns + axis_.from_ns,
                        .to_ns = run.from_ns + std::min(length_ns, axis_.Edge(axis_.bins))};
    const auto& contents = recording_.contents();
    for (std::size_t i = 0; i < contents.streams.size(); ++i) {
      const recording::StreamId stream(static_cast<std::uint16_t>(i));
      FIELDCOST_TRY(AddStream(stream, run.from_ns, part));
    }
    return {};
  }

  // Returns everything except the edges.
  Result<Timeline> Finish() && {
    Timeline timeline;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      Timeline::Bins& bins = parts_[i].bins;
      bool is_empty = true;
      for (auto& of_metric : bins) {
        for (Timeline::Bin& bin : of_metric) {
          FIELDCOST_TRY(AddUp(bin));
          is_empty = is_empty && bin.empty();
        }
      }
      if (i == 0) {
        timeline.bins = std::move(bins);
      } else if (!is_empty) {
        timeline.threads.push_back(
            {.untrusted_label = std::move(groups_.labels[i - 1]), .bins = std::move(bins)});
      }
    }
    if (timeline.threads.size() < 2) timeline.threads.clear();
    return timeline;
  }

 private:
  Status AddStream(recording::StreamId stream, std::uint64_t run_ns, const Interval& part) {
    const recording::Descriptions& about = recording_.contents().descriptions;
    const std::vector<std::uint16_t>& metrics = about.streams[stream.value()].metrics;
    std::vector<bool> has_spans;
    for (std::size_t metric = 0; metric < metrics.size(); ++metric)
      has_spans.push_back(recording::HasSpans(about, stream, metric));
    // Spans that end later may have begun in the part.
    Interval ends = part;
    const std::uint64_t limit_ns = recording::SpanLimitNs(about, stream);
    if (std::ranges::find(has_spans, true) != has_spans.end())
      ends.to_ns += std::min(limit_ns, UINT64_MAX - ends.to_ns);
    Status status;
    FIELDCOST_TRY(recording_.ForEachThreadSample(
        stream, ends,
        [&](std::uint64_t time_ns, std::uint32_t path, recording::ThreadId thread,
            std::span<const std::uint64_t> values) {
          thread_part_ = groups_.labels.empty() ? 0 : 1 + groups_.group_of[thread.value()];
          for (std::size_t metric = 0; metric < values.size() && status; ++metric) {
            if (has_spans[metric]) {
              status =
                  AddSpan(metrics[metric], path, {time_ns, values[metric], limit_ns}, run_ns, part);
            } else if (time_ns < part.to_ns) {
              status = Add(metrics[metric], axis_.BinOf(time_ns - run_ns), path, values[metric]);
            }
          }
        }));
    return status;
  }

  struct Span {
    std::uint64_t end_ns = 0;
    std::uint64_t length_ns = 0;
    std::uint64_t limit_ns = 0;  // recording::SpanLimitNs()
  };
  // The time of a span that lies in each bin of the part.
  Status AddSpan(std::uint16_t metric, std::uint32_t path, const Span& span, std::uint64_t run_ns,
                 const Interval& part) {
    const auto& [end_ns, length_ns, limit_ns] = span;
    const auto passed = [&](std::uint64_t time_ns) {
      return recording::PassedBefore(time_ns, span.end_ns, span.length_ns, span.limit_ns);
    };
    const std::uint64_t begin_ns = end_ns - std::min({length_ns, limit_ns, end_ns});
    std::uint64_t from_ns = std::max(part.from_ns, begin_ns);
    std::uint64_t before = passed(from_ns);
    // A span that ends at time 0 counts at that time.
    const std::uint64_t to_ns = std::min(part.to_ns, std::max<std::uint64_t>(end_ns, 1));
    while (from_ns < to_ns) {
      const std::size_t bin = axis_.BinOf(from_ns - run_ns);
      const std::uint64_t until_ns = std::min(to_ns, run_ns + axis_.Edge(bin + 1));
      const std::uint64_t until = passed(until_ns);
      FIELDCOST_TRY(Add(metric, bin, path, until - before));
      before = until;
      from_ns = until_ns;
    }
    return {};
  }

  Status Add(std::uint16_t recorded_metric, std::size_t number, std::uint32_t path,
             std::uint64_t value) {
    const std::optional<std::size_t> metric = metric_of_[recorded_metric];
    if (!metric || value == 0) return {};
    FIELDCOST_TRY(AddTo(parts_[0], *metric, number, path, value));
    if (thread_part_ == 0) return {};
    return AddTo(parts_[thread_part_], *metric, number, path, value);
  }

  struct Part {
    Timeline::Bins bins;                              // [metric][bin]
    std::vector<std::vector<std::size_t>> add_up_at;  // [metric][bin]: samples
  };
  static Status AddTo(Part& part, std::size_t metric, std::size_t number, std::uint32_t path,
                      std::uint64_t value) {
    Timeline::Bin& bin = part.bins[metric][number];
    bin.emplace_back(path, value);
    std::size_t& add_up_at = part.add_up_at[metric][number];
    if (bin.size() < add_up_at) return {};
    FIELDCOST_TRY(AddUp(bin));
    add_up_at = std::max(kLeastToAddUp, 2 * bin.size());
    return {};
  }

  const Recording& recording_;
  const Axis axis_;
  ThreadGroups groups_;
  std::vector<Part> parts_;                            // of all threads, then of each group
  std::size_t thread_part_ = 0;                        // of the sample being added; 0: none
  std::vector<std::optional<std::size_t>> metric_of_;  // [the recording's metric]
};

// Joins pairs of bins; the edges of n bins are among those of 2n bins.
Status Halve(Timeline& timeline) {
  const std::size_t bins = (timeline.edges_ns.size() - 1) / 2;
  for (std::size_t i = 0; i <= bins; ++i) timeline.edges_ns[i] = timeline.edges_ns[2 * i];
  timeline.edges_ns.resize(bins + 1);
  const auto halve = [&](std::vector<Timeline::Bin>& of_metric) -> Status {
    for (std::size_t i = 0; i < bins; ++i) {
      Timeline::Bin joined = std::move(of_metric[2 * i]);
      joined.insert(joined.end(), of_metric[2 * i + 1].begin(), of_metric[2 * i + 1].end());
      FIELDCOST_TRY(AddUp(joined));
      of_metric[i] = std::move(joined);
    }
    of_metric.resize(bins);
    return {};
  };
  for (auto& of_metric : timeline.bins) FIELDCOST_TRY(halve(of_metric));
  for (Timeline::Thread& thread : timeline.threads) {
    for (auto& of_metric : thread.bins) FIELDCOST_TRY(halve(of_metric));
  }
  return {};
}

std::size_t ValuesIn(const Timeline& timeline) {
  std::size_t values = 0;
  const auto add = [&](const Timeline::Bins& bins) {
    for (const auto& of_metric : bins) {
      for (const Timeline::Bin& bin : of_metric) values += bin.size();
    }
  };
  add(timeline.bins);
  for (const Timeline::Thread& thread : timeline.threads) add(thread.bins);
  return values;
}

// Halves the number of bins, but not below `least`, until there are few enough values.
Status Shorten(Timeline& timeline, std::size_t least) {
  while (ValuesIn(timeline) > kMaxPageValues && timeline.edges_ns.size() % 2 == 1 &&
         timeline.edges_ns.size() > 2 * least) {
    FIELDCOST_TRY(Halve(timeline));
  }
  return {};
}

}  // namespace

Result<std::optional<Timeline>> LoadTimeline(const Recording& recording, const TreeOperand& operand,
                                             const std::vector<tree::Metric>& metrics) {
  const std::optional<Interval> span = recording.Span();
  if (!span) return std::optional<Timeline>();
  const std::vector<Interval> runs = RunIntervals(recording, span->to_ns);
  const std::optional<Axis> axis =
      AxisOf(recording, runs, operand.interval.value_or(Interval{}), *span);
  if (!axis) return std::optional<Timeline>();
  FIELDCOST_ASSIGN(ThreadGroups groups, GroupsOf(recording, operand));
  BinAdder adder(recording, metrics, *axis, std::move(groups));
  for (const Interval& run : runs) FIELDCOST_TRY(adder.AddRun(run));
  FIELDCOST_ASSIGN(Timeline timeline, std::move(adder).Finish());
  for (std::size_t i = 0; i <= axis->bins; ++i) timeline.edges_ns.push_back(axis->Edge(i));
  if (!timeline.threads.empty() && ValuesIn(timeline) > kMaxPageValues) {
    Timeline whole{.edges_ns = timeline.edges_ns, .bins = timeline.bins};
    FIELDCOST_TRY(Shorten(timeline, kLeastThreadBins));
    if (ValuesIn(timeline) > kMaxPageValues) timeline = std::move(whole);
  }
  FIELDCOST_TRY(Shorten(timeline, 2));
  return std::optional(std::move(timeline));
}

}  // namespace fieldcost::cli
