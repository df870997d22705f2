#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/recording/column.h"

namespace fieldcost::recording {

// The payloads of the frames that store timed samples; README.md describes their purpose. Pure
// functions; views refer to the bytes from which they were read.

// The head of a block: at most kBlockSamples samples of one stream, ascending in time.
//   block := BlockHead times? ids threads? column* sums?
// times: u32*, relative to the first one, omitted if all are equal. ids: u16* or u32*. threads:
// u8*, u16* or u32*, relative to the smallest one, omitted if all are equal. One column per metric
// of the stream. Each part is padded to 8. sums: if sum_entries > 0, the sums of all samples per
// path; omitted unless adding them is much cheaper than adding the samples.
struct BlockHead {
  std::uint16_t stream = 0;
  std::uint16_t metrics = 0;
  std::uint32_t samples = 0;
  std::uint64_t first_ns = 0;
  std::uint64_t last_ns = 0;
  std::uint32_t paths = 0;  // ids are less than this
  std::uint32_t sum_entries = 0;
  std::uint32_t id_width = 2;    // 2 or 4
  std::uint32_t time_width = 4;  // 0 or 4
  std::uint32_t least_thread = 0;
  std::uint32_t thread_width = 0;  // 0, 1, 2 or 4
  bool operator==(const BlockHead&) const = default;
};
static_assert(sizeof(BlockHead) == 48, "it is in the file as it is here");

// Sums over kGroupBlocks blocks of a stream; omitted under the same condition as a block's.
//   group := GroupHead sums
struct GroupHead {
  std::uint16_t stream = 0;
  std::uint16_t metrics = 0;
  std::uint32_t sum_entries = 0;
  std::uint64_t first_block = 0;  // number in its stream, a multiple of kGroupBlocks
  bool operator==(const GroupHead&) const = default;
};
static_assert(sizeof(GroupHead) == 16, "it is in the file as it is here");

// The sums of one metric over all preceding blocks of a stream.
//   vector := VectorHead column        of `paths` values
struct VectorHead {
  std::uint16_t stream = 0;
  std::uint16_t metric = 0;  // index into the stream's metrics
  std::uint32_t paths = 0;
  std::uint64_t blocks = 0;
  bool operator==(const VectorHead&) const = default;
};
static_assert(sizeof(VectorHead) == 16, "it is in the file as it is here");

// A block's samples, in columns. times: ascending. values: one vector per metric.
struct BlockSamples {
  std::span<const std::uint64_t> times_ns;
  std::span<const std::uint32_t> paths;
  std::span<const std::uint32_t> threads;
  std::span<const std::vector<std::uint64_t>> values;
};

// Sums per metric of the paths with these `ids`, ascending.
struct SumsOfPaths {
  std::vector<std::uint32_t> ids;
  std::vector<std::vector<std::uint64_t>> values;
};

std::string EncodeBlock(std::uint16_t stream, std::uint32_t paths, const BlockSamples& samples,
                        const SumsOfPaths* sums);
std::string EncodeGroup(std::uint16_t stream, std::uint64_t first_block, const SumsOfPaths& sums);
std::string EncodeVector(const VectorHead& head, std::span<const std::uint64_t> values);

// kCorrupt unless the head is as described above and the parts fit into the payload. Values, ids
// and their order are not checked: callers must compare ids with the number of paths.
struct BlockView {
  BlockHead head;
  const char* times = nullptr;
  const char* ids = nullptr;
  const char* threads = nullptr;
  std::vector<Column> columns;
  std::string_view payload;
  std::size_t sums_at = 0;

  std::uint64_t time_ns(std::uint32_t i) const;
  std::uint32_t path(std::uint32_t i) const;
  std::uint64_t thread(std::uint32_t i) const;  // unchecked; may be any number
  // The number of samples before `time_ns`, provided that times ascend.
  std::uint32_t Before(std::uint64_t untrusted_time_ns) const;
  // REQUIRES: head.sum_entries > 0, metric < head.metrics. kCorrupt if the sums do not fit.
  Result<Sums> SumsOf(std::uint32_t metric) const;
};
Result<BlockHead> ReadBlockHead(std::string_view untrusted_payload);
Result<BlockView> ReadBlock(std::string_view untrusted_payload);
Result<GroupHead> ReadGroupHead(std::string_view untrusted_payload);
// The sums of one of its metrics; kCorrupt if there is no such metric.
Result<Sums> ReadGroup(std::string_view untrusted_payload, std::uint32_t metric);
Result<VectorHead> ReadVectorHead(std::string_view untrusted_payload);
Result<Column> ReadVector(std::string_view untrusted_payload);

// Adds samples [begin, end) of a metric times `factor`, modulo 2^64. Returns false if a path is
// beyond the end of `out`. REQUIRES: begin <= end <= samples, metric < metrics.
[[nodiscard]] bool AddSamples(const BlockView& block, std::uint32_t metric, std::uint32_t begin,
                              std::uint32_t end, std::uint64_t factor,
                              std::span<std::uint64_t> out);
[[nodiscard]] bool AddSums(const Sums& sums, std::uint64_t factor, std::span<std::uint64_t> out);

}  // namespace fieldcost::recording
