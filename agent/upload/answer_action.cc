#include "agent/upload/answer_action.h"

#include <algorithm>

#include "common/base/text.h"
#include "common/wire/requests.h"

namespace fieldcost::agent {
namespace {

constexpr std::chrono::seconds kMaxRetryAfter = std::chrono::hours(24);

}  // namespace

AnswerAction ActionFor(int http_status) {
  if (http_status == 200) return AnswerAction::kAccept;
  if (http_status / 100 != 4) return AnswerAction::kRetryLater;
  switch (http_status) {
    // These speak of the way to the server, or of the moment, not of the batch.
    case 404:  // another server, or one that is being set up
    case 405:
    case 407:  // a proxy's
    case 408:
    case 421:
    case 425:
    case 426:
    case 429:
      return AnswerAction::kRetryLater;
    default:
      return AnswerAction::kQuarantine;
  }
}

bool AsksForEnrolment(const http::Response& response) {
  return response.status == 401 &&
         http::Find(response.headers, wire::kEnrolmentHeader) == wire::kEnrolmentRequired;
}

std::optional<std::chrono::seconds> ParseRetryAfter(std::string_view untrusted_value) {
  const auto number = ParseUint64(untrusted_value);
  if (!number) return std::nullopt;
  const auto limit = static_cast<std::uint64_t>(kMaxRetryAfter.count());
  return std::chrono::seconds(static_cast<std::int64_t>(std::min(*number, limit)));
}

}  // namespace fieldcost::agent
