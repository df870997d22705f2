#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "common/http/http_message.h"

namespace fieldcost::http {

// The content of an address, without its bytes.
struct Content {
  std::size_t size_bytes = 0;
  std::string etag;  // a strong one, with its quotes
  std::string type;
  std::string cache_control;
};

// Part of a content: bytes first to end - 1.
struct ByteRange {
  std::size_t first = 0;
  std::size_t end = 0;
};
// Returns these bytes of the content; nullopt if they cannot be read. Called at most once.
using ReadContent = std::function<std::optional<std::string>(ByteRange)>;

// The response to a GET or HEAD for this content, with ETag: 304 if If-None-Match names it; 206 or
// 416 for one byte range, unless If-Range names another; else all of it. 405 for other methods; 500
// if `read` fails. Reads only what is sent, so nothing for HEAD and 304.
Response ConditionalAnswer(const Request& untrusted_request, Content content,
                           const ReadContent& read);

}  // namespace fieldcost::http
