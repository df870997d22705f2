#include "common/probe/events_json.h"

#include <string>
#include <utility>

namespace fieldcost::probe {
namespace {

namespace json = boost::json;

json::string Text(std::string_view untrusted_text) {
  return json::string(untrusted_text.data(), untrusted_text.size());
}

json::array TagsJson(const std::vector<std::string>& untrusted_tags) {
  json::array tags;
  for (const std::string& tag : untrusted_tags) tags.push_back(Text(tag));
  return tags;
}

}  // namespace

json::array StackJson(std::span<const Frame> stack) {
  json::array frames;
  for (const Frame& frame : stack) {
    frames.push_back(json::object{{"function", Text(frame.function)},
                                  {"module", Text(frame.module)},
                                  {"file", Text(frame.file)},
                                  {"line", frame.line}});
  }
  return frames;
}

json::object GroupJson(const GroupKey& key) {
  return {{"label", Text(key.label)}, {"program", Text(key.program)}, {"tags", TagsJson(key.tags)}};
}

json::object ChangeJson(const StepChange& change) {
  return {{"name", Text(change.name)},
          {"base_events", change.base_events},
          {"new_events", change.new_events},
          {"base_ns", change.base_ns},
          {"new_ns", change.new_ns},
          {"ratio", change.ratio},
          {"ratio_low", change.ratio_low},
          {"ratio_high", change.ratio_high},
          {"p", change.p},
          {"q", change.q},
          {"change", inference::Name(change.change)}};
}

json::array ChangesJson(std::span<const StepChange> changes) {
  json::array all;
  for (const StepChange& change : changes) all.push_back(ChangeJson(change));
  return all;
}

json::array LeftOutJson(std::span<const LeftOutGroup> groups) {
  json::array left_out;
  for (const LeftOutGroup& group : groups) {
    json::object object = GroupJson(group.key);
    object["side"] = group.is_of_base ? "base" : "new";
    object["events"] = group.events;
    left_out.push_back(std::move(object));
  }
  return left_out;
}

json::array HistoryLinesJson(std::span<const HistoryLine> lines) {
  json::array all;
  for (const HistoryLine& line : lines) {
    json::array builds;
    for (const BuildPoint& point : line.builds) {
      builds.push_back(json::object{{"build", Text(point.build)},
                                    {"first_ns", std::to_string(point.first_ns)},
                                    {"events", point.events},
                                    {"median_ns", point.median_ns},
                                    {"low_ns", point.low_ns},
                                    {"high_ns", point.high_ns},
                                    {"change", ChangeJson(point.change)}});
    }
    all.push_back(json::object{{"program", Text(line.program)},
                               {"tags", TagsJson(line.tags)},
                               {"builds", std::move(builds)}});
  }
  return all;
}

}  // namespace fieldcost::probe
