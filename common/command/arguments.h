#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fieldcost::command {

// What the user has given to a command and to those above it, checked as their options say. Options
// are asked for by the first of their names; REQUIRES: there is one of that name.
class Arguments {
 public:
  bool Has(std::string_view name) const;                 // the user has given it
  const std::string& Text(std::string_view name) const;  // its value, or its default, or ""
  const std::vector<std::string>& Texts(std::string_view name) const;  // all of its values
  // Its value, or its default; nullopt without both. REQUIRES: it is checked by CheckNumber().
  std::optional<std::uint64_t> Number(std::string_view name) const;
  // Words behind "--".
  const std::vector<std::string>& program() const { return program_; }

 private:
  friend class Parser;
  struct Value {
    bool given = false;
    std::vector<std::string> texts;
  };
  const Value& Find(std::string_view name) const;

  std::map<std::string, Value, std::less<>> values_;
  std::vector<std::string> program_;
};

}  // namespace fieldcost::command
