#include "common/stats/cxx_name.h"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

namespace fieldcost::stats {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)";
constexpr std::string_view kOperator = "operator";
constexpr std::array<std::string_view, 2> kInlineNamespaces = {"__cxx11::", "__1::"};

// Words of demangled names that mangled ones do not spell: abbreviations of the ABI (section 5.1.5
// and 5.1.10, substitutions), types, and what demanglers say.
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

// "a::B::f" of "int a::B<char>::f<int>".
std::string WithoutTemplates(std::string_view name) {
  std::string plain;
  std::size_t depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const std::string_view rest = name.substr(i);
    const bool at_word = i == 0 || !IsWord(name[i - 1]);
    if (depth == 0 && rest.starts_with(kAnonymous)) {
      plain += kAnonymous;
      i += kAnonymous.size() - 1;
    } else if (depth == 0 && at_word && rest.starts_with(kOperator) &&
               (rest.size() == kOperator.size() || !IsWord(rest[kOperator.size()]))) {
      return plain + std::string(rest);  // it may be angles itself
    } else if (name[i] == '<') {
      ++depth;
    } else if (name[i] == '>' && depth != 0) {
      --depth;
    } else if (depth == 0 && name[i] == ' ') {
      plain.clear();  // what came was the result's type
    } else if (depth == 0) {
      plain += name[i];
    }
  }
  return plain;
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

std::string ShortName(std::string_view untrusted_symbol) {
  std::string demangled = DemangledName(untrusted_symbol);
  if (demangled == untrusted_symbol || untrusted_symbol.starts_with("_ZT") ||
      untrusted_symbol.starts_with("_ZG") || untrusted_symbol.starts_with("_ZZ")) {
    return demangled;
  }
  std::string name = WithoutTemplates(NameWithoutArguments(demangled));
  for (const std::string_view scope : kInlineNamespaces) {
    for (std::size_t at = name.find(scope); at != std::string::npos; at = name.find(scope)) {
      name.erase(at, scope.size());
    }
  }
  return name.empty() ? demangled : name;
}

std::string ShownName(const ApiKey& key) { return key.soname + "!" + ShortName(key.symbol); }

std::vector<std::string> SpelledIdentifiers(std::string_view lower_case_text) {
  std::vector<std::string> identifiers;
  for (std::size_t i = 0; i < lower_case_text.size();) {
    std::size_t end = i;
    while (end < lower_case_text.size() && IsWord(lower_case_text[end])) ++end;
    const std::string_view word = lower_case_text.substr(i, end - i);
    const bool is_name = word.find_first_not_of("0123456789") != std::string_view::npos;
    if (is_name && kUnspelled.find(word) == std::string_view::npos) identifiers.emplace_back(word);
    i = std::max(end, i + 1);
  }
  return identifiers;
}

CxxNameQuery::CxxNameQuery(std::string_view untrusted_typed) : typed_(untrusted_typed) {
  // Of arguments, numbers and casts may be written otherwise than they are mangled.
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

}  // namespace fieldcost::stats
