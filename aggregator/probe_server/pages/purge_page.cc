#include "aggregator/probe_server/pages/purge_page.h"

#include <fmt/format.h>

#include "aggregator/probe_server/pages/links.h"
#include "aggregator/probe_server/pages/page_numbers.h"
#include "common/base/text.h"
#include "common/draw/html_writer.h"

namespace fieldcost::probe_server {

std::string PurgePage(const Frame& frame, const std::string& label,
                      const std::vector<EventLine>& lines) {
  draw::Html html;
  const std::string back = LinkTo("/events", {{"label", label}});
  if (lines.empty()) {
    return Document(frame,
                    html.Raw("<p>Nothing is set aside. ").Link(back, "Back").Raw("</p>\n").Take());
  }
  html.Raw("<p>")
      .Text(fmt::format("{} set aside, with all their points, will be removed permanently.",
                        Counted(lines.size(), "event that is", "events that are")))
      .Raw("</p>\n<ul>\n");
  for (const EventLine& line : lines) {
    html.Raw("<li>")
        .Link(EventLink(line.row.key()), TimeText(line.row.begin_ns))
        .Text(fmt::format(", {}: {}", line.user, line.verdict.reason))
        .Raw("</li>\n");
  }
  html.Raw("</ul>\n").Raw(OpenForm("/purge", frame)).Hidden("label", label);
  for (const EventLine& line : lines) html.Hidden("id", line.row.key().Text());
  html.Raw("<p><button>Remove them</button> ").Link(back, "Leave them").Raw("</p></form>\n");
  return Document(frame, html.Take());
}

}  // namespace fieldcost::probe_server
