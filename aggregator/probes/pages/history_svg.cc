#include "aggregator/probes/pages/history_svg.h"

#include <fmt/format.h>

#include <algorithm>

#include "aggregator/probes/pages/chart.h"
#include "aggregator/probes/pages/html.h"
#include "aggregator/probes/pages/numbers.h"

namespace fieldcost::probe_server {
namespace {

constexpr double kLeft = 90;
constexpr double kHeight = 300;
constexpr double kBottom = 250;
constexpr double kTop = 20;

void AddScale(Html& html, double most) {
  for (const double part : {0.0, 0.5, 1.0}) {
    const double y = kBottom - part * (kBottom - kTop);
    html
        .Raw(fmt::format(
            R"(<line x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}" class="spread" stroke-dasharray="2 4"/>)"
            R"(<text x="{}" y="{:.1f}" text-anchor="end">)",
            kLeft, kChartWidth, y, y, kLeft - 8, y + 4))
        .Text(DurationText(part * most))
        .Raw("</text>");
  }
}

std::string WordsOf(const probe::BuildPoint& point, std::size_t number) {
  return fmt::format("{}. {}: {} ({} to {}), {} events", number, point.build,
                     DurationText(point.median_ns), DurationText(point.low_ns),
                     DurationText(point.high_ns), point.events);
}

// A triangle up or down, so that colour is not all that tells.
void AddMark(Html& html, probe::Change change, double x, double y) {
  if (change == probe::Change::kSlower) {
    html.Raw(
        fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="middle">▲</text>)", x, y - 10));
  } else if (change == probe::Change::kFaster) {
    html.Raw(
        fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="middle">▼</text>)", x, y + 20));
  }
}

}  // namespace

std::string HistorySvg(std::span<const probe::BuildPoint> builds) {
  const std::size_t first = builds.size() - std::min(builds.size(), kMaxDrawnBuilds);
  double most = 1;
  for (const probe::BuildPoint& point : builds.subspan(first)) {
    most = std::max({most, point.high_ns, point.median_ns});
  }
  Html html;
  const std::string words =
      "Median time over builds, from left to right, with quartiles; a triangle up: slower than the "
      "build before, down: faster. The table has the numbers.";
  html.Raw(
      OpenChart({.role = "img", .height = kHeight, .title = "Time over builds", .words = words}));
  AddScale(html, most);
  const double pitch = (kChartWidth - kLeft) / static_cast<double>(builds.size() - first);
  const auto y_of = [most](double ns) { return kBottom - ns / most * (kBottom - kTop); };
  for (std::size_t i = first; i < builds.size(); ++i) {
    const probe::BuildPoint& point = builds[i];
    const double x = kLeft + (static_cast<double>(i - first) + 0.5) * pitch;
    const double y = y_of(point.median_ns);
    html
        .Raw(fmt::format(
            R"(<line x1="{0:.1f}" x2="{0:.1f}" y1="{1:.1f}" y2="{2:.1f}" class="spread" stroke-width="5"/>)"
            R"(<circle cx="{0:.1f}" cy="{3:.1f}" r="6" class="middle"><title>)",
            x, y_of(point.low_ns), y_of(point.high_ns), y))
        .Text(WordsOf(point, i + 1))
        .Raw("</title></circle>");
    AddMark(html, point.change.change, x, y);
    html.Raw(fmt::format(R"(<text x="{:.1f}" y="{}" text-anchor="middle">{}</text>)", x,
                         kBottom + 22, i + 1));
  }
  return html.Raw("</svg>\n").Take();
}

}  // namespace fieldcost::probe_server
