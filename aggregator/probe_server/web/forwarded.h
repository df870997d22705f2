#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/http/http_message.h"
#include "common/http/ip_address.h"

namespace fieldcost::probe_server {

// A range of addresses, "192.0.2.7" or "2001:db8::/32".
struct AddressRange {
  http::IpAddress first;
  unsigned bits = 0;  // number of leading bits shared with `first`

  bool Contains(const http::IpAddress& address) const;
};

// kInvalidArgument: the text is neither an address nor a range. Pure.
Result<AddressRange> ParseAddressRange(std::string_view text);

// The client address of a request. If the peer is a trusted proxy, the address comes from its
// `Forwarded` header (RFC 7239): the last element whose `for` is not a trusted proxy. If that is
// malformed, hidden ("unknown", "_name") or missing, the last proxy itself is the client. The
// header of an untrusted peer is ignored. Pure.
std::string ClientAddress(const http::Request& untrusted_request,
                          const std::vector<AddressRange>& trusted_proxies);

}  // namespace fieldcost::probe_server
