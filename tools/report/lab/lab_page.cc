#include "tools/report/lab/lab_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "common/base/text.h"
#include "common/draw/html.h"
#include "common/draw/lab_svg.h"
#include "common/draw/numbers.h"
#include "common/draw/spectrum.h"
#include "common/draw/svg.h"
#include "common/names/cxx_name.h"
#include "tools/analysis/waiting.h"
#include "tools/report/cost_page.h"
#include "tools/report/figure_text.h"
#include "tools/report/lab/count_text.h"
#include "tools/report/lab/coverage_text.h"
#include "tools/report/lab/lab_library_names.h"
#include "tools/report/lab/table_text.h"
#include "tools/report/not_measured.h"
#include "tools/report/page.h"
#include "tools/report/page_text_style.h"
#include "tools/report/waiting_text.h"

namespace fieldcost::report {
namespace {

using analysis::LabCost;
using stats::ApiKey;
using stats::Metric;

std::string Escaped(const std::string& untrusted_text) { return draw::EscapeHtml(untrusted_text); }

// "parse takes 62 ms, 62 % of the time of all functions." Empty if nothing was timed.
std::string MostExpensive(const std::vector<LabCost>& costs) {
  const double whole_ns = analysis::WholeNs(costs);
  const auto most = std::ranges::max_element(
      costs, {}, [](const LabCost& cost) { return cost.TotalNs().value_or(-1); });
  if (!(whole_ns > 0) || most == costs.end()) return "";
  const double total = most->TotalNs().value_or(0);
  return fmt::format("{} takes {}, {} of the time of all functions. ",
                     Escaped(names::ShortName(most->summary.api.symbol)),
                     Escaped(draw::TotalText(total, kPageTextStyle)),
                     Escaped(draw::RoughShareText(total / whole_ns)));
}

// The most expensive function, then "9 functions were called: bimodal 1.": a starting point.
std::string Lead(const LabPageContent& content) {
  std::size_t grows = 0;
  std::size_t bimodal = 0;
  std::size_t heavy_tailed = 0;
  std::size_t start_up = 0;
  for (const LabCost& cost : content.costs) {
    grows += cost.shape.shape == stats::Shape::kGrows ? 1 : 0;
    bimodal += cost.shape.shape == stats::Shape::kBimodal ? 1 : 0;
    heavy_tailed += cost.shape.shape == stats::Shape::kHeavyTailed ? 1 : 0;
    start_up += cost.shape.start_up ? 1 : 0;
  }
  std::string text =
      MostExpensive(content.costs) + Counted(content.costs.size() + content.waiting.size(),
                                             "function was called", "functions were called");
  const char* separator = ": ";
  const auto add = [&](std::string_view words, std::size_t count) {
    if (count != 0) text += fmt::format("{}{} {}", std::exchange(separator, ", "), words, count);
  };
  add("with a start-up cost", start_up);
  add("growing with an argument", grows);
  add("bimodal", bimodal);
  add("heavy-tailed", heavy_tailed);
  return text + ".";
}

std::string Parts(const std::vector<wire::LabPart>& parts) {
  using enum ColumnKind;
  PageTable table{.id = "parts",
                  .title = "Measurements",
                  .caption = "Discarded runs are not included.",
                  .columns = {{"Measurement", kName},
                              {"Started", kText, true},
                              {"Rounds", kNumber, true},
                              {"Runs", kNumber},
                              {"Left out", kNumber},
                              {"Environment", kText, true}},
                  .lines = {}};
  for (const wire::LabPart& part : parts) {
    const WallTime started{std::chrono::microseconds(part.started_us)};
    table.lines.push_back({NameHtml(part.name, "", part.content_hash.substr(0, 12)),
                           draw::FormatTime(started), draw::FormatCount(part.rounds),
                           draw::FormatCount(part.runs), draw::FormatCount(part.left_out),
                           fmt::format("<small>{}</small>", Escaped(part.environment))});
  }
  return SectionHtml(table);
}

std::string LibraryText(std::string name, const std::string& version, bool is_own) {
  if (!version.empty() && name.find(' ' + version) == std::string::npos) name += " " + version;
  return is_own ? name + ", own" : name;
}

std::vector<std::string> OverviewLine(const LabCost& cost, std::size_t number, double whole_ns,
                                      const LibraryNames& libraries, const SpectrumScale& scale) {
  const analysis::MetricSummary* times = LabTimes(cost);
  const stats::Figures figures = times == nullptr ? stats::Figures{} : times->figures;
  const auto quantile = [&](stats::Quantile stats::Quantiles::*which) {
    return Escaped(QuantileText(figures, which, Metric::kWallTime, kPageTextStyle));
  };
  const ApiKey& api = cost.summary.api;
  const std::optional<double> total = cost.TotalNs();
  return {NameHtml(names::DemangledName(api.symbol),
                   times == nullptr ? "" : fmt::format("#api{}", number),
                   LibraryText(libraries.Of(api), api.package_version, cost.is_own)),
          times == nullptr ? "" : scale.Cell(LabBars(*times), Metric::kWallTime),
          total ? draw::TotalText(*total, kPageTextStyle) : kUnknown,
          total && whole_ns > 0 ? Escaped(draw::RoughShareText(*total / whole_ns)) : kUnknown,
          draw::FormatCount(cost.calls),
          quantile(&stats::Quantiles::p50),
          quantile(&stats::Quantiles::p99),
          SpreadText(cost.run_spread),
          draw::FormatCost(cost.alloc_per_call, Metric::kAllocInclusive, kPageTextStyle),
          fmt::format("<small>{}</small>", Escaped(stats::Sentence(cost.shape)))};
}

std::string Overview(const std::vector<LabCost>& costs, std::size_t shown) {
  const double whole_ns = analysis::WholeNs(costs);
  const LibraryNames libraries(costs);
  SpectrumScale scale;
  for (std::size_t i = 0; i < shown; ++i) {
    if (const auto* times = LabTimes(costs[i])) scale.Add(LabBars(*times), Metric::kWallTime);
  }
  using enum ColumnKind;
  PageTable table{.id = "costs",
                  .title = "Costs",
                  .caption =
                      "Total: the calls of one run by their mean, callees included; share: of all "
                      "totals. Calls: exact. Runs ±: variation between runs of the scenario. "
                      "Below 50 ns only differences are reliable. Spectrum: " +
                      scale.Words(),
                  .columns = {{"API", kName},
                              scale.Column(),
                              {"Total", kNumber},
                              {"Share", kNumber},
                              {"Calls", kNumber},
                              {"p50", kNumber},
                              {"p99", kNumber},
                              {"Runs ±", kNumber},
                              {"Alloc/call", kNumber},
                              {"Shape", kText}},
                  .lines = {}};
  for (std::size_t i = 0; i < shown; ++i) {
    table.lines.push_back(OverviewLine(costs[i], i + 1, whole_ns, libraries, scale));
  }
  std::string html = SectionHtml(table);
  if (shown < costs.size())
    html += fmt::format("<p>{} of {} APIs, the most expensive.</p>\n", shown, costs.size());
  return html;
}

std::string GrowthPoints(const stats::Growth& growth) {
  using enum ColumnKind;
  PageTable table{
      .id = {},
      .title = "Points in numbers",
      .caption = {},
      .columns = {{growth.argument == stats::ShapeArgument::kScanValue ? "Value" : "Argument",
                   kName},
                  {"Calls", kNumber},
                  {"Mean", kNumber},
                  {"Fit", kNumber}},
      .lines = {}};
  for (const stats::GrowthPoint& point : growth.points) {
    table.lines.push_back({InputText(point.slot, kPageTextStyle), draw::FormatCount(point.calls),
                           Escaped(OctavesText(point.octaves, kPageTextStyle)),
                           Escaped(OctavesText(point.fitted_octaves, kPageTextStyle))});
  }
  return FoldedHtml(table.title, table);
}

std::string Detail(const LabCost& cost, std::size_t number) {
  const analysis::MetricSummary& times = *LabTimes(cost);
  const ApiKey& api = cost.summary.api;
  const std::string name = fmt::format("{}!{}", api.soname, names::DemangledName(api.symbol));
  std::string html = fmt::format(
      "<article id=\"api{0}\" aria-labelledby=\"name{0}\">\n<h3 id=\"name{0}\">{1}</h3>\n"
      "<p><strong>{2}</strong></p>\n",
      number, Escaped(name), Escaped(stats::Sentence(cost.shape)));
  for (const std::string& line : EvidenceLines(cost, kPageTextStyle)) {
    html += fmt::format("<p class=\"soft\">{}</p>\n", Escaped(line));
  }
  for (const std::string& line : TotalLines(cost.totals, kPageTextStyle)) {
    html += fmt::format("<p class=\"soft\">{}</p>\n", Escaped(line));
  }
  for (const NotMeasuredPart& part : NotMeasuredParts(cost.summary)) {
    html += fmt::format("<p class=\"soft\">not measured: {}</p>\n", Escaped(Text(part)));
  }
  if (cost.shape.growth) {
    html += draw::GrowthSvg(*cost.shape.growth, name) + "\n" + GrowthPoints(*cost.shape.growth);
  }
  html += fmt::format("<h4>{} timed in {}</h4>\n", Counted(times.sums.histogram.timed(), "call"),
                      Counted(cost.runs, "run"));
  return html + draw::HistogramSvg(LabBars(times), Metric::kWallTime, name) + "\n</article>\n";
}

std::string Details(const std::vector<LabCost>& costs, std::size_t shown) {
  std::string html =
      "<section aria-labelledby=\"details\">\n<h2 id=\"details\">Each in detail</h2>\n"
      "<div class=\"cards\">\n";
  for (std::size_t i = 0; i < shown; ++i) {
    if (LabTimes(costs[i]) != nullptr) html += Detail(costs[i], i + 1);
  }
  return html + "</div>\n</section>\n";
}

// The APIs with the most others above or below them; ties are broken by name.
std::vector<ApiKey> MostPaired(const LabPageContent& content) {
  std::map<ApiKey, std::size_t> counts;
  for (const auto& [outer, inner] : content.pairs) {
    ++counts[outer];
    if (outer != inner) ++counts[inner];
  }
  std::vector<std::pair<std::size_t, ApiKey>> order;
  for (const auto& [api, count] : counts) order.emplace_back(count, api);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  if (order.size() > kMaxPairApis) order.resize(kMaxPairApis);
  std::vector<ApiKey> apis;
  for (auto& [count, api] : order) apis.push_back(std::move(api));
  return apis;
}

std::string Pairs(const LabPageContent& content) {
  const std::vector<ApiKey> apis = MostPaired(content);
  if (apis.empty()) return "";
  std::map<ApiKey, std::uint32_t> numbers;
  std::vector<std::string> names;
  for (const ApiKey& api : apis) {
    numbers.emplace(api, static_cast<std::uint32_t>(names.size()));
    names.push_back(names::ShortName(api.symbol));
  }
  std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (const auto& [outer, inner] : content.pairs) {
    const auto line = numbers.find(outer);
    const auto column = numbers.find(inner);
    if (line != numbers.end() && column != numbers.end()) {
      pairs.emplace(line->second, column->second);
    }
  }
  std::string html = fmt::format(
      "<section aria-labelledby=\"pairs\">\n<h2 id=\"pairs\">On one stack</h2>\n"
      "<p class=\"soft\">A square: the line's function had not returned when the column's was "
      "entered, on one thread. {} in all; the {} functions with the most.</p>\n{}\n"
      "<details><summary>In words</summary>\n",
      Counted(content.pairs.size(), "pair"), apis.size(), draw::PairsSvg(names, pairs));
  for (std::uint32_t line = 0; line < names.size(); ++line) {
    std::string below;
    for (auto at = pairs.lower_bound({line, 0}); at != pairs.end() && at->first == line; ++at) {
      below += (below.empty() ? "" : ", ") + Escaped(names[at->second]);
    }
    if (!below.empty()) html += fmt::format("<p>{}: {}</p>\n", Escaped(names[line]), below);
  }
  return html + "</details>\n</section>\n";
}

std::string Groups(const std::vector<std::vector<ApiKey>>& groups) {
  if (groups.empty()) return "";
  std::string html = fmt::format(
      "<section aria-labelledby=\"groups\">\n<h2 id=\"groups\">Groups</h2>\n<p class=\"soft\">The "
      "functions of a group are never on one stack and were timed together: {} a "
      "round.</p>\n",
      Counted(groups.size(), "run"));
  for (std::size_t i = 0; i < groups.size(); ++i) {
    html += fmt::format("<details><summary>Group {}: {}</summary>\n<p>", i + 1,
                        Counted(groups[i].size(), "function"));
    for (std::size_t k = 0; k < groups[i].size(); ++k) {
      html += (k == 0 ? "" : ", ") + Escaped(names::ShownName(groups[i][k]));
    }
    html += "</p>\n</details>\n";
  }
  return html + "</section>\n";
}

}  // namespace

LabPageContent LabPageContentOf(const wire::LabTable& table, bool with_waiting) {
  LabPageContent content{.costs = analysis::LabCosts(table),
                         .waiting = {},
                         .parts = table.parts,
                         .pairs = {},
                         .groups = {},
                         .coverage = {}};
  if (!with_waiting) {
    content.waiting = analysis::SetWaitingApart(
        content.costs, [](const LabCost& cost) -> const ApiKey& { return cost.summary.api; });
  }
  analysis::Sort(content.costs, analysis::SortKey::kTotal);
  for (const auto& [outer, inner] : table.pairs) {
    content.pairs.emplace_back(table.apis[outer].api, table.apis[inner].api);
  }
  return content;
}

std::string LabPage(const LabPageContent& content) {
  const std::size_t shown = std::min(content.costs.size(), kMaxPageApis);
  const std::string title = content.parts.size() == 1
                                ? content.parts.front().name
                                : Counted(content.parts.size(), "measurement");
  std::string html = PageBegin("fieldcost: " + title);
  html += fmt::format(
      "<header>\n<h1>What library functions cost: {}</h1>\n<p class=\"lead\">{}</p>\n"
      "<p class=\"soft\">Measured by <code>fieldcost measure</code>. This file fetches and sends "
      "nothing.</p>\n</header>\n<main>\n",
      Escaped(title), Lead(content));
  if (!content.costs.empty()) html += Overview(content.costs, shown);
  if (!content.waiting.empty()) {
    html += fmt::format("<p class=\"soft\">{}.</p>\n", Escaped(WaitingText(content.waiting)));
  } else if (content.costs.empty()) {
    html += "<h2>Costs</h2>\n<p>Nothing was called.</p>\n";
  }
  html += CoverageHtml(content.coverage) + Parts(content.parts) + Details(content.costs, shown);
  return html + Pairs(content) + Groups(content.groups) + "</main>\n" + PageEnd();
}

}  // namespace fieldcost::report
