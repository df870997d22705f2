#include "common/serve/health.h"

#include <array>
#include <string_view>
#include <utility>

#include "common/base/error.h"
#include "common/http/own_host.h"
#include "common/http/request_target.h"
#include "common/http/routes.h"

namespace fieldcost::serve {
namespace {

http::Response Plain(int status, std::string body, const char* type = "text/plain") {
  return {.status = status,
          .headers = {{"Content-Type", type}, {"Cache-Control", "no-store"}},
          .body = std::move(body)};
}

http::Response Live(const Health&) { return Plain(200, "ok\n"); }

http::Response Ready(const Health& health) {
  const std::string why = health.why_not_ready();
  return why.empty() ? Plain(200, "ok\n") : Plain(503, "not ready: " + why + "\n");
}

http::Response Metrics(const Health& health) {
  return Plain(200, health.metrics(), "text/plain; version=0.0.4; charset=utf-8");
}

struct Route {
  std::string_view path;
  http::Response (*answer)(const Health& health);
  std::string_view method = "GET";
};
constexpr std::array kRoutes = std::to_array<Route>({
    {kLivezPath, Live},
    {kReadyzPath, Ready},
    {kMetricsPath, Metrics},
});

}  // namespace

std::optional<http::Response> AnswerHealth(const http::Request& untrusted_request,
                                           const Health& health) {
  if (!http::IsOwnHost(http::Find(untrusted_request.headers, "Host"), {})) {
    return http::JsonError(403, Name(ErrorCode::kPermissionDenied),
                           "the Host must be an IP address or localhost: any other name may be "
                           "that of a web page which leads here");
  }
  const auto path = http::PlainPath::Parse(untrusted_request.target);
  if (!path) return std::nullopt;
  const auto [route, allowed] =
      http::FindRoute<Route>(kRoutes, untrusted_request.method, path->parts());
  if (route != nullptr) return route->answer(health);
  if (allowed.empty()) return std::nullopt;
  return http::WrongMethod(allowed);
}

}  // namespace fieldcost::serve
