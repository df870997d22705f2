#include "common/command/arguments.h"

#include "common/base/check.h"
#include "common/base/text.h"

namespace fieldcost::command {

const Arguments::Value& Arguments::Find(std::string_view name) const {
  const auto found = values_.find(name);
  FIELDCOST_CHECK(found != values_.end());
  return found->second;
}

bool Arguments::Has(std::string_view name) const { return Find(name).given; }

const std::string& Arguments::Text(std::string_view name) const {
  static const std::string none;
  const Value& value = Find(name);
  return value.texts.empty() ? none : value.texts.front();
}

const std::vector<std::string>& Arguments::Texts(std::string_view name) const {
  return Find(name).texts;
}

std::optional<std::uint64_t> Arguments::Number(std::string_view name) const {
  const Value& value = Find(name);
  if (value.texts.empty()) return std::nullopt;
  const std::optional<std::uint64_t> number = ParseUint64(value.texts.front());
  FIELDCOST_CHECK(number.has_value());
  return number;
}

}  // namespace fieldcost::command
