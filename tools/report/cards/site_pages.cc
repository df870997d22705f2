#include "tools/report/cards/site_pages.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>

#include "common/base/json_writer.h"
#include "common/base/text.h"
#include "common/draw/html.h"
#include "tools/report/cards/card_lines.h"
#include "tools/report/cards/heat_page.h"
#include "tools/report/page.h"
#include "tools/report/page_assets.h"

namespace fieldcost::report {
namespace {

constexpr std::string_view kSiteTitle = "Costs of library functions";

// The names for the script: [[soname, folder, [[name, file, cost], ...]], ...].
std::string NamesJson(std::span<const SiteLibrary> libraries) {
  JsonWriter json(JsonWriter::Place::kHtmlScript);
  json.Array();
  for (const SiteLibrary& library : libraries) {
    json.NewLine().Array().Text(library.untrusted_soname).Text(library.folder).Array();
    for (const IndexedCard& indexed : library.cards) {
      const CardWords words = WordsOf(*indexed.card);
      json.NewLine().Array().Text(words.function).Text(indexed.path + ".html");
      json.Text(words.lines.front().p50).EndArray();
    }
    json.EndArray().EndArray();
  }
  json.EndArray();
  return json.TakeValue();
}

std::string SearchHtml() {
  return "<div id=\"site-search\" hidden>\n<p><label>Search <input type=\"search\" id=\"search\" "
         "autocomplete=\"off\" spellcheck=\"false\"></label></p>\n"
         "<p id=\"count\" role=\"status\"></p>\n<ul id=\"found\"></ul>\n</div>\n";
}

std::string NavigationHtml(std::string_view untrusted_soname) {
  std::string html = "<nav aria-label=\"Site\"><p><a href=\"../index.html\">All libraries</a>";
  if (!untrusted_soname.empty()) {
    html += fmt::format(" › <a href=\"index.html\">{}</a>", draw::EscapeHtml(untrusted_soname));
  }
  return html + "</p></nav>\n";
}

}  // namespace

std::string SiteIndexHtml(std::span<const SiteLibrary> libraries, bool synthetic) {
  using enum ColumnKind;
  PageTable table{.id = "libraries",
                  .title = "Libraries",
                  .caption = {},
                  .columns = {{"Library", kName}, {"Functions", kNumber}},
                  .lines = {}};
  for (const SiteLibrary& library : libraries) {
    table.lines.push_back({NameHtml(library.untrusted_soname, library.folder + "/index.html", ""),
                           std::to_string(library.cards.size())});
  }
  const std::array<draw::PageAsset, 1> scripts = {kSiteSearchScript};
  std::string html = PageBegin(kSiteTitle, {}, scripts);
  html += fmt::format("<main>\n<h1>{}</h1>\n", kSiteTitle);
  if (synthetic) html += fmt::format("<p class=\"warn\">{}</p>\n", kSyntheticWords);
  html += SearchHtml() + SectionHtml(table) + "</main>\n";
  html += fmt::format("<script type=\"application/json\" id=\"names\">{}</script>\n",
                      NamesJson(libraries));
  for (const draw::PageAsset& script : scripts) html += ScriptHtml(script);
  return html + PageEnd();
}

std::string SiteLibraryHtml(const SiteLibrary& library, bool synthetic) {
  return CardIndexHtml(library.cards, synthetic,
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
