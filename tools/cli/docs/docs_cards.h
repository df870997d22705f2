#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "tools/cli/costs/source.h"
#include "tools/report/cards/cost_card.h"

namespace fieldcost::cli {

struct LibraryCards {
  std::optional<catalog::Freshness> freshness;
  report::Provenance provenance;
  std::vector<report::CostCard> cards;  // ordered by soname and symbol, with links
};

// A card's files: PATH.light.svg, PATH.dark.svg, PATH.html, PATH.md and PATH.fragment (HTML to
// insert into other pages).
struct WrittenCard {
  const report::CostCard* card = nullptr;
  std::string folder;  // the library's folder
  std::string name;    // without suffix
  std::string path() const { return folder + "/" + name; }
};

// The cards of all APIs in the catalogue whose soname matches the glob (empty = all). An empty
// template creates no links. kInvalidArgument: invalid template; kNotFound: no catalogue, or it
// contains no matching library.
Result<LibraryCards> LoadCards(const std::string& library_glob, const std::string& link_template);

}  // namespace fieldcost::cli
