// An agent's record of probation, at head key "p" (ledger.cc; stats/varint.h has varints).
//
//   probation := version:u8 = 1 varint honest_batches, varint held_batches,
//                varint began_seconds, flags:u8
//                ; flags 1: released; 2: some row was dishonest
#include "aggregator/store/probation.h"

#include <limits>

#include "aggregator/store/ledger.h"
#include "aggregator/store/store_row_codec.h"

namespace fieldcost::store {
namespace {

constexpr char kProbationVersion = 1;
constexpr char kProbationMark = 'p';
constexpr unsigned char kReleased = 1;
constexpr unsigned char kDishonest = 2;

}  // namespace

std::string Probation::Encode() const {
  std::string bytes(1, kProbationVersion);
  AppendVarint(honest_batches, bytes);
  AppendVarint(held_batches, bytes);
  AppendVarint(static_cast<std::uint64_t>(began.time_since_epoch().count()), bytes);
  bytes.push_back(static_cast<char>((released ? kReleased : 0) | (dishonest ? kDishonest : 0)));
  return bytes;
}

Result<Probation> Probation::Decode(std::string_view untrusted_bytes) {
  constexpr stats::Uint128 kMax64 = std::numeric_limits<std::uint64_t>::max();
  constexpr stats::Uint128 kMaxSeconds = std::numeric_limits<std::int32_t>::max();
  const Error malformed = Fail(ErrorCode::kCorrupt, "an agent's record of probation is malformed");
  if (!untrusted_bytes.starts_with(kProbationVersion)) return malformed;
  std::string_view rest = untrusted_bytes.substr(1);
  stats::Uint128 honest = 0;
  stats::Uint128 held = 0;
  stats::Uint128 began_s = 0;
  if (!TakeVarint(rest, honest) || honest > kMax64 || !TakeVarint(rest, held) || held > kMax64 ||
      !TakeVarint(rest, began_s) || began_s > kMaxSeconds || rest.size() != 1 ||
      (rest[0] & ~(kReleased | kDishonest)) != 0) {
    return malformed;
  }
  return Probation{
      .honest_batches = static_cast<std::uint64_t>(honest),
      .held_batches = static_cast<std::uint64_t>(held),
      .began = std::chrono::sys_seconds(std::chrono::seconds(static_cast<std::int64_t>(began_s))),
      .released = (rest[0] & kReleased) != 0,
      .dishonest = (rest[0] & kDishonest) != 0};
}

std::string ProbationKey(std::string_view head_key) {
  return std::string(head_key) + kProbationMark;
}

std::string HeldKey(std::string_view head_key, std::uint64_t sequence) {
  return AnswerKey(head_key, sequence);
}

}  // namespace fieldcost::store
