#pragma once

#include <filesystem>
#include <vector>

#include "common/base/result.h"
#include "tools/analysis/summary.h"
#include "tools/cli/costs/source.h"

namespace fieldcost::cli {

// Pages that `fieldcost show --open` writes into the cache directory, for the browser. Each
// function returns the file to open. kIo, kPermissionDenied.

// The page of one API; REQUIRES: !summaries.empty(). With this machine's own measurements, it lies
// in a folder of its own and only the user can read it.
Result<std::filesystem::path> WriteCachedPage(const std::filesystem::path& cache_directory,
                                              const Source& source,
                                              std::vector<analysis::CostSummary> summaries);

// The pages of the catalogue's most expensive APIs, at most this many, and a list of them.
inline constexpr std::uint64_t kMaxOverviewApis = 100;
Result<std::filesystem::path> WriteOverview(const std::filesystem::path& cache_directory,
                                            const Source& source);

}  // namespace fieldcost::cli
