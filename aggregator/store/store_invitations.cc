// Stores invitations, and enrols agents with them: the part of Store about invitations.
#include <utility>

#include "aggregator/store/invitation.h"
#include "aggregator/store/store_state.h"
#include "common/base/check.h"

namespace fieldcost::store {
namespace {

constexpr std::string_view kInvitationPrefix = "invitation/";

std::string InvitationKey(std::string_view token_hash) {
  return std::string(kInvitationPrefix) + std::string(token_hash);
}

}  // namespace

Status Store::AddInvitation(std::string_view token_hash, const Invitation& invitation) {
  FIELDCOST_CHECK(token_hash.size() == kTokenHashBytes);
  const LevelLock lock(state_->invitation_mutex, lock_order::kInvitation);
  if (state_->failure.has_happened()) return StoreFailed();
  Database::WriteSet changes(*state_->database);
  changes.Put(Table::kMeta, InvitationKey(token_hash), invitation.Encode());
  return state_->sums.Commit(changes);
}

Result<std::map<std::string, Invitation>> Store::Invitations() const {
  std::map<std::string, Invitation> invitations;
  FIELDCOST_TRY(state_->database->ForEach(
      Table::kMeta, kInvitationPrefix, nullptr,
      [&](std::string_view key, std::string_view value) -> Status {
        if (!key.starts_with(kInvitationPrefix)) return {};
        FIELDCOST_ASSIGN(Invitation invitation, Invitation::Decode(value));
        invitations.emplace(key.substr(kInvitationPrefix.size()), std::move(invitation));
        return {};
      }));
  return invitations;
}

Status Store::RemoveInvitation(std::string_view token_hash) {
  const LevelLock lock(state_->invitation_mutex, lock_order::kInvitation);
  if (state_->failure.has_happened()) return StoreFailed();
  Database::WriteSet changes(*state_->database);
  changes.Delete(Table::kMeta, InvitationKey(token_hash));
  return state_->sums.Commit(changes);
}

Result<InvitationUse> Store::EnrolInvited(std::string_view token_hash, std::string_view agent_id,
                                          wire::Epoch epoch, std::chrono::sys_seconds now) {
  FIELDCOST_CHECK(agent_id.size() == kAgentIdBytes && token_hash.size() == kTokenHashBytes);
  FIELDCOST_TRY(state_->bounds.CheckEpoch(epoch));
  const LevelLock lock(state_->invitation_mutex, lock_order::kInvitation);
  if (state_->failure.has_happened()) return StoreFailed();
  const std::string key = InvitationKey(token_hash);
  FIELDCOST_ASSIGN(const auto bytes, state_->database->Get(Table::kMeta, key));
  if (!bytes) return InvitationUse::kUnknown;
  FIELDCOST_ASSIGN(Invitation invitation, Invitation::Decode(*bytes));
  FIELDCOST_ASSIGN(const bool enrolled, IsEnrolled(agent_id, epoch));
  if (enrolled) return InvitationUse::kEnrolled;
  if (!invitation.WasUsed() && now >= invitation.expires_at) return InvitationUse::kExpired;
  if (invitation.UsedIn(epoch.value()) >= invitation.uses) return InvitationUse::kUsedUp;
  invitation.Use(epoch.value());
  Database::WriteSet changes(*state_->database);
  changes.Put(Table::kMeta, key, invitation.Encode());
  state_->ledger.PutEnrolment(agent_id, epoch, changes);
  FIELDCOST_TRY(state_->sums.Commit(changes));
  return InvitationUse::kEnrolled;
}

}  // namespace fieldcost::store
