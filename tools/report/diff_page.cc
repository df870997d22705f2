#include "tools/report/diff_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "common/draw/html.h"
#include "common/draw/numbers.h"
#include "common/draw/spectrum.h"
#include "common/inference/anomaly.h"
#include "common/names/cxx_name.h"
#include "tools/analysis/namespace_of.h"
#include "tools/report/figure_text.h"
#include "tools/report/freshness_text.h"
#include "tools/report/page.h"
#include "tools/report/page_text_style.h"
#include "tools/report/version_diff.h"

namespace fieldcost::report {
namespace {

using inference::Verdict;
using stats::Metric;

// Published costs have shares; only the user's own need the sums.
draw::Bars FigureBars(const stats::Figures& figures, Metric metric) {
  return draw::BarsOf({}, figures, metric);
}

std::vector<ChangedMetric> ShownMetrics(const analysis::LibraryChange& change, bool all) {
  std::vector<ChangedMetric> shown;
  for (const Verdict kind :
       {Verdict::kMore, Verdict::kLess, Verdict::kNone, Verdict::kTooLittleData}) {
    if (!all && !IsChange(kind)) continue;
    const std::vector<ChangedMetric> found = WithChange(change, kind);
    shown.insert(shown.end(), found.begin(), found.end());
  }
  return shown;
}

std::string NameCell(const ChangedMetric& one) {
  return NameHtml(names::DemangledName(one.api->symbol), "", one.api->symbol_version);
}

std::string Changes(const std::vector<ChangedMetric>& shown) {
  SpectrumScale scale;
  for (const auto& [api, one] : shown) {
    scale.Add(FigureBars(one->before, one->metric), one->metric);
    scale.Add(FigureBars(one->after, one->metric), one->metric);
  }
  using enum ColumnKind;
  PageTable table{.id = "changes",
                  .title = "Changes",
                  .caption = "The greatest ratio first. Spectra: old above new; " + scale.Words(),
                  .columns = {{"API", kName},
                              scale.Column(),
                              {"Change", kText},
                              {"Metric", kText, true},
                              {"p50 old", kNumber},
                              {"p50 new", kNumber},
                              {"Machines old", kNumber},
                              {"new", kNumber, false, "Machines new"}},
                  .lines = {}};
  for (const ChangedMetric& changed : shown) {
    const analysis::MetricChange& one = *changed.metric;
    const auto p50 = [&](const stats::Figures& figures) {
      return draw::EscapeHtml(
          QuantileText(figures, &stats::Quantiles::p50, one.metric, kPageTextStyle));
    };
    const std::string before = scale.Cell(FigureBars(one.before, one.metric), one.metric);
    const std::string after = scale.Cell(FigureBars(one.after, one.metric), one.metric);
    table.lines.push_back(
        {NameCell(changed), fmt::format("<div>{}</div><div>{}</div>", before, after),
         draw::EscapeHtml(ChangeWords(one, kPageTextStyle)), std::string(stats::Name(one.metric)),
         p50(one.before), p50(one.after), draw::FormatCount(one.test.machines_before),
         draw::FormatCount(one.test.machines_after)});
  }
  return SectionHtml(table);
}

std::string Statistics(const std::vector<ChangedMetric>& shown) {
  using enum ColumnKind;
  PageTable table{
      .id = {},
      .title = "Statistics of the changes",
      .caption = fmt::format(
          "Machines are those of the fullest quarter. Ratio: of their geometric means, of all "
          "weeks, "
          "small: with the 95 % confidence of that week. Delta: Cliff's. A change is q ≤ {}, "
          "|delta| ≥ {} and a ratio of {} (or its reciprocal) at least.",
          inference::kFieldThresholds.false_share, inference::kFieldThresholds.least_delta,
          inference::kFieldThresholds.least_ratio),
      .columns = {{"API", kName},
                  {"Metric", kText, true},
                  {"Ratio", kNumber},
                  {"Delta", kNumber},
                  {"p", kNumber},
                  {"q", kNumber},
                  {"Compared", kText, true}},
      .lines = {}};
  for (const ChangedMetric& changed : shown) {
    const analysis::MetricChange& one = *changed.metric;
    const bool compared = one.test.strata > 0;
    table.lines.push_back({NameCell(changed), std::string(stats::Name(one.metric)),
                           compared ? fmt::format("{:.2f}<small>{:.2f} – {:.2f}</small>", one.ratio,
                                                  one.ratio_low, one.ratio_high)
                                    : "–",
                           compared ? fmt::format("{:.2f}", one.delta) : "–",
                           compared ? ProbabilityText(one.test.p) : "–",
                           one.eligible() ? ProbabilityText(one.q) : "–",
                           compared ? ComparedText(one) : "–"});
  }
  return FoldedHtml("Ratio, delta, p, q of these", table);
}

std::string SymbolsHtml(std::string_view about, const std::vector<std::string>& untrusted_symbols) {
  if (untrusted_symbols.empty()) return "";
  std::string html =
      fmt::format("<details><summary>{} ({})</summary>\n<p>", about, untrusted_symbols.size());
  for (const std::string& symbol : untrusted_symbols) {
    html += fmt::format("{}{}", symbol == untrusted_symbols.front() ? "" : ", ",
                        draw::EscapeHtml(names::DemangledName(symbol)));
  }
  return html + "</p>\n</details>\n";
}

}  // namespace

std::string DiffPage(const analysis::LibraryChange& change, bool all,
                     const Provenance& provenance) {
  const std::string title = fmt::format("{}: {} → {}", change.soname, change.before, change.after);
  std::string html = PageBegin("fieldcost: " + title);
  html += fmt::format("<header>\n<h1>{}</h1>\n", draw::EscapeHtml(title));
  if (provenance.synthetic) html += fmt::format("<p class=\"warn\">{}</p>\n", kSyntheticWords);
  html += fmt::format(
      "<p class=\"lead\">{}.</p>\n<p class=\"soft\">From {}. Machines are compared, "
      "within each hardware class that is published for both versions.</p>\n</header>\n"
      "<main>\n",
      draw::EscapeHtml(DiffSentence(change, kPageTextStyle)), SnapshotWords(provenance));
  const std::vector<ChangedMetric> shown = ShownMetrics(change, all);
  html += shown.empty() ? "<p>No significant changes.</p>\n" : Changes(shown) + Statistics(shown);
  html += SymbolsHtml("Measured in the new version only", change.added);
  html += SymbolsHtml("Measured in the old version only", change.removed);
  return html + "</main>\n" + PageEnd();
}

}  // namespace fieldcost::report
