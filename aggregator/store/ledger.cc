#include "aggregator/store/ledger.h"

#include "aggregator/store/row_codec.h"

namespace fieldcost::store {
namespace {

constexpr char kFormatVersion = 1;
constexpr std::size_t kEncodedBytes = 17;
constexpr char kTombstoneMark = 'w';
constexpr char kEnrolmentMark = 'e';
static_assert(kLedgerWindow == 64, "the window is one 64-bit word");

}  // namespace

LedgerHead::Seen LedgerHead::Classify(std::uint64_t sequence) const {
  if (sequence > high_water_) return Seen::kNew;
  const std::uint64_t age = high_water_ - sequence;
  if (age >= kLedgerWindow) return Seen::kTooOld;
  return ((window_ >> age) & 1) != 0 ? Seen::kReplay : Seen::kNew;
}

void LedgerHead::Record(std::uint64_t sequence, std::vector<std::uint64_t>& forgotten) {
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

std::string LedgerHead::Encode() const {
  std::string bytes(1, kFormatVersion);
  AppendBigEndian64(high_water_, bytes);
  AppendBigEndian64(window_, bytes);
  return bytes;
}

Result<LedgerHead> LedgerHead::Decode(std::string_view untrusted_bytes) {
  if (untrusted_bytes.size() != kEncodedBytes || untrusted_bytes[0] != kFormatVersion) {
    return Fail(ErrorCode::kCorrupt, "ledger entry is malformed");
  }
  LedgerHead head;
  head.high_water_ = ReadBigEndian64(untrusted_bytes.substr(1, 8));
  head.window_ = ReadBigEndian64(untrusted_bytes.substr(9, 8));
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

std::string EnrolmentKey(std::string_view head_key) {
  return std::string(head_key) + kEnrolmentMark;
}

std::string EncodeTombstone(std::uint32_t withdrawn_rows) {
  std::string bytes(1, kFormatVersion);
  AppendVarint(withdrawn_rows, bytes);
  return bytes;
}

Result<std::uint32_t> DecodeTombstone(std::string_view untrusted_bytes) {
  stats::Uint128 rows = 0;
  if (!untrusted_bytes.empty() && untrusted_bytes[0] == kFormatVersion) {
    std::string_view rest = untrusted_bytes.substr(1);
    if (TakeVarint(rest, rows) && rest.empty() && rows <= wire::kMaxBatchRows) {
      return static_cast<std::uint32_t>(rows);
    }
  }
  return Fail(ErrorCode::kCorrupt, "the record of a withdrawn batch is malformed");
}

}  // namespace fieldcost::store
