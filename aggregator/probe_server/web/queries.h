#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "aggregator/probe_server/pages/event_page.h"
#include "aggregator/probe_server/pages/history_page.h"
#include "aggregator/probe_server/pages/list_page.h"
#include "aggregator/probe_server/web/filter.h"
#include "common/probe/compare_events.h"
#include "common/probe/groups.h"
#include "common/probe/probe_limits.h"

namespace fieldcost::probe_server {

// Queries shared by pages and API. Errors: the database's and those named.

inline constexpr std::size_t kMaxHistoryEvents = 10'000;  // the newest
// The maximum total weight of the points of events that are shown or exported.
inline constexpr std::size_t kShownWeight = 400 * 1024;
inline constexpr double kLeastChange = 0.05;  // smaller differences do not count as changes

// Users' names by number; removed users are "user 7".
class UserNames {
 public:
  static Result<UserNames> Load(Data& data);
  std::string Of(std::uint64_t owner) const;

 private:
  std::map<std::uint64_t, std::string> names_;
};

struct FoundEvents {
  std::vector<EventLine> lines;
  std::size_t hidden = 0;  // set aside and not requested
  std::optional<probe::EventCursor> next;
};
Result<FoundEvents> FindEvents(Data& data, const AskedEvents& asked);

// kNotFound; kInvalidArgument: the id is malformed.
Result<EventView> LoadEvent(Data& data, std::string_view untrusted_id);

// Loads points only as long as their total weight is at most `max_weight`. kNotFound.
Result<std::vector<probe::Event>> LoadEvents(Data& data, const std::vector<probe::EventKey>& ids,
                                             std::size_t max_weight = probe::kMaxCompared *
                                                                      probe::kMaxWeightOfEvent);
std::vector<std::string> TagsOf(const std::vector<probe::Event>& events);
// Compares events that have one tag with those that have the other; omits events with both.
probe::Comparison CompareTags(const std::vector<probe::Event>& events, const std::string& base_tag,
                              const std::string& new_tag);

// Compares two groups of a label's events, given by base_build, base_tag, new_build and new_tag in
// addition to the parameters that ParseFilter() reads. nullopt: the query names no groups.
// kNotFound if a group is empty; kInvalidArgument if they have nothing in common.
Result<std::optional<probe::ComparedSides>> CompareAskedGroups(
    Data& data, const http::Parameters& untrusted_query);

// The keys of the newest requested events that are not set aside, at most `limit`.
Result<std::vector<probe::EventKey>> FindNewest(Data& data, AskedEvents asked, std::size_t limit);

// The history of a label, from completed events that are not set aside.
Result<HistoryView> LoadHistory(Data& data, const AskedEvents& asked);

// The newest events of the label that are set aside.
Result<std::vector<EventLine>> FindSetAside(Data& data, const std::string& label,
                                            std::size_t limit);

}  // namespace fieldcost::probe_server
