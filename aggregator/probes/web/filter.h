#pragma once

#include <optional>
#include <string>

#include "aggregator/probes/data/data.h"
#include "aggregator/probes/pages/list_page.h"
#include "aggregator/probes/web/parameters.h"
#include "common/probe/event_store.h"

namespace fieldcost::probe_server {

inline constexpr std::size_t kEventsOfPage = 50;
inline constexpr std::size_t kMostEventsOfPage = 500;

// Which events are asked for.
struct AskedEvents {
  FilterText text;
  probe::EventFilter filter;
  std::optional<probe::EventCursor> cursor;
  std::size_t limit = kEventsOfPage;
};

// label, user, build, tag, program, from, to (days of UTC, both included), aside=show, cursor,
// limit. kInvalidArgument names the one that is wrong; a user that there is not has no events.
Result<AskedEvents> ParseFilter(const Parameters& untrusted_query, Data& data);

// "2026-11-23" as the ns at which it begins; kInvalidArgument. Pure.
Result<std::uint64_t> ParseDay(std::string_view name, std::string_view untrusted_day);

std::string CursorText(const probe::EventCursor& cursor);
Result<probe::EventCursor> ParseCursor(std::string_view untrusted_text);

// The events that `id` names, at most `most` of them, each once. kInvalidArgument. Pure.
Result<std::vector<probe::EventKey>> ParseIds(const std::vector<std::string_view>& untrusted_ids,
                                              std::size_t most);

}  // namespace fieldcost::probe_server
