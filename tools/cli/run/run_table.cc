#include "tools/cli/run/run_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "common/base/check.h"
#include "common/base/text.h"
#include "common/draw/name_text.h"
#include "common/draw/numbers.h"
#include "common/draw/text_table.h"
#include "common/names/cxx_name.h"
#include "common/stats/metric_traits.h"
#include "tools/analysis/waiting.h"
#include "tools/report/api_names.h"
#include "tools/report/figure_text.h"
#include "tools/report/not_measured.h"
#include "tools/report/waiting_text.h"

namespace fieldcost::cli {
namespace {

constexpr std::size_t kMaxLines = 10;
constexpr std::size_t kMaxApiWidth = 60;
constexpr std::size_t kLeastApiWidth = 20;

// The metric that has a value for each timed call: time, or the one requested instead (--metrics
// io). nullptr if no call was timed, as for a function called only by other measured functions.
const analysis::MetricSummary* FindEachCall(const analysis::CostSummary& summary) {
  if (const analysis::MetricSummary* time = summary.FindTime()) return time;
  for (const stats::MetricTraits& traits : stats::kMetrics) {
    if (traits.value_of != stats::ValueOf::kCall) continue;
    if (const analysis::MetricSummary* found = summary.Find(traits.metric)) return found;
  }
  return nullptr;
}

// A function without measurements still has a number of calls.
std::string CallsText(const analysis::CostSummary& summary) {
  const analysis::MetricSummary* each = FindEachCall(summary);
  if (each != nullptr) return draw::FormatCount(each->sums.histogram.timed());
  const auto calls = analysis::CallsOf(summary);
  return calls ? draw::FormatCount(*calls) : report::kUnknown;
}

// "not measured of fread and 2 more: disk_read, ...", one line per reason.
std::string NotMeasuredLines(const std::vector<analysis::CostSummary>& summaries) {
  std::map<std::string, std::vector<std::string>> names;  // by the unmeasured metrics
  for (const analysis::CostSummary& summary : summaries) {
    for (const report::NotMeasuredPart& part : report::NotMeasuredParts(summary)) {
      names[report::Text(part)].push_back(EscapeControl(names::ShortName(summary.api.symbol)));
    }
  }
  std::string text;
  for (const auto& [what, of] : names) {
    text += fmt::format("(not measured of {}{}: {})\n", of.front(),
                        of.size() == 1 ? "" : fmt::format(" and {} more", of.size() - 1), what);
  }
  return text;
}

stats::Uint128 TimeOf(const analysis::CostSummary& summary) {
  const analysis::MetricSummary* time = summary.FindTime();
  return time == nullptr ? stats::Uint128{} : time->sums.histogram.sum();
}

draw::TextLine TableLine(const analysis::CostSummary& summary, const draw::Style& style) {
  const analysis::MetricSummary* time = summary.FindTime();
  const std::string total = time == nullptr
                                ? report::kUnknown
                                : draw::TotalText(static_cast<double>(TimeOf(summary)), style);
  return {total, draw::ShortenName(names::ShortName(summary.api.symbol), kMaxApiWidth, style),
          EscapeControl(summary.api.soname), CallsText(summary),
          time == nullptr ? report::kUnknown
                          : report::QuantileText(time->figures, &stats::Quantiles::p50,
                                                 stats::Metric::kWallTime, style)};
}

}  // namespace

RunFindings FindingsOf(std::vector<analysis::CostSummary> summaries, bool any_fielded,
                       bool with_waiting) {
  std::erase_if(summaries, [](const auto& summary) {
    return FindEachCall(summary) == nullptr && summary.not_measured == 0;
  });
  RunFindings found{.summaries = std::move(summaries), .waiting = {}, .any_fielded = any_fielded};
  if (!with_waiting) {
    found.waiting = analysis::SetWaitingApart(found.summaries, &analysis::CostSummary::api);
  }
  std::ranges::stable_sort(found.summaries, std::greater<>(), TimeOf);
  return found;
}

std::string RunTable(const RunFindings& found, const draw::Style& style) {
  FIELDCOST_CHECK(!found.empty());
  const std::vector<draw::TextColumn> columns = {{"TOTAL", true},
                                                 {"API", false, 0, kLeastApiWidth, true},
                                                 report::LibraryColumn(0),
                                                 {"N", true},
                                                 {"P50", true}};
  std::vector<draw::TextLine> lines;
  const std::size_t shown = std::min(found.summaries.size(), kMaxLines);
  for (std::size_t i = 0; i < shown; ++i) lines.push_back(TableLine(found.summaries[i], style));
  std::string text = lines.empty() ? "" : draw::TextTable(columns, lines, style);
  if (found.any_fielded) {
    text += "(this run was also selected for the field, so fewer APIs were measured)\n";
  }
  text += draw::WrapLines(NotMeasuredLines(found.summaries), style);
  if (!found.waiting.empty()) {
    text += draw::WrapLines(fmt::format("({})\n", report::WaitingText(found.waiting)), style);
  }
  if (shown < found.summaries.size()) {
    text += fmt::format("({} more) ", found.summaries.size() - shown);
  }
  return text + "more: fieldcost top --local; less: --no-show\n";
}

std::string NothingMeasuredText(const std::string& why) {
  const std::string reason =
      why.empty() ? "none of the chosen functions was called, or the program calls no public "
                    "library"
                  : why;
  return fmt::format(
      "nothing was measured: {}\n"
      "  by name: fieldcost run --pick 'libNAME.so.1!*' -- PROGRAM\n",
      reason);
}

}  // namespace fieldcost::cli
