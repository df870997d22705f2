#include "aggregator/probes/pages/history_page.h"

#include <fmt/format.h>

#include "aggregator/probes/pages/history_svg.h"
#include "aggregator/probes/pages/html.h"
#include "aggregator/probes/pages/links.h"
#include "aggregator/probes/pages/numbers.h"
#include "common/base/text.h"
#include "common/draw/numbers.h"

namespace fieldcost::probe_server {
namespace {

std::string ChangeText(const probe::StepChange& change) {
  switch (change.change) {
    case probe::Change::kTooLittle:
      return change.base_events == 0
                 ? ""
                 : fmt::format("too few events to tell: at least {} of each build are needed",
                               probe::kLeastEvents);
    case probe::Change::kNone:
      return "";
    case probe::Change::kSlower:
    case probe::Change::kFaster:
      break;
  }
  return fmt::format(
      "{} {} of the build before ({} to {}, {})",
      change.change == probe::Change::kSlower ? "▲ slower:" : "▼ faster:", RatioText(change.ratio),
      RatioText(change.ratio_low), RatioText(change.ratio_high), ProbabilityText('p', change.p));
}

void AddRow(Html& html, const HistoryView& view, std::size_t i) {
  const probe::BuildPoint& point = view.builds[i];
  html.Raw("<tr>")
      .NumberCell(std::to_string(i + 1))
      .Raw("<td>")
      .Link(LinkTo("/events", {{"label", view.label}, {"build", point.build}}),
            point.build.empty() ? "(not named)" : point.build)
      .Raw("</td>")
      .Cell(TimeText(point.first_ns))
      .NumberCell(draw::FormatCount(point.events))
      .NumberCell(DurationText(point.median_ns))
      .NumberCell(fmt::format("{} to {}", DurationText(point.low_ns), DurationText(point.high_ns)))
      .Cell(ChangeText(point.change))
      .Raw("</tr>\n");
}

}  // namespace

std::string HistoryPage(const Frame& frame, const HistoryView& view) {
  Html html;
  if (view.builds.empty()) {
    return Document(frame, html.Raw("<p>No event of this label has ended.</p>\n").Take());
  }
  html.Raw("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Chart\">")
      .Raw(HistorySvg(view.builds))
      .Raw(
          "</div>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Builds\">"
          "<table>\n<caption>Builds, oldest first by their first event</caption>\n<thead><tr><th "
          "scope=\"col\" class=\"number\">#</th><th scope=\"col\">Build</th><th "
          "scope=\"col\">First event</th><th scope=\"col\" class=\"number\">Events</th><th "
          "scope=\"col\" class=\"number\">Median</th><th scope=\"col\" "
          "class=\"number\">Quartiles</th><th scope=\"col\">Change</th></tr></thead>\n<tbody>\n");
  for (std::size_t i = 0; i < view.builds.size(); ++i) AddRow(html, view, i);
  html.Raw("</tbody></table></div>\n");
  if (view.set_aside != 0) {
    html.Raw("<p>")
        .Text(
            Counted(view.set_aside, "event that is set aside is", "events that are set aside are") +
            " not counted.")
        .Raw("</p>\n");
  }
  if (view.is_cut) html.Raw("<p>Older events are not counted.</p>\n");
  return Document(frame, html.Take());
}

}  // namespace fieldcost::probe_server
