#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/http/http_message.h"

namespace fieldcost::probe_server {

// The credentials in a request, whether it was sent by one of our pages, and the headers that
// protect the response. Pure.

inline constexpr char kSessionCookie[] = "__Host-fieldcost-probes";
inline constexpr char kFormTokenHeader[] = "X-Form-Token";

// The session id in the request; nullopt if none.
std::optional<std::string_view> SessionOf(const http::Request& untrusted_request);
// The token after "Authorization: Bearer "; nullopt if none.
std::optional<std::string_view> TokenOf(const http::Request& untrusted_request);

// Whether a browser sent the request. Browsers state the origin of requests.
bool IsOfBrowser(const http::Request& untrusted_request);
// Whether the browser states, in Sec-Fetch-Site and Origin, that a page of this server sent the
// request. At least one of these headers must be present.
bool IsOfOurPages(const http::Request& untrusted_request);

// Set-Cookie for a session that begins and for one that has ended.
std::string SessionCookie(std::string_view id);
std::string NoSessionCookie();

// Adds the security headers of this site; every response passes through here.
http::Response Guarded(http::Response response);

// Whether a redirect may lead there: the address is on this server.
bool IsOwnAddress(std::string_view untrusted_address);

}  // namespace fieldcost::probe_server
