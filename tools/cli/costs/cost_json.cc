#include "tools/cli/costs/cost_json.h"

#include <boost/json.hpp>

#include "tools/cli/json_parts.h"

namespace fieldcost::cli {

namespace json = boost::json;

std::string RowsJson(const std::vector<analysis::CostSummary>& summaries,
                     const std::optional<catalog::Freshness>& freshness,
                     const std::optional<LocalRuns>& runs, std::string_view own_source) {
  json::array rows;
  for (const analysis::CostSummary& summary : summaries) {
    json::object row = ApiJson(summary.api);
    if (!freshness) row["local_only"] = summary.local_only;
    row["metrics"] = MetricsJson(summary);
    row["not_measured"] = NotMeasuredJson(summary);
    rows.push_back(std::move(row));
  }
  json::object object{{"source", Text(freshness ? "catalogue" : own_source)}};
  if (freshness) object["freshness"] = FreshnessJson(*freshness);
  if (runs) {
    object["runs"] = json::object{{"drawn", runs->counts.drawn},
                                  {"not_drawn", runs->counts.not_drawn},
                                  {"asked", runs->counts.asked},
                                  {"selection_probability", runs->selection_probability}};
  }
  object["rows"] = std::move(rows);
  return Print(object);
}

std::string SyncJson(const catalog::SyncReport& report, const catalog::Freshness& freshness) {
  json::array skipped;
  for (const std::string& mirror : report.skipped_mirrors) skipped.push_back(Text(mirror));
  return Print({{"fragments_fetched", report.fragments_fetched},
                {"fragments_stale", report.fragments_stale},
                {"bytes_fetched", report.bytes_fetched},
                {"already_done_today", report.already_done_today},
                {"skipped_mirrors", std::move(skipped)},
                {"witnessed_snapshots", report.witnessed_snapshots == 0
                                            ? json::value(nullptr)
                                            : json::value(report.witnessed_snapshots)},
                {"freshness", FreshnessJson(freshness)}});
}

std::string FunctionsJson(const std::map<std::string, FunctionSeen>& functions) {
  json::array found;
  for (const auto& [name, seen] : functions) {
    found.push_back({{"api", Text(name)}, {"here", seen.here}, {"field", seen.field}});
  }
  return Print({{"functions", std::move(found)}});
}

}  // namespace fieldcost::cli
