#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "common/recording/recording.h"

namespace fieldcost::recording {

// The hierarchical time tree with M, N and P: an approximate way to query an interval without
// reading all samples. Recording::SelfValues() is exact and faster; this class allows comparisons
// with published measurements of the method.
//
// A node with fewer than M samples is a leaf that contains them. Any other node keeps the most
// frequent paths that together have P % of its samples, with their counts, and has N children for
// equal parts of its time; these contain only the samples of those paths. The rest is counted in
// its `other`.
struct TimeTreeOptions {
  std::uint64_t m = 1'000;  // 1 or more
  std::uint64_t n = 8;      // 2 to 1,024
  std::uint64_t p = 95;     // 1 to 100
};

// One sample of a path; counts as one.
struct TimedPath {
  std::uint64_t time_ns = 0;
  std::uint32_t path = 0;
};

// Immutable once built; several threads may then read it.
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
    kSkipped,    // outside the interval
    kMerged,     // inside: used its counts, or all samples of a leaf
    kDescended,  // partly inside: used its children
    kScanned,    // partly inside, and a leaf: used its samples
  };
  struct Answer {
    // Ascending paths with counts. A path's true count is between its count here (0 if missing) and
    // `uncertainty` more.
    std::vector<std::pair<std::uint32_t, std::uint64_t>> counts;
    std::uint64_t uncertainty = 0;
    std::vector<std::pair<std::size_t, Visit>> visits;  // nodes in the order visited
  };

  // kInvalidArgument if the options are out of range, or a sample is outside of the span. REQUIRES:
  // samples ascending in time.
  static Result<TimeTree> Build(std::vector<TimedPath> samples, Interval span,
                                const TimeTreeOptions& options);
  // Builds a tree of a stream's samples. May also return errors of reading them.
  static Result<TimeTree> Of(const Recording& recording, StreamId stream,
                             const TimeTreeOptions& options);

  Answer Count(Interval interval) const;

  const std::vector<Node>& nodes() const { return nodes_; }  // the first one is the root

 private:
  TimeTree() = default;
  std::size_t Add(std::vector<TimedPath> samples, Interval interval,
                  const TimeTreeOptions& options);
  void CountBelow(std::size_t number, Interval interval, Answer& answer,
                  std::vector<TimedPath>& samples) const;

  std::vector<Node> nodes_;
};

}  // namespace fieldcost::recording
