#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fieldcost::command {

// The user's input to a command and its parents, validated by their options. Options are looked up
// by their first name. REQUIRES: such an option exists.
class Arguments {
 public:
  bool Has(std::string_view name) const;                 // whether the user specified it
  const std::string& Text(std::string_view name) const;  // its value, or its default, or ""
  const std::vector<std::string>& Texts(std::string_view name) const;  // all its values
  // Its value or default; nullopt if it has neither. REQUIRES: the option is checked by
  // CheckNumber().
  std::optional<std::uint64_t> Number(std::string_view name) const;
  // The words after "--".
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
