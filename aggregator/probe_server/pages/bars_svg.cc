#include "aggregator/probe_server/pages/bars_svg.h"

#include <fmt/format.h>

#include <algorithm>

#include "aggregator/probe_server/pages/links.h"
#include "aggregator/probe_server/pages/page_numbers.h"
#include "common/base/check.h"
#include "common/draw/html_writer.h"

namespace fieldcost::probe_server {
namespace {

constexpr double kBarHeight = 26;
constexpr double kWideBar = 608;    // pixels, at the least width at which `wide` labels are shown
constexpr double kNarrowBar = 288;  // pixels, on the narrowest screen
constexpr double kLeastForNumber = 22;  // pixels of a segment that shows its number
constexpr double kWidthOfByte =
    8;  // pixels of a name at most; bytes are at least as many as letters

const StepColor& ColorOf(std::size_t row) { return kStepColors[row % std::size(kStepColors)]; }

std::string NumberedName(std::size_t row, const std::string& name) {
  return fmt::format("{}. {}", row + 1, name);
}

// The step's number and name if there is room, otherwise its number, otherwise nothing.
std::string LabelFor(std::size_t row, const std::string& name, double pixels) {
  if (pixels < kLeastForNumber) return "";
  std::string whole = NumberedName(row, name);
  const bool fits = kWidthOfByte * static_cast<double>(whole.size() + 1) <= pixels;
  return fits ? whole : std::to_string(row + 1);
}

void AddLabel(draw::Html& html, const std::string& label, double middle, bool is_light,
              std::string_view where) {
  if (label.empty()) return;
  html.Raw(fmt::format(
               R"(<text x="{:.3f}%" y="18" text-anchor="middle" class="{}{}" aria-hidden="true">)",
               middle, is_light ? "on-light" : "on-dark", where))
      .Text(label)
      .Raw("</text>");
}

// A part of a bar; both values are percentages of the drawing's width.
struct Place {
  double begin = 0;
  double width = 0;
};

void AddSegment(draw::Html& html, const probe::Event& event, const FoldedSteps& steps,
                std::size_t row, std::size_t column, const Place& place) {
  const FoldedSteps::Row& step = steps.rows[row];
  const StepColor& color = ColorOf(row);
  const std::string words =
      fmt::format("{}: {}", NumberedName(row, step.name), DurationText(step.ns[column]));
  // The table has the same links, so keyboard users need not tab through both.
  const bool leads = step.hits[column] != kNoHit;
  if (leads) {
    html.Raw("<a href=\"")
        .Text(StepLink(event.row.key(), step.hits[column]))
        .Raw("\" tabindex=\"-1\" aria-label=\"")
        .Text(words)
        .Raw("\">");
  }
  html.Raw(fmt::format(R"(<rect x="{:.3f}%" y="0" width="{:.3f}%" height="{}" fill="{}"><title>)",
                       place.begin, place.width, kBarHeight, color.fill))
      .Text(words)
      .Raw("</title></rect>");
  if (leads) html.Raw("</a>");
  // Outside of the link, whose name has it already; clicks pass through it.
  const double middle = place.begin + place.width / 2;
  const std::string wide = LabelFor(row, step.name, place.width / 100 * kWideBar);
  const std::string narrow = LabelFor(row, step.name, place.width / 100 * kNarrowBar);
  if (wide == narrow) {
    AddLabel(html, wide, middle, color.is_light, "");
  } else {
    AddLabel(html, wide, middle, color.is_light, " wide");
    AddLabel(html, narrow, middle, color.is_light, " narrow");
  }
}

// The bar's name and total, and the bar below them.
void AddBar(draw::Html& html, const Bar& bar, const FoldedSteps& steps, std::size_t column,
            std::uint64_t longest) {
  const std::string total = DurationText(steps.Total(column));
  const std::string name = bar.name.empty() ? "All steps" : bar.name;
  html.Raw("<p class=\"bar\">")
      .Text(name)
      .Raw(": <b>")
      .Text(total)
      .Raw("</b></p>\n<svg class=\"chart\" role=\"group\" width=\"100%\" ")
      .Raw(fmt::format(R"(height="{}" aria-label=")", kBarHeight))
      .Text(name)
      .Raw("\"><title>Steps</title><desc>A segment is a step. The table has the numbers.</desc>");
  std::uint64_t reached = 0;
  for (std::size_t row = 0; row < steps.rows.size(); ++row) {
    const std::uint64_t ns = steps.rows[row].ns[column];
    if (ns == probe::kNoStep || ns == 0) continue;
    const auto percent = [longest](std::uint64_t part) {
      return static_cast<double>(part) / static_cast<double>(longest) * 100;
    };
    AddSegment(html, *bar.event, steps, row, column,
               {.begin = percent(reached), .width = percent(ns)});
    reached += ns;
  }
  html.Raw("</svg>\n");
}

}  // namespace

std::string BarsSvg(const std::vector<Bar>& bars, const FoldedSteps& steps) {
  FIELDCOST_CHECK(bars.size() == steps.events);
  std::uint64_t longest = 1;
  for (std::size_t i = 0; i < bars.size(); ++i) longest = std::max(longest, steps.Total(i));
  draw::Html html;
  for (std::size_t i = 0; i < bars.size(); ++i) AddBar(html, bars[i], steps, i, longest);
  return html.Take();
}

std::string Legend(const FoldedSteps& steps) {
  draw::Html html;
  html.Raw("<ul class=\"legend\" aria-label=\"Legend\">\n");
  for (std::size_t row = 0; row < steps.rows.size(); ++row) {
    html.Raw("<li>")
        .Raw(SwatchSvg(row))
        .Raw(" ")
        .Text(NumberedName(row, steps.rows[row].name))
        .Raw("</li>\n");
  }
  return html.Raw("</ul>\n").Take();
}

std::string SwatchSvg(std::size_t row) {
  return fmt::format(
      R"(<svg class="swatch" viewBox="0 0 16 16" aria-hidden="true"><rect width="16" height="16" fill="{}"/></svg>)",
      ColorOf(row).fill);
}

}  // namespace fieldcost::probe_server
