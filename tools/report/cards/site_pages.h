#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/report/cards/card_index.h"
#include "tools/report/cards/cost_card.h"
#include "tools/report/cards/site_names.h"

namespace fieldcost::report {

// The pages of a static site about the costs of libraries (`fieldcost docs site`): an index with
// search, a page per library, a page per API. They refer only to each other, by relative links, so
// they work from files and from any server. Names are escaped. Pure and deterministic.

struct SiteLibrary {
  std::string untrusted_soname;
  std::string folder;              // a relative URL
  std::vector<IndexedCard> cards;  // their paths are relative to the folder
};

// The names of all functions, for the index's search.
std::vector<SiteName> NamesOf(std::span<const SiteLibrary> libraries);

// The index lists the libraries, at most this many per page, so that its size is bounded. The first
// page also searches the names of all functions with a script, if `names_root` (WriteSiteNames())
// is not empty. Without scripts, the lists remain.
inline constexpr std::size_t kLibrariesPerPage = 200;
struct SiteIndex {
  std::span<const SiteLibrary> libraries;  // ordered by soname
  std::string names_root;
  Provenance provenance;

  std::size_t pages() const;  // at least 1
};
// "index.html" for the first page, "~libraries/NUMBER.html" for others, which is no library's
// folder (SafeFileName()).
std::string SiteIndexPath(std::size_t page);
std::string SiteIndexHtml(const SiteIndex& index, std::size_t page);

// FOLDER/index.html: one line per API.
std::string SiteLibraryHtml(const SiteLibrary& library, const Provenance& provenance);

// FOLDER/PATH.html: everything about one API (heat_page.h), with links to its pictures.
std::string SiteApiHtml(const IndexedCard& card);

}  // namespace fieldcost::report
