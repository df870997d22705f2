#include "tools/report/cards/local_page.h"

#include "tools/report/cards/file_names.h"

namespace fieldcost::report {

std::filesystem::path LocalPageFile(const std::filesystem::path& cache_directory,
                                    const stats::ApiKey& untrusted_api) {
  return cache_directory / "pages" / SafeFileName(untrusted_api.soname) /
         (SafeFileName(untrusted_api.symbol) + ".html");
}

}  // namespace fieldcost::report
