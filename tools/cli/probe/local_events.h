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

// A database of probe point events. Not thread-safe.
struct LocalEvents {
  std::unique_ptr<sqlite::Database> database;
  probe::EventStore store;  // uses `database`
};

// Opens `file`, or this machine's database if empty. kNotFound explains how to create one; kCorrupt
// and kInvalidArgument if it is not such a database; kUnsupported; errors of sqlite::Database.
Result<LocalEvents> OpenLocalEvents(
    const std::string& file, sqlite::Database::Access access = sqlite::Database::Access::kRead);

struct JudgedEvent {
  probe::EventRow row;
  probe::Judgement verdict;
};

// Maximum number of events read; if there are more, only the newest.
inline constexpr std::size_t kMostEventsRead = 200'000;

struct JudgedEvents {
  std::vector<JudgedEvent> events;  // newest first
  bool are_all = true;              // false if there were more than kMostEventsRead
};

// Loads the selected events. Each is judged among all events of its label, selected or not.
Result<JudgedEvents> LoadJudged(const LocalEvents& local, const EventSelection& selection);

// Finds the event of that name; "last" is the newest. kNotFound lists the existing events;
// kInvalidArgument, if several match, lists the matches.
Result<JudgedEvent> FindEvent(const LocalEvents& local, const std::string& untrusted_name);

// Names events as "abcdef01.17": the shortest prefix, at least 8 digits, that is unique among the
// runs.
class EventNames {
 public:
  explicit EventNames(const std::vector<JudgedEvent>& events);
  std::string Of(const probe::EventId& id) const;

 private:
  std::vector<std::uint64_t> runs_;  // sorted
};

}  // namespace fieldcost::cli
