#include "aggregator/probe_server/data/audit.h"

#include "common/base/check.h"
#include "common/base/log.h"

namespace fieldcost::probe_server {

Status Audit(Data& data, const AuditEntry& entry) {
  FIELDCOST_CHECK(data.database().InTransaction());
  return data.database()
      .Prepare("INSERT INTO audit (time, what, account, address, object) VALUES (?, ?, ?, ?, ?)")
      .Int(MicrosOf(entry.time))
      .Text(entry.what)
      .Text(entry.account)
      .Text(entry.address)
      .Text(entry.object)
      .Run();
}

Status ForgetOldAudit(Data& data, WallTime now) {
  FIELDCOST_CHECK(data.database().InTransaction());
  FIELDCOST_TRY(data.database()
                    .Prepare("DELETE FROM audit WHERE time < ?")
                    .Int(MicrosOf(now - kAuditKept))
                    .Run());
  return data.database()
      .Prepare("DELETE FROM audit WHERE id <= (SELECT max(id) FROM audit) - ?")
      .Int(kMaxAuditEntries)
      .Run();
}

Status ReadAudit(Data& data, WallTime since, const std::function<void(const AuditEntry&)>& use) {
  sqlite::Statement statement = data.database().Prepare(
      "SELECT time, what, account, address, object FROM audit WHERE time >= ? ORDER BY id");
  statement.Int(MicrosOf(since));
  for (;;) {
    FIELDCOST_ASSIGN(const bool found, statement.Step());
    if (!found) return {};
    use({.time = TimeOfMicros(statement.ColumnInt(0)),
         .what = statement.ColumnText(1),
         .account = statement.ColumnText(2),
         .address = statement.ColumnText(3),
         .object = statement.ColumnText(4)});
  }
}

void LogAudit(const AuditEntry& entry) {
  LogEvent(LogLevel::kInfo, entry.what,
           {{"account", entry.account}, {"address", entry.address}, {"object", entry.object}});
}

}  // namespace fieldcost::probe_server
