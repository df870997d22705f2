#pragma once

#include <optional>
#include <string>
#include <vector>

#include "aggregator/probe_server/accounts/names.h"
#include "aggregator/probe_server/data/data.h"
#include "common/base/clock.h"

namespace fieldcost::probe_server {

inline constexpr std::size_t kMaxReasonBytes = 200;

// The originator of a change. A session may change all users' events: a team decides together, and
// the table `action` records who did what. A device may change only its own user's events.
struct Actor {
  UserId user;
  bool is_device = false;
};

// kNotFound; kPermissionDenied: a device tries to mark another user's event. REQUIRES (also below):
// a transaction.
Status MarkEvent(Data& data, const Actor& actor, const probe::EventKey& event, probe::Mark mark,
                 std::string_view untrusted_reason, WallTime now);

// Removes those of the events that are set aside now, manually or as outliers; returns how many.
// Skips events that no longer exist.
Result<std::uint64_t> PurgeEvents(Data& data, const Actor& actor,
                                  const std::vector<probe::EventKey>& events, WallTime now);

}  // namespace fieldcost::probe_server
