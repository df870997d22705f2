// Pages of labels, events and steps, the comparison of events, and the history of a label.
#include "aggregator/probe_server/pages/event_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "aggregator/probe_server/pages/compare_page.h"
#include "aggregator/probe_server/pages/history_page.h"
#include "aggregator/probe_server/pages/list_page.h"
#include "aggregator/probe_server/web/queries.h"
#include "aggregator/probe_server/web/web_handlers.h"
#include "common/base/text.h"
#include "common/http/answers.h"
#include "common/probe/probe_limits.h"

namespace fieldcost::probe_server {
namespace {

constexpr std::size_t kLabelsOfPage = 200;
constexpr std::size_t kMaxOfferedLabels = 100;

std::string NoticeOf(std::string_view done) {
  if (done == "marked") return "The mark is saved.";
  if (done == "purged") return "The events are removed.";
  return "";
}

// The selected events, otherwise the newest of the label.
Result<std::vector<probe::EventKey>> IdsToCompare(Visit& visit) {
  const http::Parameters& query = visit.target.query;
  if (query.Find("label").empty() || !query.All("id").empty()) {
    return ParseIds(query.All("id"), probe::kMaxCompared);
  }
  FIELDCOST_ASSIGN(AskedEvents asked, ParseFilter(query, visit.data));
  FIELDCOST_ASSIGN(std::vector<probe::EventKey> ids,
                   FindNewest(visit.data, std::move(asked), probe::kMaxCompared));
  if (ids.empty()) return Fail(ErrorCode::kNotFound, "no event of this label has ended");
  return ids;
}

}  // namespace

Result<http::Response> ShowLabels(Visit& visit) {
  const http::Parameters& query = visit.target.query;
  std::optional<probe::LabelCursor> after;
  if (const std::string_view before = query.Find("before"); !before.empty()) {
    const auto newest = ParseUint64(before);
    if (!newest)
      return Fail(ErrorCode::kInvalidArgument, "before: expected a value from an earlier page");
    after = {.newest_ns = *newest, .label = std::string(query.Find("after"))};
  }
  FIELDCOST_ASSIGN(const probe::LabelPage page,
                   visit.data.events().Labels({}, after, kLabelsOfPage));
  return http::HtmlAnswer(200, LabelsPage(visit.PageFrame("Labels"), page));
}

Result<http::Response> ShowEvents(Visit& visit) {
  FIELDCOST_ASSIGN(const AskedEvents asked, ParseFilter(visit.target.query, visit.data));
  FIELDCOST_ASSIGN(FoundEvents found, FindEvents(visit.data, asked));
  FIELDCOST_ASSIGN(const probe::LabelPage labels,
                   visit.data.events().Labels({}, std::nullopt, kMaxOfferedLabels));
  EventList list{.filter = asked.text, .lines = std::move(found.lines), .hidden = found.hidden};
  for (const probe::LabelCount& label : labels.labels) list.labels.push_back(label.label);
  if (found.next) list.older_cursor = CursorText(*found.next);
  Frame frame = visit.PageFrame(asked.text.label.empty() ? "Events" : "Events " + asked.text.label);
  frame.notice = NoticeOf(visit.target.query.Find("done"));
  return http::HtmlAnswer(200, EventsPage(frame, list));
}

Result<http::Response> ShowEvent(Visit& visit) {
  FIELDCOST_ASSIGN(const EventView view, LoadEvent(visit.data, visit.Part(1)));
  Frame frame = visit.PageFrame("Event " + view.event.row.label);
  frame.notice = NoticeOf(visit.target.query.Find("done"));
  return http::HtmlAnswer(200, EventPage(frame, view));
}

Result<http::Response> ShowStep(Visit& visit) {
  FIELDCOST_ASSIGN(const EventView view, LoadEvent(visit.data, visit.Part(1)));
  const auto hit = ParseUint64(visit.Part(3));
  if (!hit || *hit >= view.event.hits.size()) {
    return Fail(ErrorCode::kNotFound, "the event has no such step");
  }
  return http::HtmlAnswer(
      200, StepPage(visit.PageFrame("Step " + view.event.hits[*hit].site.label), view, *hit));
}

Result<http::Response> ShowComparison(Visit& visit) {
  const http::Parameters& query = visit.target.query;
  FIELDCOST_ASSIGN(const std::vector<probe::EventKey> ids, IdsToCompare(visit));
  CompareView view{.label = std::string(query.Find("label")),
                   .base_tag = std::string(query.Find("base")),
                   .new_tag = std::string(query.Find("new"))};
  FIELDCOST_ASSIGN(view.events, LoadEvents(visit.data, ids));
  std::ranges::stable_sort(view.events, {},
                           [](const probe::Event& event) { return event.row.begin_ns; });
  FIELDCOST_ASSIGN(const UserNames names, UserNames::Load(visit.data));
  for (const probe::Event& event : view.events) view.users.push_back(names.Of(event.row.owner));
  view.tags = TagsOf(view.events);
  if (!view.base_tag.empty() && !view.new_tag.empty() && view.base_tag != view.new_tag) {
    view.comparison = CompareTags(view.events, view.base_tag, view.new_tag);
  }
  FIELDCOST_ASSIGN(view.groups, CompareAskedGroups(visit.data, query));
  return http::HtmlAnswer(200, ComparePage(visit.PageFrame("Side by side"), view));
}

Result<http::Response> ShowHistory(Visit& visit) {
  FIELDCOST_ASSIGN(const AskedEvents asked, ParseFilter(visit.target.query, visit.data));
  if (asked.text.label.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "label: it is missing");
  }
  FIELDCOST_ASSIGN(const HistoryView view, LoadHistory(visit.data, asked));
  return http::HtmlAnswer(200,
                          HistoryPage(visit.PageFrame("History of " + asked.text.label), view));
}

}  // namespace fieldcost::probe_server
