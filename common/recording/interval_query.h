#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/recording/recording.h"

namespace fieldcost::recording {

// Finds the values of an interval (README.md says how). Short-lived: REQUIRES that the recording
// lives longer. Not thread-safe, but several may read one recording.
class IntervalQuery {
 public:
  IntervalQuery(const Recording& recording, StreamId stream, std::size_t metric);

  Status Run(Interval interval, std::vector<std::uint64_t>& out);

 private:
  // A place behind so many samples of a block; behind the last block there are none.
  struct Position {
    std::size_t block = 0;
    std::uint32_t sample = 0;
  };
  // A position as the nearest end of a block, and samples to add to what is before that (factor 1)
  // or to take away from it (-1).
  struct End {
    std::size_t blocks = 0;
    std::size_t block = 0;
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::uint64_t factor = 1;
  };

  Result<Position> At(std::uint64_t time_ns) const;
  Result<BlockView> BlockAt(std::size_t block) const;
  End EndOf(const Position& position) const;
  // Index of the cheapest vector to begin with; none: from the beginning of the stream.
  std::optional<std::size_t> NearestVector(std::size_t blocks) const;
  std::size_t BlocksOf(std::optional<std::size_t> vector) const;
  std::uint64_t CostFrom(std::optional<std::size_t> vector, std::size_t blocks) const;

  Status AddEnd(const End& end, std::uint64_t factor);
  // The blocks from `from` to `to`, in either order, so that what is before `from` becomes what is
  // before `to`.
  Status AddBlocks(std::size_t from, std::size_t to, std::uint64_t factor);
  Status AddVector(std::optional<std::size_t> vector, std::uint64_t factor, bool is_first);
  // All samples with from <= time < to, each wholly.
  Status AddWhole(Interval interval);
  // What of the samples from a time on has passed before it (spans.h).
  Status AddPassed(std::uint64_t time_ns, std::uint64_t factor);

  const Recording& recording_;
  const StreamId stream_;
  const std::size_t metric_;
  const StreamIndex& index_;
  std::vector<std::uint64_t>* out_ = nullptr;
};

}  // namespace fieldcost::recording
