#pragma once

#include <cstddef>
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

// A folder on a server, below which files are fetched: "https://host[:port][/path]".
struct BaseUrl {
  std::string server;  // "https://host:port", without a path; Client::Create() checks it
  std::string path;    // "" or "/a/b", without a final slash
};

inline constexpr std::size_t kMaxBasePathBytes = 512;

// kInvalidArgument unless the path consists of parts of letters, digits, "-", ".", "_" and "~", at
// most kMaxBasePathBytes in total, none of them "." or "..". A final slash is ignored.
Result<BaseUrl> ParseBaseUrl(std::string_view text);

}  // namespace fieldcost::http
