#include "aggregator/probe_server/web/filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "aggregator/probe_server/accounts/users.h"
#include "common/base/text.h"
#include "common/probe/probe_limits.h"

namespace fieldcost::probe_server {
namespace {

constexpr std::uint64_t kNsOfDay = 86'400'000'000'000;
// User numbers start at 1.
constexpr std::uint64_t kNobody = 0;

Status ReadTimes(const http::Parameters& untrusted_query, AskedEvents& asked) {
  if (!asked.text.from.empty()) {
    FIELDCOST_ASSIGN(asked.filter.from_ns, ParseDay("from", untrusted_query.Find("from")));
  }
  if (!asked.text.to.empty()) {
    FIELDCOST_ASSIGN(const std::uint64_t day, ParseDay("to", untrusted_query.Find("to")));
    asked.filter.to_ns = day + kNsOfDay;
  }
  return {};
}

}  // namespace

Result<std::uint64_t> ParseDay(std::string_view name, std::string_view untrusted_day) {
  const Error wrong = Fail(ErrorCode::kInvalidArgument,
                           "{}: expected a day from 2020 to 2099, e.g. 2026-11-23", name);
  if (untrusted_day.size() != 10 || untrusted_day[4] != '-' || untrusted_day[7] != '-') {
    return wrong;
  }
  const auto year = ParseUint64(untrusted_day.substr(0, 4));
  const auto month = ParseUint64(untrusted_day.substr(5, 2));
  const auto day = ParseUint64(untrusted_day.substr(8, 2));
  if (!year || !month || !day || *year < 2020 || *year > 2099) return wrong;
  const std::chrono::year_month_day date(std::chrono::year(static_cast<int>(*year)),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day)));
  if (!date.ok()) return wrong;
  return static_cast<std::uint64_t>(std::chrono::sys_days(date).time_since_epoch().count()) *
         kNsOfDay;
}

std::string CursorText(const probe::EventCursor& cursor) {
  return fmt::format("{}.{}", cursor.begin_ns, cursor.row);
}

Result<probe::EventCursor> ParseCursor(std::string_view untrusted_text) {
  const std::size_t dot = std::min(untrusted_text.find('.'), untrusted_text.size());
  const auto begin = ParseUint64(untrusted_text.substr(0, dot));
  const auto row = ParseUint64(untrusted_text.substr(std::min(dot + 1, untrusted_text.size())));
  if (!begin || !row) {
    return Fail(ErrorCode::kInvalidArgument, "cursor: expected a value from an earlier response");
  }
  return probe::EventCursor{.begin_ns = *begin, .row = *row};
}

Result<std::vector<probe::EventKey>> ParseIds(const std::vector<std::string_view>& untrusted_ids,
                                              std::size_t most) {
  std::vector<probe::EventKey> ids;
  for (const std::string_view untrusted_id : untrusted_ids) {
    const auto id = probe::EventKey::Parse(untrusted_id);
    if (!id) {
      return Fail(ErrorCode::kInvalidArgument,
                  "read the event '{}': expected its user's number, '-' and the event's own 32 hex "
                  "digits",
                  EscapeControl(untrusted_id.substr(0, 64)));
    }
    if (std::find(ids.begin(), ids.end(), *id) == ids.end()) ids.push_back(*id);
  }
  if (ids.empty()) return Fail(ErrorCode::kInvalidArgument, "no event was chosen");
  if (ids.size() > most) {
    return Fail(ErrorCode::kInvalidArgument, "{} events were chosen; at most {} are possible",
                ids.size(), most);
  }
  return ids;
}

Result<AskedEvents> ParseFilter(const http::Parameters& untrusted_query, Data& data) {
  const auto text = [&](std::string_view name) { return std::string(untrusted_query.Find(name)); };
  AskedEvents asked{.text = {.label = text("label"),
                             .user = text("user"),
                             .build = text("build"),
                             .tag = text("tag"),
                             .program = text("program"),
                             .from = text("from"),
                             .to = text("to"),
                             .with_set_aside = untrusted_query.Find("aside") == "show"}};
  asked.filter = {.label = asked.text.label,
                  .build = asked.text.build,
                  .tag = asked.text.tag,
                  .program = asked.text.program};
  FIELDCOST_TRY(ReadTimes(untrusted_query, asked));
  if (!asked.text.user.empty()) {
    FIELDCOST_ASSIGN(const auto user, FindUser(data.database(), asked.text.user));
    asked.filter.owners = {user ? user->id.value() : kNobody};
  }
  if (const std::string_view cursor = untrusted_query.Find("cursor"); !cursor.empty()) {
    FIELDCOST_ASSIGN(asked.cursor, ParseCursor(cursor));
  }
  if (const std::string_view limit = untrusted_query.Find("limit"); !limit.empty()) {
    const auto number = ParseUint64(limit);
    if (!number || *number == 0 || *number > kMostEventsOfPage) {
      return Fail(ErrorCode::kInvalidArgument, "limit: expected 1 to {}", kMostEventsOfPage);
    }
    asked.limit = *number;
  }
  return asked;
}

}  // namespace fieldcost::probe_server
