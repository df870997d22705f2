#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/result.h"

namespace fieldcost::http {

// The text in requests: targets with their query, forms, cookies. Pure.

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

// The value of the first cookie with this name; nullopt if none.
std::optional<std::string_view> FindCookie(std::string_view untrusted_header,
                                           std::string_view name);

}  // namespace fieldcost::http
