// An invitation, in Table::kMeta, at "invitation/" SHA-256(token).
//
//   invitation := version:u8 = 1 varint uses varint made_seconds varint expires_seconds
//                 label_bytes:u8 label (varint epoch varint keys)*    ; epochs ascend
#include "aggregator/store/invitation.h"

#include <limits>

#include "aggregator/store/store_limits.h"
#include "aggregator/store/store_row_codec.h"

namespace fieldcost::store {
namespace {

constexpr char kInvitationVersion = 1;
constexpr std::uint64_t kMaxSeconds = std::numeric_limits<std::int32_t>::max();

void AppendSeconds(std::chrono::sys_seconds time, std::string& bytes) {
  AppendVarint(static_cast<std::uint64_t>(time.time_since_epoch().count()), bytes);
}

std::chrono::sys_seconds At(std::uint64_t seconds) {
  return std::chrono::sys_seconds(std::chrono::seconds(static_cast<std::int64_t>(seconds)));
}

}  // namespace

std::uint32_t Invitation::UsedIn(std::uint64_t epoch) const {
  const auto found = used.find(epoch);
  return found == used.end() ? 0 : found->second;
}

void Invitation::Use(std::uint64_t epoch) {
  ++used[epoch];
  while (used.size() > kMaxInvitationEpochs) used.erase(used.begin());
}

std::string Invitation::Encode() const {
  std::string bytes(1, kInvitationVersion);
  AppendVarint(uses, bytes);
  AppendSeconds(made_at, bytes);
  AppendSeconds(expires_at, bytes);
  bytes.push_back(static_cast<char>(label.size()));
  bytes += label;
  for (const auto& [epoch, keys] : used) {
    AppendVarint(epoch, bytes);
    AppendVarint(keys, bytes);
  }
  return bytes;
}

Result<Invitation> Invitation::Decode(std::string_view untrusted_bytes) {
  const Error malformed = Fail(ErrorCode::kCorrupt, "the record of an invitation is malformed");
  if (!untrusted_bytes.starts_with(kInvitationVersion)) return malformed;
  std::string_view rest = untrusted_bytes.substr(1);
  std::uint64_t uses = 0;
  std::uint64_t made = 0;
  std::uint64_t expires = 0;
  if (!TakeVarint(rest, kMaxInvitationUses, uses) || uses == 0 ||
      !TakeVarint(rest, kMaxSeconds, made) || !TakeVarint(rest, kMaxSeconds, expires) ||
      rest.empty()) {
    return malformed;
  }
  const auto label_bytes = static_cast<unsigned char>(rest[0]);
  if (label_bytes > kMaxInvitationLabelBytes || rest.size() < 1U + label_bytes) return malformed;
  Invitation invitation{.uses = static_cast<std::uint32_t>(uses),
                        .made_at = At(made),
                        .expires_at = At(expires),
                        .label = std::string(rest.substr(1, label_bytes))};
  rest.remove_prefix(1U + label_bytes);
  while (!rest.empty()) {
    std::uint64_t epoch = 0;
    std::uint64_t keys = 0;
    const bool ascends = TakeVarint(rest, std::numeric_limits<std::uint32_t>::max(), epoch) &&
                         (invitation.used.empty() || epoch > invitation.used.rbegin()->first);
    if (!ascends || !TakeVarint(rest, kMaxInvitationUses, keys) || keys == 0) return malformed;
    invitation.used.emplace(epoch, static_cast<std::uint32_t>(keys));
  }
  if (invitation.used.size() > kMaxInvitationEpochs) return malformed;
  return invitation;
}

}  // namespace fieldcost::store
