#include "common/recording/conformance/time_tree.h"

#include <algorithm>
#include <map>

#include "common/base/check.h"
#include "common/stats/uint128.h"

namespace fieldcost::recording {
namespace {

using PathCounts = std::vector<std::pair<std::uint32_t, std::uint64_t>>;

PathCounts MostFrequentFirst(const std::vector<TimedPath>& samples) {
  std::map<std::uint32_t, std::uint64_t> counts;
  for (const TimedPath& sample : samples) ++counts[sample.path];
  PathCounts sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return sorted;
}

// The beginning of the i-th of n equal parts of an interval.
std::uint64_t EdgeOf(Interval interval, std::uint64_t i, std::uint64_t n) {
  const stats::Uint128 length = interval.to_ns - interval.from_ns;
  return interval.from_ns + static_cast<std::uint64_t>(length * i / n);
}

bool Before(const TimedPath& sample, std::uint64_t time_ns) { return sample.time_ns < time_ns; }

}  // namespace

std::uint64_t TimeTree::Node::MostUnkept() const {
  return kept.empty() ? 0 : std::min(other, kept.back().second);
}

Result<TimeTree> TimeTree::Build(std::vector<TimedPath> samples, Interval span,
                                 const TimeTreeOptions& options) {
  if (options.m < 1 || options.n < 2 || options.n > 1'024 || options.p < 1 || options.p > 100) {
    return Fail(ErrorCode::kInvalidArgument, "a time tree cannot have M {}, N {}, P {}", options.m,
                options.n, options.p);
  }
  if (!samples.empty() &&
      (samples.front().time_ns < span.from_ns || samples.back().time_ns >= span.to_ns)) {
    return Fail(ErrorCode::kInvalidArgument, "samples lie outside of the time tree's span");
  }
  FIELDCOST_CHECK(std::ranges::is_sorted(samples, {}, &TimedPath::time_ns));
  TimeTree tree;
  tree.Add(std::move(samples), span, options);
  return tree;
}

Result<TimeTree> TimeTree::Of(const Recording& recording, StreamId stream,
                              const TimeTreeOptions& options) {
  std::vector<TimedPath> samples;
  FIELDCOST_TRY(recording.ForEachSample(
      stream, {}, [&](std::uint64_t time_ns, std::uint32_t path, std::span<const std::uint64_t>) {
        samples.push_back({time_ns, path});
      }));
  return Build(std::move(samples), recording.Span().value_or(Interval{}), options);
}

std::size_t TimeTree::Add(std::vector<TimedPath> samples, Interval interval,
                          const TimeTreeOptions& options) {
  const std::size_t number = nodes_.size();
  nodes_.push_back({.interval = interval, .samples = samples.size()});
  if (samples.size() < options.m || interval.to_ns - interval.from_ns < options.n) {
    nodes_[number].leaf = std::move(samples);
    return number;
  }
  nodes_[number].is_leaf = false;
  PathCounts kept = MostFrequentFirst(samples);
  std::uint64_t known = 0;
  std::size_t paths = 0;
  while (stats::Uint128{known} * 100 < stats::Uint128{samples.size()} * options.p) {
    known += kept[paths++].second;
  }
  kept.resize(paths);
  nodes_[number].other = samples.size() - known;
  std::vector<std::uint32_t> known_paths;
  for (const auto& [path, count] : kept) known_paths.push_back(path);
  std::sort(known_paths.begin(), known_paths.end());
  std::erase_if(samples, [&](const TimedPath& sample) {
    return !std::binary_search(known_paths.begin(), known_paths.end(), sample.path);
  });
  nodes_[number].kept = std::move(kept);
  auto begin = samples.begin();
  for (std::uint64_t i = 0; i < options.n; ++i) {
    const Interval part{.from_ns = EdgeOf(interval, i, options.n),
                        .to_ns = EdgeOf(interval, i + 1, options.n)};
    const auto end = std::lower_bound(begin, samples.end(), part.to_ns, Before);
    const std::size_t child = Add(std::vector<TimedPath>(begin, end), part, options);
    nodes_[number].children.push_back(child);
    begin = end;
  }
  return number;
}

TimeTree::Answer TimeTree::Count(Interval interval) const {
  Answer answer;
  std::vector<TimedPath> samples;
  CountBelow(0, interval, answer, samples);
  std::map<std::uint32_t, std::uint64_t> counts;
  for (const auto& [path, count] : answer.counts) counts[path] += count;
  for (const TimedPath& sample : samples) ++counts[sample.path];
  answer.counts.assign(counts.begin(), counts.end());
  return answer;
}

// Recursion depth: each level divides the interval by N >= 2, so at most 64.
void TimeTree::CountBelow(std::size_t number, Interval interval, Answer& answer,
                          std::vector<TimedPath>& samples) const {
  const Node& node = nodes_[number];
  const auto visit = [&](Visit what) { answer.visits.emplace_back(number, what); };
  if (interval.to_ns <= node.interval.from_ns || interval.from_ns >= node.interval.to_ns ||
      interval.to_ns <= interval.from_ns) {
    return visit(Visit::kSkipped);
  }
  const bool is_inside =
      interval.from_ns <= node.interval.from_ns && interval.to_ns >= node.interval.to_ns;
  if (node.is_leaf) {
    visit(is_inside ? Visit::kMerged : Visit::kScanned);
    const auto begin =
        std::lower_bound(node.leaf.begin(), node.leaf.end(), interval.from_ns, Before);
    const auto end = std::lower_bound(begin, node.leaf.end(), interval.to_ns, Before);
    samples.insert(samples.end(), begin, end);
    return;
  }
  answer.uncertainty += node.MostUnkept();
  if (is_inside) {
    visit(Visit::kMerged);
    answer.counts.insert(answer.counts.end(), node.kept.begin(), node.kept.end());
    return;
  }
  visit(Visit::kDescended);
  for (const std::size_t child : node.children) CountBelow(child, interval, answer, samples);
}

}  // namespace fieldcost::recording
