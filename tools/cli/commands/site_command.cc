// `fieldcost docs site`: writes the catalogue, or some libraries, as a static site.
#include <fmt/format.h>

#include "common/base/file.h"
#include "common/base/text.h"
#include "tools/cli/cli_commands.h"
#include "tools/cli/common_options.h"
#include "tools/cli/costs/catalogue_freshness.h"
#include "tools/cli/docs/docs_cards.h"
#include "tools/cli/docs/docs_files.h"
#include "tools/cli/docs/docs_json.h"
#include "tools/cli/terminal/terminal_io.h"
#include "tools/report/cards/card_svg.h"
#include "tools/report/cards/site_pages.h"
#include "tools/report/file_names.h"

namespace fieldcost::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kSiteDirectoryMode = 0755;

// The cards by library, in the given order, which is by soname.
std::vector<report::SiteLibrary> LibrariesOf(const std::vector<report::CostCard>& cards) {
  std::vector<report::SiteLibrary> libraries;
  for (const report::CostCard& card : cards) {
    const fs::path page = report::PagePath(ApiOf(card));
    if (libraries.empty() || libraries.back().untrusted_soname != ApiOf(card).soname) {
      libraries.push_back({.untrusted_soname = ApiOf(card).soname,
                           .folder = page.parent_path().string(),
                           .cards = {}});
    }
    libraries.back().cards.push_back({&card, page.stem().string()});
  }
  return libraries;
}

Status WriteLibrary(const fs::path& site, const report::SiteLibrary& library,
                    const report::Provenance& provenance) {
  const fs::path folder = site / library.folder;
  FIELDCOST_TRY(MakeDirectories(folder, kSiteDirectoryMode));
  for (const report::IndexedCard& card : library.cards) {
    const auto write = [&](const char* suffix, const std::string& bytes) {
      return WriteDocument(folder / (card.path + suffix), bytes);
    };
    FIELDCOST_TRY(write(".html", report::SiteApiHtml(card)));
    FIELDCOST_TRY(write(".light.svg", report::CardSvg(*card.card, report::CardTheme::kLight)));
    FIELDCOST_TRY(write(".dark.svg", report::CardSvg(*card.card, report::CardTheme::kDark)));
  }
  return WriteDocument(folder / "index.html", report::SiteLibraryHtml(library, provenance));
}

Status WriteIndex(const fs::path& site, const std::vector<report::SiteLibrary>& libraries,
                  const report::Provenance& provenance) {
  fs::path folder;  // of the last file
  const auto write = [&](const std::string& path, const std::string& bytes) -> Status {
    if ((site / path).parent_path() != folder) {
      folder = (site / path).parent_path();
      FIELDCOST_TRY(MakeDirectories(folder, kSiteDirectoryMode));
    }
    return WriteDocument(site / path, bytes);
  };
  report::SiteIndex index{.libraries = libraries, .names_root = {}, .provenance = provenance};
  FIELDCOST_ASSIGN(index.names_root, report::WriteSiteNames(report::NamesOf(libraries), write));
  // The first page last, so that it links to nothing that is missing.
  for (std::size_t page = index.pages(); page-- > 0;) {
    FIELDCOST_TRY(write(report::SiteIndexPath(page), report::SiteIndexHtml(index, page)));
  }
  return {};
}

Result<int> RunSite(const fs::path& site, const std::string& library, const Output& output) {
  FIELDCOST_ASSIGN(const LibraryCards loaded, LoadCards(library, ""));
  FIELDCOST_TRY(MakeDirectories(site, kSiteDirectoryMode));
  const std::vector<report::SiteLibrary> libraries = LibrariesOf(loaded.cards);
  for (const report::SiteLibrary& each : libraries) {
    FIELDCOST_TRY(WriteLibrary(site, each, loaded.provenance));
  }
  FIELDCOST_TRY(WriteIndex(site, libraries, loaded.provenance));
  const fs::path index = site / report::SiteIndexPath(0);
  const SiteCounts counts{.libraries = libraries.size(), .functions = loaded.cards.size()};
  if (output.json) {
    FIELDCOST_TRY(WriteStdout(SiteJson(counts, loaded.provenance)));
    return 0;
  }
  std::string text =
      fmt::format("{} of {}: {}\n", Counted(counts.functions, "function"),
                  Counted(counts.libraries, "library", "libraries"), EscapeControl(index.string()));
  if (loaded.freshness) text += FreshnessText(*loaded.freshness, SystemClock().Now());
  FIELDCOST_TRY(WriteStdout(FitStdout(text)));
  return 0;
}

}  // namespace

command::Command DocsSiteCommand() {
  return {
      .name = "site",
      .summary = "Write the catalogue as a static site",
      .help =
          R"(A page per function and per library, pictures, and an index with search. No server is needed: the
pages refer only to each other, and work from files. Other documents link to them with the template
'ADDRESS/{page}'. The same catalogue gives the same bytes. Examples:
  fieldcost docs site costs
  fieldcost docs site costs --library libz.so.1)",
      .options = {{.names = "directory",
                   .value = "DIRECTORY",
                   .help = "Directory to write to; created if absent",
                   .completes = command::Completes::kFiles,
                   .required = true},
                  LibraryOption()},
      .handler =
          [](const command::Arguments& arguments) {
            return RunSite(arguments.Text("directory"), arguments.Text("--library"),
                           OutputOf(arguments));
          },
      .without = {"--csv"}};
}

}  // namespace fieldcost::cli
