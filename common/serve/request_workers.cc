#include "common/serve/request_workers.h"

#include <exception>
#include <memory>
#include <utility>

#include "common/base/log.h"

namespace fieldcost::serve {
namespace {

struct Task {
  http::Request untrusted_request;
  http::Respond respond;
  RequestWorkers::Handler handler;
};

}  // namespace

void RequestWorkers::Run(http::Request untrusted_request, http::Respond respond, Handler handler) {
  // Shared with a worker only if the pool accepts the task.
  const auto task = std::make_shared<Task>(
      Task{std::move(untrusted_request), std::move(respond), std::move(handler)});
  const bool taken = pool_.TryRun([this, task] {
    try {
      task->handler(task->untrusted_request, task->respond);
    } catch (const std::exception& error) {
      LogEvent(LogLevel::kError, "a request failed", {{"error", error.what()}});
      task->respond(
          refuse_(task->untrusted_request, Fail(ErrorCode::kInternal, "the server has failed")));
    }
  });
  if (taken) return;
  task->respond(
      refuse_(task->untrusted_request,
              Fail(ErrorCode::kUnavailable, "the server is busy; try again in a moment")));
}

}  // namespace fieldcost::serve
