#pragma once

#include <string>
#include <string_view>

#include "common/base/error.h"
#include "common/http/http_message.h"

namespace fieldcost::http {

// The responses of a web site. Pure.

Response HtmlAnswer(int status, std::string page);
Response JsonAnswer(int status, std::string json);
// With Retry-After if the status is 503.
Response ErrorAnswer(const Error& error);
Response Redirect(std::string_view link);

// The security headers that differ between sites.
struct SitePolicy {
  std::string_view content_security_policy;
  std::string_view resource_policy = "same-origin";  // Cross-Origin-Resource-Policy
};

// Adds the security headers that isolate a page from other sites, and "Cache-Control: no-store"
// unless there is one; every response of a site passes through here.
Response Guarded(Response response, const SitePolicy& policy);

}  // namespace fieldcost::http
