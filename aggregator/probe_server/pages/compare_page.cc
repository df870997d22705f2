#include "aggregator/probe_server/pages/compare_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "aggregator/probe_server/pages/bars_svg.h"
#include "aggregator/probe_server/pages/links.h"
#include "aggregator/probe_server/pages/page_numbers.h"
#include "common/draw/html_writer.h"

namespace fieldcost::probe_server {
namespace {

std::string NameOf(const CompareView& view, std::size_t i) {
  const probe::EventRow& row = view.events[i].row;
  std::string name = fmt::format("{}. {}, {}", i + 1, row.label, TimeText(row.begin_ns));
  for (const std::string* fact : {&view.users[i], &row.build}) {
    if (!fact->empty()) name += ", " + *fact;
  }
  if (!row.tags.empty()) name += fmt::format(", {}", fmt::join(row.tags, ", "));
  return name;
}

void AddStepCell(draw::Html& html, const CompareView& view, const FoldedSteps::Row& row,
                 std::size_t event) {
  html.Raw("<td class=\"n\">");
  const std::uint64_t ns = row.ns[event];
  if (ns == probe::kNoStep) {
    html.Raw("–</td>");
    return;
  }
  if (row.hits[event] == kNoHit) {
    html.Text(DurationText(ns));
  } else {
    html.Link(StepLink(view.events[event].row.key(), row.hits[event]), DurationText(ns));
  }
  const std::uint64_t first = row.ns.front();
  if (event != 0 && first != probe::kNoStep && first != 0) {
    html.Raw("<small>")
        .Text(RatioText(static_cast<double>(ns) / static_cast<double>(first)))
        .Raw("</small>");
  }
  html.Raw("</td>");
}

void AddTotals(draw::Html& html, const CompareView& view, const FoldedSteps& steps) {
  html.Raw("<tr><th scope=\"row\">All steps</th>");
  const std::uint64_t first = steps.Total(0);
  for (std::size_t i = 0; i < view.events.size(); ++i) {
    html.Raw("<td class=\"n\">").Text(DurationText(steps.Total(i)));
    if (i != 0 && first != 0) {
      html.Raw("<small>")
          .Text(RatioText(static_cast<double>(steps.Total(i)) / static_cast<double>(first)))
          .Raw("</small>");
    }
    html.Raw("</td>");
  }
  html.Raw("</tr>\n");
}

void AddTable(draw::Html& html, const CompareView& view, const FoldedSteps& steps) {
  html.Raw(
          "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Steps\"><table>\n"
          "<caption>Time of each step")
      .Text(view.events.size() < 2
                ? ""
                : fmt::format("; below it, its ratio to event 1, the oldest ({})",
                              TimeText(view.events.front().row.begin_ns)))
      .Raw(". A number leads to the step.</caption>\n<thead><tr><th scope=\"col\">Step</th>");
  for (std::size_t i = 0; i < view.events.size(); ++i) {
    html.Raw("<th scope=\"col\" class=\"n\">")
        .Link(EventLink(view.events[i].row.key()), fmt::format("Event {}", i + 1))
        .Raw("</th>");
  }
  html.Raw("</tr></thead>\n<tbody>\n");
  for (std::size_t row = 0; row < steps.rows.size(); ++row) {
    html.Raw("<tr><th scope=\"row\">")
        .Raw(SwatchSvg(row))
        .Text(fmt::format(" {}. {}", row + 1, steps.rows[row].name))
        .Raw("</th>");
    for (std::size_t i = 0; i < view.events.size(); ++i) {
      AddStepCell(html, view, steps.rows[row], i);
    }
    html.Raw("</tr>\n");
  }
  AddTotals(html, view, steps);
  html.Raw("</tbody></table></div>\n");
}

void AddTagSelect(draw::Html& html, const CompareView& view, std::string_view label,
                  std::string_view name, const std::string& chosen) {
  html.Raw("<label>").Raw(label).Raw(" <select name=\"").Raw(name).Raw("\"><option></option>");
  for (const std::string& tag : view.tags) {
    html.Raw(tag == chosen ? "<option selected>" : "<option>").Text(tag).Raw("</option>");
  }
  html.Raw("</select></label>\n");
}

void AddGroupForm(draw::Html& html, const CompareView& view) {
  if (view.tags.size() < 2) return;
  html.Raw("<form class=\"row\" method=\"get\" action=\"/compare\" aria-label=\"Groups\">\n");
  for (const probe::Event& event : view.events) html.Hidden("id", event.row.key().Text());
  AddTagSelect(html, view, "Compare those tagged", "new", view.new_tag);
  AddTagSelect(html, view, "with those tagged", "base", view.base_tag);
  html.Raw("<button>Compare groups</button></form>\n");
}

std::string_view ClassOf(inference::Verdict change) {
  if (change == inference::Verdict::kMore) return "slower";
  return change == inference::Verdict::kLess ? "faster" : "same";
}

std::string VerdictText(const probe::StepChange& change) {
  switch (change.change) {
    case inference::Verdict::kTooLittleData:
      return fmt::format("too few events: at least {} of each are needed",
                         inference::kEventThresholds.least_values);
    case inference::Verdict::kNone:
      return "no significant change";
    case inference::Verdict::kMore:
      return "slower";
    case inference::Verdict::kLess:
      return "faster";
  }
  return "";
}

void AddChange(draw::Html& html, const probe::StepChange& change) {
  const bool is_known = change.base_events != 0 && change.new_events != 0;
  const bool is_tested = change.change != inference::Verdict::kTooLittleData;
  html.Raw("<tr><th scope=\"row\">")
      .Text(change.name.empty() ? "The whole event" : change.name)
      .Raw("</th>")
      .NumberCell(change.base_events == 0 ? "–" : DurationText(change.base_ns))
      .NumberCell(change.new_events == 0 ? "–" : DurationText(change.new_ns))
      .NumberCell(is_known ? RatioText(change.ratio) : "–")
      .NumberCell(is_tested ? fmt::format("{} to {}", RatioText(change.ratio_low),
                                          RatioText(change.ratio_high))
                            : "–")
      .NumberCell(is_tested ? ProbabilityText('p', change.p) : "–")
      .Raw("<td class=\"")
      .Raw(ClassOf(change.change))
      .Raw("\">")
      .Text(VerdictText(change))
      .Raw("</td></tr>\n");
}

// Links to the exports. Lists of numbers need no escaping in URLs.
void AddExports(draw::Html& html, const CompareView& view) {
  std::string ids;
  for (const probe::Event& event : view.events) {
    ids += (ids.empty() ? "" : ",") + event.row.key().Text();
  }
  html.Raw("<p class=\"screen\">Export: ")
      .Link("/v1/export?format=otlp&ids=" + ids, "OpenTelemetry (JSON)")
      .Raw(" ")
      .Link("/v1/export?format=chrome&ids=" + ids, "Chrome and Perfetto (JSON)")
      .Raw("</p>\n");
}

void AddTableOf(draw::Html& html, const probe::Comparison& comparison, std::string_view base,
                std::string_view changed) {
  html.Raw(
          "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Groups\">"
          "<table>\n<caption>Geometric means of both groups, their ratio with its 95 % interval, "
          "and Welch's test of the logarithms; a change is named if few of those named can be "
          "false</caption>\n<thead><tr><th scope=\"col\">Step</th><th scope=\"col\" "
          "class=\"n\">")
      .Text(base)
      .Raw("</th><th scope=\"col\" class=\"n\">")
      .Text(changed)
      .Raw(
          "</th><th scope=\"col\" class=\"n\">Ratio</th><th scope=\"col\" "
          "class=\"n\">Interval</th><th scope=\"col\" class=\"n\">p</th><th "
          "scope=\"col\">Change</th></tr></thead>\n<tbody>\n");
  AddChange(html, comparison.total);
  for (const probe::StepChange& step : comparison.steps) AddChange(html, step);
  html.Raw("</tbody></table></div>\n");
}

void AddComparison(draw::Html& html, const CompareView& view) {
  if (!view.comparison) return;
  html.Raw("<h2>").Text(fmt::format("{} against {}", view.new_tag, view.base_tag)).Raw("</h2>\n");
  AddTableOf(html, *view.comparison, view.base_tag, view.new_tag);
}

void AddLost(draw::Html& html, std::string_view side, const probe::SideFacts& facts) {
  if (facts.lost_hits == 0) return;
  html.Raw("<p>")
      .Text(fmt::format("{}: {} points were lost in {} of {} runs; whole events may be missing.",
                        side, facts.lost_hits, facts.lost_runs, facts.runs))
      .Raw("</p>\n");
}

// All events of the label: two builds or tags, group by group.
void AddLabelGroups(draw::Html& html, const CompareView& view) {
  if (view.label.empty()) return;
  html.Raw(
          "<form class=\"row\" method=\"get\" action=\"/compare\" aria-label=\"Compare groups\">\n")
      .Hidden("label", view.label)
      .Field("Old build", "base_build", "text", "")
      .Field("Old tag", "base_tag", "text", "")
      .Field("New build", "new_build", "text", "")
      .Field("New tag", "new_tag", "text", "")
      .Raw("<button>Compare groups</button></form>\n");
  if (!view.groups) return;
  for (const probe::ComparedGroup& group : view.groups->groups) {
    html.Raw("<h2>").Text(probe::GroupText(group.key)).Raw("</h2>\n");
    AddTableOf(html, group.comparison, "Old", "New");
    if (group.comparison.at_equal_wait) {
      html.Raw("<p>Ratios are those of runs that wait equally long for a CPU.</p>\n");
    }
  }
  for (const probe::LeftOutGroup& group : view.groups->left_out) {
    html.Raw("<p>Left out, since only the ")
        .Raw(group.is_of_base ? "old group" : "new group")
        .Raw(" has it: ")
        .Text(probe::GroupText(group.key))
        .Raw("</p>\n");
  }
  AddLost(html, "Old", view.groups->base);
  AddLost(html, "New", view.groups->changed);
  if (view.groups->loads_differ) {
    html.Raw(
        "<p>The groups ran under different load: their programs waited differently for CPUs."
        "</p>\n");
  }
}

}  // namespace

std::string ComparePage(const Frame& frame, const CompareView& view) {
  draw::Html html;
  const FoldedSteps steps = FoldSteps(view.events);
  std::vector<Bar> bars;
  for (std::size_t i = 0; i < view.events.size(); ++i) {
    bars.push_back({&view.events[i], NameOf(view, i)});
  }
  html.Raw(Legend(steps)).Raw(BarsSvg(bars, steps));
  AddLabelGroups(html, view);
  AddGroupForm(html, view);
  AddComparison(html, view);
  html.Raw("<h2>Steps</h2>\n");
  AddTable(html, view, steps);
  AddExports(html, view);
  return Document(frame, html.Take());
}

}  // namespace fieldcost::probe_server
