// The ledger's entries for an agent's epoch (LAYOUT.md lists all keys). Integers are big endian;
// store_row_codec.cc defines varints.
//
//   head key    := agent id[32] epoch:u64
//   head        := version:u8 = 1 high_water:u64 window:u64  ; bit i: high_water - i is accepted
//   answer at head key sequence:u64 := the response as sent
//   tombstone   at head key sequence:u64 "w"  := version:u8 = 1 varint withdrawn_rows
//   enrolment   at head key "e"               := 0x01
//   undelivered at head key "n"               := version:u8 = 1 varint batches
//   skipped     at head key ff[8] "s" last:u64  := version:u8 = 1 first:u64
#include "aggregator/store/ledger.h"

#include <algorithm>
#include <bit>

#include "aggregator/store/store_limits.h"
#include "aggregator/store/store_row_codec.h"
#include "common/base/byte_order.h"
#include "common/base/check.h"

namespace fieldcost::store {
namespace {

constexpr char kLedgerVersion = 1;
constexpr std::size_t kEncodedBytes = 17;
constexpr char kTombstoneMark = 'w';
constexpr char kEnrolmentMark = 'e';
constexpr char kUndeliveredMark = 'n';
constexpr char kSkippedMark = 's';
static_assert(kLedgerWindow == 64, "the window is one 64-bit word");

}  // namespace

LedgerHead::Seen LedgerHead::Classify(std::uint64_t sequence) const {
  FIELDCOST_CHECK(sequence >= 1);
  if (sequence > high_water_) return Seen::kNew;
  const std::uint64_t age = high_water_ - sequence;
  if (age >= kLedgerWindow) return Seen::kTooOld;
  return ((window_ >> age) & 1) != 0 ? Seen::kReplay : Seen::kNew;
}

void LedgerHead::Record(std::uint64_t sequence, std::vector<std::uint64_t>& forgotten) {
  FIELDCOST_CHECK(Classify(sequence) == Seen::kNew);
  if (sequence <= high_water_) {
    window_ |= std::uint64_t{1} << (high_water_ - sequence);
    return;
  }
  const std::uint64_t step = sequence - high_water_;
  for (std::uint64_t age = 0; age < kLedgerWindow; ++age) {
    const bool leaves = step >= kLedgerWindow || age + step >= kLedgerWindow;
    if (leaves && ((window_ >> age) & 1) != 0) forgotten.push_back(high_water_ - age);
  }
  window_ = (step >= kLedgerWindow ? 0 : window_ << step) | 1;
  high_water_ = sequence;
}

std::uint64_t LedgerHead::Delivered() const {
  const std::uint64_t before = high_water_ - std::min<std::uint64_t>(high_water_, kLedgerWindow);
  return before + static_cast<std::uint64_t>(std::popcount(window_));
}

std::vector<SequenceRange> LedgerHead::Skipped(std::uint64_t sequence) const {
  FIELDCOST_CHECK(Classify(sequence) == Seen::kNew);
  std::vector<SequenceRange> skipped;
  if (sequence <= high_water_ || sequence < kLedgerWindow + 1) return skipped;
  const auto skip = [&](std::uint64_t first, std::uint64_t last) {
    if (first > last) return;
    if (!skipped.empty() && skipped.back().last + 1 == first) {
      skipped.back().last = last;
    } else {
      skipped.push_back({first, last});
    }
  };
  const std::uint64_t last_out = sequence - kLedgerWindow;
  const std::uint64_t window = std::min<std::uint64_t>(high_water_, kLedgerWindow);
  for (std::uint64_t out = high_water_ - window + 1; out <= std::min(high_water_, last_out);
       ++out) {
    if (((window_ >> (high_water_ - out)) & 1) == 0) skip(out, out);
  }
  skip(high_water_ + 1, last_out);
  return skipped;
}

std::string LedgerHead::Encode() const {
  std::string bytes(1, kLedgerVersion);
  AppendBigEndian64(high_water_, bytes);
  AppendBigEndian64(window_, bytes);
  return bytes;
}

Result<LedgerHead> LedgerHead::Decode(std::string_view untrusted_bytes) {
  if (untrusted_bytes.size() != kEncodedBytes || untrusted_bytes[0] != kLedgerVersion) {
    return Fail(ErrorCode::kCorrupt, "ledger entry is malformed");
  }
  LedgerHead head;
  head.high_water_ = ReadBigEndian(untrusted_bytes.substr(1, 8));
  head.window_ = ReadBigEndian(untrusted_bytes.substr(9, 8));
  return head;
}

std::string LedgerHeadKey(std::string_view agent_id, std::uint64_t epoch) {
  std::string key(agent_id);
  AppendBigEndian64(epoch, key);
  return key;
}

std::string AnswerKey(std::string_view head_key, std::uint64_t sequence) {
  std::string key(head_key);
  AppendBigEndian64(sequence, key);
  return key;
}

std::string TombstoneKey(std::string_view head_key, std::uint64_t sequence) {
  return AnswerKey(head_key, sequence) + kTombstoneMark;
}

bool IsTombstoneKey(std::string_view key) {
  return key.size() == kAgentIdBytes + 2 * kNumberBytes + 1 && key.ends_with(kTombstoneMark);
}

std::string EnrolmentKey(std::string_view head_key) {
  return std::string(head_key) + kEnrolmentMark;
}

std::string UndeliveredKey(std::string_view head_key) {
  return std::string(head_key) + kUndeliveredMark;
}

std::string EncodeUndelivered(std::uint64_t batches) {
  std::string bytes(1, kLedgerVersion);
  AppendVarint(batches, bytes);
  return bytes;
}

Result<std::uint64_t> DecodeUndelivered(std::string_view untrusted_bytes) {
  stats::Uint128 batches = 0;
  if (!untrusted_bytes.empty() && untrusted_bytes[0] == kLedgerVersion) {
    std::string_view rest = untrusted_bytes.substr(1);
    if (TakeVarint(rest, batches) && rest.empty() && batches <= kMaxUndelivered) {
      return static_cast<std::uint64_t>(batches);
    }
  }
  return Fail(ErrorCode::kCorrupt, "the number of batches that never arrived is malformed");
}

std::string SkippedKey(std::string_view head_key, std::uint64_t last) {
  // Sorts after the responses of all sequences.
  std::string key(head_key);
  key.append(kNumberBytes, '\xff');
  key += kSkippedMark;
  AppendBigEndian64(last, key);
  return key;
}

bool IsSkippedKey(std::string_view key, std::string_view head_key) {
  const std::string first = SkippedKey(head_key, 0);
  return key.size() == first.size() &&
         key.starts_with(std::string_view(first).substr(0, first.size() - kNumberBytes));
}

std::string EncodeSkipped(std::uint64_t first) {
  std::string bytes(1, kLedgerVersion);
  AppendBigEndian64(first, bytes);
  return bytes;
}

Result<std::uint64_t> DecodeSkipped(std::string_view untrusted_bytes) {
  if (untrusted_bytes.size() != 1 + kNumberBytes || untrusted_bytes[0] != kLedgerVersion) {
    return Fail(ErrorCode::kCorrupt, "the record of skipped sequences is malformed");
  }
  return ReadBigEndian(untrusted_bytes.substr(1));
}

std::string EncodeTombstone(std::uint32_t withdrawn_rows) {
  std::string bytes(1, kLedgerVersion);
  AppendVarint(withdrawn_rows, bytes);
  return bytes;
}

Result<std::uint32_t> DecodeTombstone(std::string_view untrusted_bytes) {
  stats::Uint128 rows = 0;
  if (!untrusted_bytes.empty() && untrusted_bytes[0] == kLedgerVersion) {
    std::string_view rest = untrusted_bytes.substr(1);
    if (TakeVarint(rest, rows) && rest.empty() && rows <= wire::kMaxBatchRows) {
      return static_cast<std::uint32_t>(rows);
    }
  }
  return Fail(ErrorCode::kCorrupt, "the record of a withdrawn batch is malformed");
}

}  // namespace fieldcost::store
