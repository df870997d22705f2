#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "common/recording/block.h"
#include "common/recording/contents.h"
#include "common/recording/mapped_file.h"
#include "common/tree/run_values.h"
#include "common/tree/tree_dictionary.h"

namespace fieldcost::recording {

// The half-open interval [from_ns, to_ns), so that parts add up. Empty unless to > from.
struct Interval {
  std::uint64_t from_ns = 0;
  std::uint64_t to_ns = UINT64_MAX;
  bool operator==(const Interval&) const = default;
};

// Converts self values to inclusive ones, which include all paths that extend each path, in one
// sweep from the last path to the first. REQUIRES: one value per path.
void AddUp(const tree::PathTable& paths, std::span<std::uint64_t> values);

// The values of a part of an interval.
struct Bin {
  Interval interval;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> values;  // path, self value; ascending
};

// A recording opened for reading. Frames are checked on first use: a query that needs a damaged
// frame returns kCorrupt, others still work. Queries are const and may run in several threads.
// Movable.
class Recording {
 public:
  // Errors of ReadContents(), or of opening the file.
  static Result<Recording> Open(const std::filesystem::path& path);
  // Reads a file's bytes, and keeps them.
  static Result<Recording> Of(std::string untrusted_file);
  // Reads a file's bytes. REQUIRES: they outlive it.
  static Result<Recording> Over(std::string_view untrusted_file);
  // The same from the frames only, ignoring any index.
  static Result<Recording> WithoutIndex(std::string_view untrusted_file);

  // Its frames, streams, metrics, runs and counts, and how far it could be read.
  const Contents& contents() const { return contents_; }
  const tree::Dictionary& dictionary() const { return *contents_.dictionary; }
  // From the first sample, or the earliest begin of a span (spans.h), to just after the last
  // sample; nullopt without samples.
  std::optional<Interval> Span() const;

  // REQUIRES for all functions below: stream < contents().streams.size(), and metric (an index into
  // the stream's metrics) is less than their number.

  // The exact self value of each path in the interval: out[path id], one per path. For spans
  // (spans.h), the part that passes in the interval. Costs a few additions per path and those of
  // some blocks, independent of the interval's length (README.md).
  Status SelfValues(StreamId stream, std::size_t metric, Interval interval,
                    std::vector<std::uint64_t>& out) const;
  // The values of all streams, by the recording's metrics. kTooLarge if one is 2^64 or more.
  Result<tree::RunValues> Values(Interval interval) const;

  // Visits all samples whose time is in the interval in order of time. kCorrupt if they are not
  // ordered in the file. `values`: one per metric of the stream.
  using OnSample = std::function<void(std::uint64_t time_ns, std::uint32_t path,
                                      std::span<const std::uint64_t> values)>;
  Status ForEachSample(StreamId stream, Interval interval, const OnSample& on_sample) const;
  // The same, with the thread of each sample, an index into contents().descriptions.threads.
  using OnThreadSample =
      std::function<void(std::uint64_t time_ns, std::uint32_t path, ThreadId thread,
                         std::span<const std::uint64_t> values)>;
  Status ForEachThreadSample(StreamId stream, Interval interval,
                             const OnThreadSample& on_sample) const;

  // Divides the interval into `count` parts whose lengths differ by at most 1 ns, each with its
  // paths of nonzero value: the data of a picture over time. REQUIRES: 0 < count <= kMaxBins.
  Result<std::vector<Bin>> Bins(StreamId stream, std::size_t metric, Interval interval,
                                std::size_t count) const;

  // The trees in it (Writer::PutTree), in order and unchanged.
  Result<std::vector<std::string>> Trees() const;

  // A frame of contents().frames. kCorrupt if it is damaged or does not match its entry.
  Result<FileFrame> Frame(std::uint32_t number) const;
  Result<BlockView> Block(std::uint32_t number, std::size_t metrics) const;
  // The beginning of the earliest span (spans.h) in each block of the stream; 0 for a block that
  // cannot be read. The first call reads the whole stream. REQUIRES: the stream has spans.
  std::span<const std::uint64_t> BlockBegins(StreamId stream) const;

 private:
  struct Begins {
    std::once_flag once;
    std::vector<std::uint64_t> ns;  // [block of the stream]
  };
  Recording(Contents contents, std::string_view file, std::optional<MappedFile> mapped);
  // The beginning of the earliest span, or the time of the first sample.
  std::uint64_t BeginOf(StreamId stream) const;

  std::optional<MappedFile> mapped_;
  std::shared_ptr<const std::string> owned_;
  std::string_view file_;
  Contents contents_;
  // [frame]: whether its checksum has been verified. Set on first use.
  std::unique_ptr<std::atomic<bool>[]> checked_;
  std::unique_ptr<Begins[]> begins_;  // [stream]
};

}  // namespace fieldcost::recording
