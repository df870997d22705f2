#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fieldcost::catalog {

// Texts that a name must contain to be a candidate of a search, at any place and in any order, in
// lower or upper case (ASCII). Empty lists match everything. A value.
struct NameParts {
  std::vector<std::string> symbol;   // each is in the symbol, or in its names::ShortName()
  std::vector<std::string> library;  // each is in the soname
};

// The texts between the * and ? of a glob. Pure.
std::vector<std::string> TextsOfGlob(std::string_view untrusted_glob);

// A user's search pattern for names, case-insensitive. With * or ? it is a glob over the whole
// symbol, otherwise a substring of it; a part before '!' applies to the library in the same way. An
// empty pattern matches everything. A C++ symbol also matches by its names::ShortName(). A value;
// thread-safe.
class NamePattern {
 public:
  explicit NamePattern(std::string_view untrusted_text);

  bool Matches(std::string_view soname, std::string_view symbol) const;

  // Every match has these parts.
  NameParts Parts() const;

 private:
  bool MatchesCxx(std::string_view symbol) const;

  struct Part {
    explicit Part(std::string_view untrusted_text);
    bool Matches(std::string_view name) const;

    std::string text;  // lower case
    bool is_glob;
  };
  Part library_;
  Part symbol_;
  std::vector<std::string>
      identifiers_;  // a mangled name must contain these to match by its short name
};

}  // namespace fieldcost::catalog
