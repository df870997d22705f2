#include "common/probe/event_sql.h"

#include "common/base/text.h"

namespace fieldcost::probe {
namespace {

// Subtracts one use from each row listed in a stack's text: "17,4,9," or "17,...".
void Give(std::string_view frames, UseChanges& changes) {
  for (std::size_t comma = 0; (comma = frames.find(',')) != std::string_view::npos;) {
    if (const auto row = ParseUint64(frames.substr(0, comma))) --changes[*row];
    frames.remove_prefix(comma + 1);
  }
}

}  // namespace

EventRow RowOf(const sqlite::Statement& statement) {
  const std::uint64_t flags = statement.ColumnInt(11);
  return {.row = statement.ColumnInt(0),
          .id = {statement.ColumnInt(1), statement.ColumnInt(2)},
          .label = statement.ColumnText(3),
          .owner = statement.ColumnInt(4),
          .program = statement.ColumnText(5),
          .build = statement.ColumnText(6),
          .tags = TagsOf(statement.ColumnView(7)),
          .begin_ns = statement.ColumnInt(8),
          .end_ns = statement.ColumnInt(9),
          .hits = statement.ColumnInt(10),
          .is_incomplete = (flags & kRowIncomplete) != 0,
          .is_suspended = (flags & kRowSuspended) != 0,
          .mark = static_cast<Mark>(statement.ColumnInt(12)),
          .mark_reason = statement.ColumnText(13),
          .points_key = statement.ColumnInt(14),
          .session = statement.ColumnInt(15),
          .lost_hits = statement.ColumnInt(16),
          .waited_ns = statement.ColumnInt(17),
          .observed_ns = statement.ColumnInt(18)};
}

Status ChangeUses(sqlite::Database& database, const std::string& table, const UseChanges& changes) {
  sqlite::Statement change =
      database.Prepare("UPDATE " + table + " SET uses = uses + ? WHERE row = ? RETURNING uses");
  const bool is_stack = table == "stack";
  sqlite::Statement remove = database.Prepare("DELETE FROM " + table + " WHERE row = ? RETURNING " +
                                              (is_stack ? "frames" : "row"));
  UseChanges frames;
  for (const auto& [row, by] : changes) {
    FIELDCOST_ASSIGN(const bool found, change.Int(static_cast<std::uint64_t>(by)).Int(row).Step());
    const bool is_used = !found || change.ColumnInt(0) != 0;
    change.Reset();
    if (is_used) continue;
    FIELDCOST_TRY(remove.Int(row).Step());
    if (is_stack) Give(remove.ColumnView(0), frames);
    remove.Reset();
  }
  return frames.empty() ? Status() : ChangeUses(database, "frame", frames);
}

std::string TagsText(const std::vector<std::string>& tags) {
  std::string text;
  for (const std::string& tag : tags) text += "\n" + tag;
  return text.empty() ? text : text + "\n";
}

std::vector<std::string> TagsOf(std::string_view text) {
  std::vector<std::string> tags;
  while (text.size() > 1) {
    text.remove_prefix(1);
    tags.emplace_back(text.substr(0, text.find('\n')));
    text.remove_prefix(tags.back().size());
  }
  return tags;
}

}  // namespace fieldcost::probe
