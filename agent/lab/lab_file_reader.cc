// Parses lab files; common/shm/lab_file.h defines their layout.
#include "agent/lab/lab_file_reader.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <map>

#include "agent/runs/untrusted_fields.h"
#include "common/base/text.h"
#include "common/shm/selection.h"
#include "common/wire/batch.h"

namespace fieldcost::lab {
namespace {

// Of one thread's calls: 64 TiB. The sum of all threads' fits 64 bits.
constexpr std::int64_t kMostLive = std::int64_t{1} << 46;
static_assert(shm::kLabBlocks <= 1 << 16);
// Of one thread: the last part then has at least half as many.
constexpr std::uint64_t kLeastLiveCalls = 16;

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kMaxPairs = std::size_t{1} << 22;

// The file, and the mapping from API numbers to indices.
struct Reading {
  const runs::RunBytes* untrusted;
  bool knows_block_sizes = false;
  std::vector<std::uint32_t> index_of;  // by the API's number
  LabFile file;
};

Result<shm::LabHeader> ReadHeader(const runs::RunBytes& untrusted_bytes) {
  shm::LabHeader header;
  if (!untrusted_bytes.Read(0, &header, sizeof header)) {
    return Fail(ErrorCode::kCorrupt, "no header");
  }
  if (std::memcmp(header.magic, shm::kLabMagic, sizeof header.magic) != 0) {
    return Fail(ErrorCode::kCorrupt, "not a lab file");
  }
  if (header.version != shm::kLabVersion) {
    return Fail(ErrorCode::kUnsupported, "lab file has version {}; this program reads only {}",
                header.version, shm::kLabVersion);
  }
  if (header.complete != 1) return Fail(ErrorCode::kUnavailable, "not finished");
  if (header.mode != shm::kLabMap && header.mode != shm::kLabTime) {
    return Fail(ErrorCode::kCorrupt, "mode {}", header.mode);
  }
  if (header.size_bytes != shm::LabFileBytes(header.mode) ||
      header.size_bytes != untrusted_bytes.size()) {
    return Fail(ErrorCode::kCorrupt, "{} bytes, not {}", untrusted_bytes.size(),
                shm::LabFileBytes(header.mode));
  }
  if (header.candidate_count > shm::kLabApis) {
    return Fail(ErrorCode::kCorrupt, "{} APIs", header.candidate_count);
  }
  return header;
}

std::optional<std::uint64_t> OneLess(std::uint64_t value) {
  if (value == 0) return std::nullopt;
  return value - 1;
}

Result<LabFileApi> CheckApi(const shm::LabApi& untrusted_api) {
  const auto module = runs::TextOf(untrusted_api.module);
  const auto symbol = runs::TextOf(untrusted_api.symbol);
  const auto version = runs::TextOf(untrusted_api.version);
  const auto path = runs::TextOf(untrusted_api.path);
  if (!module || !symbol || !version || !path) {
    return Fail(ErrorCode::kCorrupt, "a text is not terminated");
  }
  if (untrusted_api.build_id_bytes > sizeof untrusted_api.build_id) {
    return Fail(ErrorCode::kCorrupt, "build-id of {} bytes", untrusted_api.build_id_bytes);
  }
  LabFileApi api{
      .api = {.soname = std::string(*module),
              .package_version = {},
              .build_id = HexEncode({untrusted_api.build_id, untrusted_api.build_id_bytes}),
              .symbol = std::string(*symbol),
              .symbol_version = std::string(*version)},
      .path = std::string(*path),
      .sighted = (untrusted_api.flags & shm::kLabSighted) != 0,
      .not_measured = untrusted_api.not_measured & shm::kAllNotMeasured,
      .first_call_ns = OneLess(untrusted_api.first_call_ns),
      .first_call_bytes = OneLess(untrusted_api.first_call_bytes)};
  if (api.first_call_ns > runs::kMaxFirstCallNs) api.first_call_ns = runs::kMaxFirstCallNs;
  if (api.first_call_bytes > runs::kMaxRunCalls) api.first_call_bytes = runs::kMaxRunCalls;
  FIELDCOST_TRY(wire::ValidateApiKey(api.api));
  api.hash =
      shm::ApiHash(api.api.soname.c_str(), api.api.symbol.c_str(), api.api.symbol_version.c_str());
  return api;
}

// Returns the index of the API with that number, adding it if needed; kNone if it was never called.
Result<std::uint32_t> IndexOf(std::uint32_t number, Reading& reading) {
  if (number >= shm::kLabApis) return kNone;
  std::uint32_t& index = reading.index_of[number];
  if (index != kNone) return index;
  shm::LabApi untrusted_api;
  const std::uint64_t at = shm::LabApisOffset() + number * sizeof untrusted_api;
  if (!reading.untrusted->Read(at, &untrusted_api, sizeof untrusted_api)) {
    return Fail(ErrorCode::kCorrupt, "API {} cannot be read", number);
  }
  if ((untrusted_api.flags & shm::kLabDescribed) == 0) return kNone;
  FIELDCOST_ASSIGN(LabFileApi api, CheckApi(untrusted_api));
  index = static_cast<std::uint32_t>(reading.file.apis.size());
  if (reading.knows_block_sizes) api.live.emplace();
  reading.file.apis.push_back(std::move(api));
  return index;
}

Status ReadApis(std::uint32_t count, Reading& reading) {
  reading.index_of.assign(shm::kLabApis, kNone);
  for (std::uint32_t i = 0; i < count; ++i) {
    FIELDCOST_TRY(IndexOf(i, reading));
  }
  return {};
}

Status ReadPairs(Reading& reading) {
  std::vector<std::uint64_t> row(shm::kLabRowBytes / sizeof(std::uint64_t));
  for (std::uint32_t outer = 0; outer < shm::kLabApis; ++outer) {
    if (reading.index_of[outer] == kNone) continue;
    const std::uint64_t at = shm::LabPairsOffset() + outer * shm::kLabRowBytes;
    if (!reading.untrusted->Read(at, row.data(), shm::kLabRowBytes)) {
      return Fail(ErrorCode::kCorrupt, "pairs of API {} cannot be read", outer);
    }
    for (std::uint32_t word = 0; word < row.size(); ++word) {
      for (std::uint64_t left = row[word]; left != 0; left &= left - 1) {
        const auto bit = static_cast<std::uint32_t>(std::countr_zero(left));
        // A running program may have called this API for the first time after the APIs were read.
        FIELDCOST_ASSIGN(const std::uint32_t inner, IndexOf(word * 64 + bit, reading));
        if (inner == kNone || reading.file.pairs.size() == kMaxPairs) {
          return Fail(ErrorCode::kCorrupt, "a pair of an API that was not called");
        }
        reading.file.pairs.emplace_back(reading.index_of[outer], inner);
      }
    }
  }
  return {};
}

bool IsPossible(const shm::LabLogSums& untrusted_sums) {
  return stats::IsPossible(stats::LogSums{.count = untrusted_sums.count,
                                          .sum = untrusted_sums.sum,
                                          .sum_squares = untrusted_sums.sum_squares});
}

void Merge(const shm::LabLogSums& sums, stats::LogSums& sum) {
  sum.Merge({.count = sums.count, .sum = sums.sum, .sum_squares = sums.sum_squares});
}

// Adds the bytes transferred by a block's calls; `returned` of them have returned. Bytes that
// cannot be read count as not measured.
void AddIo(const Reading& reading, const shm::LabMapBlock& untrusted_block, std::uint64_t returned,
           LabFileApi& api) {
  shm::LabIoBlock untrusted_io{};
  const std::uint64_t number = untrusted_block.io;
  bool is_known = number == 0 ||
                  (number <= shm::kLabIoBlocks &&
                   reading.untrusted->Read(shm::LabIoOffset() + (number - 1) * sizeof untrusted_io,
                                           &untrusted_io, sizeof untrusted_io));
  for (std::uint32_t i = 0; i < shm::kLabIoMetrics && is_known; ++i) {
    const auto moved = runs::HistogramOf(untrusted_io.moved[i]);
    is_known = moved.has_value() && moved->count() <= returned;
    if (!is_known) break;
    api.moved[i].Merge(*moved);
    if (returned != moved->count()) api.moved[i].Add(0, returned - moved->count());
  }
  if (!is_known) api.not_measured |= shm::kDiskInsideLibc | shm::kNetInsideLibc;
}

// Clears the values that were not measured.
void DropNotMeasured(LabFileApi& api) {
  const shm::MetricSet none = shm::MetricsNotMeasured(api.not_measured);
  constexpr auto kFirstIo = static_cast<unsigned>(shm::Metric::kDiskRead);
  for (std::uint32_t i = 0; i < shm::kLabIoMetrics; ++i) {
    if ((none & shm::BitOf(static_cast<shm::Metric>(kFirstIo + i))) != 0) api.moved[i] = {};
  }
  if ((none & shm::kAllocMetrics) == 0) return;
  api.inclusive = api.exclusive = api.sizes = {};
  api.live.reset();
  api.first_call_bytes.reset();
}

// The second quarter and the second half of a thread's calls, as far as the
// marks at powers of two permit: from 2^(i-1) to 2^i, and from there to the
// last of at least 2^(i+1) calls. Few calls have neither. nullopt if the values
// are impossible.
std::optional<LiveBytes> LiveOf(const shm::LabLive& untrusted_live) {
  const auto is_possible = [](std::int64_t bytes) {
    return bytes >= -kMostLive && bytes <= kMostLive;
  };
  if (!is_possible(untrusted_live.bytes) || untrusted_live.calls > runs::kMaxRunCalls ||
      !std::ranges::all_of(untrusted_live.bytes_at, is_possible)) {
    return std::nullopt;
  }
  const std::uint64_t calls = untrusted_live.calls;
  if (calls < kLeastLiveCalls) return LiveBytes();
  const auto mark = static_cast<unsigned>(std::bit_width(calls)) - 2;
  if (mark >= shm::kLabLiveMarks) return std::nullopt;
  const std::int64_t at = untrusted_live.bytes_at[mark];
  return LiveBytes{.calls = calls - (std::uint64_t{1} << mark),
                   .middle = at - untrusted_live.bytes_at[mark - 1],
                   .last = untrusted_live.bytes - at};
}

// Returns false, and adds nothing, if the block has impossible values.
bool AddBlock(const Reading& reading, const shm::LabMapBlock& untrusted_block, LabFileApi& api) {
  const auto inclusive = runs::HistogramOf(untrusted_block.inclusive);
  const auto exclusive = runs::HistogramOf(untrusted_block.exclusive);
  const auto sizes = runs::HistogramOf(untrusted_block.sizes);
  if (!inclusive || !exclusive || !sizes) return false;
  if (untrusted_block.without_bytes > untrusted_block.head.calls) return false;
  const std::optional<LiveBytes> live = LiveOf(untrusted_block.live);
  if (!live || untrusted_block.live.calls > untrusted_block.head.calls) return false;
  if (api.live) api.live->Merge(*live);
  for (stats::CostHistogram* sum : {&api.inclusive, &api.exclusive}) {
    if (untrusted_block.without_bytes != 0) sum->Add(0, untrusted_block.without_bytes);
  }
  api.inclusive.Merge(*inclusive);
  api.exclusive.Merge(*exclusive);
  api.sizes.Merge(*sizes);
  AddIo(reading, untrusted_block, untrusted_block.without_bytes + inclusive->count(), api);
  for (unsigned i = 0; i < shm::kLabArguments; ++i) {
    for (unsigned slot = 0; slot < shm::kBucketSlots; ++slot) {
      std::uint64_t& calls = api.arguments[i][slot];
      calls += std::min(untrusted_block.arguments[i][slot], runs::kMaxRunCalls - calls);
    }
  }
  return true;
}

bool AddBlock(const Reading&, const shm::LabTimeBlock& untrusted_block, LabFileApi& api) {
  const auto time = runs::HistogramOf(untrusted_block.time);
  const auto cycles = runs::HistogramOf(untrusted_block.cycles);
  if (!time || !cycles || !IsPossible(untrusted_block.all)) return false;
  const auto& by_argument = untrusted_block.by_argument;
  if (!std::all_of(std::begin(by_argument), std::end(by_argument), IsPossible)) return false;
  api.time.Merge(*time);
  api.cycles.Merge(*cycles);
  Merge(untrusted_block.all, api.log_time);
  for (unsigned slot = 0; slot < shm::kBucketSlots; ++slot) {
    Merge(by_argument[slot], api.by_argument.by_bucket[slot]);
  }
  return true;
}

template <typename Block>
Status ReadBlocks(std::uint32_t count, Reading& reading) {
  Block untrusted_block;
  for (std::uint32_t i = 0; i < std::min(count, shm::kLabBlocks); ++i) {
    if (!reading.untrusted->Read(shm::LabBlocksOffset() + i * sizeof untrusted_block,
                                 &untrusted_block, sizeof untrusted_block)) {
      return Fail(ErrorCode::kCorrupt, "block {} cannot be read", i);
    }
    const shm::LabBlock& head = untrusted_block.head;
    // API 0 may be the first block's; a block that was never used is all zeros.
    if (head.calls == 0) continue;
    FIELDCOST_ASSIGN(const std::uint32_t index, IndexOf(head.api, reading));
    if (index == kNone) return Fail(ErrorCode::kCorrupt, "block {} belongs to no API", i);
    LabFileApi& api = reading.file.apis[index];
    if (head.calls > runs::kMaxRunCalls - api.calls || head.nested > head.calls ||
        head.abandoned > head.calls || !AddBlock(reading, untrusted_block, api)) {
      ++reading.file.refused;
      continue;
    }
    api.calls += head.calls;
    api.nested += head.nested;
    api.abandoned += head.abandoned;
  }
  return {};
}

Status ReadNodes(const shm::LabHeader& header, Reading& reading) {
  for (std::uint32_t slot = 0; slot < shm::kThreadSlots; ++slot) {
    const std::uint32_t count = header.node_counts[slot];
    if (count > shm::kLabNodes) return Fail(ErrorCode::kCorrupt, "{} nodes", count);
    if (count == 0) continue;
    std::vector<shm::LabNode> untrusted_nodes(count);
    const std::uint64_t at =
        shm::LabNodesOffset() + std::uint64_t{slot} * shm::kLabNodes * sizeof(shm::LabNode);
    if (!reading.untrusted->Read(at, untrusted_nodes.data(), count * sizeof(shm::LabNode))) {
      return Fail(ErrorCode::kCorrupt, "nodes of slot {} cannot be read", slot);
    }
    const auto first = static_cast<std::uint32_t>(reading.file.nodes.size());
    for (std::uint32_t i = 1; i < count; ++i) {
      const shm::LabNode& node = untrusted_nodes[i];
      FIELDCOST_ASSIGN(const std::uint32_t api, IndexOf(node.api, reading));
      if (node.parent >= i || api == kNone) {
        return Fail(ErrorCode::kCorrupt, "node {} of slot {} belongs to no tree", i, slot);
      }
      reading.file.nodes.push_back(
          {.parent = node.parent == 0 ? LabFileNode::kRoot : first + node.parent - 1,
           .api = api,
           .calls = std::min(node.calls, runs::kMaxRunCalls),
           .bytes = std::min(node.bytes, runs::kMaxRunCalls)});
    }
  }
  return {};
}

}  // namespace

void LiveBytes::Merge(const LiveBytes& other) {
  // The range of one program's blocks, for any number of programs.
  constexpr std::int64_t kMost = kMostLive * shm::kLabBlocks;
  calls = std::min(calls + other.calls, runs::kMaxRunCalls);
  middle = std::clamp(middle + other.middle, -kMost / 2, kMost / 2);
  last = std::clamp(last + other.last, -kMost / 2, kMost / 2);
}

Result<LabFile> ReadLabFile(const runs::RunBytes& untrusted_bytes) {
  FIELDCOST_ASSIGN(const shm::LabHeader header, ReadHeader(untrusted_bytes));
  const auto program = runs::TextOf(header.program);
  if (!program) return Fail(ErrorCode::kCorrupt, "the program's name is not terminated");
  Reading reading{.untrusted = &untrusted_bytes,
                  .knows_block_sizes = header.mode == shm::kLabMap && header.knows_block_sizes != 0,
                  .index_of = {},
                  .file = {}};
  reading.file = {.program = std::string(*program),
                  .mode = header.mode,
                  .attached = header.attached != 0,
                  .lost_calls = header.lost_calls,
                  .lost_records = header.lost_records,
                  .lost_nodes = header.lost_nodes,
                  .moved_calls = header.moved_calls,
                  .candidates = header.candidate_count,
                  .left_out = header.left_out,
                  .left_out_names = {},
                  .bias_ps = header.bias_ps};
  for (const auto& untrusted_name : header.left_out_names) {
    const auto name = runs::TextOf(untrusted_name);
    if (!name) return Fail(ErrorCode::kCorrupt, "a name that was left out is not terminated");
    if (!name->empty()) reading.file.left_out_names.emplace_back(*name);
  }
  FIELDCOST_TRY(ReadApis(header.candidate_count, reading));
  FIELDCOST_TRY(ReadPairs(reading));
  if (header.mode == shm::kLabMap) {
    FIELDCOST_TRY(ReadBlocks<shm::LabMapBlock>(header.block_count, reading));
    FIELDCOST_TRY(ReadNodes(header, reading));
    for (LabFileApi& api : reading.file.apis) DropNotMeasured(api);
  } else {
    FIELDCOST_TRY(ReadBlocks<shm::LabTimeBlock>(header.block_count, reading));
  }
  return std::move(reading.file);
}

}  // namespace fieldcost::lab
