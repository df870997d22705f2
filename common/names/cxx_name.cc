#include "common/names/cxx_name.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "common/base/ascii.h"
#include "common/names/cxx_name_parts.h"

namespace fieldcost::names {
namespace {

// Words of demangled names that mangled names do not contain literally: those that the ABI
// abbreviates (sections 5.1.5 and 5.1.10, substitutions), types, and words that demanglers add.
constexpr std::string_view kUnspelled =
    " std allocator basic_string string basic_istream istream basic_ostream ostream basic_iostream "
    "iostream char_traits operator new delete bool char char8_t char16_t char32_t wchar_t short "
    "int "
    "long unsigned signed float double void __int128 __float128 const volatile restrict noexcept "
    "anonymous namespace VTT vtt vtable typeinfo name for guard variable reference temporary "
    "virtual thunk "
    "non-virtual covariant return to construction lambda unnamed type auto decltype nullptr_t abi "
    "cxx11 true false clone __cxx11 transaction safe entry point tls init function wrapper hidden "
    "alias initializer module block invocation sizeof alignof throw default argument decimal32 "
    "decimal64 decimal128 half co_await enable_if string literal ";

// Counts the substitutions S_, S0_ ... and template parameters T_, T0_ ... in a mangled name; the
// count may be too high.
std::size_t CountReferences(std::string_view mangled) {
  std::size_t count = 0;
  for (std::size_t i = 0; i + 1 < mangled.size(); ++i) {
    if (mangled[i] != 'S' && mangled[i] != 'T') continue;
    std::size_t end = i + 1;
    while (end < mangled.size() && IsWordCharacter(mangled[end]) && mangled[end] != '_' &&
           !(mangled[end] >= 'a' && mangled[end] <= 'z')) {
      ++end;
    }
    if (end < mangled.size() && mangled[end] == '_') ++count;
  }
  return count;
}

}  // namespace

std::string DemangledName(std::string_view untrusted_symbol) {
  std::string symbol(untrusted_symbol);
  if (!IsCxxSymbol(symbol) || symbol.size() > kMostMangledBytes ||
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

std::string NameWithoutArguments(std::string_view demangled) {
  constexpr std::string_view kTag = "[abi:";
  std::string name(demangled.substr(0, SplitCxxName(demangled).arguments));
  for (std::size_t at = name.find(kTag); at != std::string::npos; at = name.find(kTag, at)) {
    name.erase(at, std::min(name.find(']', at), name.size() - 1) - at + 1);
  }
  return name;
}

std::string ShortName(std::string_view untrusted_symbol) {
  std::string demangled = DemangledName(untrusted_symbol);
  if (demangled == untrusted_symbol || IsSpecialSymbol(untrusted_symbol)) return demangled;
  const CxxNameParts parts = SplitCxxName(demangled);
  if (parts.name.empty() || parts.is_local) return demangled;
  std::string name;
  for (const std::string& scope : parts.scopes) name += scope + "::";
  name += parts.name;
  for (const std::string_view scope : kInlineNamespaces) {
    const std::string qualifier = std::string(scope) + "::";
    for (std::size_t at = name.find(qualifier); at != name.npos; at = name.find(qualifier, at)) {
      name.erase(at, qualifier.size());
    }
  }
  return name;
}

std::string ShownName(const stats::ApiKey& key) { return key.soname + "!" + ShortName(key.symbol); }

std::vector<std::string> SpelledIdentifiers(std::string_view lower_case_text) {
  std::vector<std::string> identifiers;
  for (std::size_t i = 0; i < lower_case_text.size();) {
    std::size_t end = i;
    while (end < lower_case_text.size() && IsWordCharacter(lower_case_text[end])) ++end;
    const std::string_view word = lower_case_text.substr(i, end - i);
    const bool is_name = word.find_first_not_of("0123456789") != std::string_view::npos;
    if (is_name && kUnspelled.find(word) == std::string_view::npos) identifiers.emplace_back(word);
    i = std::max(end, i + 1);
  }
  return identifiers;
}

CxxNameQuery::CxxNameQuery(std::string_view untrusted_typed) : typed_(untrusted_typed) {
  // Numbers and casts in arguments may be written differently from their mangled form.
  const std::size_t end = std::min(typed_.find_first_of("(<"), typed_.size());
  identifiers_ = SpelledIdentifiers(std::string_view(typed_).substr(0, end));
}

bool CxxNameQuery::Matches(std::string_view untrusted_symbol) const {
  if (!IsCxxSymbol(untrusted_symbol) || typed_.empty()) return false;
  for (const std::string& word : identifiers_) {
    if (untrusted_symbol.find(word) == std::string_view::npos) return false;
  }
  const std::string name = ShortName(untrusted_symbol);
  if (name == typed_) return true;
  if (name.size() > typed_.size() + 1 && name.ends_with(typed_) &&
      name.substr(0, name.size() - typed_.size()).ends_with("::")) {
    return true;
  }
  return typed_.find('(') != std::string::npos && DemangledName(untrusted_symbol) == typed_;
}

}  // namespace fieldcost::names
