#include "common/http/message_text.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/base/text.h"
#include "common/http/strict_head.h"

// request  := method " " target " HTTP/1.1" CRLF "Host: " host CRLF header* CRLF
// response := "HTTP/1.1 " status " " reason CRLF header* CRLF
// header   := name ": " value CRLF
// Headers that frame the message come first and are only written here: Content-Length, Connection.
namespace fieldcost::http {
namespace {

constexpr std::string_view kFramingHeaders[] = {"Content-Length", "Transfer-Encoding", "Connection",
                                                "Host"};

// RFC 9110 §15.
constexpr std::pair<int, std::string_view> kReasons[] = {
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {206, "Partial Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {411, "Length Required"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {416, "Range Not Satisfiable"},
    {417, "Expectation Failed"},
    {421, "Misdirected Request"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {503, "Service Unavailable"},
    {505, "HTTP Version Not Supported"},
};

std::string_view Reason(int status) {
  for (const auto& [known, reason] : kReasons) {
    if (known == status) return reason;
  }
  return "Status";
}

Status Append(std::string& text, const Headers& headers) {
  for (const auto& [name, value] : headers) {
    const bool framing = std::any_of(
        std::begin(kFramingHeaders), std::end(kFramingHeaders),
        [&name = name](std::string_view reserved) { return EqualNames(name, reserved); });
    if (framing || !IsToken(name) || !IsFieldValue(value)) {
      return Fail(ErrorCode::kInvalidArgument,
                  "header '{}' must not be sent: it would change the framing, or is malformed",
                  EscapeControl(name));
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
    return Fail(ErrorCode::kInvalidArgument, "'{}' is not a method", EscapeControl(request.method));
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
    return Fail(ErrorCode::kInvalidArgument, "{} is not a final status", response.status);
  }
  std::string text = fmt::format("HTTP/1.1 {} {}\r\n", response.status, Reason(response.status));
  if (!options.date.empty()) text += fmt::format("Date: {}\r\n", options.date);
  if (HasBody(response.status)) {
    text +=
        fmt::format("Content-Length: {}\r\n", response.head_length.value_or(response.body.size()));
  }
  if (options.close) text += "Connection: close\r\n";
  FIELDCOST_TRY(Append(text, response.headers));
  text += "\r\n";
  return text;
}

bool HasBody(int status) { return status >= 200 && status != 204 && status != 304; }

}  // namespace fieldcost::http
