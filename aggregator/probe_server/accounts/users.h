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

// Users are created by the operator. Errors other than those named are the database's.

struct User {
  UserId id;
  std::string name;
  std::string password_hash;
  WallTime created;
};

// Creates the tables user, session, device and guesser, which the README describes.
Status CreateAccountTables(sqlite::Database& database);

// kAlreadyExists; kInvalidArgument (names.h).
Result<UserId> AddUser(sqlite::Database& database, std::string_view untrusted_name,
                       std::string_view password_hash, WallTime now);
Result<std::optional<User>> FindUser(sqlite::Database& database, std::string_view untrusted_name);
// All users, by name.
Result<std::vector<User>> ListUsers(sqlite::Database& database);
// The credentials that a password change revokes: sessions and devices, which someone else may have
// created.
struct PasswordChange {
  bool ends_sessions = true;
  bool ends_devices = true;
};
// kNotFound.
Status SetPassword(sqlite::Database& database, UserId user, std::string_view password_hash,
                   const PasswordChange& change);
// Removes the user with all sessions and devices; events are kept. REQUIRES: a transaction.
Status RemoveUser(sqlite::Database& database, UserId user);

}  // namespace fieldcost::probe_server
