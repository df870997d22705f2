#include "aggregator/probe_server/pages/history_page.h"

#include <fmt/format.h>

#include "aggregator/probe_server/pages/history_svg.h"
#include "aggregator/probe_server/pages/links.h"
#include "aggregator/probe_server/pages/page_numbers.h"
#include "common/base/text.h"
#include "common/draw/html_writer.h"
#include "common/draw/numbers.h"
#include "common/probe/groups.h"

namespace fieldcost::probe_server {
namespace {

// Empty for the first build.
std::string ChangeOf(const probe::StepChange& change) {
  if (change.base_events == 0) return "";
  const std::string percent = ChangeText(change.ratio);
  switch (change.change) {
    case inference::Verdict::kTooLittleData:
      return fmt::format("{}, but too few events to be sure: at least {} of each build are needed",
                         percent, inference::kEventThresholds.least_values);
    case inference::Verdict::kNone:
      return percent + ", no significant change";
    case inference::Verdict::kMore:
    case inference::Verdict::kLess:
      break;
  }
  return fmt::format("{}: {}, {} of the build before ({} to {}, {})",
                     change.change == inference::Verdict::kMore ? "▲ slower" : "▼ faster", percent,
                     RatioText(change.ratio), RatioText(change.ratio_low),
                     RatioText(change.ratio_high), ProbabilityText('p', change.p));
}

void AddRow(draw::Html& html, const HistoryView& view, const probe::HistoryLine& line,
            const probe::BuildPoint& point) {
  html.Raw("<tr><td>")
      .Link(
          LinkTo("/events", {{"label", view.filter.label},
                             {"build", point.build},
                             {"program", line.program},
                             {"tag", line.tags.empty() ? std::string_view() : line.tags.front()}}),
          point.build.empty() ? "(not named)" : point.build)
      .Raw("</td>")
      .Cell(TimeText(point.first_ns))
      .NumberCell(draw::FormatCount(point.events))
      .NumberCell(DurationText(point.median_ns))
      .NumberCell(fmt::format("{} to {}", DurationText(point.low_ns), DurationText(point.high_ns)))
      .Cell(ChangeOf(point.change))
      .Raw("</tr>\n");
}

void AddLine(draw::Html& html, const HistoryView& view, const probe::HistoryLine& line) {
  const std::string name =
      probe::GroupText({.label = view.filter.label, .program = line.program, .tags = line.tags});
  html.Raw("<h2>")
      .Text(name)
      .Raw("</h2>\n")
      .Raw(HistorySvg(line.builds))
      .Raw("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Builds of ")
      .Text(name)
      .Raw(
          "\"><table>\n<caption>Builds, oldest first by their first event; each is compared with "
          "the "
          "one before</caption>\n<thead><tr><th scope=\"col\">Build</th><th "
          "scope=\"col\">First event</th><th scope=\"col\" class=\"n\">Events</th><th "
          "scope=\"col\" class=\"n\">Median</th><th scope=\"col\" "
          "class=\"n\">Quartiles</th><th scope=\"col\">Change</th></tr></thead>\n<tbody>\n");
  for (const probe::BuildPoint& point : line.builds) AddRow(html, view, line, point);
  html.Raw("</tbody></table></div>\n");
}

void AddFilterForm(draw::Html& html, const FilterText& filter) {
  html.Raw("<form class=\"row\" method=\"get\" action=\"/history\" aria-label=\"Filter\">\n")
      .Field("Label", "label", "text", filter.label);
  AddFilterFields(html, filter);
  html.Raw("<button>Filter</button></form>\n");
}

}  // namespace

std::string HistoryPage(const Frame& frame, const HistoryView& view) {
  draw::Html html;
  AddFilterForm(html, view.filter);
  if (view.lines.empty()) {
    return Document(frame, html.Raw("<p>No event that matches has ended.</p>\n").Take());
  }
  html.Raw("<p>Programs, and runs with different tags, are listed and compared separately.</p>\n");
  for (const probe::HistoryLine& line : view.lines) AddLine(html, view, line);
  if (view.set_aside != 0) {
    html.Raw("<p>")
        .Text(
            Counted(view.set_aside, "event that is set aside is", "events that are set aside are") +
            " not counted.")
        .Raw("</p>\n");
  }
  if (view.lost_hits != 0) {
    html.Raw("<p>")
        .Text(Counted(view.lost_hits, "point was", "points were") +
              " lost in the runs of these events; whole events may be missing.")
        .Raw("</p>\n");
  }
  if (view.is_cut) html.Raw("<p>Older events are not counted.</p>\n");
  return Document(frame, html.Take());
}

}  // namespace fieldcost::probe_server
