#include "common/names/cxx_name_parts.h"

#include <array>
#include <utility>

#include "common/base/ascii.h"

namespace fieldcost::names {
namespace {

constexpr std::string_view kOperator = "operator";
// Operators with brackets in their names, longer ones first.
constexpr std::array<std::string_view, 13> kBracketOperators = {
    "()", "[]", "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "<", ">"};
// What may occur between a function's arguments and the "::" before a local entity.
constexpr std::array<std::string_view, 4> kQualifiers = {" const", " volatile", " &&", " &"};

// Reads a demangled name from its front up to the arguments.
class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {}

  CxxNameParts Split() {
    while (at_ < text_.size() && Step()) {
    }
    if (at_ >= text_.size()) parts_.arguments = text_.size();
    return std::move(parts_);
  }

 private:
  std::string_view Rest() const { return text_.substr(at_); }

  // Returns false at the arguments.
  bool Step() {
    const std::string_view rest = Rest();
    if (rest.starts_with(kAnonymousNamespace)) {
      Take(kAnonymousNamespace.size());
    } else if (rest.starts_with("::")) {
      if (!parts_.name.empty()) parts_.scopes.push_back(std::exchange(parts_.name, {}));
      parts_.is_operator = false;
      at_ += 2;
    } else if (rest[0] == '<' || rest[0] == '[') {
      SkipBracket();
    } else if (rest[0] == '{') {
      const std::size_t begin = at_;
      SkipBracket();
      parts_.name += text_.substr(begin, at_ - begin);
    } else if (rest[0] == '(') {
      return SkipArguments();
    } else if (rest[0] == ' ') {
      parts_ = {};  // the text so far was the result type, or "vtable for"
      ++at_;
    } else if (IsOperator()) {
      TakeOperator();
    } else {
      Take(1);
    }
    return true;
  }

  void Take(std::size_t size) {
    parts_.name += text_.substr(at_, size);
    at_ += size;
  }

  // Continues after the arguments if an entity local to the function follows.
  bool SkipArguments() {
    parts_.arguments = at_;
    if (parts_.name.empty()) return false;
    SkipBracket();
    for (bool found = true; found;) {
      found = false;
      for (const std::string_view qualifier : kQualifiers) {
        if (!Rest().starts_with(qualifier)) continue;
        at_ += qualifier.size();
        found = true;
      }
    }
    if (!Rest().starts_with("::")) {
      at_ = parts_.arguments;
      return false;
    }
    parts_.is_local = true;
    return true;
  }

  bool IsOperator() const {
    const std::string_view rest = Rest();
    return parts_.name.empty() && rest.starts_with(kOperator) &&
           (rest.size() == kOperator.size() || !IsWordCharacter(rest[kOperator.size()]));
  }

  // Takes everything up to the arguments, including blanks: target types of conversions, template
  // arguments.
  void TakeOperator() {
    parts_.is_operator = true;
    Take(kOperator.size());
    for (const std::string_view symbol : kBracketOperators) {
      if (!Rest().starts_with(symbol)) continue;
      Take(symbol.size());
      break;
    }
    while (at_ < text_.size() && text_[at_] != '(') {
      const std::size_t begin = at_;
      if (Rest().starts_with("[abi:")) {
        SkipBracket();
      } else if (text_[at_] == '<') {
        SkipBracket();
        parts_.name += text_.substr(begin, at_ - begin);
      } else {
        Take(1);
      }
    }
  }

  // Advances past the matching closing bracket. Inside parentheses, angle brackets may be
  // comparisons or arrows.
  void SkipBracket() {
    std::string open;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '<' || c == '(' || c == '[' || c == '{') open += c;
      if (c == '>' && text_[at_ - 1] != '-' && open.back() == '<') open.pop_back();
      if (c == ')') Close(open, '(');
      if (c == ']') Close(open, '[');
      if (c == '}') Close(open, '{');
      if (open.empty()) {
        ++at_;
        return;
      }
    }
  }

  static void Close(std::string& open, char bracket) {
    const std::size_t at = open.rfind(bracket);
    if (at != std::string::npos) open.resize(at);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  CxxNameParts parts_;
};

}  // namespace

CxxNameParts SplitCxxName(std::string_view untrusted_demangled) {
  return Splitter(untrusted_demangled).Split();
}

}  // namespace fieldcost::names
