// Recordings as found on disk: the bytes as they are, and as frames with correct checksums.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/check.h"
#include "common/recording/by_thread.h"
#include "common/recording/recording.h"
#include "common/recording/spans.h"
#include "common/recording/verify_recording.h"
#include "tests/fuzz/recording_frames.h"

namespace {

using namespace fieldcost;
using namespace fieldcost::recording;

// Queries of a stream must agree with its samples, unless they fail.
void Query(const Recording& recording, StreamId stream, bool is_good) {
  const std::size_t metrics = recording.contents().streams[stream.value()].metrics();
  const Interval whole = recording.Span().value_or(Interval{});
  const Interval half{whole.from_ns, whole.from_ns + (whole.to_ns - whole.from_ns) / 2};
  const auto& about = recording.contents().descriptions;
  for (const Interval interval : {Interval{}, half}) {
    std::vector<std::vector<std::uint64_t>> sums(
        metrics, std::vector<std::uint64_t>(recording.dictionary().paths.size()));
    const Status scanned = recording.ForEachSample(
        stream, {interval.from_ns, UINT64_MAX},
        [&](std::uint64_t time_ns, std::uint32_t path, auto values) {
          FIELDCOST_CHECK(time_ns >= interval.from_ns || !is_good);
          for (std::size_t i = 0; i < metrics; ++i) {
            if (HasSpans(about, stream, i)) {
              const std::uint64_t limit_ns = SpanLimitNs(about, stream);
              sums[i][path] += PassedBefore(interval.to_ns, time_ns, values[i], limit_ns) -
                               PassedBefore(interval.from_ns, time_ns, values[i], limit_ns);
            } else if (time_ns < interval.to_ns) {
              sums[i][path] += values[i];
            }
          }
        });
    FIELDCOST_CHECK(scanned.has_value() || !is_good);
    for (std::size_t i = 0; i < metrics; ++i) {
      std::vector<std::uint64_t> out;
      const Status status = recording.SelfValues(stream, i, interval, out);
      FIELDCOST_CHECK(!is_good || (status.has_value() && out == sums[i]));
    }
  }
}

// All threads together have what the whole has.
void Divide(const Recording& whole, bool is_good) {
  const auto divided = DividedByThread(whole, DivideBy::kThread, false);
  if (!divided || !is_good) return;
  for (std::uint16_t i = 0; i < whole.contents().streams.size(); ++i) {
    for (std::size_t metric = 0; metric < whole.contents().streams[i].metrics(); ++metric) {
      std::uint64_t sums[2] = {};
      std::vector<std::uint64_t> self;
      for (const Recording* const recording : {&whole, &*divided}) {
        FIELDCOST_CHECK(recording->SelfValues(StreamId(i), metric, {}, self).has_value());
        for (const std::uint64_t value : self) sums[recording == &whole ? 0 : 1] += value;
      }
      FIELDCOST_CHECK(sums[0] == sums[1]);
    }
  }
}

void Read(std::string_view untrusted_file) {
  const auto report = Verify(untrusted_file);
  const auto recording = Recording::Over(untrusted_file);
  FIELDCOST_CHECK(report.has_value() == recording.has_value());
  if (!recording) return;
  FIELDCOST_CHECK(report->stop.offset <= untrusted_file.size());
  for (std::uint16_t i = 0; i < recording->contents().streams.size(); ++i) {
    Query(*recording, StreamId(i), report->is_good());
  }
  Divide(*recording, report->is_good());
  (void)recording->Values({}).has_value();
  (void)recording->Trees().has_value();
  const auto frames = ReadContentsWithoutIndex(untrusted_file)->frames;
  if (report->has_index || !report->stop.reason.empty()) return;
  // The same with an index.
  std::string file(untrusted_file);
  AppendFrame(FrameType::kIndex, static_cast<std::uint32_t>(frames.size()),
              EncodeIndex(frames, file.size()), file);
  const auto with_index = Recording::Over(file);
  FIELDCOST_CHECK(with_index.has_value() && with_index->contents().has_index);
  for (std::uint16_t i = 0; i < with_index->contents().streams.size(); ++i) {
    Query(*with_index, StreamId(i), report->is_good());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Read(bytes);
  Read(RecordingOfFrames(bytes));
  return 0;
}
