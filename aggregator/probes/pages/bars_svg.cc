#include "aggregator/probes/pages/bars_svg.h"

#include <fmt/format.h>

#include <algorithm>

#include "aggregator/probes/pages/chart.h"
#include "aggregator/probes/pages/html.h"
#include "aggregator/probes/pages/links.h"
#include "aggregator/probes/pages/numbers.h"
#include "common/base/check.h"
#include "common/base/text.h"
#include "common/draw/spectrum.h"
#include "common/draw/svg_parts.h"

namespace fieldcost::probe_server {
namespace {

constexpr double kRoomForTotal = 90;
constexpr double kBarHeight = 26;
constexpr double kNameHeight = 20;
constexpr double kGap = 10;
constexpr double kLeastForNumber = 22;  // of a segment that has its number in it
constexpr double kWidthOfByte = 8;      // of a name at most; bytes are at least as many as letters
constexpr unsigned kFirstSlot = 4;
constexpr unsigned kLastSlot = 31;

struct Color {
  std::string fill;
  bool is_light = false;
};

Color ColorOf(std::size_t row, std::size_t rows) {
  const std::size_t span = kLastSlot - kFirstSlot;
  const auto slot =
      static_cast<unsigned>(kFirstSlot + (rows < 2 ? span / 2 : row * span / (rows - 1)));
  const draw::Rgb color = draw::BucketColor(slot);
  const double lightness = 0.299 * color.red + 0.587 * color.green + 0.114 * color.blue;
  return {.fill = draw::HexColor(color), .is_light = lightness > 140};
}

std::string NumberedName(std::size_t row, const std::string& name) {
  return fmt::format("{}. {}", row + 1, name);
}

// With the name if there is room.
std::string LabelFor(std::size_t row, const std::string& name, double width) {
  std::string whole = NumberedName(row, name);
  const bool fits = kWidthOfByte * static_cast<double>(whole.size() + 1) <= width;
  return fits ? whole : std::to_string(row + 1);
}

void AddSegment(Html& html, const probe::Event& event, const FoldedSteps& steps, std::size_t row,
                std::size_t column, double x, double y, double width) {
  const FoldedSteps::Row& step = steps.rows[row];
  const Color color = ColorOf(row, steps.rows.size());
  const std::string words =
      fmt::format("{}: {}", NumberedName(row, step.name), DurationText(step.ns[column]));
  // The table has the same links; the keyboard need not pass all of them twice.
  const bool leads = step.hits[column] != kNoHit;
  if (leads) {
    html.Raw("<a href=\"")
        .Text(StepLink(event.row.id, step.hits[column]))
        .Raw("\" tabindex=\"-1\" aria-label=\"")
        .Text(words)
        .Raw("\">");
  }
  html.Raw(
          fmt::format(R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{}" fill="{}"><title>)",
                      x, y, std::max(0.5, width - 1), kBarHeight, color.fill))
      .Text(words)
      .Raw("</title></rect>");
  if (width >= kLeastForNumber) {
    html
        .Raw(fmt::format(
            R"(<text x="{:.1f}" y="{:.1f}" text-anchor="middle" class="{}" aria-hidden="true">)",
            x + width / 2, y + 18, color.is_light ? "on-light" : "on-dark"))
        .Text(LabelFor(row, step.name, width))
        .Raw("</text>");
  }
  if (leads) html.Raw("</a>");
}

void AddBar(Html& html, const Bar& bar, const FoldedSteps& steps, std::size_t column, double top,
            double scale) {
  double y = top;
  if (!bar.name.empty()) {
    html.Raw(fmt::format(R"(<text x="0" y="{:.1f}">)", y + 14)).Text(bar.name).Raw("</text>");
    y += kNameHeight;
  }
  double x = 0;
  for (std::size_t row = 0; row < steps.rows.size(); ++row) {
    const std::uint64_t ns = steps.rows[row].ns[column];
    if (ns == probe::kNoStep || ns == 0) continue;
    const double width = static_cast<double>(ns) * scale;
    AddSegment(html, *bar.event, steps, row, column, x, y, width);
    x += width;
  }
  html.Raw(fmt::format(R"(<text x="{:.1f}" y="{:.1f}">)", x + 6, y + 18))
      .Text(DurationText(steps.Total(column)))
      .Raw("</text>");
}

}  // namespace

std::string BarsSvg(const std::vector<Bar>& bars, const FoldedSteps& steps) {
  FIELDCOST_CHECK(bars.size() == steps.events);
  std::uint64_t longest = 1;
  double height = 0;
  for (std::size_t i = 0; i < bars.size(); ++i) {
    longest = std::max(longest, steps.Total(i));
    height += kBarHeight + kGap + (bars[i].name.empty() ? 0 : kNameHeight);
  }
  const double scale = (kChartWidth - kRoomForTotal) / static_cast<double>(longest);
  const std::string words = fmt::format(
      "Where the time of {} went: a bar an event, a segment a step. The table has the numbers.",
      bars.size() == 1 ? "the event" : Counted(bars.size(), "event"));
  Html html;
  html.Raw(OpenChart({.role = "group", .height = height, .title = "Steps", .words = words}));
  double top = 0;
  for (std::size_t i = 0; i < bars.size(); ++i) {
    AddBar(html, bars[i], steps, i, top, scale);
    top += kBarHeight + kGap + (bars[i].name.empty() ? 0 : kNameHeight);
  }
  return html.Raw("</svg>\n").Take();
}

std::string Legend(const FoldedSteps& steps) {
  Html html;
  html.Raw("<ul class=\"legend\" aria-label=\"Legend\">\n");
  for (std::size_t row = 0; row < steps.rows.size(); ++row) {
    html.Raw("<li>")
        .Raw(SwatchSvg(row, steps.rows.size()))
        .Raw(" ")
        .Text(NumberedName(row, steps.rows[row].name))
        .Raw("</li>\n");
  }
  return html.Raw("</ul>\n").Take();
}

std::string SwatchSvg(std::size_t row, std::size_t rows) {
  return fmt::format(
      R"(<svg class="swatch" viewBox="0 0 16 16" aria-hidden="true"><rect width="16" height="16" fill="{}"/></svg>)",
      ColorOf(row, rows).fill);
}

}  // namespace fieldcost::probe_server
