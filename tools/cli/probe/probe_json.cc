#include "tools/cli/probe/probe_json.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "common/probe/events_json.h"
#include "common/probe/steps.h"
#include "common/probe/value_names.h"
#include "tools/cli/json_parts.h"

namespace fieldcost::cli {
namespace {

namespace json = boost::json;

json::string Hex(std::uint64_t id) { return Text(fmt::format("{:016x}", id)); }

json::array TagsJson(const std::vector<std::string>& tags) {
  json::array array;
  for (const std::string& tag : tags) array.push_back(Text(tag));
  return array;
}

json::object FactsJson(const probe::SideFacts& facts) {
  json::object object{{"runs", facts.runs},
                      {"lost_points", facts.lost_hits},
                      {"runs_with_lost_points", facts.lost_runs},
                      {"cpu_wait_share", nullptr}};
  if (facts.measured_runs != 0) object["cpu_wait_share"] = facts.wait_share;
  return object;
}

json::object RowJson(const probe::EventRow& row) {
  const bool is_over = row.end_ns != 0;
  json::object object{{"id", Text(row.id.Hex())},
                      {"label", Text(row.label)},
                      {"program", Text(row.program)},
                      {"build", Text(row.build)},
                      {"tags", TagsJson(row.tags)},
                      {"session", Hex(row.session)},
                      {"begin_ns", Number(row.begin_ns)},
                      {"end_ns", nullptr},
                      {"total_ns", nullptr},
                      {"points", row.hits},
                      {"lost_points", row.lost_hits},
                      {"mark", Text(probe::Name(row.mark))}};
  if (is_over) object["end_ns"] = Number(row.end_ns);
  if (is_over) object["total_ns"] = Number(row.TotalNs());
  return object;
}

json::object EventJson(const JudgedEvent& judged) {
  json::object object = RowJson(judged.row);
  object["set_aside"] = nullptr;
  if (judged.verdict.IsSetAside()) {
    object["set_aside"] = json::object{{"why", Text(probe::Name(judged.verdict.why))},
                                       {"reason", Text(judged.verdict.reason)}};
  }
  object["two_kinds"] = judged.verdict.two_kinds;
  return object;
}

json::object HitJson(const probe::EventHit& hit) {
  json::object object{{"label", Text(hit.site.label)},
                      {"function", Text(hit.site.function)},
                      {"file", Text(hit.site.file)},
                      {"line", hit.site.line},
                      {"kind", Text(probe::Name(hit.kind))},
                      {"ns", Number(hit.ns)},
                      {"thread", hit.thread},
                      {"run", Hex(hit.run)},
                      {"program", Text(hit.program)},
                      {"value", nullptr},
                      {"stack", nullptr},
                      {"stack_is_cut", hit.stack_is_cut}};
  if (hit.value) object["value"] = Number(*hit.value);
  if (hit.has_stack) object["stack"] = probe::StackJson(hit.stack);
  return object;
}

}  // namespace

std::string EventsJson(const std::vector<JudgedEvent>& events, const EventListText& rest) {
  json::array list;
  for (const JudgedEvent& event : events) list.push_back(EventJson(event));
  return Print({{"events", std::move(list)},
                {"older", rest.older},
                {"set_aside", rest.set_aside},
                {"lost_points", rest.facts.lost_hits}});
}

std::string ShownEventsJson(const std::vector<ShownEvent>& events) {
  json::array list;
  for (const auto& [judged, event] : events) {
    json::object object = EventJson(judged);
    json::array steps;
    for (const probe::Step& step : probe::StepsOf(event)) {
      steps.push_back(json::object{{"name", Text(step.name)},
                                   {"ns", Number(step.ns)},
                                   {"between_threads", step.between_threads},
                                   {"point", step.hit}});
    }
    json::array points;
    for (const probe::EventHit& hit : event.hits) points.push_back(HitJson(hit));
    object["steps"] = std::move(steps);
    object["points"] = std::move(points);
    object["points_left_out"] = event.hits_left_out;
    list.push_back(std::move(object));
  }
  return Print({{"events", std::move(list)}});
}

std::string ComparisonsJson(const probe::ComparedSides& sides, double least) {
  json::array labels;
  for (const probe::ComparedGroup& each : sides.groups) {
    json::object object = probe::GroupJson(each.key);
    object["base_set_aside"] = each.base_set_aside;
    object["new_set_aside"] = each.new_set_aside;
    object["older"] = each.older;
    object["by_run"] = each.comparison.by_run;
    object["at_equal_wait"] = each.comparison.at_equal_wait;
    object["total"] = probe::ChangeJson(each.comparison.total);
    object["steps"] = probe::ChangesJson(each.comparison.steps);
    labels.push_back(std::move(object));
  }
  return Print({{"change", Text(inference::Name(WorstOf(sides.groups)))},
                {"allowed", least},
                {"labels", std::move(labels)},
                {"left_out", probe::LeftOutJson(sides.left_out)},
                {"base", FactsJson(sides.base)},
                {"new", FactsJson(sides.changed)},
                {"loads_differ", sides.loads_differ}});
}

std::string HistoryJson(const std::string& label, const std::vector<probe::HistoryLine>& history,
                        const probe::SideFacts& facts) {
  return Print({{"label", Text(label)},
                {"lines", probe::HistoryLinesJson(history)},
                {"lost_points", facts.lost_hits}});
}

std::string MarkedJson(const probe::EventRow& row) { return Print({{"event", RowJson(row)}}); }

std::string PurgedJson(std::uint64_t events) { return Print({{"purged", events}}); }

}  // namespace fieldcost::cli
