#include "common/tree/merge_trees.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "common/base/check.h"
#include "common/tree/tree.h"

namespace fieldcost::tree {
namespace {

using stats::Uint128;

// Indexed by path id: whether it, or a path that extends it, has any value. Always true for the
// root.
std::vector<bool> IsThere(const Measured& measured) {
  const PathTable& paths = measured.dictionary->paths;
  FIELDCOST_CHECK(measured.values.metrics() == measured.metrics.size());
  std::vector<bool> there(paths.size());
  for (std::size_t metric = 0; metric < measured.values.metrics(); ++metric) {
    const std::span<const std::uint64_t> column = measured.values.column(metric);
    FIELDCOST_CHECK(column.size() <= paths.size());
    for (std::size_t path = 0; path < column.size(); ++path) {
      if (column[path] != 0) there[path] = true;
    }
  }
  for (std::size_t path = paths.size(); path-- > 1;) {
    if (there[path]) there[paths.parents()[path]] = true;
  }
  there[0] = true;
  return there;
}

// The maximum number of successive events missing from a stack: functions that ended by calling the
// next one.
constexpr std::size_t kMostTailCalls = 3;

// The place of a stack or a part of one: the event node that it belongs to, and its own path.
struct Place {
  PathId node = kRootPath;
  PathId at = kRootPath;
};

// A stack, and its weight in the division of its node's value.
struct Part {
  PathId node;
  PathId at;
  std::uint64_t weight;
};

class Merger {
 public:
  Merger(const Measured& events, const Measured& samples)
      : events_(events), samples_(samples), dictionary_(std::make_shared<Dictionary>()) {}

  Status EnterEvents();
  Status EnterSamples(MergedRun& merged);
  Status AddEvents(RunValues& values) const;
  // Adds one column of the samples to a column of the result.
  Status AddSamples(std::size_t from, std::size_t to, RunValues& values) const;
  // Moves the values of `divided` from event nodes to their stacks.
  Status Divide(std::size_t divided, const std::vector<std::size_t>& weights,
                RunValues& values) const;
  std::shared_ptr<const Dictionary> dictionary() const { return dictionary_; }

 private:
  bool IsEvent(PathId path) const { return path.value() < event_paths_; }
  // The event node that a stack at `node` reaches with `frame`; nullopt if there are no events for
  // it.
  std::optional<PathId> Follow(PathId node, FrameId frame);
  std::optional<PathId> FindBehindTailCalls(PathId node, FrameId frame) const;
  Result<std::vector<Part>> Parts(const std::vector<std::size_t>& weights) const;

  const Measured& events_;
  const Measured& samples_;
  std::shared_ptr<Dictionary> dictionary_;  // the paths of the events first
  std::size_t event_paths_ = 0;
  std::vector<std::uint32_t> event_to_;         // [path id of the events]
  std::vector<std::vector<PathId>> events_of_;  // [frame id]
  std::map<std::pair<PathId, FrameId>, std::optional<PathId>> followed_;
  std::vector<Place> places_;  // [path id of the samples]
};

Status Merger::EnterEvents() {
  const Dictionary& from = *events_.dictionary;
  const std::vector<bool> there = IsThere(events_);
  event_to_.resize(from.paths.size());
  for (std::uint32_t path = 1; path < there.size(); ++path) {
    if (!there[path]) continue;
    FIELDCOST_ASSIGN(const FrameId frame, dictionary_->frames.Intern(from.frame(PathId(path))));
    FIELDCOST_ASSIGN(const PathId to, dictionary_->paths.Intern(
                                          PathId(event_to_[from.paths.parents()[path]]), frame));
    event_to_[path] = to.value();
  }
  event_paths_ = dictionary_->paths.size();
  events_of_.resize(dictionary_->frames.size());
  for (std::uint32_t path = 1; path < event_paths_; ++path) {
    events_of_[dictionary_->paths.frame(PathId(path)).value()].push_back(PathId(path));
  }
  return {};
}

std::optional<PathId> Merger::Follow(PathId node, FrameId frame) {
  const auto child = dictionary_->paths.Find(node, frame);
  if (child && IsEvent(*child)) return child;
  if (frame.value() >= events_of_.size()) return std::nullopt;
  const auto [followed, is_new] = followed_.try_emplace({node, frame});
  if (is_new) followed->second = FindBehindTailCalls(node, frame);
  return followed->second;
}

std::optional<PathId> Merger::FindBehindTailCalls(PathId node, FrameId frame) const {
  const PathTable& paths = dictionary_->paths;
  std::optional<PathId> found;
  for (const PathId path : events_of_[frame.value()]) {
    const std::size_t below = paths.depth(path) - std::min(paths.depth(path), paths.depth(node));
    if (below < 2 || below > 1 + kMostTailCalls) continue;
    PathId ancestor = path;
    for (std::size_t i = 0; i < below; ++i) ancestor = paths.parent(ancestor);
    if (ancestor != node) continue;
    if (found) return std::nullopt;  // ambiguous
    found = path;
  }
  return found;
}

Status Merger::EnterSamples(MergedRun& merged) {
  const Dictionary& from = *samples_.dictionary;
  const std::vector<bool> there = IsThere(samples_);
  places_.resize(from.paths.size());
  std::vector<std::uint32_t> dropped(from.paths.size());
  for (std::uint32_t path = 1; path < there.size(); ++path) {
    if (!there[path]) continue;
    const std::uint32_t parent = from.paths.parents()[path];
    const Place& before = places_[parent];
    dropped[path] = dropped[parent];
    FIELDCOST_ASSIGN(const FrameId frame, dictionary_->frames.Intern(from.frame(PathId(path))));
    const auto node = Follow(before.node, frame);
    if (node) {
      dropped[path] += static_cast<std::uint32_t>(dictionary_->paths.depth(before.at) -
                                                  dictionary_->paths.depth(before.node));
      places_[path] = {.node = *node, .at = *node};
      continue;
    }
    FIELDCOST_ASSIGN(const PathId at, dictionary_->paths.Intern(before.at, frame));
    places_[path] = {.node = before.node, .at = at};
  }
  for (std::uint32_t path = 1; path < there.size(); ++path) {
    bool is_stack = false;  // whether a stack ends here
    for (std::size_t metric = 0; metric < samples_.metrics.size() && !is_stack; ++metric) {
      is_stack = samples_.values.value(metric, PathId(path)) != 0;
    }
    if (!is_stack || dropped[path] == 0) continue;
    ++merged.stacks_with_dropped;
    merged.dropped_frames += dropped[path];
  }
  return {};
}

Status Merger::AddEvents(RunValues& values) const {
  for (std::size_t metric = 0; metric < events_.metrics.size(); ++metric) {
    const std::span<const std::uint64_t> column = events_.values.column(metric);
    for (std::size_t path = 0; path < column.size(); ++path) {
      if (column[path] == 0) continue;
      FIELDCOST_TRY(values.Add(metric, PathId(event_to_[path]), column[path]));
    }
  }
  return {};
}

Status Merger::AddSamples(std::size_t from, std::size_t to, RunValues& values) const {
  const std::span<const std::uint64_t> column = samples_.values.column(from);
  for (std::size_t path = 0; path < column.size(); ++path) {
    if (column[path] == 0) continue;
    FIELDCOST_TRY(values.Add(to, places_[path].at, column[path]));
  }
  return {};
}

// Ascending by node, then in canonical order; each place once.
Result<std::vector<Part>> Merger::Parts(const std::vector<std::size_t>& weights) const {
  RunValues by_place(1);
  std::vector<PathId> node_of(dictionary_->paths.size());
  for (std::size_t path = 0; path < places_.size(); ++path) {
    for (const std::size_t weight : weights) {
      const PathId from(static_cast<std::uint32_t>(path));
      FIELDCOST_TRY(by_place.Add(0, places_[path].at, samples_.values.value(weight, from)));
    }
    node_of[places_[path].at.value()] = places_[path].node;
  }
  std::vector<Part> parts;
  const std::vector<bool> all(dictionary_->paths.size(), true);
  for (const PathId at : CanonicalOrder(*dictionary_, all)) {
    const std::uint64_t weight = by_place.value(0, at);
    if (weight != 0) parts.push_back({node_of[at.value()], at, weight});
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Part& a, const Part& b) { return a.node < b.node; });
  return parts;
}

// Divides `amount` in proportion to the weights: each share is rounded down, and the rest goes one
// by one to the largest remainders; among equal ones, to the first.
std::vector<std::uint64_t> Apportion(std::uint64_t amount, std::span<const Part> parts) {
  Uint128 total = 0;
  for (const Part& part : parts) total += part.weight;
  std::vector<std::uint64_t> shares;
  std::vector<Uint128> remainders;
  std::uint64_t left = amount;
  for (const Part& part : parts) {
    const Uint128 product = Uint128{amount} * part.weight;
    shares.push_back(static_cast<std::uint64_t>(product / total));
    remainders.push_back(product % total);
    left -= shares.back();
  }
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
  FIELDCOST_CHECK(left <= order.size());
  for (std::size_t i = 0; i < left; ++i) ++shares[order[i]];
  return shares;
}

Status Merger::Divide(std::size_t divided, const std::vector<std::size_t>& weights,
                      RunValues& values) const {
  FIELDCOST_ASSIGN(const std::vector<Part> parts, Parts(weights));
  const std::span<std::uint64_t> column = values.MutableColumn(divided, dictionary_->paths.size());
  for (std::size_t begin = 0; begin < parts.size();) {
    std::size_t end = begin;
    while (end < parts.size() && parts[end].node == parts[begin].node) ++end;
    const auto group = std::span(parts).subspan(begin, end - begin);
    const std::uint64_t amount = std::exchange(column[group.front().node.value()], 0);
    const std::vector<std::uint64_t> shares = Apportion(amount, group);
    for (std::size_t i = 0; i < group.size(); ++i) column[group[i].at.value()] = shares[i];
    begin = end;
  }
  return {};
}

}  // namespace

Result<MergedRun> MergeEventsAndSamples(const Measured& events, const Measured& samples,
                                        const MergeOptions& options) {
  const auto divided = FindMetric(events.metrics, options.divided);
  std::vector<std::size_t> weights;
  for (const std::string& name : options.weights) {
    if (const auto weight = FindMetric(samples.metrics, name)) weights.push_back(*weight);
  }
  if (!divided || weights.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "{} have no metric by which they could be merged",
                divided ? "samples" : "events");
  }
  Merger merger(events, samples);
  MergedRun merged = {.run = {.metrics = events.metrics, .values = RunValues(0)}};
  FIELDCOST_TRY(merger.EnterEvents());
  FIELDCOST_TRY(merger.EnterSamples(merged));
  std::vector<std::size_t> added;  // columns of the samples
  for (std::size_t i = 0; i < samples.metrics.size(); ++i) {
    const Metric& metric = samples.metrics[i];
    if (FindMetric(events.metrics, metric.name)) {
      merged.remarks.push_back(
          fmt::format("metric {} is that of the events: the samples' is left out", metric.name));
      continue;
    }
    added.push_back(i);
    merged.run.metrics.push_back(metric);
  }
  if (merged.run.metrics.size() > kMaxMetrics) {
    return Fail(ErrorCode::kTooLarge, "events and samples have more than {} metrics", kMaxMetrics);
  }
  merged.run.values = RunValues(merged.run.metrics.size());
  FIELDCOST_TRY(merger.AddEvents(merged.run.values));
  for (std::size_t i = 0; i < added.size(); ++i) {
    FIELDCOST_TRY(merger.AddSamples(added[i], events.metrics.size() + i, merged.run.values));
  }
  FIELDCOST_TRY(merger.Divide(*divided, weights, merged.run.values));
  merged.run.dictionary = merger.dictionary();
  return merged;
}

}  // namespace fieldcost::tree
