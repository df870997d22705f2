#pragma once

#include <boost/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/http/request_target.h"

namespace fieldcost::probe_server {

// JSON request bodies. Include this only in sources that already include Boost.JSON. Pure.

// kTooLarge: more than http::kMaxFormBytes; kInvalidArgument: the body is not a JSON object.
inline Result<boost::json::object> ObjectOf(const std::string& untrusted_body) {
  if (untrusted_body.size() > http::kMaxFormBytes) {
    return Fail(ErrorCode::kTooLarge, "the body has more than {} bytes", http::kMaxFormBytes);
  }
  boost::system::error_code failure;
  boost::json::value untrusted_value = boost::json::parse(untrusted_body, failure);
  if (failure || !untrusted_value.is_object()) {
    return Fail(ErrorCode::kInvalidArgument, "expected a JSON object");
  }
  return std::move(untrusted_value.get_object());
}

// The member with this name; nullopt if it is missing or not a string.
inline std::optional<std::string> TextOf(const boost::json::object& untrusted_object,
                                         std::string_view name) {
  const boost::json::value* value = untrusted_object.if_contains(name);
  const boost::json::string* text = value == nullptr ? nullptr : value->if_string();
  if (text == nullptr) return std::nullopt;
  return std::string(text->data(), text->size());
}

}  // namespace fieldcost::probe_server
