#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace fieldcost::lsp {

// Access to untrusted JSON: a member that is missing or has another type is nullptr or nullopt.
// Include this only in sources.

inline const boost::json::value* Member(const boost::json::value* value, std::string_view name) {
  if (value == nullptr || !value->is_object()) return nullptr;
  return value->get_object().if_contains(name);
}

template <typename... Names>
const boost::json::value* Member(const boost::json::value* value, std::string_view name,
                                 Names... deeper) {
  return Member(Member(value, name), deeper...);
}

inline std::optional<std::string_view> Text(const boost::json::value* value) {
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return std::string_view(value->get_string().data(), value->get_string().size());
}

inline bool IsTrue(const boost::json::value* value) {
  return value != nullptr && value->is_bool() && value->get_bool();
}

inline std::optional<std::uint64_t> Number(const boost::json::value* value) {
  if (value == nullptr) return std::nullopt;
  if (value->is_uint64()) return value->get_uint64();
  if (value->is_int64() && value->get_int64() >= 0) {
    return static_cast<std::uint64_t>(value->get_int64());
  }
  return std::nullopt;
}

// nullopt if the text is not JSON or nested too deeply. Reads an unpaired surrogate as U+FFFD.
std::optional<boost::json::value> ParseJson(std::string_view untrusted_json);

}  // namespace fieldcost::lsp
