// Which batches in the sums are kept as received, and which of them will be removed. Integers are
// big endian.
//
//   kept    in the ledger at head key sequence:u64 "k" := number:u64   ; its key in table batches
//   removal in the inbox at withdrawal:u64 number:u64  := nothing      ; done with the withdrawal
#include "aggregator/store/kept.h"

#include "aggregator/store/ledger.h"
#include "aggregator/store/store_limits.h"
#include "aggregator/store/store_parts.h"
#include "common/base/byte_order.h"

namespace fieldcost::store {
namespace {

constexpr char kKeptMark = 'k';
constexpr std::size_t kKeptKeyBytes = kHeadKeyBytes + kNumberBytes + 1;

}  // namespace

std::string KeptKey(std::string_view head_key, std::uint64_t sequence) {
  return AnswerKey(head_key, sequence) + kKeptMark;
}

bool IsKeptKey(std::string_view key, std::uint64_t& sequence) {
  if (key.size() != kKeptKeyBytes || !key.ends_with(kKeptMark)) return false;
  sequence = ReadBigEndian(key.substr(kHeadKeyBytes, kNumberBytes));
  return true;
}

Result<std::uint64_t> DecodeKeptNumber(std::string_view untrusted_bytes) {
  if (untrusted_bytes.size() == kNumberBytes) return ReadBigEndian(untrusted_bytes);
  return Fail(ErrorCode::kCorrupt, "the number of a kept batch is malformed");
}

std::string RemovalKey(std::uint64_t withdrawal, std::uint64_t batch) {
  return NumberKey(withdrawal) + NumberKey(batch);
}

bool IsRemovalKey(std::string_view key, std::uint64_t& withdrawal, std::uint64_t& batch) {
  if (key.size() != 2 * kNumberBytes) return false;
  withdrawal = ReadBigEndian(key.substr(0, kNumberBytes));
  batch = ReadBigEndian(key.substr(kNumberBytes));
  return true;
}

}  // namespace fieldcost::store
