#include "tools/lsp/cxx_name.h"

#include <utility>

#include "common/stats/cxx_name.h"

namespace fieldcost::lsp {
namespace {

bool IsOperatorAt(std::string_view text, std::size_t at) {
  constexpr std::string_view kWord = "operator";
  return text.substr(at, kWord.size()) == kWord;
}

// Cuts "ret a::b<x>::c[abi](int) const" to its components; false if it is not a function's or a
// variable's name.
bool Split(std::string_view text, std::vector<std::string>& components) {
  components.assign(1, "");
  int depth = 0;  // of <> and ()
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (depth == 0 && IsOperatorAt(text, i) && components.back().empty()) return false;
    if (c == '(' && depth == 0) {
      if (text.substr(i).starts_with("(anonymous namespace)")) return false;
      break;  // parameters
    }
    if (c == '<' || c == '(') ++depth;
    if ((c == '>' || c == ')') && depth > 0) {
      --depth;
      continue;
    }
    if (depth != 0) continue;
    if (c == '[') {  // [abi:cxx11]
      const std::size_t end = text.find(']', i);
      if (end == std::string_view::npos) return false;
      i = end;
    } else if (c == ' ') {
      components.assign(1, "");  // what was in front is the result's type
    } else if (c == ':' && i + 1 < text.size() && text[i + 1] == ':') {
      components.emplace_back();
      ++i;
    } else {
      components.back() += c;
    }
  }
  return !components.back().empty();
}

}  // namespace

std::optional<CxxName> ParseCxxName(std::string_view untrusted_symbol) {
  if (!untrusted_symbol.starts_with("_Z")) return std::nullopt;
  // Of vtables, typeinfo, thunks, guards: _ZTV, _ZGV ...
  if (untrusted_symbol.starts_with("_ZT") || untrusted_symbol.starts_with("_ZG")) {
    return std::nullopt;
  }
  // Of lambdas and what else is local to a function: it would pass for that function.
  if (untrusted_symbol.starts_with("_ZZ")) return std::nullopt;
  std::string text = stats::DemangledName(untrusted_symbol);
  if (text == untrusted_symbol) return std::nullopt;  // none, or past a limit
  std::vector<std::string> components;
  if (!Split(text, components)) return std::nullopt;
  CxxName name;
  name.text = std::move(text);
  name.name = std::move(components.back());
  components.pop_back();
  for (std::string& scope : components) {
    const bool inner = scope == "__cxx11" || scope == "__1" || scope.empty();
    if (!inner) name.scopes.push_back(std::move(scope));
  }
  return name;
}

std::vector<std::string> SplitScopes(std::string_view qualified) {
  std::vector<std::string> parts;
  while (!qualified.empty()) {
    const std::size_t end = qualified.find("::");
    if (end != 0) {
      // Blanks and comments may stand around "::".
      std::string part;
      for (const char c : qualified.substr(0, end)) {
        if (c != ' ' && c != '\t' && c != '\n' && c != '\r') part += c;
      }
      if (!part.empty()) parts.push_back(std::move(part));
    }
    if (end == std::string_view::npos) break;
    qualified.remove_prefix(end + 2);
  }
  return parts;
}

}  // namespace fieldcost::lsp
