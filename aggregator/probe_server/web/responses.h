#pragma once

#include <string>
#include <string_view>

#include "common/base/error.h"
#include "common/http/http_message.h"

namespace fieldcost::probe_server {

// Responses with the security headers that isolate a page from other sites. Pure.

http::Response HtmlAnswer(int status, std::string page);
http::Response JsonAnswer(int status, std::string json);
http::Response ErrorAnswer(const Error& error);
http::Response Redirect(std::string_view link);
// Adds the security headers; every response passes through here.
http::Response Guarded(http::Response response);

}  // namespace fieldcost::probe_server
