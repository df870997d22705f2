#pragma once

#include <fmt/core.h>

#include <tl/expected.hpp>
#include <utility>

#include "common/base/error.h"

namespace fieldcost {

// A value or an Error; must not be ignored. Constructed from a T or an Error (Fail() builds one):
//   Result<int> Parse(std::string_view text) {
//     if (text.empty()) return Fail(ErrorCode::kInvalidArgument, "number is empty");
//     return 7;
//   }
template <typename T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using Base = tl::expected<T, Error>;
  using Base::Base;
  Result(Error error) : Base(tl::unexpect, std::move(error)) {}  // NOLINT: implicit by design
};

// A Result that carries no value.
using Status = Result<void>;

// Builds an Error with a formatted message (fmt syntax).
template <typename... Args>
Error Fail(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  return Error{code, fmt::format(format, std::forward<Args>(args)...)};
}

// Prefixes an error from a lower level with what was being attempted: "context: message".
inline Error Within(Error error, std::string_view context) {
  return Error{error.code, fmt::format("{}: {}", context, error.message)};
}

}  // namespace fieldcost

#define FIELDCOST_CONCAT_INNER(a, b) a##b
#define FIELDCOST_CONCAT(a, b) FIELDCOST_CONCAT_INNER(a, b)

// Evaluates a Status or Result and returns its error from the enclosing function, if any.
#define FIELDCOST_TRY(expression)                                     \
  do {                                                                \
    if (auto fieldcost_status = (expression); !fieldcost_status) {    \
      return ::fieldcost::Error(std::move(fieldcost_status).error()); \
    }                                                                 \
  } while (false)

// Evaluates a Result, returns its error, or declares `declaration` with its value:
//   FIELDCOST_ASSIGN(const std::string text, ReadFile(path, kLimit));
#define FIELDCOST_ASSIGN(declaration, expression) \
  FIELDCOST_ASSIGN_INNER(declaration, expression, FIELDCOST_CONCAT(fieldcost_result_, __LINE__))
// NOLINTBEGIN(bugprone-macro-parentheses): a declaration cannot have any
#define FIELDCOST_ASSIGN_INNER(declaration, expression, name)    \
  auto name = (expression);                                      \
  if (!name) return ::fieldcost::Error(std::move(name).error()); \
  declaration = std::move(*name)
// NOLINTEND(bugprone-macro-parentheses)
