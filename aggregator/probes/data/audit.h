#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "aggregator/probes/data/data.h"
#include "common/base/clock.h"
#include "common/base/result.h"

namespace fieldcost::probe_server {

// The audit log: logins and failures, locks, enrolments, revocations, changes of users, exports.
// Kept for kAuditKept, at most kMaxAuditEntries; attempts that had to wait are not noted, so that
// no outsider can fill it (guessing.h bounds the others).

inline constexpr std::chrono::hours kAuditKept{400 * 24};
inline constexpr std::uint64_t kMaxAuditEntries = 1'000'000;  // the oldest are removed first

struct AuditEntry {
  WallTime time;
  std::string what;     // "login", "login failed"
  std::string account;  // empty: no user has the name that was given, which may be a password
  std::string address;  // "operator" for commands
  std::string object = {};
};

// REQUIRES, both: a transaction.
Status Audit(Data& data, const AuditEntry& entry);
Status ForgetOldAudit(Data& data, WallTime now);

// Calls `use` for each entry since then, the oldest first.
Status ReadAudit(Data& data, WallTime since, const std::function<void(const AuditEntry&)>& use);

// The same entry as a line of the program's log.
void LogAudit(const AuditEntry& entry);

}  // namespace fieldcost::probe_server
