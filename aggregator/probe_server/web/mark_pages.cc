// Forms that mark events, and those that remove them.
#include "aggregator/probe_server/pages/links.h"
#include "aggregator/probe_server/pages/purge_page.h"
#include "aggregator/probe_server/web/parse_mark.h"
#include "aggregator/probe_server/web/queries.h"
#include "aggregator/probe_server/web/web_handlers.h"
#include "common/http/answers.h"

namespace fieldcost::probe_server {

Result<http::Response> MarkByForm(Visit& visit) {
  FIELDCOST_ASSIGN(const probe::Mark mark, ParseMark(visit.form.Find("mark")));
  FIELDCOST_ASSIGN(const std::vector<probe::EventKey> ids, ParseIds({visit.Part(1)}, 1));
  FIELDCOST_TRY(visit.site.writer.Run([&](Data& data) {
    return MarkEvent(data, visit.viewer->actor(), ids.front(), mark, visit.form.Find("reason"),
                     visit.site.clock.Now());
  }));
  return http::Redirect(EventLink(ids.front()) + "?done=marked");
}

Result<http::Response> AskToPurge(Visit& visit) {
  const std::string label(visit.target.query.Find("label"));
  if (label.empty()) return Fail(ErrorCode::kInvalidArgument, "label: it is missing");
  FIELDCOST_ASSIGN(const std::vector<EventLine> lines, FindSetAside(visit.data, label, kMaxPurged));
  return http::HtmlAnswer(200,
                          PurgePage(visit.PageFrame("Remove what is set aside"), label, lines));
}

Result<http::Response> PurgeByForm(Visit& visit) {
  FIELDCOST_ASSIGN(const std::vector<probe::EventKey> ids,
                   ParseIds(visit.form.All("id"), kMaxPurged));
  const Status purged = visit.site.writer.Run([&](Data& data) -> Status {
    FIELDCOST_TRY(PurgeEvents(data, visit.viewer->actor(), ids, visit.site.clock.Now()));
    return {};
  });
  FIELDCOST_TRY(purged);
  return http::Redirect(
      LinkTo("/events", {{"label", visit.form.Find("label")}, {"done", "purged"}}));
}

}  // namespace fieldcost::probe_server
