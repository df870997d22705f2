#include "common/symbols/symbol_name.h"

#include <algorithm>

#include "common/stats/cxx_name.h"

namespace fieldcost::symbols {
namespace {

constexpr std::string_view kCloneMarks[] = {".cold",       ".constprop.", ".isra.", ".llvm.",
                                            ".localalias", ".lto_priv.",  ".part.", ".warm"};

std::string_view WithoutClones(std::string_view symbol) {
  std::size_t end = symbol.size();
  for (const std::string_view mark : kCloneMarks) {
    const std::size_t at = symbol.find(mark);
    if (at != std::string_view::npos && at > 0) end = std::min(end, at);
  }
  return symbol.substr(0, end);
}

}  // namespace

std::string FunctionName(std::string_view untrusted_symbol) {
  const std::string_view unversioned =
      untrusted_symbol.substr(0, untrusted_symbol.find('@', untrusted_symbol.empty() ? 0 : 1));
  return stats::DemangledName(WithoutClones(unversioned));
}

std::string ModuleName(std::string_view untrusted_soname, std::string_view untrusted_path) {
  constexpr std::string_view kLibrary = ".so";
  const std::size_t slash = untrusted_path.rfind('/');
  const std::string_view name = untrusted_soname;
  if (name.empty()) return std::string(untrusted_path.substr(slash + 1));
  const std::size_t library = name.rfind(kLibrary);
  if (library == std::string_view::npos) return std::string(name);
  return std::string(name.substr(0, library + kLibrary.size()));
}

}  // namespace fieldcost::symbols
