// API handlers that write.
#include "aggregator/probe_server/pages/purge_page.h"
#include "aggregator/probe_server/web/json_body.h"
#include "aggregator/probe_server/web/parse_mark.h"
#include "aggregator/probe_server/web/queries.h"
#include "aggregator/probe_server/web/web_handlers.h"
#include "common/base/json_writer.h"
#include "common/http/answers.h"

namespace fieldcost::probe_server {

Result<http::Response> ApiMark(Visit& visit) {
  FIELDCOST_ASSIGN(const boost::json::object object, ObjectOf(visit.untrusted_request.body));
  FIELDCOST_ASSIGN(const probe::Mark mark, ParseMark(TextOf(object, "mark").value_or("")));
  FIELDCOST_ASSIGN(const std::vector<probe::EventKey> ids, ParseIds({visit.Part(2)}, 1));
  const std::string reason = TextOf(object, "reason").value_or("");
  FIELDCOST_TRY(visit.site.writer.Run([&](Data& data) {
    return MarkEvent(data, visit.viewer->actor(), ids.front(), mark, reason,
                     visit.site.clock.Now());
  }));
  return http::JsonAnswer(200, "{}");
}

Result<http::Response> ApiPurge(Visit& visit) {
  FIELDCOST_ASSIGN(const boost::json::object object, ObjectOf(visit.untrusted_request.body));
  const boost::json::value* list = object.if_contains("ids");
  if (list == nullptr || !list->is_array()) {
    return Fail(ErrorCode::kInvalidArgument, R"(expected a JSON object {{"ids": ["..."]}})");
  }
  std::vector<std::string_view> untrusted_ids;
  for (const boost::json::value& id : list->get_array()) {
    const boost::json::string* text = id.if_string();
    untrusted_ids.push_back(text == nullptr ? "" : std::string_view(text->data(), text->size()));
  }
  FIELDCOST_ASSIGN(const std::vector<probe::EventKey> ids, ParseIds(untrusted_ids, kMaxPurged));
  std::uint64_t removed = 0;
  FIELDCOST_TRY(visit.site.writer.Run([&](Data& data) -> Status {
    FIELDCOST_ASSIGN(removed,
                     PurgeEvents(data, visit.viewer->actor(), ids, visit.site.clock.Now()));
    return {};
  }));
  JsonWriter answer;
  answer.Object().Member("removed", removed).EndObject();
  return http::JsonAnswer(200, answer.TakeValue());
}

}  // namespace fieldcost::probe_server
