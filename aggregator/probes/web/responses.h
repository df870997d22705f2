#pragma once

#include <string>
#include <string_view>

#include "common/base/error.h"
#include "common/http/message.h"

namespace fieldcost::probe_server {

// Answers, all with the headers that keep a page to itself. Pure.

http::Response HtmlAnswer(int status, std::string page);
http::Response JsonAnswer(int status, std::string json);
http::Response ErrorAnswer(const Error& error);
http::Response Redirect(std::string_view link);
// Style sheet, icon: the same for everybody.
http::Response AssetAnswer(std::string_view type, std::string_view text);

// Adds the headers; all that leaves goes through here.
http::Response Guarded(http::Response response);

}  // namespace fieldcost::probe_server
