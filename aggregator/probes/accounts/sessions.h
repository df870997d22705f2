#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "aggregator/probes/accounts/names.h"
#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/sqlite/sqlite.h"

namespace fieldcost::probe_server {

// Who is logged in. A session is 256 random bits, as 64 hex digits, that only the browser has: the
// database has its hash. Errors: the database's.

inline constexpr std::chrono::hours kSessionIdle{12};
inline constexpr std::chrono::hours kSessionLife{7 * 24};
inline constexpr std::uint64_t kMaxSessionsOfUser = 32;  // the oldest go

struct Session {
  std::string id;
  UserId user;
  std::string user_name;
  bool is_to_be_touched = false;  // it was used, and that has not been noted for some time
};

// Begins one with a new id; never takes a given one, so that nobody can foist it on somebody.
// REQUIRES: a transaction.
Result<std::string> BeginSession(sqlite::Database& database, UserId user, WallTime now);
// The session of that id; nothing if there is none, or it has ended by itself.
Result<std::optional<Session>> FindSession(sqlite::Database& database,
                                           std::string_view untrusted_id, WallTime now);
Status TouchSession(sqlite::Database& database, const std::string& id, WallTime now);
Status EndSession(sqlite::Database& database, std::string_view untrusted_id);
Status ForgetOldSessions(sqlite::Database& database, WallTime now);

// What each form of the session's pages carries, as 64 hex digits: derived from the session's id,
// which no other page knows. Pure.
std::string FormToken(std::string_view session_id);
// Compares in constant time. Pure.
bool IsFormToken(std::string_view session_id, std::string_view untrusted_token);

}  // namespace fieldcost::probe_server
