#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/probe/event_store.h"
#include "common/probe/set_aside.h"
#include "common/sqlite/sqlite.h"
#include "tools/cli/probe/event_selection.h"

namespace fieldcost::cli {

// A database with events of probe points. Not thread-safe.
struct LocalEvents {
  std::unique_ptr<sqlite::Database> database;
  probe::EventStore store;  // of the database
};

// `file` empty: this machine's database. kNotFound explains how to create one; kCorrupt and
// kInvalidArgument if it is no such database; kUnsupported; errors of sqlite::Database.
Result<LocalEvents> OpenLocalEvents(
    const std::string& file, sqlite::Database::Access access = sqlite::Database::Access::kRead);

struct JudgedEvent {
  probe::EventRow row;
  probe::Verdict verdict;
};

// If there are more, only the newest are read.
inline constexpr std::size_t kMostEventsRead = 200'000;

struct JudgedEvents {
  std::vector<JudgedEvent> events;  // newest first
  bool are_all = true;              // there are at most kMostEventsRead
};

// Loads the selected events; each is judged among all of its label, selected or not.
Result<JudgedEvents> LoadJudged(const LocalEvents& local, const EventSelection& selection);

// kNotFound, listing the events, if none matches; kInvalidArgument, listing the matches, if several
// do. `last` is the newest.
Result<JudgedEvent> FindEvent(const LocalEvents& local, const std::string& untrusted_name);

// "abcdef01.17": the shortest prefix that is unique among the runs, at least 8 digits.
class EventNames {
 public:
  explicit EventNames(const std::vector<JudgedEvent>& events);
  std::string Of(const probe::EventId& id) const;

 private:
  std::vector<std::uint64_t> runs_;  // sorted
};

}  // namespace fieldcost::cli
