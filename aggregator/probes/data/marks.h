#pragma once

#include <optional>
#include <string>
#include <vector>

#include "aggregator/probes/accounts/names.h"
#include "aggregator/probes/data/data.h"
#include "common/base/clock.h"

namespace fieldcost::probe_server {

inline constexpr std::size_t kMaxReasonBytes = 200;

// Who does it. A session may change everybody's events: a team decides together, and the table
// `action` has who did what. A device speaks for its own user's only.
struct Actor {
  UserId user;
  bool is_device = false;
};

// kNotFound; kPermissionDenied: another user's, and a device asks. REQUIRES, as below: a
// transaction.
Status MarkEvent(Data& data, const Actor& actor, const probe::EventKey& event, probe::Mark mark,
                 std::string_view untrusted_reason, WallTime now);

// Removes those of the events that are set aside now, by hand or since they are outliers; how many.
// What is gone meanwhile is left out.
Result<std::uint64_t> PurgeEvents(Data& data, const Actor& actor,
                                  const std::vector<probe::EventKey>& events, WallTime now);

}  // namespace fieldcost::probe_server
