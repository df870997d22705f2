#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "tools/cli/docs/docs_cards.h"

namespace fieldcost::cli {

// The --json output of `fieldcost docs`, in the conventions of json_output.h.

// The files of each card; also the content of index.json.
std::string CardsJson(std::span<const WrittenCard> cards, const report::Provenance& provenance);

struct SiteCounts {
  std::uint64_t libraries = 0;
  std::uint64_t functions = 0;  // pages, one per API
};
std::string SiteJson(const SiteCounts& counts, const report::Provenance& provenance);

// Pages of other programs into which cards were inserted.
struct PageCounts {
  std::uint64_t functions = 0;  // distinct names of documented functions
  std::uint64_t found = 0;      // of these, the ones in the catalogue
  std::uint64_t cards = 0;      // inserted; a function may appear in several places
  std::uint64_t pages = 0;      // pages with cards
};
std::string PagesJson(const PageCounts& counts, const report::Provenance& provenance);

}  // namespace fieldcost::cli
