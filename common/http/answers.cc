#include "common/http/answers.h"

#include <utility>

namespace fieldcost::http {
namespace {

// The same for all sites.
constexpr std::pair<const char*, const char*> kGuards[] = {
    {"Strict-Transport-Security", "max-age=63072000"},
    {"X-Content-Type-Options", "nosniff"},
    // Not no-referrer, which makes browsers send forms with "Origin: null".
    {"Referrer-Policy", "same-origin"},
    {"Permissions-Policy", "camera=(), geolocation=(), microphone=()"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
};

}  // namespace

Response HtmlAnswer(int status, std::string page) {
  return {.status = status,
          .headers = {{"Content-Type", "text/html; charset=utf-8"}},
          .body = std::move(page)};
}

Response JsonAnswer(int status, std::string json) {
  return {.status = status,
          .headers = {{"Content-Type", "application/json"}},
          .body = std::move(json) + "\n"};
}

Response ErrorAnswer(const Error& error) {
  Response response = JsonError(HttpStatus(error.code), Name(error.code), error.message);
  if (response.status == 503) response.headers.emplace_back("Retry-After", "5");
  return response;
}

Response Redirect(std::string_view link) {
  return {.status = 303, .headers = {{"Location", std::string(link)}}, .body = ""};
}

Response Guarded(Response response, const SitePolicy& policy) {
  Headers& headers = response.headers;
  headers.emplace_back("Content-Security-Policy", policy.content_security_policy);
  headers.insert(headers.end(), std::begin(kGuards), std::end(kGuards));
  headers.emplace_back("Cross-Origin-Resource-Policy", policy.resource_policy);
  if (Find(headers, "Cache-Control").empty()) headers.emplace_back("Cache-Control", "no-store");
  return response;
}

}  // namespace fieldcost::http
