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

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kMaxPairs = std::size_t{1} << 22;

// The file, and which number has which index.
struct Reading {
  const agent::RunBytes* untrusted;
  std::vector<std::uint32_t> index_of;  // by the API's number
  LabFile file;
};

Result<shm::LabHeader> ReadHeader(const agent::RunBytes& untrusted_bytes) {
  shm::LabHeader header;
  if (!untrusted_bytes.Read(0, &header, sizeof header)) {
    return Fail(ErrorCode::kCorrupt, "no header");
  }
  if (std::memcmp(header.magic, shm::kLabMagic, sizeof header.magic) != 0) {
    return Fail(ErrorCode::kCorrupt, "not a lab file");
  }
  if (header.version != shm::kLabVersion) {
    return Fail(ErrorCode::kUnsupported, "lab file of version {}", header.version);
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
  const auto module = agent::TextOf(untrusted_api.module);
  const auto symbol = agent::TextOf(untrusted_api.symbol);
  const auto version = agent::TextOf(untrusted_api.version);
  const auto path = agent::TextOf(untrusted_api.path);
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
      .first_call_ns = OneLess(untrusted_api.first_call_ns),
      .first_call_bytes = OneLess(untrusted_api.first_call_bytes)};
  if (api.first_call_ns > agent::kMaxFirstCallNs) api.first_call_ns = agent::kMaxFirstCallNs;
  if (api.first_call_bytes > agent::kMaxRunCalls) api.first_call_bytes = agent::kMaxRunCalls;
  FIELDCOST_TRY(wire::ValidateApiKey(api.api));
  api.hash =
      shm::ApiHash(api.api.soname.c_str(), api.api.symbol.c_str(), api.api.symbol_version.c_str());
  return api;
}

Status ReadApis(std::uint32_t count, Reading& reading) {
  reading.index_of.assign(shm::kLabApis, kNone);
  shm::LabApi untrusted_api;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t at = shm::LabApisOffset() + i * sizeof untrusted_api;
    if (!reading.untrusted->Read(at, &untrusted_api, sizeof untrusted_api)) {
      return Fail(ErrorCode::kCorrupt, "API {} cannot be read", i);
    }
    if ((untrusted_api.flags & shm::kLabDescribed) == 0) continue;
    FIELDCOST_ASSIGN(LabFileApi api, CheckApi(untrusted_api));
    reading.index_of[i] = static_cast<std::uint32_t>(reading.file.apis.size());
    reading.file.apis.push_back(std::move(api));
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
        const std::uint32_t inner = reading.index_of[word * 64 + bit];
        if (inner == kNone || reading.file.pairs.size() == kMaxPairs) {
          return Fail(ErrorCode::kCorrupt, "a pair of an API that was not called");
        }
        reading.file.pairs.emplace_back(reading.index_of[outer], inner);
      }
    }
  }
  return {};
}

bool MergeCell(const shm::Cell& untrusted_cell, stats::CostHistogram& sum) {
  const auto histogram = agent::HistogramOf(untrusted_cell);
  if (!histogram) return false;
  sum.Merge(*histogram);
  return true;
}

bool MergeLogs(const shm::LabLogSums& untrusted_sums, stats::LogSums& sum) {
  const stats::LogSums logs{.count = untrusted_sums.count,
                            .sum = untrusted_sums.sum,
                            .sum_squares = untrusted_sums.sum_squares};
  if (!stats::IsPossible(logs)) return false;
  sum.Merge(logs);
  return true;
}

bool AddBlock(const shm::LabMapBlock& untrusted_block, LabFileApi& api) {
  for (unsigned i = 0; i < shm::kLabArguments; ++i) {
    for (unsigned slot = 0; slot < shm::kBucketSlots; ++slot) {
      api.arguments[i][slot] += std::min(untrusted_block.arguments[i][slot], agent::kMaxRunCalls);
    }
  }
  return MergeCell(untrusted_block.inclusive, api.inclusive) &&
         MergeCell(untrusted_block.exclusive, api.exclusive) &&
         MergeCell(untrusted_block.sizes, api.sizes);
}

bool AddBlock(const shm::LabTimeBlock& untrusted_block, LabFileApi& api) {
  bool good =
      MergeCell(untrusted_block.time, api.time) && MergeLogs(untrusted_block.all, api.log_time);
  for (unsigned slot = 0; slot < shm::kBucketSlots; ++slot) {
    good = good && MergeLogs(untrusted_block.by_argument[slot], api.by_argument.by_bucket[slot]);
  }
  return good;
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
    // The first block's API may be 0; of one that was never given away all is 0.
    if (head.calls == 0) continue;
    if (head.api >= shm::kLabApis || reading.index_of[head.api] == kNone ||
        head.calls > agent::kMaxRunCalls || head.nested > head.calls ||
        head.abandoned > head.calls) {
      return Fail(ErrorCode::kCorrupt, "block {} is of no API", i);
    }
    LabFileApi& api = reading.file.apis[reading.index_of[head.api]];
    api.calls += head.calls;
    api.nested += head.nested;
    api.abandoned += head.abandoned;
    if (!AddBlock(untrusted_block, api)) ++reading.file.refused;
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
      if (node.parent >= i || node.api >= shm::kLabApis || reading.index_of[node.api] == kNone) {
        return Fail(ErrorCode::kCorrupt, "node {} of slot {} is of no tree", i, slot);
      }
      reading.file.nodes.push_back(
          {.parent = node.parent == 0 ? LabFileNode::kRoot : first + node.parent - 1,
           .api = reading.index_of[node.api],
           .calls = std::min(node.calls, agent::kMaxRunCalls),
           .bytes = std::min(node.bytes, agent::kMaxRunCalls)});
    }
  }
  return {};
}

}  // namespace

Result<LabFile> ReadLabFile(const agent::RunBytes& untrusted_bytes) {
  FIELDCOST_ASSIGN(const shm::LabHeader header, ReadHeader(untrusted_bytes));
  const auto program = agent::TextOf(header.program);
  if (!program) return Fail(ErrorCode::kCorrupt, "the program's name is not terminated");
  Reading reading{.untrusted = &untrusted_bytes, .index_of = {}, .file = {}};
  reading.file = {.program = std::string(*program),
                  .mode = header.mode,
                  .attached = header.attached != 0,
                  .lost_calls = header.lost_calls,
                  .lost_records = header.lost_records,
                  .lost_nodes = header.lost_nodes,
                  .moved_calls = header.moved_calls,
                  .candidates = header.candidate_count,
                  .left_out = header.left_out,
                  .bias_ps = header.bias_ps};
  FIELDCOST_TRY(ReadApis(header.candidate_count, reading));
  FIELDCOST_TRY(ReadPairs(reading));
  if (header.mode == shm::kLabMap) {
    FIELDCOST_TRY(ReadBlocks<shm::LabMapBlock>(header.block_count, reading));
    FIELDCOST_TRY(ReadNodes(header, reading));
  } else {
    FIELDCOST_TRY(ReadBlocks<shm::LabTimeBlock>(header.block_count, reading));
  }
  return std::move(reading.file);
}

}  // namespace fieldcost::lab
