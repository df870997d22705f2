#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/result.h"

namespace fieldcost::http {

// The text in requests: targets with their query, forms, cookies. Pure.

inline constexpr std::size_t kMaxPathParts = 8;
inline constexpr std::size_t kMaxParameters = 600;
inline constexpr std::size_t kMaxFormBytes = 64 * 1024;

// Names and values in their original order; a name may occur more than once.
class Parameters {
 public:
  // Parses application/x-www-form-urlencoded. kInvalidArgument: a value is invalid UTF-8 or
  // contains control characters, or there are too many.
  static Result<Parameters> Parse(std::string_view untrusted_text);

  // The first value with this name; "" if none.
  std::string_view Find(std::string_view name) const;
  std::vector<std::string_view> All(std::string_view name) const;
  // kInvalidArgument if there is a parameter that is not among `names` (separated by blanks); the
  // message names it and lists `names`. Ignoring it would answer a different question.
  Status CheckKnown(std::string_view names) const;

 private:
  std::vector<std::pair<std::string, std::string>> values_;
};

struct Target {
  std::vector<std::string> path;  // decoded parts; empty for "/"
  Parameters query;
};
// kInvalidArgument.
Result<Target> ParseTarget(std::string_view untrusted_target);

// The parts of a target as sent, for servers whose addresses have neither a query nor encoded
// characters, so that each address has a single spelling. Refers to the target; does not allocate.
class PlainPath {
 public:
  // nullopt if the target has a '?', a '%', an empty part (also the one after a final '/'), or more
  // than kMaxPathParts parts.
  static std::optional<PlainPath> Parse(std::string_view untrusted_target);

  std::span<const std::string_view> parts() const { return {parts_.data(), count_}; }

 private:
  std::array<std::string_view, kMaxPathParts> parts_;
  std::size_t count_ = 0;
};

// The value of the first cookie with this name; nullopt if none.
std::optional<std::string_view> FindCookie(std::string_view untrusted_header,
                                           std::string_view name);

}  // namespace fieldcost::http
