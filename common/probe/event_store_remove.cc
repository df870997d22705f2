// Removes events, and the rows that only they referred to: Remove(), Expire() and similar
// functions.
#include <algorithm>

#include "common/base/check.h"
#include "common/probe/event_sql.h"
#include "common/probe/event_store.h"
#include "common/probe/probe_limits.h"

namespace fieldcost::probe {
namespace {

class Removing {
 public:
  explicit Removing(sqlite::Database& database) : database_(database) {}

  // Removes at most `hits` of the event's hits (and reduces `hits`), and the event together with
  // its last hit. Returns whether the event was removed.
  Result<bool> Event(std::uint64_t row, std::uint64_t& hits) {
    sqlite::Statement find = database_.Prepare(
        "SELECT ns, run, thread, sequence FROM hit WHERE event = ? ORDER BY ns, run, thread, "
        "sequence LIMIT 1 OFFSET ?");
    FIELDCOST_ASSIGN(const bool has_more, find.Int(row).Int(hits).Step());
    // The first hit that is kept.
    std::vector<std::uint64_t> end;
    for (int i = 0; has_more && i < 4; ++i) end.push_back(find.ColumnInt(i));
    find.Reset();
    FIELDCOST_TRY(Count("SELECT run, count(*)", " GROUP BY run", row, end, runs_));
    FIELDCOST_TRY(Count("SELECT site, count(*)", " GROUP BY site", row, end, sites_));
    FIELDCOST_TRY(Count("SELECT stack, count(*)", " AND stack IS NOT NULL GROUP BY stack", row, end,
                        stacks_));
    sqlite::Statement remove = database_.Prepare("DELETE" + FromHits(end));
    Bind(remove, row, end);
    FIELDCOST_TRY(remove.Run());
    const std::uint64_t gone = database_.changes();
    hits -= std::min(hits, gone);
    if (has_more) {
      FIELDCOST_TRY(database_.Prepare("UPDATE event SET hits = hits - ? WHERE row = ?")
                        .Int(gone)
                        .Int(row)
                        .Run());
      return false;
    }
    sqlite::Statement event = database_.Prepare("DELETE FROM event WHERE row = ? RETURNING run");
    FIELDCOST_ASSIGN(const bool found, event.Int(row).Step());
    if (found) --runs_[event.ColumnInt(0)];
    return found;
  }

  Status Finish() {
    FIELDCOST_TRY(ChangeUses(database_, "run", runs_));
    FIELDCOST_TRY(ChangeUses(database_, "site", sites_));
    return ChangeUses(database_, "stack", stacks_);
  }

 private:
  static std::string FromHits(const std::vector<std::uint64_t>& end) {
    const std::string part = end.empty() ? "" : " AND (ns, run, thread, sequence) < (?, ?, ?, ?)";
    return " FROM hit WHERE event = ?" + part;
  }
  static void Bind(sqlite::Statement& statement, std::uint64_t event,
                   const std::vector<std::uint64_t>& end) {
    statement.Int(event);
    for (const std::uint64_t value : end) statement.Int(value);
  }

  Status Count(const std::string& select, const std::string& group, std::uint64_t event,
               const std::vector<std::uint64_t>& end, UseChanges& changes) {
    sqlite::Statement statement = database_.Prepare(select + FromHits(end) + group);
    Bind(statement, event, end);
    for (;;) {
      FIELDCOST_ASSIGN(const bool found, statement.Step());
      if (!found) return {};
      changes[statement.ColumnInt(0)] -= static_cast<std::int64_t>(statement.ColumnInt(1));
    }
  }

  sqlite::Database& database_;
  UseChanges runs_, sites_, stacks_;
};

constexpr std::uint64_t kAllHits = std::uint64_t{1} << 62;

Result<Removed> RemoveRows(sqlite::Database& database, sqlite::Statement& statement,
                           std::uint64_t hits) {
  std::vector<std::uint64_t> rows;
  for (;;) {
    FIELDCOST_ASSIGN(const bool found, statement.Step());
    if (!found) break;
    rows.push_back(statement.ColumnInt(0));
  }
  statement.Reset();
  Removing removing(database);
  Removed removed;
  for (const std::uint64_t row : rows) {
    if (hits == 0) break;
    FIELDCOST_ASSIGN(const bool gone, removing.Event(row, hits));
    removed.events += gone ? 1 : 0;
  }
  FIELDCOST_TRY(removing.Finish());
  removed.has_more = removed.events < rows.size();
  return removed;
}

// Removes at most `limit` events found by the statement, which has a parameter and a limit.
Result<Removed> RemovePiece(sqlite::Database& database, const char* sql, std::uint64_t value,
                            std::size_t limit) {
  sqlite::Statement find = database.Prepare(sql);
  find.Int(value).Int(limit);
  FIELDCOST_ASSIGN(Removed removed, RemoveRows(database, find, kMaxRemovedHits));
  removed.has_more = removed.has_more || removed.events == limit;
  return removed;
}

}  // namespace

Result<std::uint64_t> EventStore::Remove(const std::vector<EventKey>& keys) {
  FIELDCOST_CHECK(database_->InTransaction());
  sqlite::Statement find =
      database_->Prepare("SELECT row FROM event WHERE owner = ? AND id_run = ? AND id_number = ?");
  std::uint64_t removed = 0;
  for (const EventKey& key : keys) {
    find.Int(key.owner).Int(key.id.run).Int(key.id.number);
    FIELDCOST_ASSIGN(const Removed gone, RemoveRows(*database_, find, kAllHits));
    removed += gone.events;
  }
  return removed;
}

Result<Removed> EventStore::Expire(std::uint64_t before_ns, std::size_t limit) {
  FIELDCOST_CHECK(database_->InTransaction());
  return RemovePiece(*database_,
                     "SELECT row FROM event WHERE begin_ns < ? ORDER BY begin_ns, row LIMIT ?",
                     before_ns, limit);
}

Result<Removed> EventStore::ExpireFuture(std::uint64_t from_ns, std::size_t limit) {
  FIELDCOST_CHECK(database_->InTransaction());
  return RemovePiece(*database_,
                     "SELECT row FROM event WHERE begin_ns >= ? ORDER BY begin_ns DESC LIMIT ?",
                     from_ns, limit);
}

Result<Removed> EventStore::RemoveOf(std::uint64_t owner, std::size_t limit) {
  FIELDCOST_CHECK(database_->InTransaction());
  return RemovePiece(*database_, "SELECT row FROM event WHERE owner = ? LIMIT ?", owner, limit);
}

}  // namespace fieldcost::probe
