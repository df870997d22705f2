#pragma once

#include <string>

#include "common/http/http_message.h"

namespace fieldcost::http {

// The content of an address.
struct Content {
  std::string bytes;
  std::string etag;  // a strong one, with its quotes
  std::string type;
  std::string cache_control;
};

// The response to a GET or HEAD for this content, with ETag: 304 if If-None-Match names it; 206 or
// 416 for one byte range, unless If-Range names another; else all of it. 405 for other methods.
Response ConditionalAnswer(const Request& untrusted_request, Content content);

}  // namespace fieldcost::http
