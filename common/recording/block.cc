#include "common/recording/block.h"

#include <algorithm>

#include "common/base/check.h"
#include "common/recording/recording_limits.h"

namespace fieldcost::recording {
namespace {

void AppendTimes(std::span<const std::uint64_t> times_ns, ByteWriter& bytes) {
  for (const std::uint64_t time_ns : times_ns) {
    bytes.Fixed(static_cast<std::uint32_t>(time_ns - times_ns.front()));
  }
  bytes.Pad();
}

template <typename Id>
void AppendIds(std::span<const std::uint32_t> ids, ByteWriter& bytes) {
  for (const std::uint32_t id : ids) bytes.Fixed(static_cast<Id>(id));
  bytes.Pad();
}

// The bytes needed for a thread's number, relative to the smallest one in its block.
std::uint32_t ThreadWidth(std::uint32_t difference) {
  if (difference == 0) return 0;
  if (difference <= UINT8_MAX) return 1;
  return difference <= UINT16_MAX ? 2 : 4;
}

void AppendThreads(std::span<const std::uint32_t> threads, const BlockHead& head,
                   ByteWriter& bytes) {
  if (head.thread_width == 0) return;
  WithWidth(head.thread_width, [&](auto integer) {
    for (const std::uint32_t thread : threads) {
      bytes.Fixed(static_cast<decltype(integer)>(thread - head.least_thread));
    }
  });
  bytes.Pad();
}

template <typename Head>
void AppendHead(const Head& head, std::string& out) {
  out.append(reinterpret_cast<const char*>(&head), sizeof head);
}

template <typename Head>
Result<Head> ReadHead(std::string_view untrusted_payload, std::string_view what) {
  if (untrusted_payload.size() < sizeof(Head)) return Corrupt(what);
  return LoadAt<Head>(untrusted_payload.data());
}

// Adds value(i) to the sum of each sample's path. Returns false if a path is beyond the end of
// `out`.
template <typename Id, typename Value>
bool Scatter(const char* ids, std::uint32_t begin, std::uint32_t end, const Value& value,
             std::span<std::uint64_t> out) {
  for (std::uint32_t i = begin; i < end; ++i) {
    const std::size_t id = LoadAt<Id>(ids + sizeof(Id) * i);
    if (id >= out.size()) return false;
    out[id] += value(i);
  }
  return true;
}

template <typename Id>
bool ScatterColumn(const BlockView& block, const Column& column, std::uint32_t begin,
                   std::uint32_t end, std::uint64_t factor, std::span<std::uint64_t> out) {
  const std::uint64_t base = column.base * factor;
  if (column.width == 0) {
    return Scatter<Id>(
        block.ids, begin, end, [=](std::uint32_t) { return base; }, out);
  }
  bool good = false;
  WithWidth(column.width, [&](auto integer) {
    const std::uint64_t scale = column.scale * factor;
    const auto value = [=](std::uint32_t i) {
      return base + scale * LoadAt<decltype(integer)>(column.at + sizeof(integer) * i);
    };
    good = Scatter<Id>(block.ids, begin, end, value, out);
  });
  return good;
}

}  // namespace

std::string EncodeBlock(std::uint16_t stream, std::uint32_t paths, const BlockSamples& samples,
                        const SumsOfPaths* sums) {
  const auto& times = samples.times_ns;
  FIELDCOST_CHECK(!times.empty() && times.size() <= kBlockSamples &&
                  times.back() - times.front() < kBlockNs);
  const std::uint32_t greatest = *std::max_element(samples.paths.begin(), samples.paths.end());
  const auto [least_thread, greatest_thread] =
      std::minmax_element(samples.threads.begin(), samples.threads.end());
  const BlockHead head{
      .stream = stream,
      .metrics = static_cast<std::uint16_t>(samples.values.size()),
      .samples = static_cast<std::uint32_t>(times.size()),
      .first_ns = times.front(),
      .last_ns = times.back(),
      .paths = paths,
      .sum_entries = sums == nullptr ? 0 : static_cast<std::uint32_t>(sums->ids.size()),
      .id_width = greatest <= UINT16_MAX ? 2U : 4U,
      .time_width = times.front() == times.back() ? 0U : 4U,
      .least_thread = *least_thread,
      .thread_width = ThreadWidth(*greatest_thread - *least_thread)};
  std::string out;
  out.reserve(sizeof head + times.size() * (16 + 8 * samples.values.size()));
  AppendHead(head, out);
  ByteWriter bytes(out);
  if (head.time_width > 0) AppendTimes(times, bytes);
  if (head.id_width == 2) {
    AppendIds<std::uint16_t>(samples.paths, bytes);
  } else {
    AppendIds<std::uint32_t>(samples.paths, bytes);
  }
  AppendThreads(samples.threads, head, bytes);
  for (const std::vector<std::uint64_t>& values : samples.values) AppendColumn(values, out);
  if (sums != nullptr) AppendSums(sums->ids, sums->values, out);
  return out;
}

std::string EncodeGroup(std::uint16_t stream, std::uint64_t first_block, const SumsOfPaths& sums) {
  std::string out;
  AppendHead(GroupHead{.stream = stream,
                       .metrics = static_cast<std::uint16_t>(sums.values.size()),
                       .sum_entries = static_cast<std::uint32_t>(sums.ids.size()),
                       .first_block = first_block},
             out);
  AppendSums(sums.ids, sums.values, out);
  return out;
}

std::string EncodeVector(const VectorHead& head, std::span<const std::uint64_t> values) {
  FIELDCOST_CHECK(values.size() == head.paths);
  std::string out;
  AppendHead(head, out);
  AppendColumn(values, out);
  return out;
}

Result<BlockHead> ReadBlockHead(std::string_view untrusted_payload) {
  FIELDCOST_ASSIGN(const BlockHead head, ReadHead<BlockHead>(untrusted_payload, "a short block"));
  if (head.samples == 0 || head.samples > kBlockSamples || head.metrics > tree::kMaxMetrics ||
      head.paths > tree::kMaxPaths || head.sum_entries > head.samples) {
    return Corrupt("a block's counts are out of range");
  }
  if (head.last_ns < head.first_ns || head.last_ns - head.first_ns >= kBlockNs ||
      (head.time_width != 0 && head.time_width != 4) ||
      (head.time_width == 0 && head.first_ns != head.last_ns)) {
    return Corrupt("a block's times are out of range");
  }
  if (head.id_width != 2 && head.id_width != 4) return Corrupt("a block's ids have no width");
  if (head.thread_width > 4 || head.thread_width == 3) {
    return Corrupt("a block's threads have no width");
  }
  return head;
}

Result<BlockView> ReadBlock(std::string_view untrusted_payload) {
  BlockView block;
  FIELDCOST_ASSIGN(block.head, ReadBlockHead(untrusted_payload));
  ByteReader bytes(untrusted_payload);
  bytes.Bytes(sizeof(BlockHead));
  block.times = bytes.Bytes(std::size_t{block.head.time_width} * block.head.samples).data();
  bytes.SkipPadding();
  block.ids = bytes.Bytes(std::size_t{block.head.id_width} * block.head.samples).data();
  bytes.SkipPadding();
  block.threads = bytes.Bytes(std::size_t{block.head.thread_width} * block.head.samples).data();
  bytes.SkipPadding();
  block.columns.reserve(block.head.metrics);
  for (std::uint32_t i = 0; i < block.head.metrics && bytes.ok(); ++i) {
    block.columns.push_back(ReadColumn(bytes, block.head.samples));
  }
  if (!bytes.ok()) return Corrupt("a block's columns do not fit");
  block.payload = untrusted_payload;
  block.sums_at = untrusted_payload.size() - bytes.left();
  if (block.head.sum_entries == 0 && !bytes.at_end()) return Corrupt("bytes after a block");
  return block;
}

std::uint64_t BlockView::time_ns(std::uint32_t i) const {
  return head.time_width == 0 ? head.first_ns
                              : head.first_ns + LoadAt<std::uint32_t>(times + 4 * std::size_t{i});
}

std::uint32_t BlockView::path(std::uint32_t i) const {
  return head.id_width == 2 ? LoadAt<std::uint16_t>(ids + 2 * std::size_t{i})
                            : LoadAt<std::uint32_t>(ids + 4 * std::size_t{i});
}

std::uint64_t BlockView::thread(std::uint32_t i) const {
  std::uint64_t thread = head.least_thread;
  if (head.thread_width == 0) return thread;
  WithWidth(head.thread_width, [&](auto integer) {
    thread += LoadAt<decltype(integer)>(threads + sizeof(integer) * i);
  });
  return thread;
}

std::uint32_t BlockView::Before(std::uint64_t untrusted_time_ns) const {
  std::uint32_t low = 0;
  std::uint32_t high = head.samples;
  while (low < high) {
    const std::uint32_t middle = (low + high) / 2;
    if (time_ns(middle) < untrusted_time_ns) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

namespace {

Result<Sums> CheckedSums(std::string_view untrusted_bytes, std::size_t at, std::uint32_t metric,
                         std::uint32_t metrics, std::uint32_t entries) {
  ByteReader bytes(untrusted_bytes);
  bytes.Bytes(at);
  const Sums sums = ReadSums(bytes, metric);
  if (!bytes.ok() || sums.entries != entries) return Corrupt("sums do not fit");
  if (metric + 1 == metrics && !bytes.at_end()) return Corrupt("bytes after sums");
  return sums;
}

}  // namespace

Result<Sums> BlockView::SumsOf(std::uint32_t metric) const {
  FIELDCOST_CHECK(head.sum_entries > 0 && metric < head.metrics);
  return CheckedSums(payload, sums_at, metric, head.metrics, head.sum_entries);
}

Result<GroupHead> ReadGroupHead(std::string_view untrusted_payload) {
  FIELDCOST_ASSIGN(const GroupHead head, ReadHead<GroupHead>(untrusted_payload, "a short group"));
  if (head.metrics > tree::kMaxMetrics || head.first_block % kGroupBlocks != 0 ||
      head.sum_entries == 0 || head.sum_entries > kGroupBlocks * kBlockSamples) {
    return Corrupt("a group's head is out of range");
  }
  return head;
}

Result<Sums> ReadGroup(std::string_view untrusted_payload, std::uint32_t metric) {
  FIELDCOST_ASSIGN(const GroupHead head, ReadGroupHead(untrusted_payload));
  if (metric >= head.metrics) return Corrupt("a group has fewer metrics");
  return CheckedSums(untrusted_payload, sizeof head, metric, head.metrics, head.sum_entries);
}

Result<VectorHead> ReadVectorHead(std::string_view untrusted_payload) {
  FIELDCOST_ASSIGN(const VectorHead head,
                   ReadHead<VectorHead>(untrusted_payload, "a short vector"));
  if (head.metric >= tree::kMaxMetrics || head.paths > tree::kMaxPaths) {
    return Corrupt("a vector's head is out of range");
  }
  return head;
}

Result<Column> ReadVector(std::string_view untrusted_payload) {
  FIELDCOST_ASSIGN(const VectorHead head, ReadVectorHead(untrusted_payload));
  ByteReader bytes(untrusted_payload);
  bytes.Bytes(sizeof head);
  const Column column = ReadColumn(bytes, head.paths);
  if (!bytes.at_end()) return Corrupt("a vector's column does not fit");
  return column;
}

bool AddSamples(const BlockView& block, std::uint32_t metric, std::uint32_t begin,
                std::uint32_t end, std::uint64_t factor, std::span<std::uint64_t> out) {
  FIELDCOST_CHECK(begin <= end && end <= block.head.samples && metric < block.columns.size());
  const Column& column = block.columns[metric];
  if (block.head.id_width == 2) {
    return ScatterColumn<std::uint16_t>(block, column, begin, end, factor, out);
  }
  return ScatterColumn<std::uint32_t>(block, column, begin, end, factor, out);
}

bool AddSums(const Sums& sums, std::uint64_t factor, std::span<std::uint64_t> out) {
  return ForEachSum(sums, out.size(),
                    [factor, at = out.data()](std::uint32_t id, std::uint64_t value) {
                      at[id] += factor * value;
                    });
}

}  // namespace fieldcost::recording
