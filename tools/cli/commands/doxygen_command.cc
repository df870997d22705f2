// `fieldcost docs doxygen`: adds cards to pages that Doxygen has written.
#include <fmt/format.h>

#include <map>
#include <set>

#include "common/base/file.h"
#include "common/base/text.h"
#include "tools/cli/cli_commands.h"
#include "tools/cli/common_options.h"
#include "tools/cli/costs/catalogue_freshness.h"
#include "tools/cli/docs/docs_cards.h"
#include "tools/cli/docs/docs_files.h"
#include "tools/cli/docs/docs_json.h"
#include "tools/cli/docs/doxygen_pages.h"
#include "tools/cli/terminal/pager.h"
#include "tools/cli/terminal/terminal_io.h"

namespace fieldcost::cli {
namespace {

struct DoxygenRequest {
  std::filesystem::path html_directory;
  std::filesystem::path tag_file;
  std::string library;  // glob over sonames; empty = all
  std::string url;      // link template (report/link_template.h); empty = no links
};

// The cards by function name; those of overloads are joined.
std::map<std::string, std::string> CardsByName(const std::vector<report::CostCard>& cards) {
  std::map<std::string, std::string> by_name;
  for (const report::CostCard& card : cards) {
    by_name[DocumentedName(card)] += report::CardHtml(card, {});
  }
  return by_name;
}

Result<int> RunDoxygen(const DoxygenRequest& command, const Output& output) {
  FIELDCOST_ASSIGN(const std::string tags, ReadFile(command.tag_file, kMaxTagFileBytes));
  const auto functions = ReadTagFile(tags);
  if (!functions) return Within(functions.error(), EscapeControl(command.tag_file.string()));
  FIELDCOST_ASSIGN(const LibraryCards loaded, LoadCards(command.library, command.url));
  const std::map<std::string, std::string> cards = CardsByName(loaded.cards);

  DoxygenCounts counts;
  std::map<std::string, std::map<std::string, std::string>> pages;  // anchors with their cards
  std::set<std::string> names;
  for (const DocumentedFunction& function : *functions) {
    pages[function.page];  // includes pages that only had cards in an earlier run
    names.insert(function.name);
    const auto card = cards.find(function.name);
    if (card != cards.end()) pages[function.page][function.anchor] = card->second;
  }
  counts.functions = names.size();
  for (const std::string& name : names) counts.found += cards.count(name);
  for (const auto& [page, card_of] : pages) {
    const std::filesystem::path path = command.html_directory / page;
    FIELDCOST_ASSIGN(const std::string before, ReadFile(path, kMaxPageBytes));
    const PageWithCards after = InsertCards(before, card_of);
    counts.cards += after.cards;
    if (after.cards != 0) ++counts.pages;
    if (after.html != before) FIELDCOST_TRY(WriteDocument(path, after.html));
  }
  if (output.json) {
    FIELDCOST_TRY(WriteStdout(DoxygenJson(counts, loaded.provenance)));
    return 0;
  }
  std::string text =
      fmt::format("{} of {} known; {} in {}\n", counts.found,
                  Counted(counts.functions, "documented function is", "documented functions are"),
                  Counted(counts.cards, "card"), Counted(counts.pages, "page"));
  if (loaded.freshness) text += FreshnessText(*loaded.freshness, SystemClock().Now());
  FIELDCOST_TRY(WritePaged(text, output));
  return 0;
}

}  // namespace

command::Command DocsDoxygenCommand() {
  return {
      .name = "doxygen",
      .summary = "Put cards into Doxygen pages",
      .help =
          R"(DIRECTORY is Doxygen's HTML_OUTPUT, FILE its GENERATE_TAGFILE. Each function that the catalogue
knows gets its card; run it again after a sync to replace the cards. Example:
  fieldcost docs doxygen html --tag-file zlib.tag --library 'libz.so.*')",
      .options = {{.names = "html",
                   .value = "DIRECTORY",
                   .help = "Directory of the pages",
                   .completes = command::Completes::kFiles,
                   .required = true},
                  {.names = "--tag-file",
                   .value = "FILE",
                   .help = "Doxygen's tag file of these pages",
                   .completes = command::Completes::kFiles,
                   .required = true},
                  LibraryOption(),
                  UrlOption()},
      .handler =
          [](const command::Arguments& arguments) {
            return RunDoxygen({.html_directory = arguments.Text("html"),
                               .tag_file = arguments.Text("--tag-file"),
                               .library = arguments.Text("--library"),
                               .url = arguments.Text("--url")},
                              OutputOf(arguments));
          },
      .without = {"--csv"}};
}

}  // namespace fieldcost::cli
