#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "common/recording/threads.h"
#include "common/tree/tree_metric.h"

namespace fieldcost::recording {

// A recording's metadata: the payloads of small frames. Numbers are varints, text := size byte*.
// Pure functions.

using StreamId = StrongId<struct StreamIdTag, std::uint16_t>;

// The numbers are stored in files and never reused.
enum class StreamKind : std::uint8_t {
  kSamples = 1,    // of running stacks
  kWaits = 2,      // waits of threads; values in ns are spans that end at that time (spans.h)
  kSnapshots = 3,  // growth of trees of events since the previous snapshot
  kEvents = 4,     // slices of a log of events; values in ns are spans, too
  kIdle = 5,       // idle time of CPUs (common/idle); values in ns are spans, too
};

// Samples of one kind, ascending in time. Each has a value for some of the recording's metrics.
struct Stream {
  StreamKind kind = StreamKind::kSamples;
  std::string name;                    // printable; distinguishes streams of one kind
  std::vector<std::uint16_t> metrics;  // distinct indices, at least one
  bool operator==(const Stream&) const = default;
};

// A recorded run of a program. Runs are ordered by time and may overlap.
struct Run {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;  // if has_ended
  bool has_ended = false;
  std::int32_t exit_status = 0;  // if has_ended; -1 - signal
  std::string command;           // as the user would type it; printable, truncated if too long
  std::string environment_hash;  // bytes; runs with equal hashes are comparable
  bool operator==(const Run&) const = default;
};

// A count of events, such as lost, truncated or late samples. The last value of a name is valid. A
// count whose name ends in kCountOfTime is a time.
struct Count {
  std::string name;  // "late samples"
  std::uint64_t value = 0;
  bool operator==(const Count&) const = default;
};
inline constexpr char kCountOfTime[] = ", ns";
// The count of samples whose time was set to the end of the previous block (recording_writer.h).
inline constexpr char kLateSamples[] = "late samples";

// Everything in a recording except samples and paths.
struct Descriptions {
  std::vector<tree::Metric> metrics;
  std::vector<Stream> streams;
  std::vector<Run> runs;
  std::vector<Count> counts;
  std::vector<Thread> threads = {Thread()};  // by ThreadId; the first is kNoThread
  bool operator==(const Descriptions&) const = default;
};

//   metrics := first_metric metric_count metric* first_stream stream_count stream*
//   metric := text:name unit per_sample
//   stream := kind text:name metric_count metric*
// Encodes metrics and streams from the given ones on.
std::string EncodeMetrics(const Descriptions& all, std::size_t first_metric,
                          std::size_t first_stream);
//   run := number 0 time_ns text:command text:environment_hash
//        | number 1 time_ns (exit_status, zigzag)
std::string EncodeRunBegin(const Descriptions& all, std::size_t run);
std::string EncodeRunEnd(const Descriptions& all, std::size_t run);
//   count := text:name value
std::string EncodeCount(const Count& count);

// Each adds to the content of the preceding frames. kCorrupt unless it follows from them and is as
// described above; kTooLarge beyond the limits.
Status DecodeMetrics(std::string_view untrusted_payload, Descriptions& all);
Status DecodeRun(std::string_view untrusted_payload, Descriptions& all);
Status DecodeCount(std::string_view untrusted_payload, Descriptions& all);

// A tree's own bytes (common/tree) in one or more frames.
//   tree := part:u32 parts:u32 byte*
struct TreePart {
  std::uint32_t part = 0;
  std::uint32_t parts = 1;
  std::string_view bytes;
};
std::string EncodeTreePart(const TreePart& part);
// kCorrupt unless part < parts.
Result<TreePart> ReadTreePart(std::string_view untrusted_payload);

// kInvalidArgument unless members are valid as described above; kTooLarge if there are too many.
Status AddMetric(const tree::Metric& untrusted_metric, Descriptions& all);
Status AddStream(const Stream& untrusted_stream, Descriptions& all);
Status AddRun(const Run& untrusted_run, Descriptions& all);
Status SetCount(const Count& untrusted_count, Descriptions& all);

}  // namespace fieldcost::recording
