#include "aggregator/store/ledger.h"

#include "aggregator/store/row_codec.h"

namespace fieldcost::store {
namespace {

constexpr char kFormatVersion = 1;
constexpr std::size_t kEncodedBytes = 17;
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

}  // namespace fieldcost::store
