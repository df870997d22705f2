#include "tools/cli/costs/check_json.h"

#include "common/draw/numbers.h"
#include "tools/cli/json_parts.h"
#include "tools/report/tree/checked_contexts.h"
#include "tools/report/tree/checked_tree.h"

namespace fieldcost::cli {
namespace {

namespace json = boost::json;

std::string_view Word(analysis::Stratum stratum) {
  switch (stratum) {
    case analysis::Stratum::kNone:
      return "none";
    case analysis::Stratum::kSameClass:
      return "same_class";
    case analysis::Stratum::kAllClasses:
      return "all_classes";
    case analysis::Stratum::kOtherVersions:
      return "other_versions";
  }
  return "";
}

json::object PJson(const inference::PValue& p) {
  return {{"p", p.p}, {"method", Text(analysis::Name(p.method))}};
}

json::object CheckedJson(const analysis::CheckedApi& api) {
  const inference::Comparison& c = api.comparison;
  json::object object = ApiJson(api.key.api);
  json::array versions;
  for (const std::string& version : api.field.versions) versions.push_back(Text(version));
  object["verdict"] = Text(inference::Name(c.verdict));
  object["compared_with"] = Text(Word(api.field.stratum));
  object["field_versions"] = std::move(versions);
  object["n"] = c.calls;
  object["contributions"] = c.contributions;
  object["few_machines"] = c.few_machines;
  object["field_calls"] = c.few_machines ? json::value(nullptr) : json::value(c.field_calls);
  object["ratio"] = c.ratio;
  object["cliffs_delta"] = c.cliffs_delta;
  object["calls"] = PJson(c.call_test.by_bucket);
  object["calls_by_rank"] = PJson(c.call_test.by_rank);
  const auto& skewness = c.machine_test.skewness;
  object["machines"] =
      json::object{{"count", c.machines},
                   {"p", c.machine_test.p},
                   {"t", c.machine_test.t},
                   {"degrees_of_freedom", c.machine_test.degrees_of_freedom},
                   {"skewness", skewness ? json::value(*skewness) : json::value(nullptr)},
                   {"octaves_above", c.machine_test.octaves_above}};
  object["q"] = c.q;
  object["seed"] = Text(analysis::SeedText(c.call_test.seed));
  object["own_removed"] = c.own_removed;
  return object;
}

json::object HeadJson(const analysis::CheckReport& report, const CheckFacts& facts) {
  json::object counts;
  for (const auto verdict :
       {inference::Verdict::kMore, inference::Verdict::kTooLittleData, inference::Verdict::kNone}) {
    const std::string_view word = inference::Name(verdict);
    counts[json::string_view(word.data(), word.size())] = report.Count(verdict);
  }
  return {
      {"format_version", kCheckFormatVersion},
      {"checked", Text(draw::FormatTime(facts.checked))},
      {"checked_unix_seconds",
       std::chrono::duration_cast<std::chrono::seconds>(facts.checked.time_since_epoch()).count()},
      {"profile", Text(facts.profile)},
      {"metric", Text(stats::Name(report.metric))},
      {"unit", Text(stats::Unit(report.metric))},
      {"hardware", HardwareJson(facts.hardware)},
      {"permutations", inference::kPermutations},
      {"seed", Text(analysis::SeedText(report.Seed()))},
      {"seed_option", report.salt},
      {"own_batches_unknown", report.own_unknown},
      {"counts", std::move(counts)},
      {"freshness", FreshnessJson(facts.freshness)}};
}

json::object CheckObject(const analysis::CheckReport& report, const CheckFacts& facts) {
  json::object object = HeadJson(report, facts);
  json::array apis;
  for (const analysis::CheckedApi& api : report.apis) apis.push_back(CheckedJson(api));
  object["apis"] = std::move(apis);
  return object;
}

json::array ContextsJson(const TreeToCheck& tree, const analysis::CheckReport& report) {
  json::array array;
  for (const report::CheckedContext& context : report::ContextsOf(tree.mean, tree.metric, report)) {
    json::array callers;
    for (const std::string& caller : report::CallersOf(tree.mean, context)) {
      callers.push_back(Text(caller));
    }
    json::object one{{"api", Text(stats::DisplayName(context.api->key.api))},
                     {"callers", std::move(callers)},
                     {"total", Text(draw::Decimal(context.cost))},
                     {"calls", nullptr},
                     {"ratio", nullptr},
                     {"q", nullptr},
                     {"deviates", nullptr}};
    if (context.calls != 0) one["calls"] = Text(draw::Decimal(context.calls));
    if (context.comparison) {
      one["ratio"] = context.comparison->ratio;
      if (context.comparison->q) {
        one["q"] = *context.comparison->q;
        one["deviates"] = context.comparison->deviates;
      }
    }
    array.push_back(std::move(one));
  }
  return array;
}

json::object TreeObject(const TreeToCheck& tree, const analysis::CheckReport& report) {
  const analysis::TreeView& view = tree.view;
  const report::CheckedTree checked = report::Highlight(view, report);
  json::array nodes;
  for (std::size_t i = 1; i < view.nodes.size(); ++i) {
    const analysis::ViewNode& node = view.nodes[i];
    json::object one{{"name", Text(analysis::NameOf(view.frame(node)))},
                     {"total", Text(draw::Decimal(node.inclusive.after))},
                     {"self", Text(draw::Decimal(node.self.after))}};
    one["parent"] = node.parent == 0 ? json::value(nullptr) : json::value(node.parent - 1);
    const analysis::CheckedApi* api = checked.nodes[i].flagged;
    one["flagged"] = api == nullptr
                         ? json::value(nullptr)
                         : json::value{{"api", Text(stats::DisplayName(api->key.api))},
                                       {"verdict", Text(inference::Name(api->comparison.verdict))},
                                       {"ratio", api->comparison.ratio}};
    nodes.push_back(std::move(one));
  }
  return {{"metric", Text(view.metric.name)},
          {"unit", Text(tree::Name(view.metric.unit))},
          {"denominator", view.denominator},
          {"total", Text(draw::Decimal(view.nodes[0].inclusive.after))},
          {"worse_total", Text(draw::Decimal(checked.flagged_total))},
          {"worse_apis_seen", checked.worse_seen},
          {"contexts", ContextsJson(tree, report)},
          {"nodes", std::move(nodes)}};
}

}  // namespace

std::string CheckJson(const analysis::CheckReport& report, const CheckFacts& facts) {
  return Print(CheckObject(report, facts));
}

std::string CheckJson(const analysis::CheckReport& report, const CheckFacts& facts,
                      json::object coverage, const TreeToCheck* tree) {
  json::object object = CheckObject(report, facts);
  object["coverage"] = std::move(coverage);
  object["tree"] = nullptr;
  if (tree != nullptr) object["tree"] = TreeObject(*tree, report);
  return Print(object);
}

std::string ExplainJson(const std::vector<const analysis::CheckedApi*>& apis,
                        const analysis::CheckReport& report, const CheckFacts& facts) {
  json::object object = HeadJson(report, facts);
  json::array array;
  for (const analysis::CheckedApi* api : apis) {
    json::object one = CheckedJson(*api);
    one["mine"] = HistogramJson(api->mine);
    one["field"] = nullptr;
    if (!api->comparison.few_machines) one["field"] = HistogramJson(api->field.sums.histogram);
    array.push_back(std::move(one));
  }
  object["apis"] = std::move(array);
  return Print(object);
}

std::string CheckedTreeJson(const TreeToCheck& tree, const analysis::CheckReport& report) {
  return Print(TreeObject(tree, report));
}

std::string SavedJson(const std::filesystem::path& file, std::size_t size_bytes) {
  return Print({{"file", Text(file.string())}, {"size_bytes", size_bytes}});
}

}  // namespace fieldcost::cli
