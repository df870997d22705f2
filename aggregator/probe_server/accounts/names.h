#pragma once

#include <cstdint>
#include <string_view>

#include "common/base/result.h"
#include "common/base/strong_id.h"

namespace fieldcost::probe_server {

using UserId = StrongId<struct UserIdTag, std::uint64_t>;
using DeviceId = StrongId<struct DeviceIdTag, std::uint64_t>;

inline constexpr std::size_t kMaxNameBytes = 64;  // of users and devices

// Checks the name of a user or device: valid UTF-8 without control characters or surrounding
// whitespace. kInvalidArgument; `what` is the kind of object in the message. Pure.
Status CheckName(std::string_view what, std::string_view untrusted_name);

}  // namespace fieldcost::probe_server
