#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "aggregator/probe_server/data/data.h"
#include "common/base/clock.h"
#include "common/base/result.h"

namespace fieldcost::probe_server {

// The audit log: logins and failures, locks, enrolments, revocations, changes of users, exports.
// Entries are kept for kAuditKept, at most kMaxAuditEntries. Attempts refused by a waiting time are
// not recorded, so that no outsider can fill the log (guessing.h limits all others).

inline constexpr std::chrono::hours kAuditKept{400 * 24};
inline constexpr std::uint64_t kMaxAuditEntries = 1'000'000;  // the oldest are removed first

struct AuditEntry {
  WallTime time;
  std::string what;     // "login", "login failed"
  std::string account;  // empty if no user has the given name, which may be a password
  std::string address;  // "operator" for commands
  std::string object = {};
};

// REQUIRES (for both): a transaction.
Status Audit(Data& data, const AuditEntry& entry);
Status ForgetOldAudit(Data& data, WallTime now);

// Calls `use` for each entry since `since`, the oldest first.
Status ReadAudit(Data& data, WallTime since, const std::function<void(const AuditEntry&)>& use);

// Writes the entry to the program's log as one line.
void LogAudit(const AuditEntry& entry);

}  // namespace fieldcost::probe_server
