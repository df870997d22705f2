#include "aggregator/probe_server/web/guard.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "aggregator/probe_server/accounts/sessions.h"
#include "common/http/answers.h"
#include "common/http/request_target.h"

namespace fieldcost::probe_server {
namespace {

constexpr http::SitePolicy kSitePolicy = {
    .content_security_policy =
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri "
        "'none'; frame-ancestors 'none'"};

}  // namespace

std::optional<std::string_view> SessionOf(const http::Request& untrusted_request) {
  return http::FindCookie(http::Find(untrusted_request.headers, "Cookie"), kSessionCookie);
}

std::optional<std::string_view> TokenOf(const http::Request& untrusted_request) {
  constexpr std::string_view kScheme = "Bearer ";
  std::string_view value = http::Find(untrusted_request.headers, "Authorization");
  if (!value.starts_with(kScheme)) return std::nullopt;
  value.remove_prefix(kScheme.size());
  return value;
}

bool IsOfBrowser(const http::Request& untrusted_request) {
  return !http::Find(untrusted_request.headers, "Sec-Fetch-Site").empty() ||
         !http::Find(untrusted_request.headers, "Origin").empty();
}

bool IsOfOurPages(const http::Request& untrusted_request) {
  const std::string_view site = http::Find(untrusted_request.headers, "Sec-Fetch-Site");
  const std::string_view origin = http::Find(untrusted_request.headers, "Origin");
  const std::string_view host = http::Find(untrusted_request.headers, "Host");
  if (!IsOfBrowser(untrusted_request)) return false;
  if (!site.empty() && site != "same-origin") return false;
  if (origin.empty()) return true;
  // With a TLS-terminating proxy, the browser's scheme differs from ours.
  const std::size_t scheme = origin.find("://");
  return scheme != std::string_view::npos && http::EqualNames(origin.substr(scheme + 3), host);
}

std::string SessionCookie(std::string_view id) {
  return fmt::format("{}={}; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age={}", kSessionCookie,
                     id, std::chrono::seconds(kSessionLife).count());
}

std::string NoSessionCookie() {
  return fmt::format("{}=; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=0", kSessionCookie);
}

http::Response Guarded(http::Response response) {
  return http::Guarded(std::move(response), kSitePolicy);
}

bool IsOwnAddress(std::string_view untrusted_address) {
  const bool plain = std::all_of(untrusted_address.begin(), untrusted_address.end(),
                                 [](char c) { return c > ' ' && c < 0x7f && c != '\\'; });
  return plain && untrusted_address.starts_with('/') && !untrusted_address.starts_with("//") &&
         http::ParseTarget(untrusted_address).has_value();
}

}  // namespace fieldcost::probe_server
