#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "aggregator/probes/pages/event_page.h"
#include "aggregator/probes/pages/history_page.h"
#include "aggregator/probes/pages/list_page.h"
#include "aggregator/probes/web/filter.h"
#include "common/probe/compare.h"
#include "common/probe/groups.h"
#include "common/probe/limits.h"

namespace fieldcost::probe_server {

// What pages and API have in common. Errors: the database's, and those named.

inline constexpr std::size_t kMaxHistoryEvents = 10'000;  // the newest
// What the points of an event may weigh that are shown or exported, in all.
inline constexpr std::size_t kShownWeight = 400 * 1024;
inline constexpr double kLeastChange = 0.05;  // that is named

// Users' names by number; those that are gone are "user 7".
class UserNames {
 public:
  static Result<UserNames> Load(Data& data);
  std::string Of(std::uint64_t owner) const;

 private:
  std::map<std::uint64_t, std::string> names_;
};

struct FoundEvents {
  std::vector<EventLine> lines;
  std::size_t hidden = 0;  // set aside, and not asked for
  std::optional<probe::EventCursor> next;
};
Result<FoundEvents> FindEvents(Data& data, const AskedEvents& asked);

// kNotFound; kInvalidArgument: it is no event's number.
Result<EventView> LoadEvent(Data& data, std::string_view untrusted_id);

// With points as long as all of them weigh at most `max_weight`. kNotFound.
Result<std::vector<probe::Event>> LoadEvents(Data& data, const std::vector<probe::EventKey>& ids,
                                             std::size_t max_weight = probe::kMaxCompared *
                                                                      probe::kMaxWeightOfEvent);
std::vector<std::string> TagsOf(const std::vector<probe::Event>& events);
// Compares events with one tag with those with the other; events with both are left out.
probe::Comparison CompareTags(const std::vector<probe::Event>& events, const std::string& base_tag,
                              const std::string& new_tag);

// The history of a label, of events that are over and not set aside.
// Two groups of a label's events: base_build, base_tag and new_build, new_tag of the query, beside
// what ParseFilter() reads. nullopt: it names no groups. kNotFound if one is empty;
// kInvalidArgument if they have nothing in common.
Result<std::optional<probe::ComparedSides>> CompareAskedGroups(Data& data,
                                                               const Parameters& untrusted_query);

// The newest events of what is asked for that are not set aside, at most `limit`; their keys.
Result<std::vector<probe::EventKey>> FindNewest(Data& data, AskedEvents asked, std::size_t limit);

Result<HistoryView> LoadHistory(Data& data, const AskedEvents& asked);

// The newest events of the label that are set aside.
Result<std::vector<EventLine>> FindSetAside(Data& data, const std::string& label,
                                            std::size_t limit);

}  // namespace fieldcost::probe_server
