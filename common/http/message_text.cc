#include "common/http/message_text.h"

#include <algorithm>
#include <iterator>

#include "common/base/text.h"
#include "common/http/strict_head.h"

namespace fieldcost::http {
namespace {

constexpr std::string_view kFramingHeaders[] = {"Content-Length", "Transfer-Encoding", "Connection",
                                                "Host"};

std::string_view Reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 206:
      return "Partial Content";
    case 301:
      return "Moved Permanently";
    case 302:
      return "Found";
    case 303:
      return "See Other";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 411:
      return "Length Required";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 416:
      return "Range Not Satisfiable";
    case 417:
      return "Expectation Failed";
    case 421:
      return "Misdirected Request";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Status";
  }
}

Status Append(std::string& text, const Headers& headers) {
  for (const auto& [name, value] : headers) {
    const bool framing = std::any_of(
        std::begin(kFramingHeaders), std::end(kFramingHeaders),
        [&name = name](std::string_view reserved) { return EqualNames(name, reserved); });
    if (framing || !IsToken(name) || !IsFieldValue(value)) {
      return Fail(ErrorCode::kInvalidArgument, "header '{}' may not be sent", EscapeControl(name));
    }
    text += name;
    text += ": ";
    text += value;
    text += "\r\n";
  }
  return {};
}

}  // namespace

Result<std::string> RequestHead(const Request& request, const std::string& host) {
  if (!IsToken(request.method)) {
    return Fail(ErrorCode::kInvalidArgument, "method '{}' is not one",
                EscapeControl(request.method));
  }
  if (!IsOriginForm(request.target)) {
    return Fail(ErrorCode::kInvalidArgument, "target '{}' is not an absolute path",
                EscapeControl(request.target));
  }
  std::string text =
      fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\n", request.method, request.target, host);
  if (Find(request.headers, "User-Agent").empty()) text += "User-Agent: fieldcost\r\n";
  if (request.method == "POST" || !request.body.empty()) {
    text += fmt::format("Content-Length: {}\r\n", request.body.size());
  }
  FIELDCOST_TRY(Append(text, request.headers));
  text += "\r\n";
  return text;
}

Result<std::string> ResponseHead(const Response& response, const ResponseHeadOptions& options) {
  if (response.status < 200 || response.status > 599) {
    return Fail(ErrorCode::kInvalidArgument, "status {} is no final one", response.status);
  }
  std::string text = fmt::format("HTTP/1.1 {} {}\r\n", response.status, Reason(response.status));
  if (!options.date.empty()) text += fmt::format("Date: {}\r\n", options.date);
  if (HasBody(response.status)) {
    text += fmt::format("Content-Length: {}\r\n", response.body.size());
  }
  if (options.close) text += "Connection: close\r\n";
  FIELDCOST_TRY(Append(text, response.headers));
  text += "\r\n";
  return text;
}

bool HasBody(int status) { return status >= 200 && status != 204 && status != 304; }

}  // namespace fieldcost::http
