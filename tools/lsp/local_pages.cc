#include "tools/lsp/local_pages.h"

#include <system_error>

#include "common/base/file.h"
#include "common/base/log.h"
#include "tools/report/cards/local_page.h"

namespace fieldcost::lsp {
namespace {

namespace fs = std::filesystem;

constexpr int kDirectoryMode = 0755;
constexpr int kFileMode = 0644;

// Whether the file was written after the other one; false if either is missing.
bool IsNewer(const fs::path& file, const fs::path& other) {
  std::error_code error;
  const fs::file_time_type written = fs::last_write_time(file, error);
  if (error) return false;
  const fs::file_time_type changed = fs::last_write_time(other, error);
  return !error && written > changed;
}

}  // namespace

Status WriteLocalPage(const CostBook& book, const stats::ApiKey& api,
                      const fs::path& cache_directory, WallTime now) {
  FIELDCOST_ASSIGN(const std::string html, book.PageOf(api, now));
  const fs::path file = report::LocalPageFile(cache_directory, api);
  FIELDCOST_TRY(MakeDirectories(file.parent_path(), kDirectoryMode));
  return WriteFileAtomically(file, html, kFileMode);
}

void WriteWishedPage(const PageWish& wish, const fs::path& catalog_file,
                     const fs::path& cache_directory, WallTime now) {
  if (IsNewer(report::LocalPageFile(cache_directory, wish.api), catalog_file)) return;
  CostBook book(catalog_file, [&](const std::string&) { return wish.installed; });
  book.Refresh();
  const Status written = WriteLocalPage(book, wish.api, cache_directory, now);
  if (!written) LogWarning("a page was not written: {}", written.error().message);
}

}  // namespace fieldcost::lsp
