// The store's form of rows. u32 in keys is big endian, so that byte order is numeric order; varint
// is LEB128 of up to 128 bits; zigzag maps 0, -1, 1, -2 to 0, 1, 2, 3.
//
//   row key   := text(soname) text(package version) text(build id) text(symbol)
//                text(symbol version) metric:u32
//                text(architecture) text(cpu family) log2_cores:u32 log2_memory_mib:u32
//                text(os release) week:u32
//   text(t)   := t 0x00                                      ; t without zero bytes
//   row value := version:u8 = 1 flags:u8 [scalars] count:u8 bucket* [sizes] [untimed]
//   flags     := 1 saturated | 2 scalars | 4 weights | 8 sizes | 16 untimed
//
//   scalars   := varint contributions, zigzag sum_mean, varint sum_mean_squared,
//                varint sum_inverse_calls, varint sum_within_squares, varint sum_within_freedom,
//                zigzag sum_mean_cubed
//   bucket    := slot:u8 varint count, varint sum, varint sum_of_squares, [varint weight]
//                                                            ; ascending slots, count > 0
//   sizes     := (count:u8 size*)[2]                         ; of calls, then of sums; count > 0
//   size      := slot:u8 varint contributions, varint total  ; ascending slots, contributions > 0
//   untimed   := varint                                      ; > 0
//
//   rows      := kind:u8 (varint shared, varint added, key bytes[added], varint size, row value)*
//                                  ; the key: `shared` bytes of the previous one, then these
//                ; kind 1: added; 2: withdrawn; kind 3 has the whole batch: batch_record.cc
#include "aggregator/store/store_row_codec.h"

#include <algorithm>
#include <array>
#include <limits>

#include "aggregator/store/store_limits.h"
#include "common/base/byte_order.h"
#include "common/shm/log2_bucket.h"

namespace fieldcost::store {
namespace {

using stats::Int128;
using stats::Uint128;

constexpr std::uint8_t kFormatVersion = 1;
constexpr std::uint8_t kFlagSaturated = 1;
constexpr std::uint8_t kFlagScalars = 2;
constexpr std::uint8_t kFlagWeights = 4;
constexpr std::uint8_t kFlagSizes = 8;
constexpr std::uint8_t kFlagUntimed = 16;
constexpr std::uint8_t kKnownFlags =
    kFlagSaturated | kFlagScalars | kFlagWeights | kFlagSizes | kFlagUntimed;

Error Malformed(std::string_view what) {
  return Fail(ErrorCode::kCorrupt, "stored row is malformed: {}", what);
}

bool TakeText(std::string_view& bytes, std::string& text) {
  const std::size_t end = bytes.find('\0');
  if (end == std::string_view::npos) return false;
  text.assign(bytes.substr(0, end));
  bytes.remove_prefix(end + 1);
  return true;
}

bool TakeBigEndian32(std::string_view& bytes, std::uint32_t& value) {
  if (bytes.size() < 4) return false;
  value = static_cast<std::uint32_t>(ReadBigEndian(bytes.substr(0, 4)));
  bytes.remove_prefix(4);
  return true;
}

bool TakeByte(std::string_view& bytes, std::uint8_t& value) {
  if (bytes.empty()) return false;
  value = static_cast<std::uint8_t>(bytes.front());
  bytes.remove_prefix(1);
  return true;
}

bool TakeVarint64(std::string_view& bytes, std::uint64_t& value) {
  Uint128 wide = 0;
  if (!TakeVarint(bytes, wide) || wide > std::numeric_limits<std::uint64_t>::max()) return false;
  value = static_cast<std::uint64_t>(wide);
  return true;
}

// Maps signed numbers to unsigned ones with alternating signs, so that small ones stay short.
Uint128 ZigZag(Int128 value) {
  const Uint128 bits = static_cast<Uint128>(value);
  return (bits << 1) ^ (value < 0 ? ~Uint128{0} : Uint128{0});
}

Int128 UnZigZag(Uint128 value) {
  return static_cast<Int128>((value >> 1) ^ ((value & 1) != 0 ? ~Uint128{0} : Uint128{0}));
}

bool TakeScalars(std::string_view& bytes, stats::ContributionScalars& scalars) {
  Uint128 mean = 0;
  Uint128 cubes = 0;
  if (!TakeVarint64(bytes, scalars.contributions) || !TakeVarint(bytes, mean) ||
      !TakeVarint(bytes, scalars.sum_mean_squared) ||
      !TakeVarint(bytes, scalars.sum_inverse_calls) ||
      !TakeVarint(bytes, scalars.sum_within_squares) ||
      !TakeVarint(bytes, scalars.sum_within_freedom) || !TakeVarint(bytes, cubes)) {
    return false;
  }
  scalars.sum_mean = UnZigZag(mean);
  scalars.sum_mean_cubed = UnZigZag(cubes);
  return true;
}

void AppendKey(const stats::RowKey& key, const stats::HardwareClass& hardware, std::string& bytes) {
  const stats::ApiKey& api = key.api;
  const std::array<std::string_view, 8> texts = {
      api.soname,         api.package_version,   api.build_id,        api.symbol,
      api.symbol_version, hardware.architecture, hardware.cpu_family, hardware.os_release};
  std::size_t size = texts.size() + 4 * sizeof(std::uint32_t);
  for (const std::string_view text : texts) size += text.size();
  const std::size_t begin = bytes.size();
  bytes.resize(begin + size);
  char* end = bytes.data() + begin;
  const auto put_text = [&](std::string_view text) {
    end = std::copy(text.begin(), text.end(), end);
    *end++ = '\0';
  };
  const auto put_number = [&](std::uint32_t number) {
    for (int shift = 24; shift >= 0; shift -= 8) *end++ = static_cast<char>(number >> shift);
  };
  for (std::size_t i = 0; i < 5; ++i) put_text(texts[i]);
  put_number(static_cast<std::uint32_t>(key.metric));
  put_text(hardware.architecture);
  put_text(hardware.cpu_family);
  put_number(hardware.log2_cores);
  put_number(hardware.log2_memory_mib);
  put_text(hardware.os_release);
  put_number(key.week);
}

void AppendSizes(std::span<const stats::SizeBucket> sizes, std::string& bytes) {
  for (const stats::SizeKind kind : {stats::SizeKind::kCalls, stats::SizeKind::kSum}) {
    const std::size_t count_at = bytes.size();
    bytes.push_back(0);
    for (const stats::SizeBucket& bucket : sizes) {
      if (bucket.kind != kind) continue;
      ++bytes[count_at];
      bytes.push_back(static_cast<char>(bucket.slot));
      AppendVarint(bucket.contributions, bytes);
      AppendVarint(bucket.total, bytes);
    }
  }
}

bool TakeSizes(std::string_view& bytes, std::vector<stats::SizeBucket>& sizes) {
  for (const stats::SizeKind kind : {stats::SizeKind::kCalls, stats::SizeKind::kSum}) {
    std::uint8_t count = 0;
    if (!TakeByte(bytes, count) || count == 0 || count > shm::kBucketSlots) return false;
    for (int i = 0; i < count; ++i) {
      stats::SizeBucket bucket{.kind = kind};
      if (!TakeByte(bytes, bucket.slot) || bucket.slot >= shm::kBucketSlots ||
          (i > 0 && bucket.slot <= sizes.back().slot) ||
          !TakeVarint64(bytes, bucket.contributions) || bucket.contributions == 0 ||
          !TakeVarint(bytes, bucket.total)) {
        return false;
      }
      sizes.push_back(bucket);
    }
  }
  return true;
}

// A bucket after `before`, which has a lower slot.
Status TakeBucket(std::string_view& bytes, bool has_weight,
                  const std::vector<CompactBucket>& before, CompactBucket& bucket) {
  if (!TakeByte(bytes, bucket.slot) || bucket.slot >= shm::kBucketSlots ||
      (!before.empty() && bucket.slot <= before.back().slot)) {
    return Malformed("bucket slot");
  }
  if (!TakeVarint64(bytes, bucket.sums.count) || bucket.sums.count == 0 ||
      !TakeVarint(bytes, bucket.sums.sum) || !TakeVarint(bytes, bucket.sums.sum_of_squares)) {
    return Malformed("bucket sums");
  }
  if (!has_weight) return {};
  Uint128 weight = 0;
  if (!TakeVarint(bytes, weight) || weight > CompactBucket::kMaxWeight) {
    return Malformed("bucket weight");
  }
  bucket.set_weight(weight);
  return {};
}

}  // namespace

void AppendRowKey(const stats::RowKey& key, std::string& bytes) {
  AppendKey(key, key.hardware, bytes);
}

void AppendContributionKey(const stats::RowKey& key, std::string& bytes) {
  static const stats::HardwareClass kNone;
  AppendKey(key, kNone, bytes);
  bytes.resize(bytes.size() - kWeekBytes);
}

Status DecodeRowKey(std::string_view untrusted_bytes, stats::RowKey& key) {
  std::string_view rest = untrusted_bytes;
  std::uint32_t metric = 0;
  if (!TakeText(rest, key.api.soname) || !TakeText(rest, key.api.package_version) ||
      !TakeText(rest, key.api.build_id) || !TakeText(rest, key.api.symbol) ||
      !TakeText(rest, key.api.symbol_version) || !TakeBigEndian32(rest, metric) ||
      !TakeText(rest, key.hardware.architecture) || !TakeText(rest, key.hardware.cpu_family) ||
      !TakeBigEndian32(rest, key.hardware.log2_cores) ||
      !TakeBigEndian32(rest, key.hardware.log2_memory_mib) ||
      !TakeText(rest, key.hardware.os_release) || !TakeBigEndian32(rest, key.week) ||
      !rest.empty()) {
    return Malformed("row key");
  }
  if (!stats::IsKnownMetric(metric)) return Malformed("metric of row key");
  key.metric = static_cast<stats::Metric>(metric);
  return {};
}

void AppendRowValue(const RowSums& row, std::string& bytes) {
  const stats::ContributionScalars& scalars = *row.scalars;
  const bool has_scalars = scalars != stats::ContributionScalars{};
  const bool has_weights =
      std::any_of(row.buckets.begin(), row.buckets.end(),
                  [](const CompactBucket& bucket) { return bucket.weight() != 0; });
  bytes.push_back(static_cast<char>(kFormatVersion));
  bytes.push_back(
      static_cast<char>((row.saturated ? kFlagSaturated : 0) | (has_scalars ? kFlagScalars : 0) |
                        (has_weights ? kFlagWeights : 0) | (row.sizes.empty() ? 0 : kFlagSizes) |
                        (row.untimed != 0 ? kFlagUntimed : 0)));
  if (has_scalars) {
    AppendVarint(scalars.contributions, bytes);
    AppendVarint(ZigZag(scalars.sum_mean), bytes);
    AppendVarint(scalars.sum_mean_squared, bytes);
    AppendVarint(scalars.sum_inverse_calls, bytes);
    AppendVarint(scalars.sum_within_squares, bytes);
    AppendVarint(scalars.sum_within_freedom, bytes);
    AppendVarint(ZigZag(scalars.sum_mean_cubed), bytes);
  }
  bytes.push_back(static_cast<char>(row.buckets.size()));
  for (const CompactBucket& bucket : row.buckets) {
    bytes.push_back(static_cast<char>(bucket.slot));
    AppendVarint(bucket.sums.count, bytes);
    AppendVarint(bucket.sums.sum, bytes);
    AppendVarint(bucket.sums.sum_of_squares, bytes);
    if (has_weights) AppendVarint(bucket.weight(), bytes);
  }
  if (!row.sizes.empty()) AppendSizes(row.sizes, bytes);
  if (row.untimed != 0) AppendVarint(row.untimed, bytes);
}

Status DecodeRowValue(std::string_view untrusted_bytes, CompactRow& row) {
  std::string_view rest = untrusted_bytes;
  std::uint8_t version = 0;
  std::uint8_t flags = 0;
  std::uint8_t bucket_count = 0;
  row.Clear();
  if (!TakeByte(rest, version)) return Malformed("empty value");
  if (version != kFormatVersion) {
    return Fail(ErrorCode::kUnsupported, "stored row has format version {}; this program knows {}",
                version, int{kFormatVersion});
  }
  if (!TakeByte(rest, flags) || (flags & ~kKnownFlags) != 0) {
    return Malformed("flags");
  }
  row.saturated = (flags & kFlagSaturated) != 0;
  if ((flags & kFlagScalars) != 0 && !TakeScalars(rest, row.scalars)) return Malformed("scalars");
  if (!TakeByte(rest, bucket_count) || bucket_count > shm::kBucketSlots) {
    return Malformed("bucket count");
  }
  for (int i = 0; i < bucket_count; ++i) {
    CompactBucket bucket;
    FIELDCOST_TRY(TakeBucket(rest, (flags & kFlagWeights) != 0, row.buckets, bucket));
    row.buckets.push_back(bucket);
  }
  if ((flags & kFlagSizes) != 0 && !TakeSizes(rest, row.sizes.buckets)) return Malformed("sizes");
  if ((flags & kFlagUntimed) != 0 && (!TakeVarint64(rest, row.untimed) || row.untimed == 0)) {
    return Malformed("calls that were not timed");
  }
  if (!rest.empty()) return Malformed("bytes after the last bucket");
  return {};
}

std::string WithdrawnRecord(std::string_view accepted_rows) {
  std::string record(accepted_rows);
  record[0] = static_cast<char>(RecordKind::kWithdrawn);
  return record;
}

Result<RecordKind> RecordKindOf(std::string_view untrusted_record) {
  if (untrusted_record.empty()) return Malformed("inbox version");
  const RecordKind kind{untrusted_record.front()};
  switch (kind) {
    case RecordKind::kAdded:
    case RecordKind::kWithdrawn:
    case RecordKind::kBatch:
      return kind;
  }
  const auto version = static_cast<std::uint8_t>(untrusted_record.front());
  if (version < static_cast<std::uint8_t>(RecordKind::kBatch)) return Malformed("inbox version");
  return Fail(ErrorCode::kUnsupported, "inbox record has format version {}; this program knows {}",
              version, static_cast<int>(RecordKind::kBatch));
}

Status ForEachAcceptedRow(
    std::string_view untrusted_bytes,
    const std::function<void(std::string_view key, const CompactRow& row)>& visit) {
  std::string_view rest = untrusted_bytes;
  FIELDCOST_ASSIGN(const RecordKind kind, RecordKindOf(rest));
  if (kind == RecordKind::kBatch) return Malformed("inbox version");
  rest.remove_prefix(1);
  std::string key;
  CompactRow row;
  while (!rest.empty()) {
    std::uint64_t shared = 0;
    std::uint64_t added = 0;
    std::uint64_t value_bytes = 0;
    if (!TakeVarint64(rest, shared) || shared > key.size() || !TakeVarint64(rest, added) ||
        added > rest.size() || shared + added > kMaxRowKeyBytes) {
      return Malformed("inbox key");
    }
    key.resize(shared);
    key.append(rest.substr(0, added));
    rest.remove_prefix(added);
    if (!TakeVarint64(rest, value_bytes) || value_bytes > rest.size()) {
      return Malformed("inbox value");
    }
    FIELDCOST_TRY(DecodeRowValue(rest.substr(0, value_bytes), row));
    rest.remove_prefix(value_bytes);
    visit(key, row);
  }
  return {};
}

}  // namespace fieldcost::store
