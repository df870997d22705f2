// `fieldcost docs cards`: writes a card for each API.
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
#include "tools/report/cards/card_index.h"
#include "tools/report/cards/card_svg.h"
#include "tools/report/cards/card_text.h"
#include "tools/report/file_names.h"

namespace fieldcost::cli {
namespace {

Status WriteCard(const std::filesystem::path& output, const WrittenCard& written) {
  const report::CostCard& card = *written.card;
  const std::filesystem::path folder = output / written.folder;
  FIELDCOST_TRY(MakeDirectories(folder, 0755));
  const report::CardPictures pictures{.light = written.name + ".light.svg",
                                      .dark = written.name + ".dark.svg"};
  FIELDCOST_TRY(WriteDocument(folder / pictures.light, CardSvg(card, report::CardTheme::kLight)));
  FIELDCOST_TRY(WriteDocument(folder / pictures.dark, CardSvg(card, report::CardTheme::kDark)));
  FIELDCOST_TRY(WriteDocument(folder / (written.name + ".fragment"), CardHtml(card, {})));
  FIELDCOST_TRY(WriteDocument(folder / (written.name + ".html"), CardPage(card, pictures)));
  return WriteDocument(folder / (written.name + ".md"), CardMarkdown(card, pictures));
}

std::vector<report::IndexedCard> IndexOf(const std::vector<WrittenCard>& cards) {
  std::vector<report::IndexedCard> index;
  for (const WrittenCard& written : cards) index.push_back({written.card, written.path()});
  return index;
}

struct DocsRequest {
  std::filesystem::path output;  // directory
  std::string library;           // glob over sonames; empty = all
  std::string url;               // link template (report/link_template.h); empty = no links
};

Result<int> RunDocs(const DocsRequest& command, const Output& output) {
  FIELDCOST_ASSIGN(const LibraryCards loaded, LoadCards(command.library, command.url));
  FIELDCOST_TRY(MakeDirectories(command.output, 0755));
  std::vector<WrittenCard> written;
  report::FileNames folders;
  // Reserves these names, since a library may have one of them.
  for (const char* index : {"index.html", "index.md", "index.json"}) folders.Take(index);
  report::FileNames names;
  std::string soname;
  std::string folder;
  for (const report::CostCard& card : loaded.cards) {
    if (ApiOf(card).soname != soname) {
      soname = ApiOf(card).soname;
      folder = folders.Take(soname);
      names = {};
    }
    written.push_back({.card = &card, .folder = folder, .name = names.Take(ApiOf(card).symbol)});
    FIELDCOST_TRY(WriteCard(command.output, written.back()));
  }
  const std::string index = CardsJson(written, loaded.provenance);
  const std::vector<report::IndexedCard> list = IndexOf(written);
  FIELDCOST_TRY(
      WriteDocument(command.output / "index.html", report::CardIndexHtml(list, loaded.provenance)));
  FIELDCOST_TRY(WriteDocument(command.output / "index.md",
                              report::CardIndexMarkdown(list, loaded.provenance)));
  FIELDCOST_TRY(WriteDocument(command.output / "index.json", index));
  if (output.json) {
    FIELDCOST_TRY(WriteStdout(index));
    return 0;
  }
  std::string text = fmt::format("{} in {}\n", Counted(written.size(), "card"),
                                 EscapeControl(command.output.string()));
  if (loaded.freshness) text += FreshnessText(*loaded.freshness, SystemClock().Now());
  FIELDCOST_TRY(WriteStdout(FitStdout(text)));
  return 0;
}

command::Command CardsCommand() {
  return {
      .name = "cards",
      .summary = "Write a card for each API, as files",
      .help =
          R"(For each API: SYMBOL.light.svg, .dark.svg, .html, .md and .fragment (HTML for the inside of other
pages) in a directory of its library, and index.html, index.md, index.json. Sphinx's extension
fieldcost_sphinx adds them to documented functions. TEMPLATE: {soname}, {symbol}, {version} and {api} are filled
in, percent-encoded; {page} is the page of `docs site`. The same catalogue gives the same bytes. Example:
  fieldcost docs cards --output cards --url 'https://costs.example/{api}')",
      .options = {{.names = "--output",
                   .value = "DIRECTORY",
                   .help = "Directory to write to; created if absent",
                   .completes = command::Completes::kFiles,
                   .required = true},
                  LibraryOption(),
                  UrlOption()},
      .handler =
          [](const command::Arguments& arguments) {
            return RunDocs({.output = arguments.Text("--output"),
                            .library = arguments.Text("--library"),
                            .url = arguments.Text("--url")},
                           OutputOf(arguments));
          },
      .without = {"--csv"}};
}

}  // namespace

command::Command DocsCommand() {
  return {
      .name = "docs",
      .summary = "Cost cards for documentation",
      .help = R"(Examples:
  fieldcost docs cards --output cards --library libz.so.1
  fieldcost docs doxygen html --tag-file zlib.tag --library libz.so.1
  fieldcost docs rustdoc target/doc --library libz.so.1
  fieldcost docs site costs)",
      .commands = {CardsCommand(), DocsDoxygenCommand(), DocsRustdocCommand(), DocsSiteCommand()}};
}

}  // namespace fieldcost::cli
