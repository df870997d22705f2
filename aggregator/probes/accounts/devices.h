#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/probes/accounts/names.h"
#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/sqlite/sqlite.h"

namespace fieldcost::probe_server {

// Machines that send for a user. A device has a token of 256 random bits, as 64 hex digits; the
// database has its hash. Errors beside those named: the database's.

inline constexpr std::uint64_t kMaxDevicesOfUser = 256;  // that are not revoked

struct Device {
  DeviceId id;
  UserId user;
  std::string name;
  WallTime created;
  bool is_revoked = false;
};

struct NewDevice {
  DeviceId id;
  std::string token;
};

// kTooLarge: the user has enough of them; kInvalidArgument (names.h).
Result<NewDevice> AddDevice(sqlite::Database& database, UserId user,
                            std::string_view untrusted_name, WallTime now);
// The device whose token it is; nothing if it is nobody's, or revoked.
Result<std::optional<Device>> FindDevice(sqlite::Database& database,
                                         std::string_view untrusted_token);
Result<bool> IsDeviceActive(sqlite::Database& database, DeviceId device);
// The user's devices, newest first; without a user, everybody's.
Result<std::vector<Device>> ListDevices(sqlite::Database& database, std::optional<UserId> user);
// Revokes it for good. kNotFound: the user, or without a user nobody, has a device of that number.
Status RevokeDevice(sqlite::Database& database, DeviceId device, std::optional<UserId> user);

}  // namespace fieldcost::probe_server
