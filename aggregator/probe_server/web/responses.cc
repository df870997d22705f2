#include "aggregator/probe_server/web/responses.h"

#include <utility>

namespace fieldcost::probe_server {
namespace {

constexpr std::pair<const char*, const char*> kGuards[] = {
    {"Content-Security-Policy",
     "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; "
     "frame-ancestors 'none'"},
    {"Strict-Transport-Security", "max-age=63072000"},
    {"X-Content-Type-Options", "nosniff"},
    // Not no-referrer, which makes browsers send forms with "Origin: null".
    {"Referrer-Policy", "same-origin"},
    {"Permissions-Policy", "camera=(), geolocation=(), microphone=()"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
};

}  // namespace

http::Response HtmlAnswer(int status, std::string page) {
  return {.status = status,
          .headers = {{"Content-Type", "text/html; charset=utf-8"}},
          .body = std::move(page)};
}

http::Response JsonAnswer(int status, std::string json) {
  return {.status = status,
          .headers = {{"Content-Type", "application/json"}},
          .body = std::move(json) + "\n"};
}

http::Response ErrorAnswer(const Error& error) {
  http::Response response =
      http::JsonError(HttpStatus(error.code), Name(error.code), error.message);
  if (response.status == 503) response.headers.emplace_back("Retry-After", "5");
  return response;
}

http::Response Redirect(std::string_view link) {
  return {.status = 303, .headers = {{"Location", std::string(link)}}, .body = ""};
}

http::Response Guarded(http::Response response) {
  for (const auto& [name, value] : kGuards) response.headers.emplace_back(name, value);
  if (http::Find(response.headers, "Cache-Control").empty()) {
    response.headers.emplace_back("Cache-Control", "no-store");
  }
  return response;
}

}  // namespace fieldcost::probe_server
