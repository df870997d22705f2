#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fieldcost::catalog {

// What a user types to find names. Upper and lower case are the same. With * or ? it is a glob over
// the whole symbol, else any part of it; in front of a '!' stands the same for the library. Empty
// matches everything. A symbol of C++ matches by its stats::ShortName(), too. A value; thread-safe.
class NamePattern {
 public:
  explicit NamePattern(std::string_view untrusted_text);

  bool Matches(std::string_view soname, std::string_view symbol) const;

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
      identifiers_;  // what a mangled name must spell to match by its short one
};

}  // namespace fieldcost::catalog
