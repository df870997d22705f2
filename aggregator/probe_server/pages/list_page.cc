#include "aggregator/probe_server/pages/list_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "aggregator/probe_server/pages/links.h"
#include "aggregator/probe_server/pages/page_numbers.h"
#include "common/base/text.h"
#include "common/draw/html_writer.h"
#include "common/draw/numbers.h"
#include "common/probe/probe_limits.h"

namespace fieldcost::probe_server {
namespace {

std::string StateText(const EventLine& line) {
  if (line.verdict.IsSetAside()) return "set aside: " + line.verdict.reason;
  if (line.row.mark == probe::Mark::kKept) return "kept: " + line.row.mark_reason;
  return "";
}

void AddLine(draw::Html& html, const EventLine& line) {
  const probe::EventRow& row = line.row;
  const std::string begun = TimeText(row.begin_ns);
  html.Raw(line.verdict.IsSetAside() ? "<tr class=\"aside\">" : "<tr>")
      .Raw("<td class=\"screen\"><input type=\"checkbox\" name=\"id\" value=\"")
      .Text(row.key().Text())
      .Raw("\" aria-label=\"Choose ")
      .Text(fmt::format("{} of {}", row.label, begun))
      .Raw("\"></td><td class=\"time\">")
      .Link(EventLink(row.key()), begun)
      .Raw("</td>")
      .Cell(row.label)
      .NumberCell(row.end_ns == 0 ? "not over" : DurationText(row.TotalNs()))
      .Cell(line.user)
      .Cell(row.program)
      .Cell(row.build)
      .Cell(fmt::format("{}", fmt::join(row.tags, ", ")))
      .NumberCell(draw::FormatCount(row.hits - std::min<std::uint64_t>(row.hits, 1)))
      .NumberCell(row.lost_hits == 0 ? "" : draw::FormatCount(row.lost_hits))
      .Cell(StateText(line))
      .Raw("</tr>\n");
}

void AddFilterForm(draw::Html& html, const EventList& list) {
  const FilterText& filter = list.filter;
  html.Raw("<form class=\"row\" method=\"get\" action=\"/events\" aria-label=\"Filter\">\n")
      .Field("Label", "label", "text", filter.label, " list=\"labels\"");
  AddFilterFields(html, filter);
  html.Raw("<label><input type=\"checkbox\" name=\"aside\" value=\"show\"")
      .Raw(filter.with_set_aside ? " checked" : "")
      .Raw("> show what is set aside</label>\n<datalist id=\"labels\">");
  for (const std::string& label : list.labels) {
    html.Raw("<option value=\"").Text(label).Raw("\"></option>");
  }
  html.Raw("</datalist>\n<button>Filter</button></form>\n");
}

std::string LinkOf(const FilterText& filter, bool with_set_aside, std::string_view cursor) {
  return LinkTo("/events", {{"label", filter.label},
                            {"user", filter.user},
                            {"build", filter.build},
                            {"tag", filter.tag},
                            {"program", filter.program},
                            {"from", filter.from},
                            {"to", filter.to},
                            {"aside", with_set_aside ? "show" : ""},
                            {"cursor", cursor}});
}

void AddWays(draw::Html& html, const EventList& list) {
  html.Raw("<p class=\"screen\">");
  if (list.hidden != 0) {
    html.Text(Counted(list.hidden, "set aside event is", "set aside events are") + " not shown. ")
        .Link(LinkOf(list.filter, true, ""), "Show them")
        .Raw(". ");
  }
  if (!list.older_cursor.empty()) {
    html.Link(LinkOf(list.filter, list.filter.with_set_aside, list.older_cursor), "Older events")
        .Raw(" ");
  }
  if (!list.filter.label.empty()) {
    html.Link(LinkTo("/history", {{"label", list.filter.label},
                                  {"tag", list.filter.tag},
                                  {"program", list.filter.program}}),
              "History over builds")
        .Raw(" ")
        .Link(LinkTo("/compare", {{"label", list.filter.label}}), "Compare groups")
        .Raw(" ")
        .Link(LinkTo("/purge", {{"label", list.filter.label}}), "Remove what is set aside");
  }
  html.Raw("</p>\n");
}

}  // namespace

void AddFilterFields(draw::Html& html, const FilterText& filter) {
  html.Field("User", "user", "text", filter.user)
      .Field("Program", "program", "text", filter.program)
      .Field("Build", "build", "text", filter.build)
      .Field("Tag", "tag", "text", filter.tag)
      .Field("From", "from", "date", filter.from)
      .Field("To", "to", "date", filter.to);
}

std::string LabelsPage(const Frame& frame, const probe::LabelPage& page) {
  draw::Html html;
  if (page.labels.empty()) {
    html.Raw(
        "<p>Nothing has arrived yet. On a machine that should send events, run "
        "<code>fieldcost probe login</code> with this server's address, then "
        "<code>fieldcost probe run -- PROGRAM</code>.</p>\n");
    return Document(frame, html.Take());
  }
  html.Raw(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Labels\"><table>\n"
      "<caption>Labels of events, newest first</caption>\n<thead><tr><th "
      "scope=\"col\">Label</th><th scope=\"col\" class=\"n\">Events</th><th "
      "scope=\"col\">Newest</th><th scope=\"col\">Side by side</th><th "
      "scope=\"col\">Over builds</th></tr></thead>\n<tbody>\n");
  for (const probe::LabelCount& label : page.labels) {
    html.Raw("<tr><td>")
        .Link(LinkTo("/events", {{"label", label.label}}), label.label)
        .Raw("</td>")
        .NumberCell(draw::FormatCount(label.events))
        .Cell(TimeText(label.newest_ns))
        .Raw("<td>")
        .Link(LinkTo("/compare", {{"label", label.label}}), "Newest of " + label.label)
        .Raw("</td><td>")
        .Link(LinkTo("/history", {{"label", label.label}}), "History of " + label.label)
        .Raw("</td></tr>\n");
  }
  html.Raw("</tbody></table></div>\n");
  if (page.next) {
    html.Raw("<p class=\"screen\">")
        .Link(LinkTo("/", {{"before", fmt::format("{}", page.next->newest_ns)},
                           {"after", page.next->label}}),
              "Older labels")
        .Raw("</p>\n");
  }
  return Document(frame, html.Take());
}

std::string EventsPage(const Frame& frame, const EventList& list) {
  draw::Html html;
  AddFilterForm(html, list);
  if (list.lines.empty()) {
    html.Raw("<p>No events match.</p>\n");
    AddWays(html, list);
    return Document(frame, html.Take());
  }
  html.Raw(
      "<form method=\"get\" action=\"/compare\" aria-label=\"Compare\">\n"
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Events\"><table>\n"
      "<caption>Events, newest first</caption>\n<thead><tr><th scope=\"col\" "
      "class=\"screen\">Choose</th><th scope=\"col\">Began</th><th "
      "scope=\"col\">Label</th><th scope=\"col\" class=\"n\">Total</th><th "
      "scope=\"col\">User</th><th scope=\"col\">Program</th><th scope=\"col\">Build</th><th "
      "scope=\"col\">Tags</th><th scope=\"col\" class=\"n\">Steps</th><th scope=\"col\" "
      "class=\"n\">Lost points of its run</th><th "
      "scope=\"col\">State</th></tr></thead>\n<tbody>\n");
  for (const EventLine& line : list.lines) AddLine(html, line);
  html.Raw("</tbody></table></div>\n<p><button>Compare the chosen</button> ")
      .Text(fmt::format("at most {}, side by side", probe::kMaxCompared))
      .Raw("</p></form>\n");
  AddWays(html, list);
  return Document(frame, html.Take());
}

}  // namespace fieldcost::probe_server
