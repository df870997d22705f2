// `fieldcost man`: a manual page with the function's cost.
#include "tools/cli/cli_commands.h"
#include "tools/cli/common_options.h"
#include "tools/cli/costs/cost_answer.h"
#include "tools/cli/costs/cost_json.h"
#include "tools/cli/costs/find_api.h"
#include "tools/cli/costs/source.h"
#include "tools/cli/docs/man_page.h"
#include "tools/cli/terminal/terminal_io.h"
#include "tools/report/link_template.h"

namespace fieldcost::cli {

namespace {

struct ManRequest {
  std::string api;
  std::string section;  // of the manual; empty = those of functions
  std::string url;
  bool roff = false;  // print the source instead of displaying it
};

Result<int> RunMan(const ManRequest& command, const Output& output) {
  if (!command.url.empty()) FIELDCOST_TRY(report::CheckLinkTemplate(command.url));
  FIELDCOST_ASSIGN(const Source source, Source::Open(false));
  FIELDCOST_ASSIGN(auto summaries, FindApi(source, command.api, {}));
  if (output.json) {
    FIELDCOST_TRY(WriteStdout(RowsJson(summaries, source.freshness())));
    return 0;
  }
  std::vector<report::CostCard> cards =
      report::CardsOf(std::move(summaries), ProvenanceOf(source), analysis::AskPackageManager());
  report::CostCard& card = cards.front();
  card.untrusted_link = report::FillLink(command.url, ApiOf(card));
  const std::string& name = ApiOf(card).symbol;
  auto page = FindManPage(name, command.section);
  // Without man(1), --roff can still print the section.
  if (!page && !command.roff) return page.error();
  const std::string roff = WithCost(page ? std::move(*page) : "", name, card);
  if (!command.roff) return ShowManPage(roff);
  FIELDCOST_TRY(WriteStdout(roff));
  return 0;
}

}  // namespace

command::Command ManCommand() {
  return {
      .name = "man",
      .summary = "A function's manual page, with its cost",
      .help =
          R"(The function's page with a section COST at its end (only COST if there is no page), through man(1)
and its pager. Examples:
  fieldcost man sqlite3_step
  fieldcost man 'libz.so.1!inflate' --roff > inflate.3)",
      .options = {ApiOperand(),
                  {.names = "--section",
                   .value = "SECTION",
                   .help = "Manual section, such as 3 [3, else 2]"},
                  UrlOption(),
                  {.names = "--roff",
                   .help = "Print the source of the page instead of showing it"}},
      .handler =
          [](const command::Arguments& arguments) {
            return RunMan({.api = arguments.Text("api"),
                           .section = arguments.Text("--section"),
                           .url = arguments.Text("--url"),
                           .roff = arguments.Has("--roff")},
                          OutputOf(arguments));
          },
      .without = {"--csv"}};
}

}  // namespace fieldcost::cli
