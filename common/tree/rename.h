#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/tree/frame.h"

namespace fieldcost::tree {

// Rules "OLD=NEW" for names that differ in the old build. OLD is a complete function name or
// "module!function". A '*' in OLD matches any text; each '*' in NEW is replaced by the matched
// text, in order. "parse(char*)=parse(text)", "old::*=new::*", "libold.so!*=libnew.so!*". Not
// thread-safe, since it counts matches.
class RenameRules {
 public:
  // kInvalidArgument, naming the rule, if a rule is malformed: no '=' or an ambiguous one (those of
  // operators are recognized), an empty side, a NEW with '*' but not as many as OLD, or a NEW with
  // a module although OLD has none.
  static Result<RenameRules> Parse(std::span<const std::string> untrusted_rules);

  // Applies the first rule that matches. Frames without a name stay unchanged.
  Frame Apply(const Frame& frame);

  // The rules that never matched, as written.
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
