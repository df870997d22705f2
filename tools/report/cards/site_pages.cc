#include "tools/report/cards/site_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "common/base/text.h"
#include "common/draw/html.h"
#include "tools/report/cards/card_lines.h"
#include "tools/report/cards/heat_page.h"
#include "tools/report/page.h"
#include "tools/report/page_assets.h"

namespace fieldcost::report {
namespace {

constexpr std::string_view kSiteTitle = "Costs of library functions";

std::string SearchHtml(std::string_view names_root) {
  return fmt::format(
      "<div id=\"site-search\" data-root=\"{}\" hidden>\n<p><label>Search <input "
      "type=\"search\" id=\"search\" autocomplete=\"off\" spellcheck=\"false\"></label></p>\n"
      "<p id=\"count\" role=\"status\"></p>\n<ul id=\"found\"></ul>\n</div>\n",
      names_root);
}

std::span<const SiteLibrary> LibrariesOn(const SiteIndex& index, std::size_t page) {
  const auto rest = index.libraries.subspan(page * kLibrariesPerPage);
  return rest.first(std::min(rest.size(), kLibrariesPerPage));
}

// Links to all pages of the index, each with its first and last library; empty if there is one.
std::string IndexPagesHtml(const SiteIndex& index, std::size_t current, std::string_view root) {
  if (index.pages() == 1) return "";
  std::string html = "<nav aria-label=\"Libraries by name\"><ul>\n";
  for (std::size_t page = 0; page < index.pages(); ++page) {
    const auto libraries = LibrariesOn(index, page);
    html += fmt::format("<li><a href=\"{}{}\"{}>{} – {}</a></li>\n", root, SiteIndexPath(page),
                        page == current ? " aria-current=\"page\"" : "",
                        draw::EscapeHtml(libraries.front().untrusted_soname),
                        draw::EscapeHtml(libraries.back().untrusted_soname));
  }
  return html + "</ul></nav>\n";
}

std::string NavigationHtml(std::string_view untrusted_soname) {
  std::string html = "<nav aria-label=\"Site\"><p><a href=\"../index.html\">All libraries</a>";
  if (!untrusted_soname.empty()) {
    html += fmt::format(" › <a href=\"index.html\">{}</a>", draw::EscapeHtml(untrusted_soname));
  }
  return html + "</p></nav>\n";
}

}  // namespace

std::vector<SiteName> NamesOf(std::span<const SiteLibrary> libraries) {
  std::vector<SiteName> names;
  for (const SiteLibrary& library : libraries) {
    for (const IndexedCard& indexed : library.cards) {
      CardWords words = WordsOf(*indexed.card);
      names.push_back({.untrusted_function = std::move(words.function),
                       .untrusted_searched = DocumentedName(*indexed.card),
                       .untrusted_soname = library.untrusted_soname,
                       .page = library.folder + "/" + indexed.path + ".html",
                       .cost = std::move(words.lines.front().p50)});
    }
  }
  return names;
}

std::size_t SiteIndex::pages() const {
  return libraries.empty() ? 1 : (libraries.size() - 1) / kLibrariesPerPage + 1;
}

std::string SiteIndexPath(std::size_t page) {
  return page == 0 ? "index.html" : fmt::format("~libraries/{}.html", page);
}

std::string SiteIndexHtml(const SiteIndex& index, std::size_t page) {
  using enum ColumnKind;
  const std::string_view root = page == 0 ? "" : "../";
  PageTable table{.id = "libraries",
                  .title = "Libraries",
                  .caption = {},
                  .columns = {{"Library", kName}, {"Functions", kNumber}},
                  .lines = {}};
  for (const SiteLibrary& library : LibrariesOn(index, page)) {
    const std::string link = fmt::format("{}{}/index.html", root, library.folder);
    table.lines.push_back(
        {NameHtml(library.untrusted_soname, link, ""), std::to_string(library.cards.size())});
  }
  const bool has_search = page == 0 && !index.names_root.empty();
  const std::array<draw::PageAsset, 1> scripts = {kSiteSearchScript};
  std::string html =
      has_search ? PageBegin(kSiteTitle, {}, scripts, Scripts::kLoadOthers) : PageBegin(kSiteTitle);
  html += fmt::format("<main>\n<h1>{}</h1>\n", kSiteTitle);
  html += ListMarksHtml(index.provenance);
  if (has_search) html += SearchHtml(index.names_root);
  html +=
      IndexPagesHtml(index, page, root) + "<h2>Libraries</h2>\n" + TableHtml(table) + "</main>\n";
  if (has_search) html += ScriptHtml(scripts.front());
  return html + PageEnd();
}

std::string SiteLibraryHtml(const SiteLibrary& library, const Provenance& provenance) {
  return CardIndexHtml(library.cards, provenance,
                       {.untrusted_title = "Costs of " + library.untrusted_soname,
                        .navigation_html = NavigationHtml("")});
}

std::string SiteApiHtml(const IndexedCard& card) {
  const std::string navigation = NavigationHtml(ApiOf(*card.card).soname);
  const std::string pictures = fmt::format(
      "<p>Pictures for your own pages: <a href=\"{0}.light.svg\">light</a>, "
      "<a href=\"{0}.dark.svg\">dark</a></p>\n",
      draw::EscapeHtml(card.path));
  return HeatPage(std::span(card.card, 1), {.before_html = navigation, .after_html = pictures});
}

}  // namespace fieldcost::report
