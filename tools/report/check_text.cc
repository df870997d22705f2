#include "tools/report/check_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "common/base/text.h"
#include "common/draw/name_text.h"
#include "common/draw/numbers.h"
#include "common/draw/spectrum.h"
#include "common/draw/text_table.h"
#include "common/names/cxx_name.h"
#include "tools/report/figure_text.h"

namespace fieldcost::report {
namespace {

using inference::Verdict;

constexpr std::size_t kMaxCheckedName = 40;
constexpr std::size_t kLeastCheckedName = 24;
constexpr std::size_t kMaxCheckedWidth = 20;
constexpr std::size_t kLeastCheckedVersion = 10;
constexpr std::size_t kMaxBarWidth = 24;
constexpr std::size_t kMinBarWidth = 4;
constexpr std::size_t kHistogramMargin = 2;  // before the lines of a histogram
constexpr double kLeastShown = 1e-99;        // of p values
constexpr draw::Rgb kWorseColor{230, 60, 40};

std::string Probability(double p) {
  if (p < kLeastShown) return "<1e-99";
  return p >= 0.0995 ? fmt::format("{:.2f}", p) : fmt::format("{:.2g}", p);
}

draw::TextLine LineOf(const analysis::CheckedApi& api, const draw::Style& style) {
  const inference::Comparison& comparison = api.comparison;
  return {draw::ShortenName(names::ShownName(api.key.api), kMaxCheckedName, style),
          draw::Shorten(api.key.api.package_version, kMaxCheckedWidth, style),
          draw::FormatCount(comparison.calls),
          draw::FormatCount(comparison.machines),
          fmt::format("{:.2f}", comparison.ratio),
          fmt::format("{:.2f}", comparison.cliffs_delta),
          Probability(comparison.machine_test.p),
          Probability(comparison.q),
          comparison.few_machines ? "-" : Probability(comparison.call_test.by_bucket.p),
          analysis::SeedText(comparison.call_test.seed),
          std::string(Name(api.field.stratum)) +
              (comparison.own_removed ? ", own contribution subtracted" : "") +
              (comparison.few_machines ? ", typical machine" : "")};
}

std::string Table(const analysis::CheckReport& report, Verdict verdict, const draw::Style& style) {
  const std::vector<draw::TextColumn> columns = {{"API", false, 0, kLeastCheckedName, true},
                                                 {"VERSION", false, 4, kLeastCheckedVersion},
                                                 {"N", true},
                                                 {"A", true, 1},
                                                 {"RATIO", true},
                                                 {"DELTA", true, 2},
                                                 {"P-MACHINES", true, 3},
                                                 {"Q", true},
                                                 {"P-CALLS", true, 6},
                                                 {"SEED", true, 7},
                                                 {"COMPARED WITH", false, 5}};
  std::vector<draw::TextLine> lines;
  for (const analysis::CheckedApi& api : report.apis) {
    if (api.comparison.verdict == verdict) lines.push_back(LineOf(api, style));
  }
  return draw::TextTable(columns, lines, style, "  ");
}

std::string Heading(std::string_view words, std::size_t count, std::optional<draw::Rgb> color,
                    const draw::Style& style) {
  std::string text = fmt::format("{}: {}", words, count);
  if (color && count != 0) text = draw::Paint(text, *color, style.color);
  return text + "\n";
}

std::string LackingText(const analysis::CheckReport& report, bool all, const draw::Style& style) {
  const std::size_t lacking = report.Count(Verdict::kTooLittleData);
  const std::size_t named = all ? lacking : std::min(lacking, kMaxLacking);
  std::string text;
  std::size_t lines = 0;
  for (const analysis::CheckedApi& api : report.apis) {
    if (api.comparison.verdict != Verdict::kTooLittleData) continue;
    if (lines++ == named) break;
    text += fmt::format("  {}  {}\n",
                        draw::ShortenName(names::ShownName(api.key.api), kMaxCheckedName, style),
                        analysis::Lack(api));
  }
  if (named < lacking) text += fmt::format("  (and {} more: --all)\n", lacking - named);
  return text;
}

std::string Bar(double share, double greatest, unsigned slot, std::size_t width,
                const draw::Style& style) {
  const auto length = static_cast<std::size_t>(
      share > 0 ? std::max(1.0, std::floor(share / greatest * static_cast<double>(width))) : 0);
  const std::string bar(length, '@');
  return (length == 0 ? "" : draw::Paint(bar, draw::BucketColor(slot), style.color)) +
         std::string(width - length, ' ');
}

// The width of each of two bars on a line whose other text takes `taken` columns.
std::size_t BarWidthIn(std::size_t columns, std::size_t taken) {
  if (columns == 0) return kMaxBarWidth;
  return std::clamp((columns - std::min(columns, taken)) / 2, kMinBarWidth, kMaxBarWidth);
}

std::string SideBySide(const draw::Bars& mine, const draw::Bars& field, stats::Metric metric,
                       const draw::Style& style) {
  const std::optional<draw::UsedSlots> range =
      Join(draw::FindUsedSlots(mine), draw::FindUsedSlots(field));
  if (!range) return "";
  const auto share = [](const draw::Bars& bars, unsigned slot) {
    double all = 0;
    for (const std::uint64_t height : bars.heights) all += static_cast<double>(height);
    return all == 0 ? 0 : static_cast<double>(bars.heights[slot]) / all;
  };
  double greatest = 0;
  for (unsigned slot = range->first; slot <= range->last; ++slot) {
    greatest = std::max({greatest, share(mine, slot), share(field, slot)});
  }
  const auto count = [](const draw::Bars& bars, unsigned slot) {
    return bars.are_counts ? draw::FormatCount(bars.heights[slot]) : "";
  };
  std::size_t width = 0;
  std::size_t count_width = std::string_view("field").size();
  for (unsigned slot = range->first; slot <= range->last; ++slot) {
    width = std::max(width, draw::DisplayWidth(draw::BucketText(slot, metric, style)));
    count_width = std::max({count_width, count(mine, slot).size(), count(field, slot).size()});
  }
  // In addition to its bar, each side has "  COUNT 100.0 % ||".
  const std::size_t side_width = count_width + std::string_view("   100.0 % ||").size();
  const std::size_t bar_width =
      BarWidthIn(style.columns, kHistogramMargin + width + 2 * side_width);
  const auto side = [&](const draw::Bars& bars, unsigned slot) {
    return fmt::format("  {:>{}} {:>5.1f} % |{}|", count(bars, slot), count_width,
                       100 * share(bars, slot),
                       Bar(share(bars, slot), greatest, slot, bar_width, style));
  };
  std::string text =
      fmt::format("  {:<{}}  {:>{}}{:<{}}  {:>{}}\n", "", width, "mine", count_width, "",
                  side_width + bar_width - count_width - 2, "field", count_width);
  for (unsigned slot = range->first; slot <= range->last; ++slot) {
    text += fmt::format("  {}{}{}\n", draw::PadRight(draw::BucketText(slot, metric, style), width),
                        side(mine, slot), side(field, slot));
  }
  return text;
}

draw::Bars FieldBars(const analysis::CheckedApi& api, stats::Metric metric) {
  if (!api.comparison.few_machines) return draw::CountBars(api.field.sums.histogram, metric);
  return draw::JoinShortTimes(
      {.heights = stats::SharesOf(api.field.sums.weights), .are_counts = false}, metric);
}

std::string MethodText(const inference::PValue& p) {
  return fmt::format("p {} ({})", Probability(p.p), analysis::Name(p.method));
}

}  // namespace

std::string CheckText(const analysis::CheckReport& report, bool all, const draw::Style& style) {
  std::string text = fmt::format("{} of {}: {}\n", stats::Name(report.metric),
                                 EscapeControl(report.profile), Counted(report.apis.size(), "API"));
  const std::size_t worse = report.Count(Verdict::kMore);
  text += Heading("! worse than the field", worse, kWorseColor, style);
  if (worse != 0) text += Table(report, Verdict::kMore, style);
  text += Heading("? too little data", report.Count(Verdict::kTooLittleData), {}, style);
  text += LackingText(report, all, style);
  const std::size_t normal = report.Count(Verdict::kNone);
  text += Heading("normal", normal, {}, style);
  if (all && normal != 0) text += Table(report, Verdict::kNone, style);
  if (worse + normal != 0) {
    text += fmt::format(
        "N: my calls; A: other machines; RATIO: of geometric means; DELTA: Cliff's; P-MACHINES: "
        "test "
        "among machines;\nQ: false discovery rate if this one is reported; P-CALLS: {} "
        "permutations "
        "of calls, for information. Seed of the report {}{}.\n",
        draw::FormatCount(inference::kPermutations), analysis::SeedText(report.Seed()),
        report.salt == 0 ? "" : fmt::format(" (--seed {})", report.salt));
  }
  if (report.own_unknown != 0) {
    text += fmt::format(
        "{} of your own batches could not be subtracted from the field, so comparisons are "
        "slightly "
        "too lenient\n",
        report.own_unknown);
  }
  return text;
}

std::string ExplainText(const analysis::CheckedApi& api, stats::Metric metric,
                        const draw::Style& style) {
  const inference::Comparison& c = api.comparison;
  std::string text = fmt::format(
      "{}  version {}  {}\n", EscapeControl(names::ShownName(api.key.api)),
      api.key.api.package_version.empty() ? "unknown" : EscapeControl(api.key.api.package_version),
      stats::Name(metric));
  text += fmt::format("  {}{}\n", inference::Words(c.verdict, inference::Wording::kField),
                      c.verdict == Verdict::kTooLittleData ? ": " + analysis::Lack(api) : "");
  if (api.field.stratum == analysis::Stratum::kNone) {
    return text + SideBySide(draw::CountBars(api.mine, metric), {}, metric, style);
  }
  std::string versions;
  for (const std::string& version : api.field.versions) {
    versions += (versions.empty() ? "" : ", ") + EscapeControl(version);
  }
  text += fmt::format("  compared with: {} ({}){}\n", Name(api.field.stratum), versions,
                      c.own_removed ? "; own contribution subtracted" : "");
  text +=
      fmt::format("  n {} of mine, {}{}; A {} of the fullest quarter\n", Counted(c.calls, "call"),
                  c.few_machines ? "" : draw::FormatCount(c.field_calls) + " of ",
                  Counted(c.contributions, "contribution"), Counted(c.machines, "machine"));
  text += fmt::format("  ratio of geometric means {:.2f}, Cliff's delta {:.2f}{}\n", c.ratio,
                      c.cliffs_delta, c.few_machines ? ", both to the typical machine" : "");
  text += fmt::format(
      "  machines: p {}, q {}; t {:.2f}, {:.0f} degrees of freedom, skewness {}; {:.2f} octaves "
      "above the typical one\n",
      Probability(c.machine_test.p), Probability(c.q), c.machine_test.t,
      c.machine_test.degrees_of_freedom,
      c.machine_test.skewness ? fmt::format("{:.2f}", *c.machine_test.skewness)
                              : "not known (a few slow machines would not be allowed for)",
      c.machine_test.octaves_above);
  text += c.few_machines
              ? fmt::format("  calls:    not compared, {}\n", kFewMachinesText)
              : fmt::format("  calls:    {}; by ranks {}; seed {} (for information)\n",
                            MethodText(c.call_test.by_bucket), MethodText(c.call_test.by_rank),
                            analysis::SeedText(c.call_test.seed));
  return text +
         SideBySide(draw::CountBars(api.mine, metric), FieldBars(api, metric), metric, style);
}

}  // namespace fieldcost::report
