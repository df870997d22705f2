#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fieldcost::http {

// Whether a request is addressed to this server: its Host (RFC 9110 §7.2) is an IP address,
// localhost, or one of the names ("*.example.org" matches one more label). Any other name may
// belong to a site that resolves it to this server, so that a browser would attribute our responses
// to that site (DNS rebinding).
bool IsOwnHost(std::string_view untrusted_host, const std::vector<std::string>& names);

}  // namespace fieldcost::http
