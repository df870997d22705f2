#include "tools/report/trend.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>

#include "common/stats/field_total.h"
#include "common/stats/machine_moments.h"
#include "tools/report/html.h"
#include "tools/report/numbers.h"
#include "tools/report/selection.h"
#include "tools/report/spectrum.h"
#include "tools/report/version_order.h"

namespace fieldcost::report {
namespace {

constexpr Style kStyle{.utf8 = true};
constexpr unsigned kBarWidth = 8;
constexpr unsigned kBarGap = 2;
constexpr unsigned kHeight = 28;
constexpr std::size_t kMaxSpelledOut = 16;  // costs in words
constexpr std::array<const char*, 9> kBlocks = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<const char*, 9> kAscii = {" ", ".", ":", "-", "=", "+", "*", "#", "@"};

TrendPoint PointOf(std::string label, const stats::ContributionScalars& scalars) {
  return {std::move(label), std::exp2(stats::MomentsOf(scalars).mean), scalars.contributions};
}

double Dearest(std::span<const TrendPoint> points) {
  double most = 0;
  for (const TrendPoint& point : points) most = std::max(most, point.cost);
  return most;
}

// The slot of the bucket that the cost is in.
unsigned SlotOf(double cost) {
  if (cost < 1) return 0;
  return static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(std::min(cost, 0x1p62))));
}

}  // namespace

stats::ApiSums MergeWidest(std::span<const stats::StatRow> rows, stats::Metric metric) {
  stats::ApiSums widest;
  int width = -1;
  for (const stats::StatRow& row : rows) {
    if (row.key.metric != metric) continue;
    const int own = stats::StratumWidth(row.key);
    if (own < width) continue;
    if (own > width) widest = {};
    width = own;
    widest.Merge(row);
  }
  return widest;
}

std::vector<TrendPoint> WeeklyTrend(std::span<const stats::StatRow> rows, stats::Metric metric) {
  struct Week {
    stats::ContributionScalars all_classes;
    stats::ContributionScalars single_classes;
  };
  std::map<std::uint32_t, Week> weeks;
  for (const stats::StatRow& row : rows) {
    if (row.key.metric != metric || row.key.week == 0) continue;
    Week& week = weeks[row.key.week];
    const bool all = row.key.hardware == stats::HardwareClass{};
    (all ? week.all_classes : week.single_classes).Merge(row.scalars);
  }
  std::vector<TrendPoint> points;
  for (const auto& [number, week] : weeks) {
    const stats::ContributionScalars& scalars =
        week.all_classes.contributions > 0 ? week.all_classes : week.single_classes;
    if (scalars.contributions > 0) points.push_back(PointOf(FirstDay(number), scalars));
  }
  return points;
}

std::vector<TrendPoint> VersionTrend(std::span<const stats::StatRow> rows, stats::Metric metric) {
  std::map<std::string, std::vector<stats::StatRow>, OlderVersion> versions;
  for (const stats::StatRow& row : rows) {
    if (row.key.metric == metric) versions[VersionOf(row.key.api)].push_back(row);
  }
  std::vector<TrendPoint> points;
  for (const auto& [version, some] : versions) {
    const stats::ApiSums widest = MergeWidest(some, metric);
    if (widest.scalars.contributions > 0) points.push_back(PointOf(version, widest.scalars));
  }
  return points;
}

std::string TrendWords(std::span<const TrendPoint> points, std::string_view unit,
                       stats::Metric metric, const Style& style) {
  if (points.empty()) return fmt::format("no {}", unit);
  std::string text = fmt::format("{} {} from {} to {}:", points.size(), unit,
                                 points.front().untrusted_label, points.back().untrusted_label);
  const std::size_t first = points.size() - std::min(points.size(), kMaxSpelledOut);
  for (std::size_t i = first; i < points.size(); ++i) {
    text += (i == first ? first == 0 ? " " : " ..., " : ", ") +
            FormatCost(points[i].cost, metric, style);
  }
  return text;
}

std::string TrendSvg(std::span<const TrendPoint> points, std::string_view unit,
                     stats::Metric metric) {
  if (points.size() < 2) return "";
  const std::string words = EscapeHtml(TrendWords(points, unit, metric, kStyle));
  const std::size_t width = points.size() * (kBarWidth + kBarGap) - kBarGap;
  std::string svg = fmt::format(
      "<svg role=\"img\" aria-label=\"{0}\" width=\"{1}\" height=\"{2}\" viewBox=\"0 0 {1} {2}\">"
      "<title>{0}</title>",
      words, width, kHeight);
  const double most = Dearest(points);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double share = most > 0 ? points[i].cost / most : 0;
    const auto height = static_cast<unsigned>(std::max(1L, std::lround(share * kHeight)));
    const Rgb color = BucketColor(SlotOf(points[i].cost), 1);
    svg += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"#{:02x}{:02x}{:02x}\"/>",
        i * (kBarWidth + kBarGap), kHeight - height, kBarWidth, height, color.red, color.green,
        color.blue);
  }
  return svg + "</svg>";
}

std::string TrendLine(std::span<const TrendPoint> points, const Style& style) {
  if (points.size() < 2) return "";
  const double most = Dearest(points);
  std::string line;
  for (const TrendPoint& point : points) {
    const double share = most > 0 ? point.cost / most : 0;
    const auto level = std::clamp<std::size_t>(
        static_cast<std::size_t>(std::ceil(share * (kBlocks.size() - 1))), 1, kBlocks.size() - 1);
    line += Paint(style.utf8 ? kBlocks[level] : kAscii[level], BucketColor(SlotOf(point.cost), 1),
                  style.color);
  }
  return line;
}

}  // namespace fieldcost::report
