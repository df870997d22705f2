#include "tools/cli/json_parts.h"

#include <algorithm>

#include "common/draw/numbers.h"
#include "common/json/json_text.h"
#include "common/names/cxx_name.h"
#include "common/shm/log2_bucket.h"
#include "tools/report/not_measured.h"

namespace fieldcost::cli {

namespace json = boost::json;

namespace {

json::array BucketsJson(const stats::CostHistogram& histogram) {
  json::array buckets;
  for (unsigned slot = 0; slot < shm::kBucketSlots; ++slot) {
    const stats::Bucket& bucket = histogram.bucket(slot);
    if (bucket.count == 0) continue;
    buckets.push_back(json::object{{"min", Text(draw::Decimal(shm::SlotMin(slot)))},
                                   {"max", Text(draw::Decimal(shm::SlotMax(slot)))},
                                   {"count", bucket.count},
                                   {"sum", Text(draw::Decimal(bucket.sum))},
                                   {"sum_of_squares", Text(draw::Decimal(bucket.sum_of_squares))}});
  }
  return buckets;
}

json::object QuantileJson(const stats::Quantile& quantile) {
  return {{"estimate", quantile.estimate}, {"low", quantile.low}, {"high", quantile.high}};
}

void AddQuantiles(const stats::Quantiles& quantiles, json::object& object) {
  object["p50"] = QuantileJson(quantiles.p50);
  object["p95"] = QuantileJson(quantiles.p95);
  object["p99"] = QuantileJson(quantiles.p99);
}

json::value AllCallsJson(const std::optional<stats::CallFigures>& calls) {
  if (!calls) return nullptr;
  json::object object = {{"count", calls->totals.count},
                         {"timed", calls->timed},
                         {"sum", Text(draw::Decimal(calls->totals.sum))},
                         {"sum_of_squares", Text(draw::Decimal(calls->totals.sum_of_squares))},
                         {"mean", calls->mean},
                         {"standard_deviation", calls->standard_deviation}};
  AddQuantiles(calls->quantiles, object);
  return object;
}

// Without classes or weeks: all of them together.
json::object StrataJson(const analysis::Strata& strata) {
  json::array classes;
  for (const std::string& name : strata.classes) classes.push_back(Text(name));
  json::object object{
      {"classes", std::move(classes)}, {"first_week", nullptr}, {"last_week", nullptr}};
  if (strata.weeks) {
    object["first_week"] = Text(analysis::FirstDay(strata.weeks->first));
    object["last_week"] = Text(analysis::FirstDay(strata.weeks->last));
  }
  return object;
}

json::object MetricJson(stats::Metric metric, const analysis::MetricSummary& summary) {
  json::object object = DistributionJson(summary.figures, summary.sums);
  object["unit"] = Text(stats::Unit(metric));
  object["strata"] = StrataJson(summary.strata);
  return object;
}

}  // namespace

std::string Print(const json::object& object) { return JsonText(object) + "\n"; }

json::string Text(std::string_view text) { return json::string(text.data(), text.size()); }

json::array NamesJson(const std::vector<std::string>& untrusted_names) {
  json::array names;
  for (const std::string& name : untrusted_names) names.push_back(Text(name));
  return names;
}

json::string Number(std::uint64_t number) { return Text(std::to_string(number)); }

json::object HistogramJson(const stats::CostHistogram& histogram) {
  return {{"count", histogram.count()},
          {"timed", histogram.timed()},
          {"sum", Text(draw::Decimal(histogram.sum()))},
          {"sum_of_squares", Text(draw::Decimal(histogram.sum_of_squares()))},
          {"buckets", BucketsJson(histogram)}};
}

json::object FiguresJson(const stats::Figures& figures) {
  json::object object = {{"contributions", figures.contributions},
                         {"machines", nullptr},
                         {"count", nullptr},
                         {"sum", nullptr},
                         {"mean", nullptr},
                         {"p50", nullptr},
                         {"p95", nullptr},
                         {"p99", nullptr},
                         {"few_machines", figures.few_machines}};
  if (figures.machines != 0) object["machines"] = figures.machines;
  if (figures.calls) object["count"] = *figures.calls;
  if (figures.sum) object["sum"] = Text(draw::Decimal(*figures.sum));
  if (figures.mean) object["mean"] = *figures.mean;
  if (figures.quantiles) AddQuantiles(*figures.quantiles, object);
  object["all_calls"] = AllCallsJson(figures.all_calls);
  return object;
}

json::object DistributionJson(const stats::Figures& figures, const stats::ApiSums& sums) {
  json::object object = FiguresJson(figures);
  object["buckets"] = SharesJson(figures);
  if (figures.all_calls) {
    object["all_calls"].as_object()["buckets"] = BucketsJson(sums.histogram);
  }
  return object;
}

json::array SharesJson(const stats::Figures& figures) {
  json::array buckets;
  if (!figures.shares) return buckets;
  for (unsigned slot = 0; slot < shm::kBucketSlots; ++slot) {
    if ((*figures.shares)[slot] == 0) continue;
    buckets.push_back(json::object{{"min", Text(draw::Decimal(shm::SlotMin(slot)))},
                                   {"max", Text(draw::Decimal(shm::SlotMax(slot)))},
                                   {"share", stats::ShareOf(*figures.shares, slot)}});
  }
  return buckets;
}

json::object ApiJson(const stats::ApiKey& api) {
  return {{"api", Text(stats::DisplayName(api))},
          {"library", Text(api.soname)},
          {"symbol", Text(api.symbol)},
          {"name", Text(names::DemangledName(api.symbol))},
          {"version", Text(api.package_version)},
          {"build_id", Text(api.build_id)},
          {"symbol_version", Text(api.symbol_version)}};
}

json::object MetricsJson(const analysis::CostSummary& summary) {
  json::object metrics;
  for (const auto& [metric, numbers] : summary.metrics) {
    const std::string_view name = stats::Name(metric);
    metrics[json::string_view(name.data(), name.size())] = MetricJson(metric, numbers);
  }
  return metrics;
}

json::array NotMeasuredJson(const analysis::CostSummary& summary) {
  json::array list;
  for (const report::NotMeasuredPart& part : report::NotMeasuredParts(summary)) {
    for (const stats::Metric metric : part.metrics) {
      list.push_back(json::object{{"metric", Text(stats::Name(metric))},
                                  {"in_some_runs", summary.Find(metric) != nullptr},
                                  {"reason", Text(part.reason)}});
    }
  }
  return list;
}

json::object FreshnessJson(const catalog::Freshness& freshness) {
  return {{"snapshot_version", freshness.snapshot_version},
          {"published", Text(draw::FormatTime(freshness.snapshot_published))},
          {"last_sync", Text(draw::FormatTime(freshness.last_sync))},
          {"fragments_total", freshness.fragments_total},
          {"fragments_present", freshness.fragments_present},
          {"fragments_current", freshness.fragments_current},
          {"row_count", freshness.row_count},
          {"contribution_threshold", freshness.contribution_threshold},
          {"expires", Text(draw::FormatTime(freshness.snapshot_expires))},
          {"expired", freshness.Expired(SystemClock().Now())},
          {"synthetic", freshness.synthetic}};
}

json::object HardwareJson(const stats::HardwareClass& hardware) {
  return {{"architecture", Text(hardware.architecture)},
          {"cpu_family", Text(hardware.cpu_family)},
          {"log2_cores", hardware.log2_cores},
          {"log2_memory_mib", hardware.log2_memory_mib},
          {"os_release", Text(hardware.os_release)}};
}

}  // namespace fieldcost::cli
