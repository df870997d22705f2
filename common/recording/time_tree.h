#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "common/recording/recording.h"

namespace fieldcost::recording {

// The hierarchical time tree with M, N and P: an approximate way to query an interval without all
// samples. Recording::SelfValues() is exact and faster; this one allows comparisons with published
// measurements of the method.
//
// A node with fewer than M samples is a leaf that holds them. Any other holds the most frequent
// paths that together have P % of its samples, with their counts, and N children for equal parts of
// its time; these hold only the samples of those paths. The rest is counted in its `other`.
struct TimeTreeOptions {
  std::uint64_t m = 1'000;  // 1 or more
  std::uint64_t n = 8;      // 2 to 1,024
  std::uint64_t p = 95;     // 1 to 100
};

// A sample is of one path and counts as one.
struct TimedPath {
  std::uint64_t time_ns = 0;
  std::uint32_t path = 0;
};

// Immutable once built; may then be read by several threads.
class TimeTree {
 public:
  struct Node {
    Interval interval;
    std::uint64_t samples = 0;
    bool is_leaf = true;
    std::vector<TimedPath> leaf;                                // ascending in time
    std::vector<std::pair<std::uint32_t, std::uint64_t>> kept;  // path, count; most frequent first
    std::uint64_t other = 0;                                    // samples of all other paths
    std::vector<std::size_t> children;                          // indices, ascending in time
    // The maximum count of a path that is not kept.
    std::uint64_t MostUnkept() const;
  };

  // How a query handled a node.
  enum class Visit {
    kSkipped,    // it lies outside
    kMerged,     // all of it lies inside: its counts, or all samples of a leaf
    kDescended,  // a part lies inside: its children
    kScanned,    // the same of a leaf: its samples
  };
  struct Answer {
    // Paths ascending, with counts: each path's true count is between its count here (0 if missing)
    // and `uncertainty` more.
    std::vector<std::pair<std::uint32_t, std::uint64_t>> counts;
    std::uint64_t uncertainty = 0;
    std::vector<std::pair<std::size_t, Visit>> visits;  // nodes in the order in which they came
  };

  // kInvalidArgument if the options are out of range, or a sample lies outside of the span.
  // REQUIRES: samples ascending in time.
  static Result<TimeTree> Build(std::vector<TimedPath> samples, Interval span,
                                const TimeTreeOptions& options);
  // Builds one of a stream's samples. Returns errors of reading it, too.
  static Result<TimeTree> Of(const Recording& recording, StreamId stream,
                             const TimeTreeOptions& options);

  Answer Count(Interval interval) const;

  const std::vector<Node>& nodes() const { return nodes_; }  // the first one is the whole

 private:
  TimeTree() = default;
  std::size_t Add(std::vector<TimedPath> samples, Interval interval,
                  const TimeTreeOptions& options);
  void CountBelow(std::size_t number, Interval interval, Answer& answer,
                  std::vector<TimedPath>& samples) const;

  std::vector<Node> nodes_;
};

}  // namespace fieldcost::recording
