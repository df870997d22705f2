#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/http/http_message.h"
#include "common/http/strict_head.h"

namespace fieldcost::fuzz {

inline std::string_view TakeLine(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  return line;
}

// Converts a text to a request as a handler receives it: "GET /target", headers, an empty line and
// the body. Omits what the server's parser would refuse (http_head_fuzz.cc), because handlers never
// see it.
inline http::Request RequestOf(std::string_view untrusted_text) {
  http::Request request{.method = "POST", .peer_address = "192.0.2.7"};
  const std::string_view first = TakeLine(untrusted_text);
  const std::string_view method = first.substr(0, first.find(' '));
  if (method == "GET" || method == "HEAD") request.method = method;
  const std::string_view target = first.substr(std::min(first.size(), method.size() + 1));
  if (http::IsOriginForm(target) && target.size() <= http::kMaxTargetBytes) request.target = target;
  while (!untrusted_text.empty()) {
    const std::string_view line = TakeLine(untrusted_text);
    if (line.empty()) break;
    const std::size_t colon = line.find(": ");
    if (colon == std::string_view::npos || !http::IsToken(line.substr(0, colon)) ||
        !http::IsFieldValue(line.substr(colon + 2))) {
      continue;
    }
    request.headers.emplace_back(line.substr(0, colon), line.substr(colon + 2));
  }
  if (request.method == "POST") request.body = untrusted_text;
  return request;
}

// Replaces placeholders by values of this run: "@SESSION@" becomes the session.
inline std::string FillIn(std::string_view text,
                          const std::vector<std::pair<std::string, std::string>>& values) {
  std::string filled(text);
  for (const auto& [name, value] : values) {
    for (std::size_t at = filled.find(name); at != std::string::npos;
         at = filled.find(name, at + value.size())) {
      filled.replace(at, name.size(), value);
    }
  }
  return filled;
}

}  // namespace fieldcost::fuzz
