#pragma once

#include <optional>
#include <string>

#include "aggregator/probe_server/data/data.h"
#include "aggregator/probe_server/pages/list_page.h"
#include "common/http/request_target.h"
#include "common/probe/event_store.h"

namespace fieldcost::probe_server {

inline constexpr std::size_t kEventsOfPage = 50;
inline constexpr std::size_t kMostEventsOfPage = 500;

// A request for events.
struct AskedEvents {
  FilterText text;
  probe::EventFilter filter;
  std::optional<probe::EventCursor> cursor;
  std::size_t limit = kEventsOfPage;
};

// Parses label, user, build, tag, program, from, to (UTC days, both inclusive), aside=show, cursor
// and limit. kInvalidArgument names the invalid one; a nonexistent user has no events.
Result<AskedEvents> ParseFilter(const http::Parameters& untrusted_query, Data& data);

// The ns at which the day "2026-11-23" begins; kInvalidArgument. Pure.
Result<std::uint64_t> ParseDay(std::string_view name, std::string_view untrusted_day);

std::string CursorText(const probe::EventCursor& cursor);
Result<probe::EventCursor> ParseCursor(std::string_view untrusted_text);

// Parses the ids of at most `most` events, without duplicates. kInvalidArgument. Pure.
Result<std::vector<probe::EventKey>> ParseIds(const std::vector<std::string_view>& untrusted_ids,
                                              std::size_t most);

}  // namespace fieldcost::probe_server
