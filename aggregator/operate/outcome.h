#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace fieldcost::aggregator {

// A command's result for people and programs: named facts in order.
class Outcome {
 public:
  using Value = std::variant<std::uint64_t, bool, std::string, std::vector<std::string>>;
  Outcome& Add(std::string_view name, Value value);

  // "rows=3 directory=/srv/backups\n", with control characters escaped; a list as "key=a key=b";
  // empty texts are omitted.
  std::string Text() const;
  std::string Json() const;  // an object and a newline
  // The texts of the list with this name; empty if there is no such list.
  std::vector<std::string> Texts(std::string_view name) const;
  // Whether a fact with this name exists and is true.
  bool IsTrue(std::string_view name) const;
  bool empty() const { return facts_.empty(); }

 private:
  struct Fact {
    std::string name;
    Value value;
  };
  std::vector<Fact> facts_;
};

// Prints to stdout: JSON, or `done` and the facts on one line.
void Print(const Outcome& outcome, std::string_view done, bool json);

// Prints; on a terminal, breaks lines at blanks to fit its width.
void PrintLines(std::string_view text, std::FILE* file = stdout);

}  // namespace fieldcost::aggregator
