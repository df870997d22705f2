#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/tree/frame.h"

namespace fieldcost::tree {

// What was called otherwise in the old build: rules "OLD=NEW". OLD is a function's whole name, or
// "module!function"; in it '*' stands for any text, and NEW takes these texts where it has '*'
// itself, in their order. "parse(char*)=parse(text)", "old::*=new::*", "libold.so!*=libnew.so!*".
// Not thread-safe, as it counts.
class RenameRules {
 public:
  // kInvalidArgument, and names it, if a rule is not of that form: no '=' or several that could be
  // meant (those of operators are not), an empty side, a NEW with '*' but not as many as OLD, or
  // with a module although OLD has none.
  static Result<RenameRules> Parse(std::span<const std::string> untrusted_rules);

  // By the first rule that matches, else as it is. Frames without a name stay as they are.
  Frame Apply(const Frame& frame);

  // Rules that never matched, as they were written.
  std::vector<std::string> Unmatched() const;

 private:
  struct Rule {
    std::string text;
    bool has_module = false;
    std::string old_name;
    std::string new_name;
    std::size_t matches = 0;
  };
  std::vector<Rule> rules_;
};

}  // namespace fieldcost::tree
