#include "common/serve/health.h"

#include <string_view>
#include <utility>

#include "common/base/error.h"
#include "common/http/own_host.h"

namespace fieldcost::serve {
namespace {

http::Response Plain(int status, std::string body, const char* type = "text/plain") {
  return {.status = status,
          .headers = {{"Content-Type", type}, {"Cache-Control", "no-store"}},
          .body = std::move(body)};
}

}  // namespace

std::optional<http::Response> AnswerHealth(const http::Request& untrusted_request,
                                           const Health& health) {
  if (!http::IsOwnHost(http::Find(untrusted_request.headers, "Host"), {})) {
    return http::JsonError(403, Name(ErrorCode::kPermissionDenied),
                           "the Host must be an IP address or localhost: any other name may be "
                           "that of a web page which leads here");
  }
  const std::string_view target = untrusted_request.target;
  if (target != kLivezPath && target != kReadyzPath && target != kMetricsPath) return std::nullopt;
  if (untrusted_request.method != "GET") return http::WrongMethod("GET");
  if (target == kLivezPath) return Plain(200, "ok\n");
  if (target == kMetricsPath) {
    return Plain(200, health.metrics(), "text/plain; version=0.0.4; charset=utf-8");
  }
  const std::string why = health.why_not_ready();
  return why.empty() ? Plain(200, "ok\n") : Plain(503, "not ready: " + why + "\n");
}

}  // namespace fieldcost::serve
