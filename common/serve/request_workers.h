#pragma once

#include <cstddef>
#include <functional>

#include "common/base/error.h"
#include "common/base/worker_pool.h"
#include "common/http/http_message.h"
#include "common/http/http_server.h"

namespace fieldcost::serve {

// The threads on which a server answers requests. Every request gets a response, even if too many
// are waiting or its handler throws. Thread-safe.
class RequestWorkers {
 public:
  // Calls `respond` once, now or later, or throws without having called it.
  using Handler =
      std::function<void(const http::Request& untrusted_request, const http::Respond& respond)>;
  // Returns the response to a request that is not handled. kUnavailable: too many are waiting, or
  // the workers are stopped; kInternal: its handler has thrown (logged). Must not throw.
  using Refusal =
      std::function<http::Response(const http::Request& untrusted_request, const Error& error)>;

  RequestWorkers(unsigned threads, std::size_t queue_limit, Refusal refuse)
      : refuse_(std::move(refuse)), pool_(threads, queue_limit) {}

  void Run(http::Request untrusted_request, http::Respond respond, Handler handler);

  // Handles the waiting requests and refuses all later ones. Idempotent.
  void Stop() { pool_.Stop(); }

 private:
  const Refusal refuse_;
  WorkerPool pool_;
};

}  // namespace fieldcost::serve
