#include "common/recording/recording.h"

#include <algorithm>

#include "common/base/check.h"
#include "common/recording/bytes.h"
#include "common/recording/interval_query.h"
#include "common/recording/recording_limits.h"
#include "common/recording/spans.h"
#include "common/stats/uint128.h"

namespace fieldcost::recording {
namespace {

Error CorruptBlock(const IndexEntry& entry, std::string_view what) {
  return Fail(ErrorCode::kCorrupt, "{} at byte {}: {}", Name(entry.type), entry.offset, what);
}

}  // namespace

void AddUp(const tree::PathTable& paths, std::span<std::uint64_t> values) {
  FIELDCOST_CHECK(values.size() == paths.size());
  const std::span<const std::uint32_t> parents = paths.parents();
  for (std::size_t path = values.size(); path-- > 1;) values[parents[path]] += values[path];
}

Recording::Recording(Contents contents, std::string_view file, std::optional<MappedFile> mapped)
    : mapped_(std::move(mapped)),
      file_(file),
      contents_(std::move(contents)),
      checked_(new std::atomic<bool>[contents_.frames.size()]()),
      begins_(std::make_unique<Begins[]>(contents_.streams.size())) {}

Result<Recording> Recording::Open(const std::filesystem::path& path) {
  FIELDCOST_ASSIGN(MappedFile mapped, MappedFile::Open(path));
  auto contents = ReadContents(mapped.bytes());
  if (!contents) return Within(contents.error(), "read " + path.string());
  const std::string_view file = mapped.bytes();
  return Recording(std::move(*contents), file, std::move(mapped));
}

Result<Recording> Recording::Over(std::string_view untrusted_file) {
  FIELDCOST_ASSIGN(Contents contents, ReadContents(untrusted_file));
  return Recording(std::move(contents), untrusted_file, std::nullopt);
}

Result<Recording> Recording::Of(std::string untrusted_file) {
  auto owned = std::make_shared<const std::string>(std::move(untrusted_file));
  FIELDCOST_ASSIGN(Recording recording, Over(*owned));
  recording.owned_ = std::move(owned);
  return recording;
}

Result<Recording> Recording::WithoutIndex(std::string_view untrusted_file) {
  FIELDCOST_ASSIGN(Contents contents, ReadContentsWithoutIndex(untrusted_file));
  return Recording(std::move(contents), untrusted_file, std::nullopt);
}

std::span<const std::uint64_t> Recording::BlockBegins(StreamId stream) const {
  FIELDCOST_CHECK(stream.value() < contents_.streams.size());
  Begins& begins = begins_[stream.value()];
  std::call_once(begins.once, [&] {
    const StreamIndex& index = contents_.streams[stream.value()];
    for (const StreamIndex::Block& entry : index.blocks()) {
      const Result<BlockView> block = Block(entry.frame, index.metrics());
      std::uint64_t begin_ns = block ? entry.first_ns : 0;
      for (std::size_t metric = 0; block && metric < index.metrics(); ++metric) {
        if (!HasSpans(contents_.descriptions, stream, metric)) continue;
        for (std::uint32_t i = 0; i < block->head.samples; ++i) {
          const std::uint64_t end_ns = block->time_ns(i);
          begin_ns = std::min(begin_ns, end_ns - std::min(block->columns[metric][i], end_ns));
        }
      }
      begins.ns.push_back(begin_ns);
    }
  });
  return begins.ns;
}

std::uint64_t Recording::BeginOf(StreamId stream) const {
  if (SpanLimitNs(contents_.descriptions, stream) == UINT64_MAX) {
    return std::ranges::min(BlockBegins(stream));
  }
  const StreamIndex& index = contents_.streams[stream.value()];
  const std::uint64_t first_ns = index.blocks().front().first_ns;
  std::uint64_t begin_ns = first_ns;
  for (std::size_t metric = 0; metric < index.metrics(); ++metric) {
    if (!HasSpans(contents_.descriptions, stream, metric)) continue;
    const Interval ends{.from_ns = first_ns,
                        .to_ns = first_ns + std::min(kMaxSpanNs, UINT64_MAX - first_ns)};
    // Unreadable frames make queries fail, but not this function.
    (void)ForEachSample(stream, ends, [&](std::uint64_t time_ns, std::uint32_t, auto values) {
      begin_ns = std::min(begin_ns, time_ns - std::min({values[metric], kMaxSpanNs, time_ns}));
    }).has_value();
  }
  return begin_ns;
}

std::optional<Interval> Recording::Span() const {
  std::optional<Interval> span;
  for (std::size_t i = 0; i < contents_.streams.size(); ++i) {
    const StreamIndex& stream = contents_.streams[i];
    if (stream.blocks().empty()) continue;
    const std::uint64_t from_ns = BeginOf(StreamId(static_cast<std::uint16_t>(i)));
    const std::uint64_t to_ns = stream.blocks().back().last_ns;
    const std::uint64_t behind_ns = to_ns + (to_ns < UINT64_MAX ? 1 : 0);
    if (!span) span = Interval{.from_ns = from_ns, .to_ns = behind_ns};
    span->from_ns = std::min(span->from_ns, from_ns);
    span->to_ns = std::max(span->to_ns, behind_ns);
  }
  return span;
}

Result<FileFrame> Recording::Frame(std::uint32_t number) const {
  FIELDCOST_CHECK(number < contents_.frames.size());
  const IndexEntry& entry = contents_.frames[number];
  const bool was_checked = checked_[number].load(std::memory_order_relaxed);
  const Result<FileFrame> found = FrameAt(file_, entry.offset, was_checked);
  if (!found) return CorruptBlock(entry, found.error().message);
  if (was_checked) return found;
  auto actual = EntryOf(*found);
  if (!actual) return CorruptBlock(entry, actual.error().message);
  if (actual->type == FrameType::kBlock) actual->ordinal = entry.ordinal;
  if (*actual != entry || found->number != number) {
    return CorruptBlock(entry, "the index differs");
  }
  checked_[number].store(true, std::memory_order_relaxed);
  return found;
}

Result<BlockView> Recording::Block(std::uint32_t number, std::size_t metrics) const {
  FIELDCOST_ASSIGN(const FileFrame frame, Frame(number));
  FIELDCOST_ASSIGN(BlockView block, ReadBlock(frame.payload));
  if (block.columns.size() != metrics || block.head.paths > dictionary().paths.size()) {
    return CorruptBlock(contents_.frames[number], "it does not match what comes before it");
  }
  return block;
}

Status Recording::SelfValues(StreamId stream, std::size_t metric, Interval interval,
                             std::vector<std::uint64_t>& out) const {
  FIELDCOST_CHECK(stream.value() < contents_.streams.size() &&
                  metric < contents_.streams[stream.value()].metrics());
  return IntervalQuery(*this, stream, metric).Run(interval, out);
}

Result<tree::RunValues> Recording::Values(Interval interval) const {
  tree::RunValues values(contents_.descriptions.metrics.size(), dictionary().paths.size());
  std::vector<std::uint64_t> column;
  for (std::size_t i = 0; i < contents_.streams.size(); ++i) {
    const auto& metrics = contents_.descriptions.streams[i].metrics;
    for (std::size_t metric = 0; metric < metrics.size(); ++metric) {
      const StreamId stream(static_cast<std::uint16_t>(i));
      FIELDCOST_TRY(SelfValues(stream, metric, interval, column));
      const auto sums = values.MutableColumn(metrics[metric], column.size());
      bool saturated = false;
      for (std::size_t path = 0; path < column.size(); ++path) {
        sums[path] = stats::SaturatingAdd(sums[path], column[path], saturated);
      }
      if (saturated) return Fail(ErrorCode::kTooLarge, "the value of a path is 2^64 or more");
    }
  }
  return values;
}

Status Recording::ForEachSample(StreamId stream, Interval interval,
                                const OnSample& on_sample) const {
  return ForEachThreadSample(stream, interval,
                             [&](std::uint64_t time_ns, std::uint32_t path, ThreadId, auto values) {
                               on_sample(time_ns, path, values);
                             });
}

Status Recording::ForEachThreadSample(StreamId stream, Interval interval,
                                      const OnThreadSample& on_sample) const {
  FIELDCOST_CHECK(stream.value() < contents_.streams.size());
  const StreamIndex& index = contents_.streams[stream.value()];
  std::vector<std::uint64_t> values(index.metrics());
  std::uint64_t last_ns = interval.from_ns;
  for (const StreamIndex::Block& entry : index.blocks()) {
    if (entry.last_ns < interval.from_ns) continue;
    if (entry.first_ns >= interval.to_ns) break;
    FIELDCOST_ASSIGN(const BlockView block, Block(entry.frame, index.metrics()));
    for (std::uint32_t i = block.Before(interval.from_ns); i < block.head.samples; ++i) {
      const std::uint64_t time_ns = block.time_ns(i);
      if (time_ns >= interval.to_ns) break;
      // Callbacks may rely on the order and on the interval.
      if (time_ns < last_ns)
        return CorruptBlock(contents_.frames[entry.frame], "times do not ascend");
      last_ns = time_ns;
      if (block.path(i) >= dictionary().paths.size()) {
        return CorruptBlock(contents_.frames[entry.frame], "a sample has an unknown path");
      }
      const std::uint64_t thread = block.thread(i);
      if (thread >= contents_.descriptions.threads.size()) {
        return CorruptBlock(contents_.frames[entry.frame], "a sample has an unknown thread");
      }
      for (std::size_t metric = 0; metric < values.size(); ++metric) {
        values[metric] = block.columns[metric][i];
      }
      on_sample(time_ns, block.path(i), ThreadId(static_cast<std::uint32_t>(thread)), values);
    }
  }
  return {};
}

Result<std::vector<Bin>> Recording::Bins(StreamId stream, std::size_t metric, Interval interval,
                                         std::size_t count) const {
  FIELDCOST_CHECK(count > 0 && count <= kMaxBins);
  const std::uint64_t length = std::max(interval.to_ns, interval.from_ns) - interval.from_ns;
  const auto edge = [&](std::size_t i) {
    return interval.from_ns + static_cast<std::uint64_t>(stats::Uint128{length} * i / count);
  };
  std::vector<Bin> bins(count);
  std::vector<std::uint64_t> self;
  for (std::size_t i = 0; i < count; ++i) {
    bins[i].interval = {.from_ns = edge(i), .to_ns = edge(i + 1)};
    FIELDCOST_TRY(SelfValues(stream, metric, bins[i].interval, self));
    for (std::uint32_t path = 0; path < self.size(); ++path) {
      if (self[path] != 0) bins[i].values.emplace_back(path, self[path]);
    }
  }
  return bins;
}

Result<std::vector<std::string>> Recording::Trees() const {
  std::vector<std::string> trees;
  std::uint32_t expected = 0;  // part of the last tree
  for (std::uint32_t number = 0; number < contents_.frames.size(); ++number) {
    if (contents_.frames[number].type != FrameType::kTree) continue;
    FIELDCOST_ASSIGN(const FileFrame frame, Frame(number));
    FIELDCOST_ASSIGN(const TreePart part, ReadTreePart(frame.payload));
    if (part.part != expected) return CorruptBlock(contents_.frames[number], "parts are missing");
    if (part.part == 0) trees.emplace_back();
    trees.back() += part.bytes;
    expected = part.part + 1 == part.parts ? 0 : part.part + 1;
  }
  if (expected != 0) trees.pop_back();  // a crash interrupted writing it
  return trees;
}

}  // namespace fieldcost::recording
