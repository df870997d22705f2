#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/http/message.h"

namespace fieldcost::probe_server {

// Whom a request is from, as it says itself, and whether a page of ours has sent it. Pure.

inline constexpr char kSessionCookie[] = "__Host-fieldcost-probes";
inline constexpr char kFormTokenHeader[] = "X-Form-Token";

// The session's id that it carries; nullopt: none.
std::optional<std::string_view> SessionOf(const http::Request& untrusted_request);
// The token after "Authorization: Bearer "; nullopt: none.
std::optional<std::string_view> TokenOf(const http::Request& untrusted_request);

// Whether a browser has sent it, which says from where.
bool IsOfBrowser(const http::Request& untrusted_request);
// Whether the browser says that a page of this server has sent it: by Sec-Fetch-Site and Origin, of
// which at least one must be there.
bool IsOfOurPages(const http::Request& untrusted_request);

// Set-Cookie for a session that begins, and for one that has ended.
std::string SessionCookie(std::string_view id);
std::string NoSessionCookie();

// Whether a request asks for this server: its Host (RFC 9110 §7.2) is an IP address, localhost, or
// one of the names ("*.example.org" stands for one label more). Any other name may belong to a site
// that lets it lead here, so that a browser takes our answers for those of that site (DNS
// rebinding).
bool IsOwnHost(std::string_view untrusted_host, const std::vector<std::string>& names);

// Whether somebody may be sent there: an address of this server.
bool IsOwnAddress(std::string_view untrusted_address);

}  // namespace fieldcost::probe_server
