#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "common/catalog/catalog.h"
#include "common/stats/figures.h"
#include "tools/analysis/summary.h"
#include "tools/analysis/version_change.h"

namespace fieldcost::cli {

// Shared by the sources of --json output (listed in JSON.md); only these include this header and
// Boost.JSON. Pure.

// The document and a newline.
std::string Print(const boost::json::object& object);
boost::json::string Text(std::string_view untrusted_text);
boost::json::array NamesJson(const std::vector<std::string>& untrusted_names);
// Exact digits, since readers may parse JSON numbers as doubles.
boost::json::string Number(std::uint64_t number);
boost::json::object HistogramJson(const stats::CostHistogram& histogram);
// {"contributions", "machines", "count", "sum", "mean", "p50", "p95", "p99", "few_machines",
// "all_calls": {...}}; null = unknown, or omitted.
boost::json::object FiguresJson(const stats::Figures& figures);
// FiguresJson() and the histogram: "buckets" of SharesJson(), and in all_calls the exact ones.
boost::json::object DistributionJson(const stats::Figures& figures, const stats::ApiSums& sums);
// [{"min", "max", "share"}]; empty if unknown.
boost::json::array SharesJson(const stats::Figures& figures);
boost::json::object ApiJson(const stats::ApiKey& api);
// The costs by metric name: {"wall_time": {...}, ...}.
boost::json::object MetricsJson(const analysis::CostSummary& summary);
// The metrics that could not be measured, each with the reason; empty if none.
boost::json::array NotMeasuredJson(const analysis::CostSummary& summary);
boost::json::object HardwareJson(const stats::HardwareClass& hardware);
boost::json::object FreshnessJson(const catalog::Freshness& freshness);

}  // namespace fieldcost::cli
