#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "common/http/http_message.h"

namespace fieldcost::upload {

// The consequence of a response for its batch. README.md has the table.
enum class AnswerAction {
  kAccept,      // added to the server's sums, now or before
  kQuarantine,  // permanently refused: kept with the reason, never sent again
  kRetryLater,  // stays queued: the response is not about the batch
};

// Pure.
AnswerAction ActionFor(int http_status);

// Whether the server requires the agent to enrol before it processes a batch.
bool AsksForEnrolment(const http::Response& response);

}  // namespace fieldcost::upload
