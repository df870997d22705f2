#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/recording/recording.h"

namespace fieldcost::recording {

// Computes the values of an interval (README.md describes the algorithm). Short-lived. REQUIRES:
// the recording outlives it. Not thread-safe, but several queries may read one recording.
class IntervalQuery {
 public:
  IntervalQuery(const Recording& recording, StreamId stream, std::size_t metric);

  Status Run(Interval interval, std::vector<std::uint64_t>& out);

 private:
  // A number of samples of a block before a position; 0 samples after the last block.
  struct Position {
    std::size_t block = 0;
    std::uint32_t sample = 0;
  };
  // A position as the nearest block boundary, and samples to add to the sums before that boundary
  // (factor 1) or to subtract from them (-1).
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
  // The index of the cheapest vector to start from; nullopt: the beginning of the stream.
  std::optional<std::size_t> NearestVector(std::size_t blocks) const;
  std::size_t BlocksOf(std::optional<std::size_t> vector) const;
  std::uint64_t CostFrom(std::optional<std::size_t> vector, std::size_t blocks) const;

  Status AddEnd(const End& end, std::uint64_t factor);
  // Adds or subtracts the blocks between `from` and `to`, in either order, to convert the sums
  // before `from` to those before `to`.
  Status AddBlocks(std::size_t from, std::size_t to, std::uint64_t factor);
  Status AddVector(std::optional<std::size_t> vector, std::uint64_t factor, bool is_first);
  // Adds all samples with from <= time < to, each with its full value.
  Status AddWhole(Interval interval);
  // Adds, for samples from a time on, the parts of their spans that passed before it (spans.h).
  Status AddPassed(std::uint64_t time_ns, std::uint64_t factor);

  const Recording& recording_;
  const StreamId stream_;
  const std::size_t metric_;
  const StreamIndex& index_;
  std::vector<std::uint64_t>* out_ = nullptr;
};

}  // namespace fieldcost::recording
