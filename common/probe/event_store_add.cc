// Adds a batch, EventStore::Add(): finds or creates the rows that it refers to, then adds its hits.
#include <algorithm>
#include <map>

#include "common/base/check.h"
#include "common/probe/event_sql.h"
#include "common/probe/event_store.h"
#include "common/probe/probe_limits.h"
#include "common/shm/mix.h"

namespace fieldcost::probe {
namespace {

using Rows = std::vector<std::uint64_t>;  // one per element of a batch's vector

// A hash whose values are multiplied, so that sums of a few of them differ, too.
std::uint64_t HashOf(std::string_view text) {
  const std::uint64_t hash = shm::HashBytes(text.data(), text.size());
  return (hash ^ hash >> 32) * 0xd6e8feb86659fd93 | 1;
}

// The row that the statement finds or creates, and returns.
Result<std::uint64_t> OneRow(sqlite::Statement& statement) {
  FIELDCOST_ASSIGN(const bool found, statement.Step());
  FIELDCOST_CHECK(found);
  const std::uint64_t row = statement.ColumnInt(0);
  statement.Reset();
  return row;
}

struct EventSums {
  std::uint64_t row = 0;
  std::uint64_t hits = 0;
  std::uint64_t points_key = 0;
  std::uint64_t first_ns = ~std::uint64_t{0};
};

struct StoredEvent {
  std::uint64_t run = 0;
  std::string label;
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint64_t flags = 0;
  std::uint64_t hits = 0;
  std::uint64_t points_key = 0;
};

class Adding {
 public:
  Adding(sqlite::Database& database, const Batch& batch, std::uint64_t owner)
      : database_(database), batch_(batch), owner_(owner) {}

  // Returns the bytes that it takes.
  Result<std::uint64_t> Do() {
    FIELDCOST_TRY(AddRuns());
    FIELDCOST_TRY(AddSites());
    FIELDCOST_TRY(AddStacks());
    FIELDCOST_TRY(AddEvents());
    FIELDCOST_TRY(AddHits());
    FIELDCOST_TRY(UpdateEvents());
    // Removes rows that no hit used after all.
    FIELDCOST_TRY(ChangeUses(database_, "frame", frame_uses_));
    FIELDCOST_TRY(ChangeUses(database_, "site", site_uses_));
    FIELDCOST_TRY(ChangeUses(database_, "stack", stack_uses_));
    FIELDCOST_TRY(ChangeUses(database_, "run", run_uses_));
    return bytes_;
  }

 private:
  // A row's texts are stored twice: in its table and in an index.
  static constexpr std::uint64_t kBytesOfRow = 60;
  template <typename... Texts>
  void Charge(const Texts&... texts) {
    bytes_ += kBytesOfRow + 2 * (std::uint64_t{0} + ... + texts.size());
  }

  // Like OneRow(), for a statement that also returns `uses`, which is 0 if the row is new.
  template <typename... Texts>
  Result<std::uint64_t> OneRowCharged(sqlite::Statement& statement, const Texts&... texts) {
    FIELDCOST_ASSIGN(const bool found, statement.Step());
    FIELDCOST_CHECK(found);
    const std::uint64_t row = statement.ColumnInt(0);
    if (statement.ColumnInt(1) == 0) Charge(texts...);
    statement.Reset();
    return row;
  }

  Status AddRuns() {
    sqlite::Statement statement = database_.Prepare(
        "INSERT INTO run VALUES(NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0) ON CONFLICT(owner, id) "
        "DO "
        "UPDATE "
        "SET disk_read_bytes = max(disk_read_bytes, excluded.disk_read_bytes), "
        "lost_hits = max(lost_hits, excluded.lost_hits), "
        "waited_ns = iif(excluded.observed_ns > observed_ns, excluded.waited_ns, waited_ns), "
        "observed_ns = max(observed_ns, excluded.observed_ns), tags = excluded.tags RETURNING row, "
        "uses");
    for (const Run& run : batch_.runs) {
      statement.Int(owner_).Int(run.id).Int(run.session).Text(run.program).Text(run.build);
      const std::string tags = TagsText(run.tags);
      statement.Text(tags).Int(run.start_ns);
      for (const std::uint64_t number :
           {run.disk_read_bytes, run.lost_hits, run.waited_ns, run.observed_ns}) {
        statement.Int(number & ~(std::uint64_t{1} << 63));
      }
      FIELDCOST_ASSIGN(runs_.emplace_back(),
                       OneRowCharged(statement, run.program, run.build, tags));
      run_uses_[runs_.back()];
    }
    return {};
  }

  Status AddSites() {
    sqlite::Statement statement = database_.Prepare(
        "INSERT INTO site VALUES(NULL, ?, ?, ?, ?, ?, 0) ON CONFLICT DO UPDATE SET uses = uses "
        "RETURNING row, uses");
    for (const Site& site : batch_.sites) {
      statement.Text(site.label).Text(site.function).Text(site.file).Int(site.line);
      statement.Int(static_cast<std::uint64_t>(site.kind));
      FIELDCOST_ASSIGN(sites_.emplace_back(),
                       OneRowCharged(statement, site.label, site.function, site.file));
      site_uses_[sites_.back()];
    }
    return {};
  }

  Result<Rows> AddFrames() {
    sqlite::Statement statement = database_.Prepare(
        "INSERT INTO frame VALUES(NULL, ?, ?, ?, ?, 0) ON CONFLICT DO UPDATE SET uses = uses "
        "RETURNING row, uses");
    Rows frames;
    for (const Frame& frame : batch_.frames) {
      statement.Text(frame.function).Text(frame.module).Text(frame.file).Int(frame.line);
      FIELDCOST_ASSIGN(frames.emplace_back(),
                       OneRowCharged(statement, frame.function, frame.module, frame.file));
      frame_uses_[frames.back()];
    }
    return frames;
  }

  // Frames count their uses in stacks, so only new stacks add to them.
  Status AddStacks() {
    FIELDCOST_ASSIGN(const Rows frames, AddFrames());
    sqlite::Statement find = database_.Prepare("SELECT row FROM stack WHERE frames = ?");
    sqlite::Statement make =
        database_.Prepare("INSERT INTO stack VALUES(NULL, ?, 0) RETURNING row");
    for (const Stack& stack : batch_.stacks) {
      std::string text;
      for (const std::uint32_t frame : stack.frames) text += std::to_string(frames[frame]) + ",";
      if (stack.is_cut) text += "...";
      FIELDCOST_ASSIGN(const bool found, find.Text(text).Step());
      if (found) stacks_.push_back(find.ColumnInt(0));
      find.Reset();
      if (!found) {
        FIELDCOST_ASSIGN(stacks_.emplace_back(), OneRow(make.Text(text)));
        Charge(text);
        for (const std::uint32_t frame : stack.frames) ++frame_uses_[frames[frame]];
      }
      stack_uses_[stacks_.back()];
    }
    return {};
  }

  Status AddEvents() {
    sqlite::Statement find =
        database_.Prepare("SELECT row FROM event WHERE owner = ? AND id_run = ? AND id_number = ?");
    sqlite::Statement make = database_.Prepare(
        "INSERT INTO event VALUES(NULL, ?, ?, ?, ?, '', 0, 0, 0, 0, 0, 0, '') RETURNING row");
    for (const EventInfo& event : batch_.events) {
      FIELDCOST_ASSIGN(const bool found,
                       find.Int(owner_).Int(event.id.run).Int(event.id.number).Step());
      EventSums& sums = events_[event.id];
      if (found) sums.row = find.ColumnInt(0);
      find.Reset();
      if (found) continue;
      make.Int(owner_).Int(event.id.run).Int(event.id.number).Int(runs_[event.run]);
      FIELDCOST_ASSIGN(sums.row, OneRow(make));
      ++run_uses_[runs_[event.run]];
      Charge(event.label, event.label);  // in two more indexes
    }
    return {};
  }

  Status AddHits() {
    sqlite::Statement make = database_.Prepare(
        "INSERT OR IGNORE INTO hit VALUES(?, ?, ?, ?, ?, ?, nullif(?, 0), ?, iif(?, ?, NULL), "
        "nullif(?, 0))");
    for (const Hit& hit : batch_.hits) {
      EventSums& sums = events_.at(hit.event);
      const std::uint64_t stack = hit.stack == kNoStack ? 0 : stacks_[hit.stack];
      make.Int(sums.row).Int(hit.ns).Int(runs_[hit.run]).Int(hit.thread).Int(hit.sequence);
      make.Int(sites_[hit.site]).Int(stack).Int(static_cast<std::uint64_t>(hit.kind));
      make.Int(hit.value ? 1 : 0).Int(hit.value.value_or(0)).Int(hit.parent);
      FIELDCOST_TRY(make.Run());
      if (database_.changes() == 0) continue;  // it already exists
      ++sums.hits;
      bytes_ += kBytesOfHit;
      sums.points_key += HashOf(batch_.sites[hit.site].label);
      sums.first_ns = std::min(sums.first_ns, hit.ns);
      ++site_uses_[sites_[hit.site]];
      ++run_uses_[runs_[hit.run]];
      if (hit.stack != kNoStack) ++stack_uses_[stack];
    }
    return {};
  }

  // Merges the stored event with the new facts in this batch.
  void Merge(const EventInfo& event, const EventSums& sums, StoredEvent& stored) {
    stored.end_ns = std::max(stored.end_ns, event.end_ns);
    stored.hits += sums.hits;
    stored.points_key += sums.points_key;
    if (event.is_incomplete) stored.flags |= kRowIncomplete;
    if (event.is_suspended) stored.flags |= kRowSuspended;
    if ((stored.flags & kRowHasBegin) != 0) return;
    if (event.begin_ns == 0) {
      if (sums.hits != 0 && (stored.begin_ns == 0 || sums.first_ns < stored.begin_ns)) {
        stored.begin_ns = sums.first_ns;
      }
      return;
    }
    stored.flags |= kRowHasBegin;
    stored.begin_ns = event.begin_ns;
    stored.label = event.label;
    --run_uses_[stored.run];
    stored.run = runs_[event.run];
    ++run_uses_[stored.run];
  }

  Status UpdateEvents() {
    sqlite::Statement find = database_.Prepare(
        "SELECT run, label, begin_ns, end_ns, flags, hits, points_key FROM event WHERE row = ?");
    sqlite::Statement change = database_.Prepare(
        "UPDATE event SET run = ?, label = ?, begin_ns = ?, end_ns = ?, flags = ?, hits = ?, "
        "points_key = ? WHERE row = ?");
    for (const EventInfo& event : batch_.events) {
      const EventSums& sums = events_.at(event.id);
      FIELDCOST_ASSIGN(const bool found, find.Int(sums.row).Step());
      FIELDCOST_CHECK(found);
      StoredEvent stored = {find.ColumnInt(0), find.ColumnText(1), find.ColumnInt(2),
                            find.ColumnInt(3), find.ColumnInt(4),  find.ColumnInt(5),
                            find.ColumnInt(6)};
      find.Reset();
      Merge(event, sums, stored);
      change.Int(stored.run).Text(stored.label).Int(stored.begin_ns).Int(stored.end_ns);
      change.Int(stored.flags).Int(stored.hits).Int(stored.points_key);
      FIELDCOST_TRY(change.Int(sums.row).Run());
    }
    return {};
  }

  sqlite::Database& database_;
  const Batch& batch_;
  std::uint64_t owner_;
  std::uint64_t bytes_ = 0;
  Rows runs_, sites_, stacks_;
  UseChanges run_uses_, site_uses_, frame_uses_, stack_uses_;
  std::map<EventId, EventSums> events_;
};

}  // namespace

Result<std::uint64_t> EventStore::Add(const Batch& batch, std::uint64_t owner) {
  FIELDCOST_CHECK(database_->InTransaction());
  return Adding(*database_, batch, owner).Do();
}

}  // namespace fieldcost::probe
