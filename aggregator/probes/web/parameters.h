#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/result.h"

namespace fieldcost::probe_server {

// What a browser sends as text: addresses, forms, cookies. Pure.

inline constexpr std::size_t kMaxParameters = 600;
inline constexpr std::size_t kMaxFormBytes = 64 * 1024;

// Names and values in their order; a name may come more than once.
class Parameters {
 public:
  // As application/x-www-form-urlencoded has them. kInvalidArgument: a value is no UTF-8 without
  // control characters, or there are too many.
  static Result<Parameters> Parse(std::string_view untrusted_text);

  // The first of that name; "" if there is none.
  std::string_view Find(std::string_view name) const;
  std::vector<std::string_view> All(std::string_view name) const;
  // kInvalidArgument names a parameter that is not among `names` (with blanks between them), and
  // those that are: one that was ignored would answer another question.
  Status CheckKnown(std::string_view names) const;

 private:
  std::vector<std::pair<std::string, std::string>> values_;
};

struct Target {
  std::vector<std::string> path;  // its parts, decoded; none of "/"
  Parameters query;
};
// kInvalidArgument.
Result<Target> ParseTarget(std::string_view untrusted_target);

// The value of the first cookie of that name; nullopt if there is none.
std::optional<std::string_view> FindCookie(std::string_view untrusted_header,
                                           std::string_view name);

}  // namespace fieldcost::probe_server
