#include "aggregator/ingest/invite.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>

#include "common/base/clock.h"
#include "common/base/text.h"
#include "common/crypto/random.h"
#include "common/crypto/sha256.h"

namespace fieldcost::ingest {
namespace {

constexpr std::size_t kTokenBytes = 16;
constexpr std::size_t kInviteNameBytes = 8;

std::string NameOf(std::string_view token_hash) {
  return HexEncode(token_hash.substr(0, kInviteNameBytes));
}

std::string DayOf(std::chrono::sys_seconds time) { return fmt::format("{:%Y-%m-%d}", time); }

}  // namespace

Status CheckForm(const InvitationRequest& request) {
  if (request.uses == 0 || request.uses > store::kMaxInvitationUses) {
    return Fail(ErrorCode::kInvalidArgument, "uses: expected 1 to {}", store::kMaxInvitationUses);
  }
  if (request.days == 0 || request.days > kMaxInvitationDays) {
    return Fail(ErrorCode::kInvalidArgument, "days: expected 1 to {}", kMaxInvitationDays);
  }
  const bool printable =
      std::ranges::all_of(request.label, [](char c) { return c >= ' ' && c <= '~'; });
  if (request.label.size() > store::kMaxInvitationLabelBytes || !printable) {
    return Fail(ErrorCode::kInvalidArgument, "label: expected at most {} printable characters",
                store::kMaxInvitationLabelBytes);
  }
  return {};
}

Result<MadeInvitation> Invite(store::Store& store, const InvitationRequest& untrusted_request,
                              std::chrono::sys_seconds now) {
  FIELDCOST_TRY(CheckForm(untrusted_request));
  const store::Invitation invitation{.uses = static_cast<std::uint32_t>(untrusted_request.uses),
                                     .made_at = now,
                                     .expires_at = now + std::chrono::days(untrusted_request.days),
                                     .label = untrusted_request.label};
  const std::string token = HexEncode(crypto::RandomBytes(kTokenBytes));
  const std::string hash = crypto::Sha256(token);
  FIELDCOST_TRY(store.AddInvitation(hash, invitation));
  return MadeInvitation{
      .token = token, .name = NameOf(hash), .expires_on = DayOf(invitation.expires_at)};
}

Result<std::vector<std::string>> DescribeInvitations(const store::Store& store,
                                                     std::chrono::sys_seconds now) {
  FIELDCOST_ASSIGN(const auto invitations, store.Invitations());
  const std::uint64_t epoch = WeekOf(now) / store::kWeeksPerEpoch;
  std::vector<std::string> lines;
  for (const auto& [hash, invitation] : invitations) {
    if (lines.size() == kMaxListedInvitations) {
      lines.push_back(fmt::format("and {} more", invitations.size() - kMaxListedInvitations));
      break;
    }
    lines.push_back(fmt::format("{} uses={} used={} made={} expires={}{}{}", NameOf(hash),
                                invitation.uses, invitation.UsedIn(epoch),
                                DayOf(invitation.made_at), DayOf(invitation.expires_at),
                                invitation.label.empty() ? "" : " label=", invitation.label));
  }
  return lines;
}

Status RemoveInvitation(store::Store& store, std::string_view untrusted_name) {
  FIELDCOST_ASSIGN(const auto invitations, store.Invitations());
  for (const auto& [hash, invitation] : invitations) {
    if (NameOf(hash) == untrusted_name) return store.RemoveInvitation(hash);
  }
  return Fail(ErrorCode::kNotFound, "there is no invitation {}; `invitation list` shows all",
              EscapeControl(std::string(untrusted_name)));
}

}  // namespace fieldcost::ingest
