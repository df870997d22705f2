#include "tools/analysis/namespace_of.h"

#include "common/names/cxx_name.h"
#include "common/names/cxx_name_parts.h"

namespace fieldcost::analysis {
namespace {

std::string ScopesOf(std::string_view demangled) {
  std::string scopes;
  for (const std::string& scope : names::SplitCxxName(demangled).scopes) {
    if (scope.starts_with('{')) continue;  // a lambda or an unnamed type
    if (!scopes.empty()) scopes += "::";
    scopes += scope;
  }
  return scopes;
}

}  // namespace

std::string NamespaceOf(std::string_view untrusted_symbol) {
  const std::string name = names::DemangledName(untrusted_symbol);
  if (name != untrusted_symbol) {
    std::string scopes = ScopesOf(name);
    return scopes.empty() ? "(global)" : scopes;
  }
  if (names::IsCxxSymbol(untrusted_symbol)) return "(C++)";
  const std::size_t begin = untrusted_symbol.find_first_not_of('_');
  const std::size_t mark = untrusted_symbol.find('_', begin);
  if (begin == std::string_view::npos || mark == std::string_view::npos ||
      mark + 1 == untrusted_symbol.size()) {
    return "(no prefix)";
  }
  return std::string(untrusted_symbol.substr(0, mark + 1));
}

}  // namespace fieldcost::analysis
