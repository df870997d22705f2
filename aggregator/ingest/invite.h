#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/store/store.h"
#include "common/base/result.h"

namespace fieldcost::ingest {

inline constexpr std::uint64_t kMaxInvitationDays = 366;
// Maximum number in a list, whose last line states how many more there are.
inline constexpr std::size_t kMaxListedInvitations = 300;

struct InvitationRequest {
  std::uint64_t uses = 1;   // agents that may enrol with it
  std::uint64_t days = 14;  // validity until the first use; at most kMaxInvitationDays
  std::string label;        // for the operator
};

struct MadeInvitation {
  std::string token;  // not stored: the store knows only its hash
  std::string name;   // for the operator: the first 16 hex digits of the hash
  std::string expires_on;
};

// kInvalidArgument: a value is out of range, or the label is not one line of printable ASCII.
Status CheckForm(const InvitationRequest& request);

// Creates an invitation, durably. Errors of CheckForm() and the store's.
Result<MadeInvitation> Invite(store::Store& store, const InvitationRequest& untrusted_request,
                              std::chrono::sys_seconds now);

// All invitations, by name: "NAME uses=1 used=1 made=2026-11-27 expires=2026-12-11 label=...".
// `used` counts keys of the current quarter.
Result<std::vector<std::string>> DescribeInvitations(const store::Store& store,
                                                     std::chrono::sys_seconds now);

// Removes the invitation, so that no further key enrols with it. kNotFound: there is no such
// invitation.
Status RemoveInvitation(store::Store& store, std::string_view untrusted_name);

}  // namespace fieldcost::ingest
