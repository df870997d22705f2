#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "tools/cli/docs/docs_cards.h"

namespace fieldcost::cli {

// What --json prints of `fieldcost docs`, like json_output.h.

// Also index.json: the files of each card.
std::string CardsJson(std::span<const WrittenCard> cards, const report::Provenance& provenance);

struct DoxygenCounts {
  std::uint64_t functions = 0;  // different names that are documented
  std::uint64_t found = 0;      // of these, that the catalogue knows
  std::uint64_t cards = 0;      // in pages, where a function may have several places
  std::uint64_t pages = 0;      // with cards
};
std::string DoxygenJson(const DoxygenCounts& counts, const report::Provenance& provenance);

}  // namespace fieldcost::cli
