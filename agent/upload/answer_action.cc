#include "agent/upload/answer_action.h"

#include "common/wire/wire_requests.h"

namespace fieldcost::upload {

AnswerAction ActionFor(int http_status) {
  if (http_status == 200) return AnswerAction::kAccept;
  if (http_status / 100 != 4) return AnswerAction::kRetryLater;
  switch (http_status) {
    // These concern the path to the server, or the moment, not the batch.
    case 404:  // another server, or one that is still being set up
    case 405:
    case 407:  // from a proxy
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

}  // namespace fieldcost::upload
