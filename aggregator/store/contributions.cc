// What an agent has contributed to in an epoch, as hashes (ledger.cc has the head key). Integers
// are big endian.
//
//   contributions at head key "c" week:u32 sequence:u64 := version:u8 = 1 hash:u64*   ; ascending
//   class         at head key "h"                       := version:u8 = 1 hash:u64
#include "aggregator/store/contributions.h"

#include <algorithm>
#include <functional>
#include <set>

#include "aggregator/store/store_state.h"
#include "common/base/byte_order.h"
#include "common/base/check.h"

namespace fieldcost::store {
namespace {

constexpr char kFormatVersion = 1;
constexpr char kContributionMark = 'c';
constexpr char kClassMark = 'h';
constexpr std::size_t kHashBytes = 8;

}  // namespace

std::string ContributionPrefix(std::string_view head_key, std::uint32_t week) {
  std::string key(head_key);
  key += kContributionMark;
  AppendBigEndian32(week, key);
  return key;
}

std::string ContributionKey(std::string_view head_key, std::uint32_t week, std::uint64_t sequence) {
  std::string key = ContributionPrefix(head_key, week);
  AppendBigEndian64(sequence, key);
  return key;
}

std::string EncodeContributions(const std::vector<std::uint64_t>& hashes) {
  FIELDCOST_CHECK(std::ranges::adjacent_find(hashes, std::greater_equal()) == hashes.end());
  std::string bytes(1, kFormatVersion);
  bytes.reserve(1 + kHashBytes * hashes.size());
  for (const std::uint64_t hash : hashes) AppendBigEndian64(hash, bytes);
  return bytes;
}

Status DecodeContributions(std::string_view untrusted_bytes, std::vector<std::uint64_t>& hashes) {
  const Error malformed = Fail(ErrorCode::kCorrupt, "a list of contributions is malformed");
  if (untrusted_bytes.size() % kHashBytes != 1 || untrusted_bytes[0] != kFormatVersion) {
    return malformed;
  }
  for (std::size_t at = 1; at < untrusted_bytes.size(); at += kHashBytes) {
    const std::uint64_t hash = ReadBigEndian(untrusted_bytes.substr(at, kHashBytes));
    if (at != 1 && hash <= hashes.back()) return malformed;
    hashes.push_back(hash);
  }
  return {};
}

Status DropContributions(std::string_view head_key, std::uint64_t sequence,
                         std::string_view accepted_rows, Database::WriteSet& changes) {
  std::set<std::uint32_t> weeks;
  FIELDCOST_TRY(ForEachAcceptedRow(accepted_rows, [&](std::string_view key, const CompactRow&) {
    weeks.insert(WeekOfRowKey(key));
  }));
  for (const std::uint32_t week : weeks) {
    changes.Delete(Table::kLedger, ContributionKey(head_key, week, sequence));
  }
  return {};
}

std::string ClassKey(std::string_view head_key) { return std::string(head_key) + kClassMark; }

std::string EncodeClass(std::uint64_t hash) { return EncodeContributions({hash}); }

Result<std::uint64_t> DecodeClass(std::string_view untrusted_bytes) {
  if (untrusted_bytes.size() != 1 + kHashBytes || untrusted_bytes[0] != kFormatVersion) {
    return Fail(ErrorCode::kCorrupt, "the record of an agent's hardware class is malformed");
  }
  return ReadBigEndian(untrusted_bytes.substr(1));
}

}  // namespace fieldcost::store
