// `fieldcost docs doxygen` and `docs rustdoc`: add cards to pages of other programs.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <system_error>
#include <vector>

#include "common/base/file.h"
#include "common/base/text.h"
#include "tools/cli/cli_commands.h"
#include "tools/cli/common_options.h"
#include "tools/cli/costs/catalogue_freshness.h"
#include "tools/cli/docs/docs_cards.h"
#include "tools/cli/docs/docs_files.h"
#include "tools/cli/docs/docs_json.h"
#include "tools/cli/docs/doxygen_pages.h"
#include "tools/cli/docs/rustdoc_pages.h"
#include "tools/cli/terminal/pager.h"
#include "tools/cli/terminal/terminal_io.h"
#include "tools/report/link_template.h"

namespace fieldcost::cli {
namespace {

namespace fs = std::filesystem;

struct AnnotateRequest {
  fs::path html_directory;
  fs::path tag_file;    // Doxygen's
  std::string library;  // glob over sonames; empty = all
  std::string url;      // link template (report/link_template.h); empty = no links
};

// The cards by function name; those of overloads and of several libraries are together.
using CardsByName = std::map<std::string, std::vector<const report::CostCard*>>;

// A relative link leads from the directory, so a page in a folder below it needs "../" before it.
std::string CardsHtml(const std::vector<const report::CostCard*>& cards, const fs::path& page) {
  std::string up;
  for (const fs::path& folder : page.parent_path()) up += folder == "." ? "" : "../";
  std::string html;
  for (const report::CostCard* card : cards) {
    report::CostCard linked = *card;
    if (report::IsRelativeLink(linked.untrusted_link)) linked.untrusted_link.insert(0, up);
    html += report::CardHtml(linked, {});
  }
  return html;
}

Result<int> Report(const PageCounts& counts, const LibraryCards& loaded, const Output& output) {
  if (output.json) {
    FIELDCOST_TRY(WriteStdout(PagesJson(counts, loaded.provenance)));
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

Result<int> RunDoxygen(const AnnotateRequest& command, const Output& output) {
  FIELDCOST_ASSIGN(const std::string tags, ReadFile(command.tag_file, kMaxTagFileBytes));
  const auto functions = ReadTagFile(tags);
  if (!functions) return Within(functions.error(), EscapeControl(command.tag_file.string()));
  FIELDCOST_ASSIGN(const LibraryCards loaded, LoadCards(command.library, command.url));
  CardsByName cards;
  for (const report::CostCard& card : loaded.cards) cards[DocumentedName(card)].push_back(&card);

  PageCounts counts;
  std::map<std::string, std::map<std::string, std::string>> pages;  // anchors with their cards
  std::set<std::string> names;
  for (const DocumentedFunction& function : *functions) {
    pages[function.page];  // includes pages that only had cards in an earlier run
    names.insert(function.name);
    const auto card = cards.find(function.name);
    if (card != cards.end()) {
      pages[function.page][function.anchor] = CardsHtml(card->second, function.page);
    }
  }
  counts.functions = names.size();
  for (const std::string& name : names) counts.found += cards.count(name);
  for (const auto& [page, card_of] : pages) {
    const fs::path path = command.html_directory / page;
    FIELDCOST_ASSIGN(const std::string before, ReadFile(path, kMaxPageBytes));
    const PageWithCards after = InsertCards(before, card_of);
    counts.cards += after.cards;
    if (after.cards != 0) ++counts.pages;
    if (after.html != before) FIELDCOST_TRY(WriteDocument(path, after.html));
  }
  return Report(counts, loaded, output);
}

// The pages of functions below a directory, sorted. Ignores symbolic links.
Result<std::vector<fs::path>> FunctionPages(const fs::path& directory) {
  std::vector<fs::path> pages;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with("fn.") || !name.ends_with(".html")) continue;
    std::error_code unreadable;  // not a file to us
    if (fs::is_regular_file(entry->symlink_status(unreadable))) pages.push_back(entry->path());
  }
  if (error) return ErrnoError("read", directory, error.value());
  std::sort(pages.begin(), pages.end());
  return pages;
}

Result<int> RunRustdoc(const AnnotateRequest& command, const Output& output) {
  FIELDCOST_ASSIGN(const auto pages, FunctionPages(command.html_directory));
  FIELDCOST_ASSIGN(const LibraryCards loaded, LoadCards(command.library, command.url));
  CardsByName cards;  // names in C
  for (const report::CostCard& card : loaded.cards) cards[ApiOf(card).symbol].push_back(&card);
  PageCounts counts;
  std::set<std::string> names;
  for (const fs::path& path : pages) {
    FIELDCOST_ASSIGN(const std::string before, ReadFile(path, kMaxPageBytes));
    const auto name = ExternalFunction(path.filename().string(), before);
    if (!name) continue;
    names.insert(*name);
    const auto card = cards.find(*name);
    std::string html;
    if (card != cards.end()) {
      html = CardsHtml(card->second, path.lexically_relative(command.html_directory));
      ++counts.pages;
    }
    const std::string after = WithCardsBelowDeclaration(before, html);
    if (after != before) FIELDCOST_TRY(WriteDocument(path, after));
  }
  counts.cards = counts.pages;
  counts.functions = names.size();
  for (const std::string& name : names) counts.found += cards.count(name);
  return Report(counts, loaded, output);
}

command::Option PagesOption() {
  return {.names = "html",
          .value = "DIRECTORY",
          .help = "Directory of the pages",
          .completes = command::Completes::kFiles,
          .required = true};
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
      .options = {PagesOption(),
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

command::Command DocsRustdocCommand() {
  return {
      .name = "rustdoc",
      .summary = "Put cards into rustdoc pages",
      .help =
          R"(DIRECTORY is rustdoc's output, such as target/doc. Each function that is declared extern "C" and has
the name of a C function in the catalogue gets its card; run it again after a sync to replace the
cards. Example:
  fieldcost docs rustdoc target/doc --library libz.so.1)",
      .options = {PagesOption(), LibraryOption(), UrlOption()},
      .handler =
          [](const command::Arguments& arguments) {
            return RunRustdoc({.html_directory = arguments.Text("html"),
                               .tag_file = {},
                               .library = arguments.Text("--library"),
                               .url = arguments.Text("--url")},
                              OutputOf(arguments));
          },
      .without = {"--csv"}};
}

}  // namespace fieldcost::cli
