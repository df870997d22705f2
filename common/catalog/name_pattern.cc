#include "common/catalog/name_pattern.h"

#include <algorithm>

#include "common/base/text.h"

namespace fieldcost::catalog {
namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string_view LibraryPart(std::string_view text) {
  const std::size_t mark = text.find('!');
  return mark == std::string_view::npos ? std::string_view() : text.substr(0, mark);
}

std::string_view SymbolPart(std::string_view text) {
  const std::size_t mark = text.find('!');
  return mark == std::string_view::npos ? text : text.substr(mark + 1);
}

}  // namespace

NamePattern::Part::Part(std::string_view untrusted_text)
    : text(untrusted_text), is_glob(text.find_first_of("*?") != std::string::npos) {
  std::transform(text.begin(), text.end(), text.begin(), Lower);
}

bool NamePattern::Part::Matches(std::string_view name) const {
  if (text.empty()) return true;
  if (is_glob) {
    std::string lower(name);
    std::transform(lower.begin(), lower.end(), lower.begin(), Lower);
    return GlobMatch(text, lower);
  }
  const auto found = std::search(name.begin(), name.end(), text.begin(), text.end(),
                                 [](char a, char b) { return Lower(a) == b; });
  return found != name.end();
}

NamePattern::NamePattern(std::string_view untrusted_text)
    : library_(LibraryPart(untrusted_text)), symbol_(SymbolPart(untrusted_text)) {}

bool NamePattern::Matches(std::string_view soname, std::string_view symbol) const {
  return symbol_.Matches(symbol) && library_.Matches(soname);
}

}  // namespace fieldcost::catalog
