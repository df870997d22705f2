#include "tools/cli/lab/lab_json.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>

#include "common/base/clock.h"
#include "common/draw/numbers.h"
#include "common/shm/log2_bucket.h"
#include "tools/cli/costs/lab_table_file.h"
#include "tools/cli/json_parts.h"

namespace fieldcost::cli {
namespace {

namespace json = boost::json;

json::array PartsJson(std::span<const wire::LabPart> of) {
  json::array parts;
  for (const wire::LabPart& part : of) {
    const WallTime started{std::chrono::microseconds(part.started_us)};
    parts.push_back(json::object{{"content_hash", Text(part.content_hash)},
                                 {"name", Text(part.name)},
                                 {"seed", Text(std::to_string(part.seed))},
                                 {"rounds", part.rounds},
                                 {"runs", part.runs},
                                 {"left_out", part.left_out},
                                 {"counted_runs", part.counted_runs},
                                 {"apis", Text(part.apis)},
                                 {"started", Text(draw::FormatTime(started))},
                                 {"environment", Text(part.environment)}});
  }
  return parts;
}

// null = unknown.
json::value Known(const std::optional<double>& number) {
  if (!number) return nullptr;
  return *number;
}

// null = not compared, or too little is known.
json::value FieldJson(const std::optional<analysis::ContextPenalty>& field) {
  if (!field) return nullptr;
  return json::object{{"ratio", field->ratio},
                      {"ratio_low", field->low},
                      {"ratio_high", field->high},
                      {"machines", field->machines},
                      {"stratum", Text(analysis::Name(field->stratum))}};
}

// The totals of calls per run, by metric; missing ones were not measured.
json::object TotalsJson(std::span<const wire::LabTotal> totals) {
  json::object object;
  for (const wire::LabTotal& total : totals) {
    object[Text(stats::Name(total.metric))] =
        json::object{{"least", total.least}, {"most", total.most}};
  }
  return object;
}

json::object SlotJson(unsigned slot, std::uint64_t calls) {
  return {{"min", Text(draw::Decimal(shm::SlotMin(slot)))},
          {"max", Text(draw::Decimal(shm::SlotMax(slot)))},
          {"calls", calls}};
}

json::object GrowthJson(const stats::Growth& growth) {
  json::array points;
  for (const stats::GrowthPoint& point : growth.points) {
    json::object object = SlotJson(point.slot, point.calls);
    object["mean_ns"] = std::exp2(point.octaves);
    object["fitted_ns"] = std::exp2(point.fitted_octaves);
    points.push_back(std::move(object));
  }
  return {{"argument", growth.argument},   {"exponent", growth.exponent},
          {"r_squared", growth.r_squared}, {"rise_octaves", growth.rise_octaves},
          {"explained", growth.explained}, {"points", std::move(points)}};
}

json::object ShapeJson(const stats::ShapeResult& shape) {
  json::object object{{"name", Text(stats::Name(shape.shape))},
                      {"sentence", Text(stats::Sentence(shape))},
                      {"start_up", nullptr},
                      {"allocates_at_first_only", shape.allocates_at_first_only},
                      {"growth", nullptr},
                      {"peaks", nullptr},
                      {"p10", shape.spread.p10},
                      {"p50", shape.spread.p50},
                      {"p90", shape.spread.p90},
                      {"p99", shape.spread.p99}};
  if (shape.start_up) {
    object["start_up"] = json::object{{"processes", shape.start_up->processes},
                                      {"cheapest_first_ns", shape.start_up->cheapest_first_ns},
                                      {"rest_ns", shape.start_up->rest_ns},
                                      {"ratio", shape.start_up->ratio}};
  }
  if (shape.growth) object["growth"] = GrowthJson(*shape.growth);
  if (shape.peaks) {
    const stats::TwoPeaks& peaks = *shape.peaks;
    object["peaks"] = json::object{{"cheap", SlotJson(peaks.cheap_slot, peaks.cheap_calls)},
                                   {"valley", SlotJson(peaks.valley_slot, peaks.valley_calls)},
                                   {"dear", SlotJson(peaks.dear_slot, peaks.dear_calls)},
                                   {"dear_share", peaks.dear_share}};
  }
  return object;
}

// Null if nothing could be compared.
json::value TestJson(const analysis::LabChange& change) {
  if (change.test.strata == 0) return nullptr;
  const auto octaves = change.test.ConfidenceInterval(analysis::kConfidence);
  return json::object{{"ratio", change.ratio},
                      {"ratio_low", std::exp2(octaves.low)},
                      {"ratio_high", std::exp2(octaves.high)},
                      {"p", change.test.p},
                      {"q", change.q}};
}

// Null = not measured.
json::value TotalJson(const wire::LabTotal& total, bool is_known) {
  if (!is_known) return nullptr;
  return json::object{{"least", total.least}, {"most", total.most}};
}

// Null if the tables' counts could not be compared.
json::value CountsJson(const analysis::LabCounts& counts) {
  if (!counts.is_compared) return nullptr;
  json::array rows;
  for (const analysis::LabCount& count : counts.apis) {
    const bool is_known = count.change != inference::Verdict::kTooLittleData;
    rows.push_back(json::object{{"soname", Text(count.soname)},
                                {"symbol", Text(count.symbol)},
                                {"symbol_version", Text(count.symbol_version)},
                                {"metric", Text(stats::Name(count.metric))},
                                {"change", Text(inference::Name(count.change))},
                                {"regression", count.decides},
                                {"follows", count.follows},
                                {"before", TotalJson(count.before, is_known)},
                                {"after", TotalJson(count.after, is_known)}});
  }
  return json::object{{"runs_before", counts.runs_before},
                      {"runs_after", counts.runs_after},
                      {"vary_before", counts.vary_before},
                      {"vary_after", counts.vary_after},
                      {"rows", std::move(rows)}};
}

}  // namespace

std::string WrittenTableJson(const std::filesystem::path& file, std::uint64_t size_bytes,
                             const wire::LabTable& table) {
  return Print({{"file", Text(file.string())},
                {"size_bytes", size_bytes},
                {"api_count", table.apis.size()},
                {"calls", CallsOf(table)},
                {"parts", PartsJson(table.parts)}});
}

json::object CoverageJson(const analysis::Coverage& coverage) {
  const auto texts = [](const std::set<std::string>& untrusted_names) {
    json::array names;
    for (const std::string& name : untrusted_names) names.push_back(Text(name));
    return names;
  };
  json::array libraries;
  for (const analysis::LibraryCoverage& library : coverage.libraries) {
    libraries.push_back(json::object{{"library", Text(library.library)},
                                     {"called", library.called.size()},
                                     {"of", library.called.size() + library.uncalled.size()},
                                     {"uncalled", texts(library.uncalled)},
                                     {"not_measured", texts(library.not_measured)}});
  }
  return {{"incomplete", coverage.is_incomplete},
          {"libraries", std::move(libraries)},
          {"unreadable", texts(coverage.unreadable)}};
}

std::string LabJson(const std::vector<analysis::LabCost>& costs,
                    std::span<const wire::LabPart> parts,
                    const std::set<std::string>& untrusted_left_out_apis,
                    const analysis::Coverage* coverage) {
  json::array left_out;
  for (const std::string& name : untrusted_left_out_apis) left_out.push_back(Text(name));
  json::array rows;
  for (const analysis::LabCost& cost : costs) {
    json::object row = ApiJson(cost.summary.api);
    row["own"] = cost.is_own;
    row["calls"] = cost.calls;
    row["totals"] = TotalsJson(cost.totals);
    row["runs"] = cost.runs;
    row["total_ns"] = Known(cost.TotalNs());
    row["run_spread"] = Known(cost.run_spread);
    row["alloc_per_call"] = Known(cost.alloc_per_call);
    row["field"] = FieldJson(cost.field);
    row["shape"] = ShapeJson(cost.shape);
    row["metrics"] = MetricsJson(cost.summary);
    row["not_measured"] = NotMeasuredJson(cost.summary);
    rows.push_back(std::move(row));
  }
  return Print({{"source", "table"},
                {"parts", PartsJson(parts)},
                {"left_out_apis", std::move(left_out)},
                {"coverage", coverage == nullptr ? json::value(nullptr) : CoverageJson(*coverage)},
                {"rows", std::move(rows)}});
}

std::string LabDiffJson(const LabDiffContent& content) {
  json::array rows;
  for (const analysis::LabChange& change : content.times) {
    rows.push_back(json::object{{"soname", Text(change.soname)},
                                {"symbol", Text(change.symbol)},
                                {"symbol_version", Text(change.symbol_version)},
                                {"metric", Text(stats::Name(change.metric))},
                                {"unit", Text(stats::Unit(change.metric))},
                                {"change", Text(inference::Name(change.change))},
                                {"test", TestJson(change)},
                                {"cliffs_delta", change.delta},
                                {"runs_before", change.runs_before},
                                {"runs_after", change.runs_after},
                                {"before", FiguresJson(change.before)},
                                {"after", FiguresJson(change.after)}});
  }
  return Print({{"source", "tables"},
                {"summary", Text(content.lead)},
                {"before", PartsJson(content.before)},
                {"after", PartsJson(content.after)},
                {"rows", std::move(rows)},
                {"counts", CountsJson(content.counts)}});
}

std::string RequirementJson(std::span<const analysis::JudgedRequirement> judged,
                            std::span<const wire::LabPart> parts) {
  json::array requirements;
  json::object counts;
  for (const auto verdict :
       {analysis::RequiredVerdict::kViolated, analysis::RequiredVerdict::kNotMeasured,
        analysis::RequiredVerdict::kMet}) {
    counts[Text(Name(verdict))] =
        std::ranges::count(judged, verdict, &analysis::JudgedRequirement::verdict);
  }
  for (const analysis::JudgedRequirement& one : judged) {
    const bool is_known = !one.api.symbol.empty();
    requirements.push_back(json::object{
        {"verdict", Text(Name(one.verdict))},
        {"name", Text(one.requirement.name)},
        {"figure", Text(Name(one.requirement.figure))},
        {"limit", one.requirement.most},
        {"unit", Text(stats::Unit(analysis::MetricOf(one.requirement.figure)))},
        {"api", is_known ? json::value(Text(stats::DisplayName(one.api))) : json::value(nullptr)},
        {"measured", Known(one.measured)},
        {"low", Known(one.quantile ? std::optional(one.quantile->low) : std::nullopt)},
        {"high", Known(one.quantile ? std::optional(one.quantile->high) : std::nullopt)},
        {"why", one.why.empty() ? json::value(nullptr) : json::value(Text(one.why))}});
  }
  return Print({{"verdict", Text(Name(analysis::Overall(judged)))},
                {"counts", std::move(counts)},
                {"requirements", std::move(requirements)},
                {"parts", PartsJson(parts)}});
}

}  // namespace fieldcost::cli
