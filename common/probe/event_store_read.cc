// Reads events: List(), Labels(), Get().
#include "common/base/text.h"
#include "common/probe/event_sql.h"
#include "common/probe/event_store.h"
#include "common/probe/probe_limits.h"

namespace fieldcost::probe {
namespace {

// A WHERE clause and the values of its parameters, in order.
class Where {
 public:
  explicit Where(const EventFilter& filter) {
    if (!filter.label.empty()) Text("label = ?", filter.label);
    if (!filter.build.empty()) Text("build = ?", filter.build);
    if (!filter.program.empty()) Text("program = ?", filter.program);
    if (!filter.tag.empty()) Text("instr(tags, ?) > 0", "\n" + filter.tag + "\n");
    if (!filter.owners.empty()) Owners(filter.owners);
    if (filter.from_ns != 0) Int("begin_ns >= ?", filter.from_ns);
    if (filter.to_ns != 0) Int("begin_ns < ?", filter.to_ns);
    if (filter.run != 0) Int("id_run = ?", filter.run);
    if (filter.session != 0) Int("session = ?", filter.session);
    if (filter.ended_only) And("end_ns > 0");
  }

  void Before(const EventCursor& cursor) {
    And("(begin_ns, event.row) < (?, ?)");
    values_.push_back({{}, cursor.begin_ns, false});
    values_.push_back({{}, cursor.row, false});
  }

  const std::string& sql() const { return sql_; }
  void Bind(sqlite::Statement& statement) const {
    for (const Value& value : values_) {
      value.is_text ? statement.Text(value.text) : statement.Int(value.number);
    }
  }

 private:
  struct Value {
    std::string text;
    std::uint64_t number = 0;
    bool is_text = false;
  };
  void And(const std::string& condition) {
    sql_ += (sql_.empty() ? " WHERE " : " AND ") + condition;
  }
  void Text(const std::string& condition, std::string value) {
    And(condition);
    values_.push_back({std::move(value), 0, true});
  }
  void Int(const std::string& condition, std::uint64_t value) {
    And(condition);
    values_.push_back({{}, value, false});
  }
  void Owners(const std::vector<std::uint64_t>& owners) {
    std::string list;
    for (const std::uint64_t owner : owners) {
      list += list.empty() ? "?" : ", ?";
      values_.push_back({{}, owner, false});
    }
    And("event.owner IN (" + list + ")");
  }

  std::string sql_;
  std::vector<Value> values_;
};

using Frames = std::vector<Frame>;

Result<Frames> FramesOf(sqlite::Statement& find, std::string_view rows) {
  Frames frames;
  for (std::size_t comma = 0; (comma = rows.find(',')) != std::string_view::npos;) {
    const auto row = ParseUint64(rows.substr(0, comma));
    rows.remove_prefix(comma + 1);
    FIELDCOST_ASSIGN(const bool found, find.Int(row.value_or(0)).Step());
    if (found) {
      frames.push_back({find.ColumnText(0), find.ColumnText(1), find.ColumnText(2),
                        static_cast<std::uint32_t>(find.ColumnInt(3))});
    }
    find.Reset();
  }
  return frames;
}

constexpr char kSelectHits[] =
    "SELECT label, site.function, site.file, site.line, site.kind, stack.frames, hit.kind, run.id, "
    "program, ns, "
    "thread, sequence, value IS NOT NULL, value, parent FROM hit JOIN site ON site.row = hit.site "
    "JOIN run ON run.row = hit.run LEFT JOIN stack ON stack.row = hit.stack WHERE event = ? "
    "ORDER BY ns, run, thread, sequence LIMIT ?";

EventHit HitOf(const sqlite::Statement& statement) {
  const std::string_view stack = statement.ColumnView(5);
  EventHit hit = {
      .site = {statement.ColumnText(0), statement.ColumnText(1), statement.ColumnText(2),
               static_cast<std::uint32_t>(statement.ColumnInt(3)),
               static_cast<SiteKind>(statement.ColumnInt(4))},
      .has_stack = !stack.empty(),
      .stack_is_cut = stack.ends_with("..."),
      .kind = static_cast<HitKind>(statement.ColumnInt(6)),
      .run = statement.ColumnInt(7),
      .program = statement.ColumnText(8),
      .ns = statement.ColumnInt(9),
      .thread = static_cast<std::uint32_t>(statement.ColumnInt(10)),
      .sequence = statement.ColumnInt(11),
      .parent = statement.ColumnInt(14)};
  if (statement.ColumnInt(12) != 0) hit.value = statement.ColumnInt(13);
  return hit;
}

std::size_t WeightOf(const EventHit& hit) {
  constexpr std::size_t kOfHit = 250;
  constexpr std::size_t kOfFrame = 40;
  std::size_t weight =
      kOfHit + hit.site.label.size() + hit.site.function.size() + hit.site.file.size();
  for (const Frame& frame : hit.stack) {
    weight += kOfFrame + frame.function.size() + frame.module.size() + frame.file.size();
  }
  return weight;
}

}  // namespace

Result<EventPage> EventStore::List(const EventFilter& filter, std::optional<EventCursor> after,
                                   std::size_t limit) const {
  Where where(filter);
  if (after) where.Before(*after);
  sqlite::Statement statement = database_->Prepare(
      kSelectEvent + where.sql() + " ORDER BY begin_ns DESC, event.row DESC LIMIT ?");
  where.Bind(statement);
  statement.Int(limit + 1);
  EventPage page;
  for (;;) {
    FIELDCOST_ASSIGN(const bool found, statement.Step());
    if (!found) return page;
    if (page.events.size() == limit) break;
    page.events.push_back(RowOf(statement));
  }
  if (limit != 0) page.next = {page.events.back().begin_ns, page.events.back().row};
  return page;
}

Result<LabelPage> EventStore::Labels(const EventFilter& filter,
                                     const std::optional<LabelCursor>& after,
                                     std::size_t limit) const {
  const Where where(filter);
  // Unless the filter concerns runs, the index by label contains everything needed.
  const bool needs_run = !filter.build.empty() || !filter.program.empty() || !filter.tag.empty() ||
                         filter.session != 0;
  const std::string join = needs_run ? " JOIN run ON run.row = event.run" : "";
  const std::string having =
      after ? " HAVING max(begin_ns) < ? OR (max(begin_ns) = ? AND label > ?)" : "";
  sqlite::Statement statement =
      database_->Prepare("SELECT label, count(*), max(begin_ns) FROM event" + join + where.sql() +
                         " GROUP BY label" + having + " ORDER BY 3 DESC, 1 LIMIT ?");
  where.Bind(statement);
  if (after) statement.Int(after->newest_ns).Int(after->newest_ns).Text(after->label);
  statement.Int(limit + 1);
  LabelPage page;
  for (;;) {
    FIELDCOST_ASSIGN(const bool found, statement.Step());
    if (!found) return page;
    if (page.labels.size() == limit) break;
    page.labels.push_back(
        {statement.ColumnText(0), statement.ColumnInt(1), statement.ColumnInt(2)});
  }
  if (limit != 0) page.next = {page.labels.back().newest_ns, page.labels.back().label};
  return page;
}

Result<Event> EventStore::Get(const EventKey& key, std::size_t max_weight) const {
  std::size_t weight = 0;
  Event event;
  FIELDCOST_ASSIGN(event.row, Row(key));
  sqlite::Statement statement = database_->Prepare(kSelectHits);
  sqlite::Statement frames =
      database_->Prepare("SELECT function, module, file, line FROM frame WHERE row = ?");
  statement.Int(event.row.row).Int(kMaxHitsOfEvent);
  for (;;) {
    FIELDCOST_ASSIGN(const bool found, statement.Step());
    if (!found) break;
    EventHit& hit = event.hits.emplace_back(HitOf(statement));
    if (hit.has_stack) {
      FIELDCOST_ASSIGN(hit.stack, FramesOf(frames, statement.ColumnView(5)));
    }
    weight += WeightOf(hit);
    if (weight <= max_weight) continue;
    event.hits.pop_back();
    break;
  }
  event.hits_left_out = event.row.hits - std::min<std::uint64_t>(event.row.hits, event.hits.size());
  return event;
}

}  // namespace fieldcost::probe
