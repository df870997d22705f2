#pragma once

#include <functional>
#include <optional>
#include <string>

#include "common/http/http_message.h"

namespace fieldcost::serve {

// The paths that every server answers on its operator's listener (GET, open to all local users).
inline constexpr char kLivezPath[] = "/livez";      // 200 while the process serves
inline constexpr char kReadyzPath[] = "/readyz";    // 200 if batches are accepted; else 503 and why
inline constexpr char kMetricsPath[] = "/metrics";  // Prometheus' text format 0.0.4

// Both are called often and must not block.
struct Health {
  std::function<std::string()> why_not_ready;  // "" = the server accepts batches
  std::function<std::string()> metrics;        // MetricsText::Text()
};

// The response to a request for one of these paths; nullopt for all others. Every request with a
// Host that is neither an IP address nor localhost is refused (403), so that no web page can reach
// the listener under a name of its own.
std::optional<http::Response> AnswerHealth(const http::Request& untrusted_request,
                                           const Health& health);

}  // namespace fieldcost::serve
