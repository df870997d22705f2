#include "tools/report/cards/local_page.h"

#include "tools/report/file_names.h"

namespace fieldcost::report {

std::filesystem::path LocalPageFile(const std::filesystem::path& cache_directory,
                                    const stats::ApiKey& untrusted_api) {
  return cache_directory / "pages" / PagePath(untrusted_api);
}

}  // namespace fieldcost::report
