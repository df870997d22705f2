#include "aggregator/probe_server/web/api_json.h"

#include <boost/json.hpp>

#include "common/json/json_text.h"
#include "common/probe/events_json.h"
#include "common/probe/steps.h"
#include "common/probe/value_names.h"

namespace fieldcost::probe_server {
namespace {

namespace json = boost::json;

json::object RowJson(const probe::EventRow& row, const std::string& user,
                     const probe::Judgement& verdict) {
  json::array tags(row.tags.begin(), row.tags.end());
  json::object object{{"id", row.key().Text()},
                      {"label", row.label},
                      {"user", user},
                      {"program", row.program},
                      {"build", row.build},
                      {"tags", std::move(tags)},
                      {"begin_ns", std::to_string(row.begin_ns)},
                      {"is_over", row.end_ns != 0},
                      {"total_ns", row.TotalNs()},
                      {"hits", row.hits},
                      {"lost_points", row.lost_hits},
                      {"is_incomplete", row.is_incomplete},
                      {"is_suspended", row.is_suspended},
                      {"mark", probe::Name(row.mark)},
                      {"mark_reason", row.mark_reason},
                      {"is_set_aside", verdict.IsSetAside()},
                      {"reason", verdict.reason}};
  return object;
}

json::object HitJson(const probe::EventHit& hit) {
  json::object object{{"label", hit.site.label},
                      {"function", hit.site.function},
                      {"file", hit.site.file},
                      {"line", hit.site.line},
                      {"kind", static_cast<unsigned>(hit.kind)},
                      {"ns", std::to_string(hit.ns)},
                      {"run", std::to_string(hit.run)},
                      {"program", hit.program},
                      {"thread", hit.thread},
                      {"sequence", hit.sequence}};
  if (hit.value) object["value"] = std::to_string(*hit.value);
  if (hit.has_stack) {
    object["stack"] = probe::StackJson(hit.stack);
    object["stack_is_cut"] = hit.stack_is_cut;
  }
  return object;
}

}  // namespace

std::string EventsJson(const FoundEvents& found) {
  json::array events;
  for (const EventLine& line : found.lines) {
    events.push_back(RowJson(line.row, line.user, line.verdict));
  }
  json::object answer{{"events", std::move(events)}, {"set_aside_left_out", found.hidden}};
  if (found.next) answer["next"] = CursorText(*found.next);
  return JsonText(answer);
}

std::string EventJson(const EventView& view) {
  json::object answer = RowJson(view.event.row, view.user, view.verdict);
  json::array hits;
  for (const probe::EventHit& hit : view.event.hits) hits.push_back(HitJson(hit));
  json::array steps;
  for (const probe::Step& step : probe::StepsOf(view.event)) {
    steps.push_back(json::object{{"name", step.name},
                                 {"hit", step.hit},
                                 {"ns", step.ns},
                                 {"between_threads", step.between_threads}});
  }
  answer["points"] = std::move(hits);
  answer["points_left_out"] = view.event.hits_left_out;
  answer["steps"] = std::move(steps);
  return JsonText(answer);
}

std::string ComparisonJson(const std::vector<probe::Event>& events,
                           const std::optional<probe::Comparison>& comparison) {
  const probe::StepTable table = probe::Align(events);
  json::array ids;
  json::array columns;
  for (std::size_t event = 0; event < events.size(); ++event) {
    ids.push_back(json::value(events[event].row.key().Text()));
    json::array column;
    for (const std::uint64_t ns : table.ns[event]) {
      column.push_back(ns == probe::kNoStep ? json::value() : json::value(ns));
    }
    columns.push_back(std::move(column));
  }
  json::object answer{{"events", std::move(ids)},
                      {"steps", json::array(table.names.begin(), table.names.end())},
                      {"ns", std::move(columns)}};
  if (comparison) {
    answer["total"] = probe::ChangeJson(comparison->total);
    answer["changes"] = probe::ChangesJson(comparison->steps);
  }
  return JsonText(answer);
}

std::string GroupsJson(const probe::ComparedSides& sides) {
  json::array groups;
  for (const probe::ComparedGroup& group : sides.groups) {
    json::object object = probe::GroupJson(group.key);
    object["base_set_aside"] = group.base_set_aside;
    object["new_set_aside"] = group.new_set_aside;
    object["by_run"] = group.comparison.by_run;
    object["at_equal_wait"] = group.comparison.at_equal_wait;
    object["total"] = probe::ChangeJson(group.comparison.total);
    object["changes"] = probe::ChangesJson(group.comparison.steps);
    groups.push_back(std::move(object));
  }
  return JsonText(json::object{{"groups", std::move(groups)},
                               {"left_out", probe::LeftOutJson(sides.left_out)},
                               {"base_lost_points", sides.base.lost_hits},
                               {"new_lost_points", sides.changed.lost_hits},
                               {"loads_differ", sides.loads_differ}});
}

std::string HistoryJson(const HistoryView& view) {
  return JsonText(json::object{{"label", view.filter.label},
                               {"lines", probe::HistoryLinesJson(view.lines)},
                               {"set_aside_left_out", view.set_aside},
                               {"lost_points", view.lost_hits}});
}

}  // namespace fieldcost::probe_server
