// Removing events, and what they referred to with the last event that used it: Remove(), Expire().
#include "common/base/check.h"
#include "common/probe/event_sql.h"
#include "common/probe/event_store.h"

namespace fieldcost::probe {
namespace {

class Removing {
 public:
  explicit Removing(sqlite::Database& database) : database_(database) {}

  Status Event(std::uint64_t row) {
    FIELDCOST_TRY(Count("SELECT run, 1 FROM event WHERE row = ?", row, runs_));
    FIELDCOST_TRY(Count("SELECT run, count(*) FROM hit WHERE event = ? GROUP BY run", row, runs_));
    FIELDCOST_TRY(
        Count("SELECT site, count(*) FROM hit WHERE event = ? GROUP BY site", row, sites_));
    FIELDCOST_TRY(Count(
        "SELECT stack, count(*) FROM hit WHERE event = ? AND stack IS NOT NULL GROUP BY stack", row,
        stacks_));
    FIELDCOST_TRY(database_.Prepare("DELETE FROM hit WHERE event = ?").Int(row).Run());
    return database_.Prepare("DELETE FROM event WHERE row = ?").Int(row).Run();
  }

  Status Finish() {
    FIELDCOST_TRY(ChangeUses(database_, "run", runs_));
    FIELDCOST_TRY(ChangeUses(database_, "site", sites_));
    return ChangeUses(database_, "stack", stacks_);
  }

 private:
  Status Count(const char* sql, std::uint64_t event, UseChanges& changes) {
    sqlite::Statement statement = database_.Prepare(sql);
    statement.Int(event);
    for (;;) {
      FIELDCOST_ASSIGN(const bool found, statement.Step());
      if (!found) return {};
      changes[statement.ColumnInt(0)] -= static_cast<std::int64_t>(statement.ColumnInt(1));
    }
  }

  sqlite::Database& database_;
  UseChanges runs_, sites_, stacks_;
};

Result<std::uint64_t> RemoveRows(sqlite::Database& database, sqlite::Statement& statement) {
  std::vector<std::uint64_t> rows;
  for (;;) {
    FIELDCOST_ASSIGN(const bool found, statement.Step());
    if (!found) break;
    rows.push_back(statement.ColumnInt(0));
  }
  statement.Reset();
  Removing removing(database);
  for (const std::uint64_t row : rows) FIELDCOST_TRY(removing.Event(row));
  FIELDCOST_TRY(removing.Finish());
  return rows.size();
}

}  // namespace

Result<std::uint64_t> EventStore::Remove(const std::vector<EventId>& ids) {
  FIELDCOST_CHECK(database_->InTransaction());
  sqlite::Statement find = database_->Prepare(
      "SELECT min(row) FROM event WHERE id_run = ? AND id_number = ? HAVING min(row) IS NOT NULL");
  std::uint64_t removed = 0;
  for (const EventId& id : ids) {
    find.Int(id.run).Int(id.number);
    FIELDCOST_ASSIGN(const std::uint64_t gone, RemoveRows(*database_, find));
    removed += gone;
  }
  return removed;
}

Result<std::uint64_t> EventStore::Expire(std::uint64_t before_ns, std::size_t limit) {
  FIELDCOST_CHECK(database_->InTransaction());
  sqlite::Statement find =
      database_->Prepare("SELECT row FROM event WHERE begin_ns < ? ORDER BY begin_ns, row LIMIT ?");
  find.Int(before_ns).Int(limit);
  return RemoveRows(*database_, find);
}

}  // namespace fieldcost::probe
