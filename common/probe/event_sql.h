#pragma once

#include <map>

#include "common/probe/event_store.h"

namespace fieldcost::probe {

// Shared by the sources of EventStore. For this folder only.

// Columns in the order of RowOf().
inline constexpr char kSelectEvent[] =
    "SELECT event.row, id_run, id_number, label, event.owner, program, build, tags, begin_ns, "
    "end_ns, hits, flags, mark, mark_reason, points_key, session, lost_hits, waited_ns, "
    "observed_ns FROM event JOIN run ON run.row = "
    "event.run";

enum EventRowFlag : std::uint64_t { kRowIncomplete = 1, kRowSuspended = 2, kRowHasBegin = 4 };

EventRow RowOf(const sqlite::Statement& statement);

// Changes of `uses`, by row of a table. Applying them removes rows that are no longer used;
// removing a stack also releases its frames.
using UseChanges = std::map<std::uint64_t, std::int64_t>;
Status ChangeUses(sqlite::Database& database, const std::string& table, const UseChanges& changes);

// "\na\nb\n"; empty without tags.
std::string TagsText(const std::vector<std::string>& tags);
std::vector<std::string> TagsOf(std::string_view text);

}  // namespace fieldcost::probe
