// An agent's contributions in an epoch, as hashes (ledger.cc defines the head key). Integers are
// big endian.
//
//   contributions at head key "c" week:u32 sequence:u64 := version:u8 = 1 hash:u64*   ; ascending
//   binding       at head key "h"                       := version:u8 = 1 class_hash:u64
//   first_week:u32
#include "aggregator/store/contributions.h"

#include <algorithm>
#include <functional>
#include <set>

#include "aggregator/store/store_parts.h"
#include "aggregator/store/store_row_codec.h"
#include "common/base/byte_order.h"
#include "common/base/check.h"

namespace fieldcost::store {
namespace {

constexpr char kContributionsVersion = 1;
constexpr char kContributionMark = 'c';
constexpr char kBindingMark = 'h';
constexpr std::size_t kKeyHashBytes = 8;

}  // namespace

std::string ContributionPrefix(std::string_view head_key) {
  return std::string(head_key) + kContributionMark;
}

std::string ContributionKey(std::string_view head_key, std::uint32_t week, std::uint64_t sequence) {
  std::string key = ContributionPrefix(head_key);
  AppendBigEndian32(week, key);
  AppendBigEndian64(sequence, key);
  return key;
}

std::string EncodeContributions(const std::vector<std::uint64_t>& hashes) {
  FIELDCOST_CHECK(std::ranges::adjacent_find(hashes, std::greater_equal()) == hashes.end());
  std::string bytes(1, kContributionsVersion);
  bytes.reserve(1 + kKeyHashBytes * hashes.size());
  for (const std::uint64_t hash : hashes) AppendBigEndian64(hash, bytes);
  return bytes;
}

Status DecodeContributions(std::string_view untrusted_bytes, std::vector<std::uint64_t>& hashes) {
  const Error malformed = Fail(ErrorCode::kCorrupt, "a list of contributions is malformed");
  if (untrusted_bytes.size() % kKeyHashBytes != 1 || untrusted_bytes[0] != kContributionsVersion) {
    return malformed;
  }
  for (std::size_t at = 1; at < untrusted_bytes.size(); at += kKeyHashBytes) {
    const std::uint64_t hash = ReadBigEndian(untrusted_bytes.substr(at, kKeyHashBytes));
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

std::string BindingKey(std::string_view head_key) { return std::string(head_key) + kBindingMark; }

std::string EncodeBinding(const AgentBinding& binding) {
  std::string bytes(1, kContributionsVersion);
  AppendBigEndian64(binding.class_hash, bytes);
  AppendBigEndian32(binding.first_week, bytes);
  return bytes;
}

Result<AgentBinding> DecodeBinding(std::string_view untrusted_bytes) {
  if (untrusted_bytes.size() != 1 + kKeyHashBytes + 4 ||
      untrusted_bytes[0] != kContributionsVersion) {
    return Fail(ErrorCode::kCorrupt, "the record of what an agent is bound to is malformed");
  }
  return AgentBinding{.class_hash = ReadBigEndian(untrusted_bytes.substr(1, kKeyHashBytes)),
                      .first_week = static_cast<std::uint32_t>(
                          ReadBigEndian(untrusted_bytes.substr(1 + kKeyHashBytes)))};
}

}  // namespace fieldcost::store
