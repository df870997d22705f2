#include "tools/cli/docs/cached_pages.h"

#include <utility>

#include "common/base/check.h"
#include "common/base/file.h"
#include "tools/cli/costs/cost_answer.h"
#include "tools/cli/docs/docs_files.h"
#include "tools/report/cards/card_index.h"
#include "tools/report/cards/heat_page.h"
#include "tools/report/cards/local_page.h"

namespace fieldcost::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kOwnDirectoryMode = 0700;
constexpr int kOwnFileMode = 0600;
constexpr int kDirectoryMode = 0755;
constexpr int kFileMode = 0644;

}  // namespace

Result<fs::path> WriteCachedPage(const fs::path& cache_directory, const Source& source,
                                 std::vector<analysis::CostSummary> summaries) {
  FIELDCOST_CHECK(!summaries.empty());
  const bool is_own = !source.freshness();
  const fs::path top = is_own ? cache_directory / "own" : cache_directory;
  FIELDCOST_TRY(MakeDirectories(top, is_own ? kOwnDirectoryMode : kDirectoryMode));
  const fs::path file = report::LocalPageFile(top, summaries.front().api);
  const std::vector<report::CostCard> cards =
      report::CardsOf(std::move(summaries), ProvenanceOf(source), analysis::AskPackageManager());
  FIELDCOST_TRY(MakeDirectories(file.parent_path(), kDirectoryMode));
  FIELDCOST_TRY(
      WriteFileAtomically(file, report::HeatPage(cards), is_own ? kOwnFileMode : kFileMode));
  return file;
}

Result<fs::path> WriteOverview(const fs::path& cache_directory, const Source& source) {
  FIELDCOST_ASSIGN(const TopApis top, source.Top({.library = "", .limit = kMaxOverviewApis}));
  const fs::path pages = cache_directory / "pages";
  FIELDCOST_TRY(MakeDirectories(pages, kDirectoryMode));
  std::vector<report::CostCard> cards;
  for (const analysis::ApiCost& cost : top.costs) {
    std::vector<report::CostCard> card =
        report::CardsOf(cost.versions, ProvenanceOf(source), analysis::AskPackageManager());
    std::move(card.begin(), card.end(), std::back_inserter(cards));
  }
  std::vector<report::IndexedCard> index;
  for (const report::CostCard& card : cards) {
    fs::path file = report::LocalPageFile(cache_directory, ApiOf(card));
    FIELDCOST_TRY(MakeDirectories(file.parent_path(), kDirectoryMode));
    FIELDCOST_TRY(WriteDocument(file, report::HeatPage(std::span(&card, 1))));
    file = file.lexically_relative(pages);
    index.push_back({&card, file.replace_extension().string()});
  }
  const fs::path file = pages / "index.html";
  FIELDCOST_TRY(WriteDocument(file, report::CardIndexHtml(index, ProvenanceOf(source))));
  return file;
}

}  // namespace fieldcost::cli
