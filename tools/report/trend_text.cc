#include "tools/report/trend_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "common/draw/html.h"
#include "common/draw/numbers.h"
#include "common/draw/spectrum.h"
#include "common/draw/svg_parts.h"
#include "tools/report/page_text_style.h"

namespace fieldcost::report {
namespace {

constexpr unsigned kBarWidth = 8;
constexpr unsigned kBarGap = 2;
constexpr unsigned kTrendHeight = 28;
constexpr std::size_t kMaxSpelledOut = 16;  // costs listed as text
constexpr std::array<const char*, 9> kBlocks = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<const char*, 9> kAscii = {" ", ".", ":", "-", "=", "+", "*", "#", "@"};

double MostExpensive(std::span<const analysis::TrendPoint> points) {
  double most = 0;
  for (const analysis::TrendPoint& point : points) most = std::max(most, point.cost);
  return most;
}

// The slot of the cost's bucket.
unsigned SlotOf(double cost) {
  if (cost < 1) return 0;
  return static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(std::min(cost, 0x1p62))));
}

}  // namespace

std::string TrendWords(std::span<const analysis::TrendPoint> points, std::string_view unit,
                       stats::Metric metric, const draw::Style& style) {
  if (points.empty()) return fmt::format("no {}", unit);
  std::string text = fmt::format("{} {} from {} to {}:", points.size(), unit,
                                 points.front().untrusted_label, points.back().untrusted_label);
  const std::size_t first = points.size() - std::min(points.size(), kMaxSpelledOut);
  for (std::size_t i = first; i < points.size(); ++i) {
    text += (i == first ? first == 0 ? " " : " ..., " : ", ") +
            draw::FormatCost(points[i].cost, metric, style);
  }
  return text;
}

std::string TrendSvg(std::span<const analysis::TrendPoint> points, std::string_view unit,
                     stats::Metric metric) {
  if (points.size() < 2) return "";
  const std::string words = draw::EscapeHtml(TrendWords(points, unit, metric, kPageTextStyle));
  const std::size_t width = points.size() * (kBarWidth + kBarGap) - kBarGap;
  std::string svg = fmt::format(
      "<svg role=\"img\" aria-label=\"{0}\" width=\"{1}\" height=\"{2}\" viewBox=\"0 0 {1} {2}\">"
      "<title>{0}</title>",
      words, width, kTrendHeight);
  const double most = MostExpensive(points);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double share = most > 0 ? points[i].cost / most : 0;
    const auto height = static_cast<unsigned>(std::max(1L, std::lround(share * kTrendHeight)));
    svg += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>",
                       i * (kBarWidth + kBarGap), kTrendHeight - height, kBarWidth, height,
                       draw::HexColor(draw::BucketColor(SlotOf(points[i].cost))));
  }
  return svg + "</svg>";
}

std::string TrendLine(std::span<const analysis::TrendPoint> points, const draw::Style& style) {
  if (points.size() < 2) return "";
  const double most = MostExpensive(points);
  std::string line;
  for (const analysis::TrendPoint& point : points) {
    const double share = most > 0 ? point.cost / most : 0;
    const auto level = std::clamp<std::size_t>(
        static_cast<std::size_t>(std::ceil(share * (kBlocks.size() - 1))), 1, kBlocks.size() - 1);
    line += draw::Paint(style.utf8 ? kBlocks[level] : kAscii[level],
                        draw::BucketColor(SlotOf(point.cost)), style.color);
  }
  return line;
}

}  // namespace fieldcost::report
