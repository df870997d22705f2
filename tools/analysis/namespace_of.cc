#include "tools/analysis/namespace_of.h"

#include <algorithm>

#include "common/stats/cxx_name.h"

namespace fieldcost::analysis {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)";
constexpr std::string_view kOperator = "operator";

bool IsWord(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Reads a demangled name from its front up to the parameters.
class ScopeReader {
 public:
  explicit ScopeReader(std::string_view name) : name_(name) {}

  // "a::B" of "int a::B<int>::f<char>(char)"; empty for "f(int)".
  std::string Read() {
    while (at_ < name_.size() && Step()) {
    }
    return scopes_;
  }

 private:
  // False at the end of the qualified name.
  bool Step() {
    const std::string_view rest = name_.substr(at_);
    if (rest.starts_with(kAnonymous)) {
      current_ += kAnonymous;
      at_ += kAnonymous.size();
    } else if (rest.starts_with("::")) {
      if (!scopes_.empty() && !current_.empty()) scopes_ += "::";
      scopes_ += current_;
      current_.clear();
      at_ += 2;
    } else if (rest[0] == '<' || rest[0] == '[' || rest[0] == '{') {
      SkipBracket();
    } else if (rest[0] == '(') {
      // Of a local name the function around it, f(int)::local, else the parameters: the end.
      SkipBracket();
      return name_.substr(at_).starts_with("::");
    } else if (rest[0] == ' ') {
      // What came was a return type, or "vtable for".
      scopes_.clear();
      current_.clear();
      ++at_;
    } else if (current_.empty() && rest.starts_with(kOperator) &&
               (rest.size() == kOperator.size() || !IsWord(rest[kOperator.size()]))) {
      return false;  // it is the last of the name, whatever its brackets and blanks
    } else {
      current_ += rest[0];
      ++at_;
    }
    return true;
  }

  // Goes behind the bracket that is closed; `->` in it closes none.
  void SkipBracket() {
    int depth = 0;
    for (; at_ < name_.size(); ++at_) {
      const char c = name_[at_];
      if (c == '<' || c == '(' || c == '[' || c == '{') ++depth;
      if ((c == '>' && name_[at_ - 1] != '-') || c == ')' || c == ']' || c == '}') --depth;
      if (depth == 0) {
        ++at_;
        return;
      }
    }
  }

  std::string_view name_;
  std::size_t at_ = 0;
  std::string scopes_;
  std::string current_;
};

}  // namespace

std::string NamespaceOf(std::string_view untrusted_symbol) {
  const std::string name = stats::DemangledName(untrusted_symbol);
  if (name != untrusted_symbol) {
    std::string scopes = ScopeReader(name).Read();
    return scopes.empty() ? "(global)" : scopes;
  }
  if (stats::IsCxxSymbol(untrusted_symbol)) return "(C++)";
  const std::size_t begin = untrusted_symbol.find_first_not_of('_');
  const std::size_t mark = untrusted_symbol.find('_', begin);
  if (begin == std::string_view::npos || mark == std::string_view::npos ||
      mark + 1 == untrusted_symbol.size()) {
    return "(no prefix)";
  }
  return std::string(untrusted_symbol.substr(0, mark + 1));
}

}  // namespace fieldcost::analysis
