// Rows as stored in the agent's database (state_schema.h has the tables). Integers are little
// endian.
//
//   key       := soname " " package_version " " build_id " " symbol " " symbol_version " "
//                metric " " week                             ; decimal; the week has 6 digits
//   histogram := bucket* [untimed:u64]                       ; untimed > 0
//   bucket    := slot:u8 count:u64 sum:u128 sum_of_squares:u128  ; 41 bytes, ascending, count > 0
#include "agent/spool/spool_row_codec.h"

#include <fmt/format.h>

#include <array>

#include "common/base/byte_order.h"
#include "common/base/text.h"

namespace fieldcost::spool {
namespace {

constexpr std::size_t kBucketBytes = 1 + 5 * 8;
constexpr std::size_t kUntimedBytes = 8;
constexpr std::size_t kKeyFields = 7;

std::uint64_t Uint64At(std::string_view bytes, std::size_t at) {
  return ReadLittleEndian(bytes.substr(at, sizeof(std::uint64_t)));
}

}  // namespace

std::string EncodeKey(const LocalKey& key) {
  return fmt::format("{} {} {} {} {} {} {:06}", key.api.soname, key.api.package_version,
                     key.api.build_id, key.api.symbol, key.api.symbol_version,
                     static_cast<unsigned>(key.metric), key.week);
}

Result<LocalKey> DecodeKey(std::string_view untrusted_text) {
  std::array<std::string_view, kKeyFields> fields;
  std::string_view rest = untrusted_text;
  for (std::size_t i = 0; i < kKeyFields; ++i) {
    const std::size_t end = i + 1 == kKeyFields ? rest.size() : rest.find(' ');
    if (end == std::string_view::npos) {
      return Fail(ErrorCode::kCorrupt, "row key \"{}\" has too few fields",
                  EscapeControl(untrusted_text));
    }
    fields[i] = rest.substr(0, end);
    rest.remove_prefix(i + 1 == kKeyFields ? end : end + 1);
  }
  const auto metric = ParseUint64(fields[5]);
  const auto week = ParseUint64(fields[6]);
  if (!metric || *metric > shm::kMaxMetric || *metric == 0 || !week || *week > 999'999) {
    return Fail(ErrorCode::kCorrupt, "row key \"{}\" has a bad metric or week",
                EscapeControl(untrusted_text));
  }
  return LocalKey{.api = {.soname = std::string(fields[0]),
                          .package_version = std::string(fields[1]),
                          .build_id = std::string(fields[2]),
                          .symbol = std::string(fields[3]),
                          .symbol_version = std::string(fields[4])},
                  .metric = static_cast<stats::Metric>(*metric),
                  .week = static_cast<std::uint32_t>(*week)};
}

std::string EncodeHistogram(const stats::CostHistogram& histogram) {
  std::string out;
  for (unsigned slot = 0; slot < shm::kBucketSlots; ++slot) {
    const stats::Bucket& bucket = histogram.bucket(slot);
    if (bucket.count == 0) continue;
    out += static_cast<char>(slot);
    AppendLittleEndian64(bucket.count, out);
    AppendLittleEndian64(stats::Low64(bucket.sum), out);
    AppendLittleEndian64(stats::High64(bucket.sum), out);
    AppendLittleEndian64(stats::Low64(bucket.sum_of_squares), out);
    AppendLittleEndian64(stats::High64(bucket.sum_of_squares), out);
  }
  if (histogram.untimed() != 0) AppendLittleEndian64(histogram.untimed(), out);
  return out;
}

Result<stats::CostHistogram> DecodeHistogram(std::string_view untrusted_bytes) {
  const std::size_t rest = untrusted_bytes.size() % kBucketBytes;
  if (rest != 0 && rest != kUntimedBytes) {
    return Fail(ErrorCode::kCorrupt,
                "stored histogram has {} bytes, not a multiple of {}, or {} more",
                untrusted_bytes.size(), kBucketBytes, kUntimedBytes);
  }
  const std::size_t end = untrusted_bytes.size() - rest;
  stats::CostHistogram histogram;
  if (rest != 0) histogram.SetUntimed(Uint64At(untrusted_bytes, end));
  int last_slot = -1;
  for (std::size_t at = 0; at < end; at += kBucketBytes) {
    const int slot = static_cast<unsigned char>(untrusted_bytes[at]);
    if (slot <= last_slot || slot >= static_cast<int>(shm::kBucketSlots)) {
      return Fail(ErrorCode::kCorrupt, "stored histogram has slot {} after {}", slot, last_slot);
    }
    last_slot = slot;
    histogram.SetBucket(static_cast<unsigned>(slot),
                        {.count = Uint64At(untrusted_bytes, at + 1),
                         .sum = stats::MakeUint128(Uint64At(untrusted_bytes, at + 17),
                                                   Uint64At(untrusted_bytes, at + 9)),
                         .sum_of_squares = stats::MakeUint128(Uint64At(untrusted_bytes, at + 33),
                                                              Uint64At(untrusted_bytes, at + 25))});
  }
  FIELDCOST_TRY(stats::Validate(histogram));
  return histogram;
}

}  // namespace fieldcost::spool
