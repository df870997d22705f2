// Requests of the API that change something.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "aggregator/probes/pages/purge_page.h"
#include "aggregator/probes/web/handlers.h"
#include "aggregator/probes/web/marks.h"
#include "aggregator/probes/web/queries.h"
#include "aggregator/probes/web/responses.h"

namespace fieldcost::probe_server {
namespace {

namespace json = boost::json;

Result<json::object> ObjectOf(const Visit& visit) {
  boost::system::error_code failure;
  const std::string& untrusted_body = visit.untrusted_request.body;
  if (untrusted_body.size() > kMaxFormBytes) {
    return Fail(ErrorCode::kTooLarge, "the body has more than {} bytes", kMaxFormBytes);
  }
  json::value untrusted_value = json::parse(untrusted_body, failure);
  if (failure || !untrusted_value.is_object()) {
    return Fail(ErrorCode::kInvalidArgument, "expected a JSON object");
  }
  return std::move(untrusted_value.get_object());
}

std::string TextOf(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  const json::string* text = value == nullptr ? nullptr : value->if_string();
  return text == nullptr ? std::string() : std::string(text->data(), text->size());
}

}  // namespace

Result<http::Response> ApiMark(Visit& visit) {
  FIELDCOST_ASSIGN(const json::object object, ObjectOf(visit));
  FIELDCOST_ASSIGN(const probe::Mark mark, ParseMark(TextOf(object, "mark")));
  FIELDCOST_ASSIGN(const std::vector<probe::EventId> ids, ParseIds({visit.Part(2)}, 1));
  const std::string reason = TextOf(object, "reason");
  FIELDCOST_TRY(visit.site.writer.Run([&](Data& data) {
    return MarkEvent(data, visit.viewer->actor(), ids.front(), mark, reason,
                     visit.site.clock.Now());
  }));
  return JsonAnswer(200, "{}");
}

Result<http::Response> ApiPurge(Visit& visit) {
  FIELDCOST_ASSIGN(const json::object object, ObjectOf(visit));
  const json::value* list = object.if_contains("ids");
  if (list == nullptr || !list->is_array()) {
    return Fail(ErrorCode::kInvalidArgument, R"(expected a JSON object {{"ids": ["..."]}})");
  }
  std::vector<std::string_view> untrusted_ids;
  for (const json::value& id : list->get_array()) {
    const json::string* text = id.if_string();
    untrusted_ids.push_back(text == nullptr ? "" : std::string_view(text->data(), text->size()));
  }
  FIELDCOST_ASSIGN(const std::vector<probe::EventId> ids, ParseIds(untrusted_ids, kMaxPurged));
  std::uint64_t removed = 0;
  FIELDCOST_TRY(visit.site.writer.Run([&](Data& data) -> Status {
    FIELDCOST_ASSIGN(removed,
                     PurgeEvents(data, visit.viewer->actor(), ids, visit.site.clock.Now()));
    return {};
  }));
  return JsonAnswer(200, fmt::format(R"({{"removed": {}}})", removed));
}

}  // namespace fieldcost::probe_server
