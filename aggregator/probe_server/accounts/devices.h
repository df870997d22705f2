#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/probe_server/accounts/names.h"
#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/sqlite/sqlite.h"

namespace fieldcost::probe_server {

// Machines that send for a user. A device has a token of 256 random bits, as 64 hex digits; the
// database holds only its hash. Errors other than those named are the database's.

inline constexpr std::uint64_t kMaxDevicesOfUser = 256;  // not counting revoked ones

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

// kTooLarge: the user already has kMaxDevicesOfUser; kInvalidArgument (names.h).
Result<NewDevice> AddDevice(sqlite::Database& database, UserId user,
                            std::string_view untrusted_name, WallTime now);
// Returns the device that the token belongs to; nullopt if unknown or revoked.
Result<std::optional<Device>> FindDevice(sqlite::Database& database,
                                         std::string_view untrusted_token);
Result<bool> IsDeviceActive(sqlite::Database& database, DeviceId device);
// The user's devices, newest first; without a user, those of all users.
Result<std::vector<Device>> ListDevices(sqlite::Database& database, std::optional<UserId> user);
// Revokes a device permanently. kNotFound: the user (without a user: any user) has no such device.
Status RevokeDevice(sqlite::Database& database, DeviceId device, std::optional<UserId> user);

}  // namespace fieldcost::probe_server
