#pragma once

#include <filesystem>

#include "common/stats/api_key.h"

namespace fieldcost::report {

// The file of the page about all versions of an API (heat_page.h), below the cache directory:
// pages/SONAME/SYMBOL.html (file_names.h). Different APIs have different files. `fieldcost show
// --open` and editors write it when it is opened; no server is needed. Pure.
std::filesystem::path LocalPageFile(const std::filesystem::path& cache_directory,
                                    const stats::ApiKey& untrusted_api);

}  // namespace fieldcost::report
