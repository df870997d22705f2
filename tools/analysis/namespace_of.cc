#include "tools/analysis/namespace_of.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace fieldcost::analysis {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)";
constexpr std::string_view kOperator = "operator";

bool IsCxx(std::string_view symbol) { return symbol.starts_with("_Z"); }

bool IsWord(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Of a mangled name: substitutions S_, S0_ ..., and template parameters T_, T0_ ... May count more.
std::size_t CountReferences(std::string_view mangled) {
  std::size_t count = 0;
  for (std::size_t i = 0; i + 1 < mangled.size(); ++i) {
    if (mangled[i] != 'S' && mangled[i] != 'T') continue;
    std::size_t end = i + 1;
    while (end < mangled.size() && IsWord(mangled[end]) && mangled[end] != '_' &&
           !(mangled[end] >= 'a' && mangled[end] <= 'z')) {
      ++end;
    }
    if (end < mangled.size() && mangled[end] == '_') ++count;
  }
  return count;
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

  // To behind the bracket that is closed; `->` in it closes none.
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

std::string DemangledName(std::string_view untrusted_symbol) {
  std::string symbol(untrusted_symbol);
  if (!IsCxx(symbol) || symbol.size() > kMostMangledBytes ||
      symbol.find('\0') != std::string::npos || CountReferences(symbol) > kMostReferences) {
    return symbol;
  }
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0 || name == nullptr) return symbol;
  const std::string_view demangled(name.get());
  return demangled.size() > kMostDemangledBytes ? symbol : std::string(demangled);
}

std::string NamespaceOf(std::string_view untrusted_symbol) {
  const std::string name = DemangledName(untrusted_symbol);
  if (name != untrusted_symbol) {
    std::string scopes = ScopeReader(name).Read();
    return scopes.empty() ? "(global)" : scopes;
  }
  if (IsCxx(untrusted_symbol)) return "(C++)";
  const std::size_t begin = untrusted_symbol.find_first_not_of('_');
  const std::size_t mark = untrusted_symbol.find('_', begin);
  if (begin == std::string_view::npos || mark == std::string_view::npos ||
      mark + 1 == untrusted_symbol.size()) {
    return "(no prefix)";
  }
  return std::string(untrusted_symbol.substr(0, mark + 1));
}

std::string NameWithoutArguments(std::string_view demangled) {
  std::size_t depth = 0;  // of template arguments, which may hold parentheses
  std::size_t end = demangled.size();
  for (std::size_t i = 0; i < demangled.size(); ++i) {
    const std::string_view rest = demangled.substr(i);
    if (depth == 0 && rest.starts_with("operator")) {
      // Its name may be parentheses or angles itself.
      i = std::min(demangled.find('(', i + (rest.starts_with("operator()") ? 10 : 8)),
                   demangled.size());
      end = i;
      break;
    }
    if (demangled[i] == '<') ++depth;
    if (demangled[i] == '>' && depth != 0) --depth;
    if (depth == 0 && (demangled[i] == '(' || demangled[i] == '[')) {
      constexpr std::string_view kAnonymous = "(anonymous namespace)";
      if (rest.starts_with(kAnonymous)) {
        i += kAnonymous.size() - 1;
        continue;
      }
      end = i;
      break;
    }
  }
  std::string name(demangled.substr(0, end));
  if (const std::size_t tag = name.find("[abi:"); tag != std::string::npos) name.resize(tag);
  return name;
}

}  // namespace fieldcost::analysis
