#include "tools/cli/docs/rustdoc_pages.h"

#include "tools/report/cards/cost_card.h"

namespace fieldcost::cli {
namespace {

constexpr std::string_view kFilePrefix = "fn.";
constexpr std::string_view kFileSuffix = ".html";

struct Declaration {
  std::string_view untrusted_html;
  std::size_t end = 0;  // position in the page after its elements
};

// 1.63 has a <div> around the <pre>.
std::optional<Declaration> DeclarationIn(std::string_view untrusted_html) {
  constexpr std::string_view kEnd = "</pre>";
  constexpr std::string_view kEndOfDivision = "</div>";
  const std::size_t begin = untrusted_html.find("item-decl\">");
  if (begin == std::string_view::npos) return std::nullopt;
  std::size_t end = untrusted_html.find(kEnd, begin);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view text = untrusted_html.substr(begin, end - begin);
  end += kEnd.size();
  if (untrusted_html.substr(end).starts_with(kEndOfDivision)) end += kEndOfDivision.size();
  return Declaration{text, end};
}

}  // namespace

std::optional<std::string> ExternalFunction(std::string_view file_name,
                                            std::string_view untrusted_html) {
  if (!file_name.starts_with(kFilePrefix) || !file_name.ends_with(kFileSuffix) ||
      file_name.size() <= kFilePrefix.size() + kFileSuffix.size()) {
    return std::nullopt;
  }
  const auto declaration = DeclarationIn(untrusted_html);
  if (!declaration) return std::nullopt;
  // Only before the name: a parameter may be an external function, too.
  const std::string_view html = declaration->untrusted_html;
  const std::string_view qualifiers = html.substr(0, html.find(" fn "));
  if (qualifiers.find("extern &quot;") == std::string_view::npos &&
      qualifiers.find("extern \"") == std::string_view::npos) {
    return std::nullopt;
  }
  file_name.remove_prefix(kFilePrefix.size());
  file_name.remove_suffix(kFileSuffix.size());
  return std::string(file_name);
}

std::string WithCardsBelowDeclaration(std::string_view untrusted_html, std::string_view cards) {
  std::string html = report::WithoutCards(untrusted_html);
  const auto declaration = DeclarationIn(html);
  if (declaration) html.insert(declaration->end, cards);
  return html;
}

}  // namespace fieldcost::cli
