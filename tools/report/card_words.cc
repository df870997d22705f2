#include "tools/report/card_words.h"

#include <fmt/format.h>

#include "common/base/text.h"
#include "tools/report/namespace_of.h"
#include "tools/report/numbers.h"
#include "tools/report/svg.h"
#include "tools/report/version_order.h"

namespace fieldcost::report {
namespace {

constexpr Style kStyle{.utf8 = true};

std::string Cost(double value, stats::Metric metric) { return FormatCost(value, metric, kStyle); }

CardLine LineOf(const CostSummary& version, stats::Metric metric) {
  CardLine line{.version = VersionOf(version.api)};
  const MetricSummary* numbers = version.Find(metric);
  if (numbers == nullptr) {
    line.p50 = line.p95 = line.p99 = line.mean = line.count = line.contributions = "-";
    return line;
  }
  line.p50 = Cost(numbers->p50.estimate, metric);
  line.p95 = Cost(numbers->p95.estimate, metric);
  line.p99 = Cost(numbers->p99.estimate, metric);
  line.mean = Cost(numbers->histogram.Mean(), metric);
  line.count = FormatCount(numbers->histogram.count());
  line.contributions = FormatCount(numbers->contributions);
  return line;
}

std::string SnapshotWords(const Provenance& provenance) {
  if (provenance.snapshot == 0) return "measured on this machine";
  return fmt::format("snapshot {}, published {}{}", provenance.snapshot, provenance.published,
                     provenance.expired ? " (expired)" : "");
}

}  // namespace

Shown ShownOf(const CostCard& card) {
  const CostSummary& newest = card.versions.front();
  if (const MetricSummary* time = newest.Find(stats::Metric::kWallTime)) {
    return {.metric = stats::Metric::kWallTime, .summary = time};
  }
  if (newest.metrics.empty()) return {};
  return {.metric = newest.metrics.begin()->first, .summary = &newest.metrics.begin()->second};
}

CardWords WordsOf(const CostCard& card) {
  const Shown shown = ShownOf(card);
  const stats::ApiKey& api = ApiOf(card);
  CardWords words;
  words.function = DemangledName(api.symbol);
  words.name = fmt::format("{}!{}", api.soname, words.function);
  words.snapshot = SnapshotWords(card.provenance);
  words.subject = fmt::format("{} per call, version {}", stats::Name(shown.metric), VersionOf(api));
  for (const CostSummary& version : card.versions) {
    words.lines.push_back(LineOf(version, shown.metric));
  }
  const CardLine& newest = words.lines.front();
  if (shown.summary != nullptr) {
    const stats::Quantile& p50 = shown.summary->p50;
    words.range = fmt::format("p50 {} (between {} and {})", newest.p50, Cost(p50.low, shown.metric),
                              Cost(p50.high, shown.metric));
    words.basis = fmt::format("{} calls timed, {} contributions; {}", newest.count,
                              newest.contributions, StrataText(shown.summary->strata));
    words.spectrum_svg = SpectrumSvg(shown.summary->histogram, shown.metric);
  } else {
    words.range = "not measured";
    words.basis = "no calls";
  }
  words.sentence = fmt::format(
      "Cost of {}, {}: {}, p95 {}, p99 {}, mean {}; {}; {}.{}", words.name, words.subject,
      words.range, newest.p95, newest.p99, newest.mean, words.basis, words.snapshot,
      card.provenance.synthetic ? fmt::format(" {}.", kSyntheticWords) : "");
  words.footer = fmt::format("{}; {}. Half of all calls cost at most p50, 95 of 100 at most p95.",
                             words.basis, words.snapshot);
  return words;
}

}  // namespace fieldcost::report
