#include "common/catalog/name_pattern.h"

#include <algorithm>

#include "common/base/ascii.h"
#include "common/base/text.h"
#include "common/names/cxx_name.h"

namespace fieldcost::catalog {
namespace {

bool Contains(std::string_view name, std::string_view lower_case_part) {
  return std::search(name.begin(), name.end(), lower_case_part.begin(), lower_case_part.end(),
                     [](char a, char b) { return LowerCase(a) == b; }) != name.end();
}

std::string_view LibraryPart(std::string_view text) {
  const std::size_t mark = text.find('!');
  return mark == std::string_view::npos ? std::string_view() : text.substr(0, mark);
}

std::string_view SymbolPart(std::string_view text) {
  const std::size_t mark = text.find('!');
  return mark == std::string_view::npos ? text : text.substr(mark + 1);
}

}  // namespace

std::vector<std::string> TextsOfGlob(std::string_view untrusted_glob) {
  std::vector<std::string> texts;
  for (const std::string_view text : Split(untrusted_glob, "*?")) {
    if (!text.empty()) texts.emplace_back(text);
  }
  return texts;
}

NamePattern::Part::Part(std::string_view untrusted_text)
    : text(LowerCase(untrusted_text)), is_glob(text.find_first_of("*?") != std::string::npos) {}

bool NamePattern::Part::Matches(std::string_view name) const {
  if (text.empty()) return true;
  if (is_glob) return GlobMatch(text, LowerCase(name));
  return Contains(name, text);
}

NamePattern::NamePattern(std::string_view untrusted_text)
    : library_(LibraryPart(untrusted_text)),
      symbol_(SymbolPart(untrusted_text)),
      identifiers_(names::SpelledIdentifiers(symbol_.text)) {}

bool NamePattern::MatchesCxx(std::string_view symbol) const {
  if (!names::IsCxxSymbol(symbol)) return false;
  for (const std::string& identifier : identifiers_) {
    if (!Contains(symbol, identifier)) return false;
  }
  return symbol_.Matches(names::ShortName(symbol));
}

bool NamePattern::Matches(std::string_view soname, std::string_view symbol) const {
  return library_.Matches(soname) && (symbol_.Matches(symbol) || MatchesCxx(symbol));
}

NameParts NamePattern::Parts() const {
  return {.symbol = TextsOfGlob(symbol_.text), .library = TextsOfGlob(library_.text)};
}

}  // namespace fieldcost::catalog
