#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "aggregator/probe_server/accounts/names.h"
#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/sqlite/sqlite.h"

namespace fieldcost::probe_server {

// Sessions of users who are logged in. A session id is 256 random bits, as 64 hex digits, known
// only to the browser; the database holds its hash. Errors: the database's.

inline constexpr std::chrono::hours kSessionIdle{12};
inline constexpr std::chrono::hours kSessionLife{7 * 24};
inline constexpr std::uint64_t kMaxSessionsOfUser = 32;  // the oldest are removed first

struct Session {
  std::string id;
  UserId user;
  std::string user_name;
  bool is_to_be_touched = false;  // the recorded time of the last use is outdated
};

// Begins a session with a new id. Never accepts an existing id, to prevent session fixation.
// REQUIRES: a transaction.
Result<std::string> BeginSession(sqlite::Database& database, UserId user, WallTime now);
// Returns the session with this id; nullopt if unknown or expired.
Result<std::optional<Session>> FindSession(sqlite::Database& database,
                                           std::string_view untrusted_id, WallTime now);
Status TouchSession(sqlite::Database& database, const std::string& id, WallTime now);
Status EndSession(sqlite::Database& database, std::string_view untrusted_id);
Status ForgetOldSessions(sqlite::Database& database, WallTime now);

// The token that each form on the session's pages carries, as 64 hex digits: derived from the
// session's id, which pages of other sites do not know. Pure.
std::string FormToken(std::string_view session_id);
// Compares in constant time. Pure.
bool IsFormToken(std::string_view session_id, std::string_view untrusted_token);

}  // namespace fieldcost::probe_server
