#include "tools/cli/costs/report_json.h"

#include "common/draw/numbers.h"
#include "tools/analysis/trend.h"
#include "tools/cli/json_parts.h"

namespace fieldcost::cli {
namespace {

namespace json = boost::json;
using inference::Verdict;

json::value CountOrNull(const std::optional<std::uint64_t>& count) {
  return count ? json::value(*count) : json::value(nullptr);
}

json::value TotalJson(const std::optional<stats::FieldCost>& total) {
  if (!total) return nullptr;
  json::object object = {
      {"ns", total->ns}, {"standard_error_ns", nullptr}, {"of", Text(draw::RunsText(*total))}};
  if (total->of_all_runs) object["standard_error_ns"] = total->standard_error_ns;
  return object;
}

json::value NumberOrNull(const std::optional<double>& number) {
  return number ? json::value(*number) : json::value(nullptr);
}

json::object ChangeJson(const analysis::MetricChange& change) {
  json::object object = {{"metric", Text(stats::Name(change.metric))},
                         {"unit", Text(stats::Unit(change.metric))},
                         {"change", Text(inference::Name(change.change))},
                         {"before", FiguresJson(change.before)},
                         {"after", FiguresJson(change.after)},
                         {"classes", change.classes},
                         {"machines_before", change.test.machines_before},
                         {"machines_after", change.test.machines_after}};
  if (change.test.strata == 0) {
    object["test"] = nullptr;
    return object;
  }
  object["test"] = json::object{{"ratio", change.ratio},
                                {"ratio_low", change.ratio_low},
                                {"ratio_high", change.ratio_high},
                                {"cliffs_delta", change.delta},
                                {"t", change.test.t},
                                {"degrees_of_freedom", change.test.degrees_of_freedom},
                                {"p", change.test.p},
                                {"q", change.q}};
  return object;
}

json::object LibraryChangeJson(const analysis::LibraryChange& change) {
  json::object counts;
  for (const Verdict kind :
       {Verdict::kMore, Verdict::kLess, Verdict::kNone, Verdict::kTooLittleData}) {
    std::uint64_t count = 0;
    for (const auto& api : change.apis) {
      for (const auto& metric : api.metrics) count += metric.change == kind ? 1 : 0;
    }
    const std::string_view word = inference::Name(kind);
    counts[json::string_view(word.data(), word.size())] = count;
  }
  json::array apis;
  for (const analysis::ApiChange& api : change.apis) {
    json::array metrics;
    for (const analysis::MetricChange& one : api.metrics) metrics.push_back(ChangeJson(one));
    apis.push_back(json::object{{"symbol", Text(api.symbol)},
                                {"symbol_version", Text(api.symbol_version)},
                                {"calls_before", CountOrNull(api.calls_before)},
                                {"calls_after", CountOrNull(api.calls_after)},
                                {"metrics", std::move(metrics)}});
  }
  return {{"library", Text(change.soname)},
          {"before", Text(change.before)},
          {"after", Text(change.after)},
          {"counts", std::move(counts)},
          {"apis", std::move(apis)},
          {"added", NamesJson(change.added)},
          {"removed", NamesJson(change.removed)}};
}

json::array TrendJson(const std::vector<analysis::TrendPoint>& points) {
  json::array array;
  for (const analysis::TrendPoint& point : points) {
    array.push_back(json::object{{"label", Text(point.untrusted_label)},
                                 {"typical_cost", point.cost},
                                 {"contributions", point.contributions}});
  }
  return array;
}

json::object VendorApiJson(const analysis::VendorApi& api, const analysis::VendorReport& report) {
  json::array changes;
  for (const analysis::MetricChange& change : api.changes) changes.push_back(ChangeJson(change));
  json::object object = {{"library", Text(report.libraries[api.library].soname)},
                         {"symbol", Text(api.symbol)},
                         {"symbol_version", Text(api.symbol_version)},
                         {"name", Text(api.name)},
                         {"namespace", Text(api.name_space)},
                         {"group", Text(NameOf(report.groups[api.group]))},
                         {"calls", CountOrNull(api.calls)},
                         {"total", TotalJson(api.total)},
                         {"share", api.share},
                         {"contributions", api.contributions},
                         {"versions", TrendJson(api.versions)},
                         {"weeks", TrendJson(api.weeks)},
                         {"regression", TotalJson(api.Regression())},
                         {"changes", std::move(changes)}};
  if (api.version.empty()) {
    object["newest"] = nullptr;
  } else {
    json::object newest = DistributionJson(api.time, api.sums);
    newest["version"] = Text(api.version);
    object["newest"] = std::move(newest);
  }
  object["alloc_mean"] = NumberOrNull(api.alloc_mean);
  return object;
}

json::object GroupJson(const analysis::VendorGroup& group, analysis::GroupBy by) {
  using enum analysis::GroupBy;
  json::object object = {{"group", Text(NameOf(group))},
                         {"library", Text(group.soname)},
                         {"namespace", Text(by == kPrefix || by == kHeader ? "" : group.group)},
                         {"apis", group.apis},
                         {"timed_apis", group.timed_apis},
                         {"time", nullptr},
                         {"calls", CountOrNull(group.calls)},
                         {"total", TotalJson(group.total)},
                         {"share", group.share},
                         {"contributions", group.contributions},
                         {"slower", group.slower},
                         {"faster", group.faster},
                         {"unchanged", group.unchanged},
                         {"too_little_data", group.too_little},
                         {"change", Text(inference::Name(group.change))}};
  if (group.timed_apis != 0) object["time"] = DistributionJson(group.time, group.sums);
  if (group.change == Verdict::kTooLittleData) {
    object["test"] = nullptr;
  } else {
    object["test"] = json::object{{"ratio", group.ratio},
                                  {"ratio_low", group.ratio_low},
                                  {"ratio_high", group.ratio_high},
                                  {"p", group.p},
                                  {"q", group.q}};
  }
  return object;
}

json::object SpanJson(const volunteer::TimeSpan& span) {
  json::object object{{"from", nullptr}, {"before", nullptr}};
  if (span.from > WallTime{}) object["from"] = Text(draw::FormatTime(span.from));
  if (span.before != WallTime::max()) object["before"] = Text(draw::FormatTime(span.before));
  return object;
}

}  // namespace

std::string LocalDiffJson(const std::vector<analysis::LocalChange>& changes,
                          const volunteer::TimeSpan& before, const volunteer::TimeSpan& after) {
  json::array rows;
  for (const analysis::LocalChange& change : changes) {
    json::object row{{"soname", Text(change.soname)},
                     {"symbol", Text(change.symbol)},
                     {"metric", Text(stats::Name(change.metric))},
                     {"unit", Text(stats::Unit(change.metric))},
                     {"change", Text(inference::Name(change.change))},
                     {"ratio", nullptr},
                     {"cliffs_delta", change.delta},
                     {"timed_before", change.timed_before},
                     {"timed_after", change.timed_after},
                     {"before", FiguresJson(change.before)},
                     {"after", FiguresJson(change.after)}};
    if (change.ratio != 0) row["ratio"] = change.ratio;
    rows.push_back(std::move(row));
  }
  return Print({{"source", "local"},
                {"before", SpanJson(before)},
                {"after", SpanJson(after)},
                {"rows", std::move(rows)}});
}

std::string VendorJson(const analysis::VendorReport& report,
                       const std::optional<catalog::Freshness>& freshness) {
  json::array libraries;
  for (const analysis::VendorLibrary& library : report.libraries) {
    libraries.push_back(json::object{{"library", Text(library.soname)},
                                     {"versions", NamesJson(library.versions)},
                                     {"before", Text(library.before)},
                                     {"after", Text(library.after)}});
  }
  json::array groups;
  for (const analysis::VendorGroup& group : report.groups) {
    groups.push_back(GroupJson(group, report.by));
  }
  json::array apis;
  for (const analysis::VendorApi& api : report.apis) apis.push_back(VendorApiJson(api, report));
  return Print({{"source", freshness ? "catalogue" : "table"},
                {"title", Text(report.title)},
                {"by", Text(analysis::kGroupByNames[static_cast<std::size_t>(report.by)])},
                {"libraries", std::move(libraries)},
                {"calls", CountOrNull(report.calls)},
                {"total", TotalJson(report.total)},
                {"comparisons", report.compared},
                {"groups", std::move(groups)},
                {"apis", std::move(apis)},
                {"freshness", freshness ? json::value(FreshnessJson(*freshness)) : nullptr}});
}

std::string DiffJson(const analysis::LibraryChange& change, const catalog::Freshness& freshness) {
  json::object object = LibraryChangeJson(change);
  object["freshness"] = FreshnessJson(freshness);
  return Print(object);
}

}  // namespace fieldcost::cli
