#pragma once

#include <filesystem>
#include <string>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/stats/api_key.h"
#include "tools/lsp/cost_book.h"

namespace fieldcost::lsp {

// Writes the page about an API (CostBook::PageOf) to its file below the cache directory, which
// report::LocalPageFile() names. Errors as PageOf(), also kIo and kPermissionDenied.
Status WriteLocalPage(const CostBook& book, const stats::ApiKey& api,
                      const std::filesystem::path& cache_directory, WallTime now);

// A page that a response links to.
struct PageWish {
  stats::ApiKey api;
  std::string installed;  // the version installed here; "" = none, or unknown
};

// Writes such a page on a thread of its own, unless it is newer than the catalogue; a failure is
// logged.
void WriteWishedPage(const PageWish& wish, const std::filesystem::path& catalog_file,
                     const std::filesystem::path& cache_directory, WallTime now);

}  // namespace fieldcost::lsp
