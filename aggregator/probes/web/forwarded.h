#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/http/ip_address.h"
#include "common/http/message.h"

namespace fieldcost::probe_server {

// A range of addresses, "192.0.2.7" or "2001:db8::/32".
struct AddressRange {
  http::IpAddress first;
  unsigned bits = 0;  // that an address has in common with `first`

  bool Contains(const http::IpAddress& address) const;
};

// kInvalidArgument: it is neither an address nor a range. Pure.
Result<AddressRange> ParseAddressRange(std::string_view text);

// Which address a request comes from. If its peer is a trusted proxy, this is what the proxy tells
// in `Forwarded` (RFC 7239): of all elements, the last one whose `for` is not a trusted proxy.
// Anything that is malformed, hidden ("unknown", "_name") or missing counts as the last proxy
// itself; what an untrusted peer sends is ignored. Pure.
std::string ClientAddress(const http::Request& untrusted_request,
                          const std::vector<AddressRange>& trusted_proxies);

}  // namespace fieldcost::probe_server
