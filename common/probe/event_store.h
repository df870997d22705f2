#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/probe/probe_limits.h"
#include "common/probe/types.h"
#include "common/sqlite/sqlite.h"

namespace fieldcost::probe {

// Events and their hits in a SQLite database: probe.db on the user's machine, the server's own
// database on a server. event_store.cc defines the tables. All calls use one connection and are not
// thread-safe; other connections may read meanwhile. Errors: those of sqlite::Database.

// A user's decision about an event, which overrides that of set_aside.h.
enum class Mark : std::uint8_t { kNone = 0, kSetAside = 1, kKept = 2 };

// A run of one owner. Programs choose the ids of their runs, so two owners may have the same id.
struct RunKey {
  std::uint64_t owner = 0;
  std::uint64_t run = 0;
  auto operator<=>(const RunKey&) const = default;
};

// An event in a store: two owners may have events with the same id.
struct EventKey {
  std::uint64_t owner = 0;
  EventId id;
  auto operator<=>(const EventKey&) const = default;

  // "7-" and 32 hex digits.
  std::string Text() const;
  static std::optional<EventKey> Parse(std::string_view untrusted_text);
};

struct EventRow {
  std::uint64_t row = 0;  // increases in the order of arrival
  EventId id;
  std::string label;
  std::uint64_t owner = 0;  // as given to Add()
  std::string program;
  std::string build;
  std::vector<std::string> tags;  // of the run, sorted
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;  // 0: not over
  std::uint64_t hits = 0;
  bool is_incomplete = false;
  bool is_suspended = false;
  Mark mark = Mark::kNone;
  std::string mark_reason;
  // Equal for events that passed the same labels equally often, in any order.
  std::uint64_t points_key = 0;
  std::uint64_t session = 0;  // of the run, like the following ones (types.h)
  std::uint64_t lost_hits = 0;
  std::uint64_t waited_ns = 0;
  std::uint64_t observed_ns = 0;  // 0: not measured

  EventKey key() const { return {owner, id}; }
  RunKey run_key() const { return {owner, id.run}; }
  std::uint64_t TotalNs() const { return end_ns > begin_ns ? end_ns - begin_ns : 0; }
};

struct EventFilter {
  std::string label;  // empty: any; likewise for all members
  std::string build;
  std::string tag;
  std::string program;
  std::vector<std::uint64_t> owners;
  std::uint64_t from_ns = 0;  // begun in [from, to)
  std::uint64_t to_ns = 0;    // 0: no end
  std::uint64_t run = 0;
  std::uint64_t session = 0;
  bool ended_only = false;
};

// The end of a page of a list; older items come next.
struct EventCursor {
  std::uint64_t begin_ns = 0;
  std::uint64_t row = 0;
};

struct EventPage {
  std::vector<EventRow> events;  // newest first, by begin
  std::optional<EventCursor> next;
};

// A hit with its indices resolved.
struct EventHit {
  Site site;
  std::vector<Frame> stack;  // innermost first
  bool has_stack = false;
  bool stack_is_cut = false;
  HitKind kind = HitKind::kPoint;
  std::uint64_t run = 0;
  std::string program;
  std::uint64_t ns = 0;
  std::uint32_t thread = 0;
  std::uint64_t sequence = 0;
  std::optional<std::uint64_t> value;
  std::uint64_t parent = 0;
};

struct Event {
  EventRow row;
  std::vector<EventHit> hits;       // by time; within a thread by sequence
  std::uint64_t hits_left_out = 0;  // beyond kMaxHitsOfEvent
};

struct LabelCount {
  std::string label;
  std::uint64_t events = 0;
  std::uint64_t newest_ns = 0;
};

// The end of a page of labels.
struct LabelCursor {
  std::uint64_t newest_ns = 0;
  std::string label;
};

struct LabelPage {
  std::vector<LabelCount> labels;  // newest first
  std::optional<LabelCursor> next;
};

// The result of a bounded step of removal.
struct Removed {
  std::uint64_t events = 0;
  bool has_more = false;  // call again
};

class EventStore {
 public:
  // Creates the tables if they do not exist; kUnsupported if they have another version. The
  // database must outlive the store.
  static Result<EventStore> Create(sqlite::Database& database);

  // Adds a valid batch. Events and runs belong to `owner`: a batch cannot add to those of another
  // owner. Existing hits (same event, time, run, thread and sequence) are not added again.
  // REQUIRES: the caller's transaction, so that its own rows (a ledger, positions) are written
  // atomically with the batch. Returns the approximate size on disk in bytes: kBytesOfHit per hit,
  // plus new events, runs, sites, stacks and frames.
  Result<std::uint64_t> Add(const Batch& batch, std::uint64_t owner);

  Result<EventPage> List(const EventFilter& filter, std::optional<EventCursor> after,
                         std::size_t limit) const;
  Result<LabelPage> Labels(const EventFilter& filter, const std::optional<LabelCursor>& after,
                           std::size_t limit) const;
  // kNotFound.
  Result<EventRow> Row(const EventKey& key) const;
  // With as many hits as fit into `max_weight`; the others are left out.
  Result<Event> Get(const EventKey& key, std::size_t max_weight = kMaxWeightOfEvent) const;

  // kNotFound. Begins a transaction unless one is open.
  Status SetMark(const EventKey& key, Mark mark, const std::string& reason);

  // Removes events with their hits and everything no longer referenced; returns the number of
  // events removed. REQUIRES: the caller's transaction.
  Result<std::uint64_t> Remove(const std::vector<EventKey>& keys);
  // Remove events that began before a time, oldest first; that begin at or after a time, latest
  // first; or that belong to an owner. Each call removes at most `limit` events and kMaxRemovedHits
  // hits; an event with more hits is removed in several calls. REQUIRES: the caller's transaction.
  Result<Removed> Expire(std::uint64_t before_ns, std::size_t limit);
  Result<Removed> ExpireFuture(std::uint64_t from_ns, std::size_t limit);
  Result<Removed> RemoveOf(std::uint64_t owner, std::size_t limit);

  struct Size {
    std::uint64_t events = 0;
    std::uint64_t hits = 0;
    std::uint64_t bytes = 0;  // of the database that are in use
  };
  Result<Size> Measure() const;

 private:
  explicit EventStore(sqlite::Database& database) : database_(&database) {}
  sqlite::Database* database_;
};

}  // namespace fieldcost::probe
