#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/recording/path_sums.h"
#include "common/recording/recording_index.h"

namespace fieldcost::recording {

// Builds blocks, groups and vectors from the samples of one stream. Not thread-safe.
class StreamWriter {
 public:
  // Receives a frame: its payload, and its index entry without its position.
  using Sink = std::function<Status(std::string_view payload, const IndexEntry& entry)>;

  StreamWriter(std::uint16_t stream, std::size_t metrics);

  // Whether the open block must be sealed before a sample with this time is added.
  bool IsFullFor(std::uint64_t time_ns) const;
  // Adds a sample. A time before the end of the last block is set to that end, and counted.
  // kTooLarge if the stream's sum of a metric would exceed 2^64 - 1; nothing is changed then.
  // REQUIRES: !IsFullFor(time_ns), one value per metric.
  Status Append(std::uint64_t time_ns, std::uint32_t path, std::uint32_t thread,
                std::span<const std::uint64_t> values);
  // Passes the open block, if any, and the sums due after it to the sink. All paths so far are less
  // than `paths`. After an error of the sink nothing may be added.
  Status Seal(std::size_t paths, const Sink& sink);

  std::uint64_t late_samples() const { return late_samples_; }

 private:
  void SortByTime();
  Status SealGroup(std::size_t paths, const Sink& sink);
  Status PutVectors(std::size_t paths, const Sink& sink);

  const std::uint16_t stream_;
  const std::size_t metrics_;
  // The open block.
  std::vector<std::uint64_t> times_ns_;
  std::vector<std::uint32_t> paths_;
  std::vector<std::uint32_t> threads_;
  std::vector<std::vector<std::uint64_t>> values_;
  std::uint64_t least_ns_ = 0;
  std::uint64_t greatest_ns_ = 0;
  bool is_sorted_ = true;

  std::vector<std::uint64_t> totals_;
  std::uint64_t sealed_ns_ = 0;
  std::uint64_t late_samples_ = 0;
  std::uint64_t blocks_ = 0;
  std::uint64_t samples_since_vector_ = 0;
  std::uint64_t group_cost_ = 0;  // of adding its blocks individually
  PathSums block_sums_;
  PathSums group_sums_;
  std::vector<std::vector<std::uint64_t>> cumulative_;  // over all complete groups
};

}  // namespace fieldcost::recording
