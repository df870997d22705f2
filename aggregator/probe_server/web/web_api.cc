// API handlers that read.
#include <algorithm>

#include "aggregator/probe_server/web/api_json.h"
#include "aggregator/probe_server/web/queries.h"
#include "aggregator/probe_server/web/web_handlers.h"
#include "common/http/answers.h"
#include "common/probe/event_export.h"
#include "common/probe/probe_limits.h"

namespace fieldcost::probe_server {
namespace {

// "ids=A,B" and "id=A&id=B" are equivalent.
Result<std::vector<probe::EventKey>> IdsOf(const Visit& visit) {
  std::vector<std::string_view> untrusted_ids = visit.target.query.All("id");
  std::string_view list = visit.target.query.Find("ids");
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    untrusted_ids.push_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return ParseIds(untrusted_ids, probe::kMaxCompared);
}

}  // namespace

Result<http::Response> ApiEvents(Visit& visit) {
  FIELDCOST_ASSIGN(const AskedEvents asked, ParseFilter(visit.target.query, visit.data));
  FIELDCOST_ASSIGN(const FoundEvents found, FindEvents(visit.data, asked));
  return http::JsonAnswer(200, EventsJson(found));
}

Result<http::Response> ApiEvent(Visit& visit) {
  FIELDCOST_ASSIGN(const EventView view, LoadEvent(visit.data, visit.Part(2)));
  return http::JsonAnswer(200, EventJson(view));
}

Result<http::Response> ApiCompare(Visit& visit) {
  FIELDCOST_ASSIGN(const auto groups, CompareAskedGroups(visit.data, visit.target.query));
  if (groups) return http::JsonAnswer(200, GroupsJson(*groups));
  FIELDCOST_ASSIGN(const std::vector<probe::EventKey> ids, IdsOf(visit));
  FIELDCOST_ASSIGN(const std::vector<probe::Event> events, LoadEvents(visit.data, ids));
  const std::string base(visit.target.query.Find("base"));
  const std::string changed(visit.target.query.Find("new"));
  std::optional<probe::Comparison> comparison;
  if (!base.empty() && !changed.empty()) comparison = CompareTags(events, base, changed);
  return http::JsonAnswer(200, ComparisonJson(events, comparison));
}

Result<http::Response> ApiHistory(Visit& visit) {
  FIELDCOST_ASSIGN(const AskedEvents asked, ParseFilter(visit.target.query, visit.data));
  if (asked.text.label.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "label: it is missing");
  }
  FIELDCOST_ASSIGN(const HistoryView view, LoadHistory(visit.data, asked));
  return http::JsonAnswer(200, HistoryJson(view));
}

Result<http::Response> ApiExport(Visit& visit) {
  FIELDCOST_ASSIGN(const std::vector<probe::EventKey> ids, IdsOf(visit));
  const std::string_view format = visit.target.query.Find("format");
  if (format != "otlp" && format != "chrome") {
    return Fail(ErrorCode::kInvalidArgument, "format: expected otlp or chrome");
  }
  FIELDCOST_ASSIGN(const std::vector<probe::Event> events,
                   LoadEvents(visit.data, ids, kShownWeight));
  FIELDCOST_ASSIGN(const std::string account, visit.ViewerName());
  std::string exported;
  for (const probe::EventKey& id : ids) exported += (exported.empty() ? "" : ",") + id.Text();
  FIELDCOST_TRY(visit.site.writer.Run(
      [&](Data& data) { return Audit(data, visit.Audited("export", account, exported)); }));
  http::Response response = http::JsonAnswer(
      200, format == "otlp" ? probe::ToOtlpJson(events) : probe::ToChromeJson(events));
  response.headers.emplace_back("Content-Disposition", "attachment; filename=\"events.json\"");
  return response;
}

}  // namespace fieldcost::probe_server
