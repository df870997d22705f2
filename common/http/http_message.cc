#include "common/http/http_message.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/ascii.h"
#include "common/base/error.h"
#include "common/base/json_writer.h"
#include "common/base/text.h"

namespace fieldcost::http {
namespace {

constexpr std::size_t kMaxReasonBytes = 300;

// The message in a body of JsonError(); any other body unchanged, without surrounding blanks.
std::string ReasonIn(std::string_view untrusted_body) {
  constexpr std::string_view kKey = "\"message\":\"";
  const std::size_t key = untrusted_body.find(kKey);
  if (!untrusted_body.starts_with("{\"error\":") || key == std::string_view::npos) {
    return std::string(Trim(untrusted_body));
  }
  std::string reason;
  for (std::size_t i = key + kKey.size(); i < untrusted_body.size(); ++i) {
    const char c = untrusted_body[i];
    if (c == '"') return reason;
    if (c == '\\' && i + 1 < untrusted_body.size() &&
        (untrusted_body[i + 1] == '"' || untrusted_body[i + 1] == '\\'))
      ++i;
    reason += untrusted_body[i];
  }
  return std::string(Trim(untrusted_body));  // truncated
}

}  // namespace

bool EqualNames(std::string_view left, std::string_view right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](char a, char b) { return LowerCase(a) == LowerCase(b); });
}

std::string_view Find(const Headers& headers, std::string_view name) {
  for (const auto& [key, value] : headers) {
    if (EqualNames(key, name)) return value;
  }
  return {};
}

std::optional<std::chrono::seconds> ParseRetryAfter(std::string_view untrusted_value) {
  const auto number = ParseUint64(untrusted_value);
  if (!number) return std::nullopt;
  constexpr std::chrono::seconds kMost = std::chrono::hours(24);
  const auto most = static_cast<std::uint64_t>(kMost.count());
  return std::chrono::seconds(static_cast<std::int64_t>(std::min(*number, most)));
}

std::optional<ContentRange> ParseContentRange(std::string_view untrusted_value) {
  constexpr std::string_view kUnit = "bytes ";
  if (!untrusted_value.starts_with(kUnit)) return std::nullopt;
  const std::string_view text = untrusted_value.substr(kUnit.size());
  const std::size_t dash = text.find('-');
  const std::size_t slash = text.find('/');
  if (dash == std::string_view::npos || slash == std::string_view::npos || slash < dash) {
    return std::nullopt;
  }
  const auto first = ParseUint64(text.substr(0, dash));
  const auto last = ParseUint64(text.substr(dash + 1, slash - dash - 1));
  const std::string_view size_text = text.substr(slash + 1);
  const auto size = ParseUint64(size_text);
  if (!first || !last || *last < *first || (!size && size_text != "*") ||
      (size && *last >= *size)) {
    return std::nullopt;
  }
  return ContentRange{.first = *first, .last = *last, .size = size};
}

std::string DescribeAnswer(const Response& untrusted_response) {
  if (untrusted_response.status / 100 == 3) {
    return fmt::format("status {}: redirects are not followed", untrusted_response.status);
  }
  return fmt::format("status {}: {}", untrusted_response.status,
                     EscapeControl(ReasonIn(untrusted_response.body.substr(0, kMaxReasonBytes))));
}

Response JsonError(int status, std::string_view code, std::string_view message) {
  JsonWriter body;
  body.Object().Member("error", code).Member("message", message).EndObject();
  return {.status = status, .headers = {{"Content-Type", "application/json"}}, .body = body.Take()};
}

Response NotFound() { return JsonError(404, Name(ErrorCode::kNotFound), "unknown address"); }

Response WrongMethod(std::string_view allowed) {
  Response refusal = JsonError(405, Name(ErrorCode::kInvalidArgument),
                               fmt::format("this address accepts {} only", allowed));
  refusal.headers.emplace_back("Allow", allowed);
  return refusal;
}

}  // namespace fieldcost::http
