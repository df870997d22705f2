#include <fmt/ranges.h>

#include "tools/cli/commands.h"
#include "tools/cli/common_options.h"
#include "tools/cli/cost_answer.h"
#include "tools/cli/source.h"
#include "tools/report/cost_table.h"

namespace fieldcost::cli {
namespace {

struct Request {
  bool local = false;
  std::string library;  // as Source::LibraryGlob() takes it
  std::uint64_t limit = 0;
  analysis::SortKey sort = analysis::SortKey::kTotal;
  bool waiting = false;  // also functions whose work is to wait
  analysis::Versions versions = analysis::Versions::kJoined;
};

std::string WaitingLine(const TopApis& top) {
  if (top.waiting.empty()) return "";
  return fmt::format(
      "(waiting: {} function{} set apart, since the time is no cost: {}; --waiting lists them)\n",
      top.waiting.size(), top.waiting.size() == 1 ? "" : "s", fmt::join(top.waiting, ", "));
}

std::string TopText(const Request& command, const TopApis& top, const draw::Style& style) {
  if (top.costs.empty()) {
    if (!top.waiting.empty()) return WaitingLine(top);
    return command.local ? "nothing measured yet: fieldcost run -- PROGRAM\n"
                         : "the catalogue is empty\n";
  }
  std::string text =
      report::CostTable(top.costs, top.whole, style) + report::TableNote(top.costs, style);
  if (!top.found) {
    text += fmt::format("(the first {}; more: --limit)\n", top.costs.size());
  } else if (top.costs.size() < *top.found) {
    text += fmt::format("({} of {} APIs; more: --limit)\n", top.costs.size(), *top.found);
  }
  return text + WaitingLine(top);
}

Result<int> Run(const Request& command, const Output& output) {
  FIELDCOST_ASSIGN(const Source source, Source::Open(command.local));
  FIELDCOST_ASSIGN(const std::string library, source.LibraryGlob(command.library));
  FIELDCOST_ASSIGN(const TopApis top, source.Top({.library = library,
                                                  .key = command.sort,
                                                  .limit = command.limit,
                                                  .with_waiting = command.waiting,
                                                  .versions = command.versions}));
  FIELDCOST_TRY(PrintCosts(AllVersions(top.costs), source.freshness(), output, CsvKind::kNumbers,
                           [&] { return TopText(command, top, output.style); }));
  return 0;
}

}  // namespace

command::Command TopCommand() {
  return {
      .name = "top",
      .summary = "The cost table",
      .help =
          R"(An API is one line, with its newest version's figures; --versions has a line for each.
Functions whose work is to wait (poll, epoll_wait, pthread_cond_wait ...) are set apart:
their time is no cost. --waiting lists them like all others.
Examples:
  fieldcost top --limit 40
  fieldcost top --library 'libsqlite3*' --sort p99
  fieldcost top --limit 0 --csv > costs.csv
  fieldcost top --local --json)",
      .options = {LocalOption(),
                  LibraryOption(),
                  LimitOption("Lines at most; 0 = all"),
                  {.names = "--sort",
                   .value = "KEY",
                   .help = "The highest of these first (total, mean: of time)",
                   .default_text = "total",
                   .choices = {"calls", "p50", "p95", "p99", "mean", "total"}},
                  VersionsOption(),
                  {.names = "--waiting", .help = "Also functions whose work is to wait"}},
      .handler = [](const command::Arguments& arguments) {
        return Run({.local = arguments.Has("--local"),
                    .library = arguments.Text("--library"),
                    .limit = *arguments.Number("--limit"),
                    .sort = analysis::ParseSortKey(arguments.Text("--sort"))
                                .value_or(analysis::SortKey::kTotal),
                    .waiting = arguments.Has("--waiting"),
                    .versions = VersionsOf(arguments)},
                   OutputOf(arguments));
      }};
}

}  // namespace fieldcost::cli
