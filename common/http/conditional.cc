#include "common/http/conditional.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "common/base/error.h"
#include "common/base/text.h"

namespace fieldcost::http {
namespace {

bool Matches(std::string_view untrusted_if_none_match, std::string_view etag) {
  return untrusted_if_none_match == "*" ||
         untrusted_if_none_match.find(etag) != std::string_view::npos;
}

enum class RangeKind { kNone, kSatisfiable, kUnsatisfiable };

// Returns the requested range if it may be sent, or "" for the whole content. Only GET has ranges
// (RFC 9110 §14.2). A range that completes an older download must be of the same bytes (§13.1.5): a
// weak ETag does not prove that, nor does a date, since we send none.
std::string_view RangeOf(const Request& untrusted_request, std::string_view etag) {
  if (untrusted_request.method != "GET") return "";
  const std::string_view condition = Find(untrusted_request.headers, "If-Range");
  if (!condition.empty() && condition != etag) return "";
  return Find(untrusted_request.headers, "Range");
}

// Parses one range of bytes (RFC 9110 §14.2); anything else is treated as no range.
RangeKind ParseRange(std::string_view untrusted_text, std::size_t size, ByteRange& range) {
  constexpr std::string_view kUnit = "bytes=";
  if (!untrusted_text.starts_with(kUnit)) return RangeKind::kNone;
  const std::string_view spec = untrusted_text.substr(kUnit.size());
  const std::size_t dash = spec.find('-');
  if (dash == std::string_view::npos) return RangeKind::kNone;
  const auto first = ParseUint64(spec.substr(0, dash));
  const auto last = ParseUint64(spec.substr(dash + 1));
  if (dash == 0) {  // a suffix of this many bytes
    if (!last) return RangeKind::kNone;
    if (*last == 0 || size == 0) return RangeKind::kUnsatisfiable;
    range = {size - std::min<std::size_t>(*last, size), size};
    return RangeKind::kSatisfiable;
  }
  const bool open = dash + 1 == spec.size();
  if (!first || (!open && !last) || (!open && *last < *first)) return RangeKind::kNone;
  if (*first >= size) return RangeKind::kUnsatisfiable;
  range = {*first, open ? size : std::min<std::size_t>(*last, size - 1) + 1};
  return RangeKind::kSatisfiable;
}

// Adds the requested bytes to `response`. REQUIRES: its headers are set.
Response WithBody(const Request& untrusted_request, Content content, const ReadContent& read,
                  Response response) {
  response.headers.emplace_back("Content-Type", std::move(content.type));
  const std::size_t size = content.size_bytes;
  if (untrusted_request.method == "HEAD") {
    response.head_length = size;
    return response;
  }
  ByteRange range;
  switch (ParseRange(RangeOf(untrusted_request, content.etag), size, range)) {
    case RangeKind::kNone:
      range = {0, size};
      break;
    case RangeKind::kSatisfiable:
      response.status = 206;
      response.headers.emplace_back(
          "Content-Range", fmt::format("bytes {}-{}/{}", range.first, range.end - 1, size));
      break;
    case RangeKind::kUnsatisfiable:
      response = JsonError(416, Name(ErrorCode::kInvalidArgument), "no such range");
      response.headers.emplace_back("Content-Range", fmt::format("bytes */{}", size));
      return response;
  }
  auto bytes = read(range);
  if (!bytes) return JsonError(500, Name(ErrorCode::kIo), "the content cannot be read");
  response.body = std::move(*bytes);
  return response;
}

}  // namespace

Response ConditionalAnswer(const Request& untrusted_request, Content content,
                           const ReadContent& read) {
  if (untrusted_request.method != "GET" && untrusted_request.method != "HEAD") {
    return WrongMethod("GET, HEAD");
  }
  Response response;
  response.headers = {{"ETag", content.etag},
                      {"Cache-Control", std::move(content.cache_control)},
                      {"Accept-Ranges", "bytes"}};
  if (Matches(Find(untrusted_request.headers, "If-None-Match"), content.etag)) {
    response.status = 304;
    return response;
  }
  return WithBody(untrusted_request, std::move(content), read, std::move(response));
}

}  // namespace fieldcost::http
