#pragma once

#include <string>
#include <string_view>

namespace fieldcost::catalog {

// What a user types to find names. Upper and lower case are the same. With * or ? it is a glob over
// the whole symbol, else any part of it; in front of a '!' stands the same for the library. Empty
// matches everything. A value; thread-safe.
class NamePattern {
 public:
  explicit NamePattern(std::string_view untrusted_text);

  bool Matches(std::string_view soname, std::string_view symbol) const;

 private:
  struct Part {
    explicit Part(std::string_view untrusted_text);
    bool Matches(std::string_view name) const;

    std::string text;  // lower case
    bool is_glob;
  };
  Part library_;
  Part symbol_;
};

}  // namespace fieldcost::catalog
