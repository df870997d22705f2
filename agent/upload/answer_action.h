#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "common/http/message.h"

namespace fieldcost::agent {

// What an answer to a batch means for it. README.md has the table.
enum class AnswerAction {
  kAccept,      // added to the server's sums, now or before
  kQuarantine,  // refused for good: kept with the reason, never sent again
  kRetryLater,  // stays where it is: the answer says nothing about the batch
};

// Pure.
AnswerAction ActionFor(int http_status);

// Whether the server wants the agent to enrol before it looks at a batch.
bool AsksForEnrolment(const http::Response& response);

}  // namespace fieldcost::agent
