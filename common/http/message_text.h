#pragma once

#include <string>

#include "common/base/result.h"
#include "common/http/http_message.h"

namespace fieldcost::http {

// The bytes sent before a body (RFC 9112 §2.1): start line, headers, empty line. Pure functions.
// They refuse (kInvalidArgument) headers that would change the meaning of the message: a
// name that is not a token, a control character in a value, or a framing header (Content-Length,
// Transfer-Encoding, Connection, Host), which only these functions write.

// `host` is the Host header's value, e.g. "example.org:8443".
Result<std::string> RequestHead(const Request& request, const std::string& host);

struct ResponseHeadOptions {
  bool close = false;  // sends Connection: close
  std::string date;    // IMF-fixdate; empty = no Date header
};
Result<std::string> ResponseHead(const Response& response, const ResponseHeadOptions& options);

// Whether a response with this status has a body (and so a Content-Length): not 1xx, 204, 304.
bool HasBody(int status);

}  // namespace fieldcost::http
