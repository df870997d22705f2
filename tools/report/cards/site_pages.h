#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/report/cards/card_index.h"
#include "tools/report/cards/cost_card.h"

namespace fieldcost::report {

// The pages of a static site about the costs of libraries (`fieldcost docs site`): an index with
// search, a page per library, a page per API. They refer only to each other, by relative links, so
// they work from files and from any server. Names are escaped. Pure and deterministic.

struct SiteLibrary {
  std::string untrusted_soname;
  std::string folder;              // a relative URL
  std::vector<IndexedCard> cards;  // their paths are relative to the folder
};

// The index: lists the libraries, and searches the names of all functions with a script that the
// page contains. Without scripts, the list remains.
std::string SiteIndexHtml(std::span<const SiteLibrary> libraries, bool synthetic);

// FOLDER/index.html: one line per API.
std::string SiteLibraryHtml(const SiteLibrary& library, bool synthetic);

// FOLDER/PATH.html: everything about one API (heat_page.h), with links to its pictures.
std::string SiteApiHtml(const IndexedCard& card);

}  // namespace fieldcost::report
