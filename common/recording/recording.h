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
#include "common/tree/dictionary.h"
#include "common/tree/run_values.h"

namespace fieldcost::recording {

// Times from `from_ns` on, before `to_ns`: so parts add up. Empty unless to > from.
struct Interval {
  std::uint64_t from_ns = 0;
  std::uint64_t to_ns = UINT64_MAX;
  bool operator==(const Interval&) const = default;
};

// Makes self values inclusive ones: of each path, and of all that goes on from it. One sweep from
// the last path to the first. REQUIRES: as many values as paths.
void AddUp(const tree::PathTable& paths, std::span<std::uint64_t> values);

// What was in a part of an interval.
struct Bin {
  Interval interval;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> values;  // path, self value; ascending
};

// A recording that is read. What is mapped is checked when it is first used: a query that needs a
// frame that is not whole returns kCorrupt, others go on. Queries are const and may be made by
// several threads. Moves.
class Recording {
 public:
  // Errors of ReadContents(), and of opening the file.
  static Result<Recording> Open(const std::filesystem::path& path);
  // Reads a file's bytes, which it keeps.
  static Result<Recording> Of(std::string untrusted_file);
  // Reads a file's bytes. REQUIRES: they outlive it.
  static Result<Recording> Over(std::string_view untrusted_file);
  // The same, by the frames alone.
  static Result<Recording> WithoutIndex(std::string_view untrusted_file);

  // Its frames, streams, metrics, runs and counts, and how far it could be read.
  const Contents& contents() const { return contents_; }
  const tree::Dictionary& dictionary() const { return *contents_.dictionary; }
  // From the first to behind the last sample, or from when that began which lasts (spans.h);
  // nothing if there is none.
  std::optional<Interval> Span() const;

  // All of these REQUIRE: stream < contents().streams.size(), metric < the stream's metrics (their
  // numbers in the stream).

  // The self value of each path in the interval, exactly: out[path id], as many as paths. Of what
  // lasts (spans.h) the part that passes there. A few
  // additions per path, and those of some blocks, however long the interval is (README.md).
  Status SelfValues(StreamId stream, std::size_t metric, Interval interval,
                    std::vector<std::uint64_t>& out) const;
  // The values of all streams, by the recording's metrics. kTooLarge if one is 2^64 or more.
  Result<tree::RunValues> Values(Interval interval) const;

  // Visits all samples whose time is in the interval in order of time; kCorrupt if the file does
  // not have them so. `values`: one per metric of the stream.
  using OnSample = std::function<void(std::uint64_t time_ns, std::uint32_t path,
                                      std::span<const std::uint64_t> values)>;
  Status ForEachSample(StreamId stream, Interval interval, const OnSample& on_sample) const;
  // The same, with the thread of each, which is one of contents().descriptions.threads.
  using OnThreadSample =
      std::function<void(std::uint64_t time_ns, std::uint32_t path, ThreadId thread,
                         std::span<const std::uint64_t> values)>;
  Status ForEachThreadSample(StreamId stream, Interval interval,
                             const OnThreadSample& on_sample) const;

  // The interval in `count` parts, of lengths that differ by 1 ns at most, each
  // with its paths of which the value is not 0: what a picture over time is made of. REQUIRES:
  // 0 < count <= kMaxBins.
  Result<std::vector<Bin>> Bins(StreamId stream, std::size_t metric, Interval interval,
                                std::size_t count) const;

  // The trees in it (Writer::PutTree), in order; each as it was given.
  Result<std::vector<std::string>> Trees() const;

  // A frame of contents().frames. kCorrupt if it is not whole, or another than that.
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
  // [frame]: its checksum was right. Set by whoever looks first.
  std::unique_ptr<std::atomic<bool>[]> checked_;
  std::unique_ptr<Begins[]> begins_;  // [stream]
};

}  // namespace fieldcost::recording
