#pragma once

#include <memory>

#include "aggregator/probe_server/web/visit.h"
#include "common/http/http_message.h"
#include "common/http/http_server.h"
#include "common/serve/request_workers.h"

namespace fieldcost::probe_server {

inline constexpr unsigned kSiteThreads = 4;
inline constexpr unsigned kPasswordThreads = 2;  // 64 MiB each
inline constexpr std::size_t kSiteReaders = kSiteThreads + kPasswordThreads;

inline constexpr std::size_t kMaxAnswerBytes = std::size_t{1} << 20;  // larger responses are errors

// Handles all requests for pages and the API. Thread-safe.
class Site {
 public:
  // REQUIRES: kSiteReaders readers.
  explicit Site(SiteParts parts);
  ~Site();  // as Stop()
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;

  // The http::Handler of the server.
  void Handle(http::Request untrusted_request, const http::Respond& respond);
  // Responds to all waiting requests and accepts no more. Idempotent.
  void Stop();

 private:
  const SiteParts parts_;
  serve::RequestWorkers workers_;
  serve::RequestWorkers password_workers_;
};

}  // namespace fieldcost::probe_server
