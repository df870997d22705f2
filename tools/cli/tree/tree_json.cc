#include "tools/cli/tree/tree_json.h"

#include <algorithm>
#include <boost/json.hpp>

#include "common/base/text.h"
#include "common/draw/numbers.h"
#include "tools/cli/json_parts.h"
#include "tools/cli/tree/tree_json_parts.h"

namespace fieldcost::cli {
namespace {

namespace json = boost::json;

json::object NodeJson(const analysis::TreeView& view, const analysis::ViewNode& node) {
  json::object object{{"parent", node.parent}};
  if (node.depth != 0) {
    const tree::Frame& frame = view.frame(node);
    object["name"] = Text(analysis::NameOf(frame));
    object["module"] = Text(frame.module);
    object["function"] = Text(frame.function);
    if (!frame.file.empty()) object["file"] = Text(frame.file);
    if (frame.kind == tree::FrameKind::kUnnamed) {
      object["build_id"] = Text(HexEncode(frame.build_id));
      object["offset"] = frame.offset;
    }
  }
  object["self"] = Text(draw::Decimal(node.self.after));
  object["inclusive"] = Text(draw::Decimal(node.inclusive.after));
  if (view.IsDifference()) {
    object["self_before"] = Text(draw::Decimal(node.self.before));
    object["inclusive_before"] = Text(draw::Decimal(node.inclusive.before));
  }
  return object;
}

json::object ReportJson(const recording::VerifyReport& report) {
  json::object frames;
  for (const auto& [type, count] : report.frames) frames[type] = count;
  json::array problems;
  for (const recording::Problem& problem : report.problems) {
    problems.push_back(json::object{{"offset", problem.offset}, {"what", Text(problem.what)}});
  }
  return {{"good", report.is_good()},
          {"bytes", report.bytes},
          {"frames", std::move(frames)},
          {"samples", report.samples},
          {"paths", report.paths},
          {"runs", report.runs},
          {"open_runs", report.open_runs},
          {"trees", report.trees},
          {"has_index", report.has_index},
          {"read_to", report.stop.offset},
          {"reason", Text(report.stop.reason)},
          {"problems", std::move(problems)}};
}

json::object ViewWithRemarksJson(const analysis::TreeView& view,
                                 const std::vector<std::string>& remarks) {
  json::object object = TreeViewJson(view);
  object["remarks"] = RemarksJson(remarks);
  return object;
}

json::array PathJson(const tree::Dictionary& dictionary, tree::PathId path) {
  json::array names;
  for (; path != tree::kRootPath; path = dictionary.paths.parent(path)) {
    names.push_back(Text(analysis::NameOf(dictionary.frame(path))));
  }
  std::ranges::reverse(names);
  return names;
}

json::object ComparisonJson(const tree::Comparison& comparison) {
  json::array changes;
  for (const tree::Change& change : comparison.changes) {
    const bool is_self = change.kind == tree::ValueKind::kSelf;
    changes.push_back(json::object{{"kind", is_self ? "self" : "inclusive"},
                                   {"path", PathJson(*comparison.dictionary, change.path)},
                                   {"before", change.before},
                                   {"after", change.after},
                                   {"q", change.q}});
  }
  const auto or_null = [](const std::optional<double>& value) {
    return value ? json::value(*value) : json::value(nullptr);
  };
  return {{"enough", comparison.is_enough},
          {"total", json::object{{"before", comparison.total.before},
                                 {"after", comparison.total.after},
                                 {"p", or_null(comparison.total.p)},
                                 {"change", Text(inference::Name(comparison.total.verdict))}}},
          {"factor", comparison.factor},
          {"factor_p", or_null(comparison.factor_p)},
          {"alike_p", or_null(comparison.alike_p)},
          {"tested", comparison.tested},
          {"changes", std::move(changes)}};
}

}  // namespace

json::object TreeViewJson(const analysis::TreeView& view) {
  json::array nodes;
  for (const analysis::ViewNode& node : view.nodes) nodes.push_back(NodeJson(view, node));
  return {{"metric", Text(view.metric.name)}, {"unit", Text(tree::Name(view.metric.unit))},
          {"sampled", view.metric.sampled()}, {"runs", view.runs_after},
          {"runs_before", view.runs_before},  {"denominator", view.denominator},
          {"nodes", std::move(nodes)}};
}

json::array RemarksJson(const std::vector<std::string>& remarks) {
  json::array lines;
  for (const std::string& remark : remarks) lines.push_back(Text(remark));
  return lines;
}

std::string TreeJson(const analysis::TreeView& view, const std::vector<std::string>& remarks) {
  return Print(ViewWithRemarksJson(view, remarks));
}

std::string TreeDiffJson(const tree::Comparison& comparison, const analysis::TreeView& view,
                         const std::vector<std::string>& remarks) {
  json::object object = ViewWithRemarksJson(view, remarks);
  object["comparison"] = ComparisonJson(comparison);
  return Print(object);
}

std::string VerifyJson(const recording::VerifyReport& report) { return Print(ReportJson(report)); }

std::string RecoverJson(const recording::RecoverReport& report) {
  return Print({{"found", ReportJson(report.found)},
                {"kept_bytes", report.kept_bytes},
                {"lost_bytes", report.lost_bytes},
                {"kept_samples", report.kept_samples},
                {"reason", Text(report.reason)}});
}

}  // namespace fieldcost::cli
