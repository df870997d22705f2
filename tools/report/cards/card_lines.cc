#include "tools/report/cards/card_lines.h"

#include <fmt/format.h>

#include "common/base/text.h"
#include "common/draw/numbers.h"
#include "common/draw/spectrum.h"
#include "common/draw/svg.h"
#include "common/names/cxx_name.h"
#include "tools/analysis/summary.h"
#include "tools/analysis/version_order.h"
#include "tools/report/figure_text.h"
#include "tools/report/freshness_text.h"
#include "tools/report/page_text_style.h"

namespace fieldcost::report {
namespace {

CardLine LineOf(const analysis::CostSummary& version, stats::Metric metric) {
  CardLine line{.version = analysis::VersionOf(version.api)};
  const analysis::MetricSummary* numbers = version.Find(metric);
  if (numbers == nullptr) {
    line.p50 = line.p95 = line.p99 = line.mean = line.count = line.contributions = "-";
    return line;
  }
  const stats::Figures& figures = numbers->figures;
  line.p50 = QuantileText(figures, &stats::Quantiles::p50, metric, kPageTextStyle);
  line.p95 = QuantileText(figures, &stats::Quantiles::p95, metric, kPageTextStyle);
  line.p99 = QuantileText(figures, &stats::Quantiles::p99, metric, kPageTextStyle);
  line.mean = draw::FormatCost(figures.mean, metric, kPageTextStyle);
  line.count = draw::FormatCount(figures.calls);
  line.contributions = draw::FormatCount(figures.contributions);
  return line;
}

}  // namespace

Shown ShownOf(const CostCard& card) {
  const analysis::CostSummary& newest = card.versions.front();
  if (const analysis::MetricSummary* time = newest.FindTime()) {
    return {.metric = newest.IsOnlyOfBusyMachines() ? stats::Metric::kWallTimeBusy
                                                    : stats::Metric::kWallTime,
            .summary = time};
  }
  if (newest.metrics.empty()) return {};
  return {.metric = newest.metrics.begin()->first, .summary = &newest.metrics.begin()->second};
}

draw::Bars BarsOf(const Shown& shown) {
  if (shown.summary == nullptr) return {};
  return draw::BarsOf(shown.summary->sums, shown.summary->figures, shown.metric);
}

CardWords WordsOf(const CostCard& card) {
  const Shown shown = ShownOf(card);
  const stats::ApiKey& api = ApiOf(card);
  CardWords words;
  words.function = names::DemangledName(api.symbol);
  words.name = fmt::format("{}!{}", api.soname, words.function);
  words.snapshot = SnapshotWords(card.provenance);
  words.subject =
      fmt::format("{} per call, version {}{}", stats::Name(shown.metric), analysis::VersionOf(api),
                  card.is_installed ? ", installed here" : "");
  for (const analysis::CostSummary& version : card.versions) {
    words.lines.push_back(LineOf(version, shown.metric));
  }
  const CardLine& newest = words.lines.front();
  if (shown.summary != nullptr) {
    const stats::Figures& figures = shown.summary->figures;
    words.range = "p50 " + newest.p50;
    if (figures.quantiles) {
      const stats::Quantile& p50 = figures.quantiles->p50;
      words.range += fmt::format(
          " (between {})",
          draw::FormatInterval(p50.low, p50.high, " and ", shown.metric, kPageTextStyle));
    }
    words.basis = fmt::format("{}, {}; {}{}", draw::Counted(figures.calls, "call"),
                              Counted(figures.contributions, "contribution"),
                              analysis::StrataText(shown.summary->strata), LoadText(shown.metric));
    words.spectrum_svg = draw::SpectrumSvg(BarsOf(shown), shown.metric);
  } else {
    words.range = "not measured";
    words.basis = "no calls";
  }
  words.sentence = fmt::format(
      "Cost of {}, {}: {}, p95 {}, p99 {}, mean {}; {}; {}.{}", words.name, words.subject,
      words.range, newest.p95, newest.p99, newest.mean, words.basis, words.snapshot,
      card.provenance.synthetic ? fmt::format(" {}.", kSyntheticWords) : "");
  const bool own = shown.summary != nullptr && shown.summary->figures.whose == stats::Whose::kOwn;
  words.footer = fmt::format(
      "{}; {}. {} cost at most p50, 95 of 100 at most p95.", words.basis, words.snapshot,
      own ? "Half of all calls" : "On the typical machine half of the calls");
  return words;
}

}  // namespace fieldcost::report
