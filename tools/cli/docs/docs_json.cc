#include "tools/cli/docs/docs_json.h"

#include <boost/json.hpp>

#include "tools/cli/json_parts.h"

namespace fieldcost::cli {
namespace {

boost::json::object Freshness(const report::Provenance& provenance) {
  return {{"snapshot", provenance.snapshot},
          {"published", provenance.published},
          {"expired", provenance.expired},
          {"synthetic", provenance.synthetic},
          {"incomplete", provenance.incomplete}};
}

}  // namespace

std::string CardsJson(std::span<const WrittenCard> cards, const report::Provenance& provenance) {
  boost::json::array list;
  for (const WrittenCard& written : cards) {
    const report::CostCard& card = *written.card;
    list.push_back({{"soname", ApiOf(card).soname},
                    {"symbol", ApiOf(card).symbol},
                    {"name", Text(DocumentedName(card))},
                    {"light", written.path() + ".light.svg"},
                    {"dark", written.path() + ".dark.svg"},
                    {"html", written.path() + ".html"},
                    {"markdown", written.path() + ".md"},
                    {"fragment", written.path() + ".fragment"},
                    {"link", card.untrusted_link}});
  }
  boost::json::object json = Freshness(provenance);
  json["cards"] = std::move(list);
  return Print(json);
}

std::string SiteJson(const SiteCounts& counts, const report::Provenance& provenance) {
  boost::json::object json = Freshness(provenance);
  json["libraries"] = counts.libraries;
  json["functions"] = counts.functions;
  return Print(json);
}

std::string PagesJson(const PageCounts& counts, const report::Provenance& provenance) {
  boost::json::object json = Freshness(provenance);
  json["functions"] = counts.functions;
  json["found"] = counts.found;
  json["cards"] = counts.cards;
  json["pages"] = counts.pages;
  return Print(json);
}

}  // namespace fieldcost::cli
