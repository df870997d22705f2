#include "aggregator/probe_server/pages/event_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "aggregator/probe_server/pages/bars_svg.h"
#include "aggregator/probe_server/pages/links.h"
#include "aggregator/probe_server/pages/page_numbers.h"
#include "common/base/check.h"
#include "common/base/text.h"
#include "common/draw/html_writer.h"
#include "common/draw/numbers.h"
#include "common/probe/steps.h"

namespace fieldcost::probe_server {
namespace {

std::string PlaceText(const probe::Site& site) {
  if (site.file.empty()) return site.function;
  std::string place = fmt::format("{}:{}", site.file, site.line);
  return site.function.empty() ? place : fmt::format("{} ({})", place, site.function);
}

void AddFact(draw::Html& html, std::string_view name, std::string_view untrusted_value) {
  if (untrusted_value.empty()) return;
  html.Raw("<dt>").Raw(name).Raw("</dt><dd>").Text(untrusted_value).Raw("</dd>\n");
}

void AddFacts(draw::Html& html, const EventView& view) {
  const probe::EventRow& row = view.event.row;
  html.Raw("<dl>\n");
  AddFact(html, "Began", TimeText(row.begin_ns));
  AddFact(html, "Total", row.end_ns == 0 ? "it is not over" : DurationText(row.TotalNs()));
  AddFact(html, "User", view.user);
  AddFact(html, "Program", row.program);
  AddFact(html, "Build", row.build);
  AddFact(html, "Tags", fmt::format("{}", fmt::join(row.tags, ", ")));
  AddFact(html, "Set aside", view.verdict.reason);
  if (row.mark == probe::Mark::kKept) AddFact(html, "Kept", row.mark_reason);
  if (row.is_incomplete) AddFact(html, "Incomplete", "some of its points were lost");
  if (row.lost_hits != 0) {
    AddFact(html, "Lost in its run",
            Counted(row.lost_hits, "point", "points") + "; whole events may be missing");
  }
  if (row.is_suspended) AddFact(html, "Suspended", "the machine slept meanwhile");
  if (view.event.hits_left_out != 0) {
    AddFact(html, "Not shown", fmt::format("{} more points", view.event.hits_left_out));
  }
  AddFact(html, "Number", row.id.Hex());
  html.Raw("</dl>\n");
}

void AddMarkForm(draw::Html& html, const Frame& frame, const EventView& view) {
  const std::string action = EventLink(view.event.row.key()) + "/mark";
  html.Raw("<h2 class=\"screen\">Does it count?</h2>\n")
      .Raw(OpenForm(action, frame))
      .Raw("<p>")
      .Field("Reason", "reason", "text", "", " maxlength=\"200\"")
      .Raw(
          " <button name=\"mark\" value=\"set_aside\">Set it aside</button> "
          "<button name=\"mark\" value=\"kept\">Keep it</button> ");
  if (view.event.row.mark != probe::Mark::kNone) {
    html.Raw("<button name=\"mark\" value=\"none\">Remove the mark</button>");
  }
  html.Raw("</p></form>\n");
}

void AddHitRow(draw::Html& html, const EventView& view, const probe::Step& step) {
  const probe::Event& event = view.event;
  const probe::EventHit& hit = event.hits[step.hit];
  html.Raw("<tr><td>")
      .Link(StepLink(event.row.key(), step.hit), step.name)
      .Raw(step.between_threads ? "<small>from another thread</small>" : "")
      .Raw("</td>")
      .NumberCell(DurationText(step.ns))
      .NumberCell(DurationText(hit.ns - std::min(hit.ns, event.hits.front().ns)))
      .NumberCell(std::to_string(hit.thread))
      .Cell(PlaceText(hit.site))
      .Cell(hit.value ? std::to_string(*hit.value) : "")
      .Raw("</tr>\n");
}

void AddPoint(draw::Html& html, std::string_view role, const probe::EventHit& hit,
              std::uint64_t begin_ns) {
  html.Raw("<h2>").Raw(role).Raw(": ").Text(hit.site.label).Raw("</h2>\n<dl>\n");
  AddFact(html, "Time", TimeText(hit.ns));
  AddFact(html, "Since the beginning", DurationText(hit.ns - std::min(hit.ns, begin_ns)));
  AddFact(html, "Thread", std::to_string(hit.thread));
  AddFact(html, "Program", hit.program);
  AddFact(html, "Place", PlaceText(hit.site));
  if (hit.value) AddFact(html, "Value", std::to_string(*hit.value));
  html.Raw("</dl>\n");
}

void AddStack(draw::Html& html, const probe::EventHit& hit) {
  if (!hit.has_stack) {
    html.Raw("<p>There is no stack of this point.</p>\n");
    return;
  }
  html.Raw(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Stack\"><table>\n"
      "<caption>Stack, innermost function first</caption>\n<thead><tr><th scope=\"col\" "
      "class=\"n\">#</th><th scope=\"col\">Function</th><th "
      "scope=\"col\">Place</th><th scope=\"col\">Module</th></tr></thead>\n<tbody>\n");
  for (std::size_t i = 0; i < hit.stack.size(); ++i) {
    const probe::Frame& frame = hit.stack[i];
    html.Raw("<tr>")
        .NumberCell(std::to_string(i))
        .Cell(frame.function.empty() ? "(not known)" : frame.function)
        .Cell(frame.file.empty() ? "" : fmt::format("{}:{}", frame.file, frame.line))
        .Cell(frame.module)
        .Raw("</tr>\n");
  }
  html.Raw("</tbody></table></div>\n");
  if (hit.stack_is_cut) html.Raw("<p>The outer frames are not known.</p>\n");
}

}  // namespace

std::string EventPage(const Frame& frame, const EventView& view) {
  draw::Html html;
  AddFacts(html, view);
  const std::vector<probe::Step> steps = probe::StepsOf(view.event);
  html.Raw("<h2>Steps</h2>\n");
  if (steps.empty()) {
    html.Raw("<p>Fewer than two of its points are known, so it has no steps.</p>\n");
  } else {
    const FoldedSteps folded = FoldSteps({view.event});
    html.Raw(Legend(folded))
        .Raw(BarsSvg({{&view.event, ""}}, folded))
        .Raw(
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
            "aria-label=\"Steps\"><table>\n<caption>Each step ends at the point that it is named "
            "after</caption>\n<thead><tr><th scope=\"col\">Step</th><th scope=\"col\" "
            "class=\"n\">Took</th><th scope=\"col\" class=\"n\">Ended at</th><th "
            "scope=\"col\" class=\"n\">Thread</th><th scope=\"col\">Place</th><th "
            "scope=\"col\">Value</th></tr></thead>\n<tbody>\n");
    for (const probe::Step& step : steps) AddHitRow(html, view, step);
    html.Raw("</tbody></table></div>\n");
  }
  AddMarkForm(html, frame, view);
  return Document(frame, html.Take());
}

std::string StepPage(const Frame& frame, const EventView& view, std::size_t hit) {
  const probe::Event& event = view.event;
  FIELDCOST_CHECK(hit < event.hits.size());
  const std::uint64_t begin_ns = event.hits.front().ns;
  draw::Html html;
  html.Raw("<p>")
      .Link(EventLink(event.row.key()),
            fmt::format("{} of {}", event.row.label, TimeText(event.row.begin_ns)))
      .Raw("</p>\n");
  if (hit != 0) {
    html.Raw("<p>It took <strong>")
        .Text(DurationText(event.hits[hit].ns - event.hits[hit - 1].ns))
        .Raw("</strong>.</p>\n");
    AddPoint(html, "From", event.hits[hit - 1], begin_ns);
  }
  AddPoint(html, "To", event.hits[hit], begin_ns);
  AddStack(html, event.hits[hit]);
  return Document(frame, html.Take());
}

}  // namespace fieldcost::probe_server
