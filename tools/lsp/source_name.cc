#include "tools/lsp/source_name.h"

#include <algorithm>
#include <utility>

#include "common/names/cxx_name.h"
#include "common/names/cxx_name_parts.h"

namespace fieldcost::lsp {

std::optional<CxxName> ParseCxxName(std::string_view untrusted_symbol) {
  if (!names::IsCxxSymbol(untrusted_symbol) || names::IsSpecialSymbol(untrusted_symbol)) {
    return std::nullopt;
  }
  std::string text = names::DemangledName(untrusted_symbol);
  if (text == untrusted_symbol) return std::nullopt;  // not mangled, or beyond a limit
  names::CxxNameParts parts = names::SplitCxxName(text);
  if (parts.name.empty() || parts.is_operator || parts.is_local) return std::nullopt;
  CxxName name = {.scopes = {}, .name = std::move(parts.name), .text = std::move(text)};
  for (std::string& scope : parts.scopes) {
    const bool has_no_name = scope == names::kAnonymousNamespace || scope.starts_with('{');
    if (has_no_name) return std::nullopt;
    const auto& unseen = names::kInlineNamespaces;
    if (std::find(unseen.begin(), unseen.end(), scope) != unseen.end()) continue;
    name.scopes.push_back(std::move(scope));
  }
  return name;
}

std::vector<std::string> SplitScopes(std::string_view qualified) {
  std::vector<std::string> parts;
  while (!qualified.empty()) {
    const std::size_t end = qualified.find("::");
    if (end != 0) {
      // Blanks and comments may surround "::".
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
