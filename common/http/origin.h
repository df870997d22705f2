#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace fieldcost::http {

inline constexpr std::uint16_t kHttpsPort = 443;

// The location of a server: "scheme://host[:port]", followed by at most one slash.
struct Origin {
  std::string host;        // a name, lower case; or an address, shortest form, no brackets
  std::uint16_t port = 0;  // never 0
  bool is_address = false;

  // "host:port", an IPv6 address in brackets.
  std::string Authority() const;
};

// kInvalidArgument if `text` has another scheme than `scheme` ("https") or has a user, path, query
// or fragment.
Result<Origin> ParseOrigin(std::string_view text, std::string_view scheme,
                           std::uint16_t default_port);

}  // namespace fieldcost::http
