// `fieldcost top`: the table of costs.
#include <fmt/ranges.h>

#include "common/base/text.h"
#include "common/draw/numbers.h"
#include "tools/cli/cli_commands.h"
#include "tools/cli/common_options.h"
#include "tools/cli/costs/cost_answer.h"
#include "tools/cli/costs/source.h"
#include "tools/cli/lab/lab_answer.h"
#include "tools/cli/time_argument.h"
#include "tools/report/cost_table.h"

namespace fieldcost::cli {
namespace {

struct TopRequest {
  std::filesystem::path table;  // empty = none
  bool local = false;
  std::string library;  // input of Source::LibraryGlob()
  std::uint64_t limit = 0;
  analysis::SortKey sort = analysis::SortKey::kTotal;
  std::string since;     // a time; empty = all
  bool waiting = false;  // also functions whose work is to wait
  analysis::Versions versions = analysis::Versions::kJoined;
};

// The number of runs that the figures come from; "" for a catalogue.
std::string RunsLine(const std::optional<LocalRuns>& runs) {
  if (!runs) return "";
  const volunteer::RunCounts& counts = runs->counts;
  std::vector<std::string> parts;
  if (counts.drawn + counts.not_drawn != 0) {
    std::string drawn = fmt::format("{}, {} drawn", Counted(counts.drawn + counts.not_drawn, "run"),
                                    draw::FormatCount(counts.drawn));
    const double probability = runs->selection_probability;
    if (probability > 0 && probability < 1) {
      drawn += fmt::format(" (1 in {:.3g}); sooner: fieldcost run -- PROGRAM", 1 / probability);
    }
    parts.push_back(std::move(drawn));
  }
  if (counts.asked != 0) {
    parts.push_back(fmt::format("{} measured on request", draw::FormatCount(counts.asked)));
  }
  return parts.empty() ? "" : fmt::format("({})\n", fmt::join(parts, "; "));
}

// Shown for local measurements if there are no functions to list.
std::string NothingText(const TopRequest& command, const std::optional<LocalRuns>& runs) {
  if (!command.since.empty()) {
    return "Nothing has been measured since then: fieldcost run -- PROGRAM\n";
  }
  const std::uint64_t measured = runs ? runs->counts.drawn + runs->counts.asked : 0;
  if (measured == 0) return "Nothing has been measured yet: fieldcost run -- PROGRAM\n";
  return fmt::format("{} so far; {} called none of the functions measured\n",
                     Counted(measured, "run was measured", "runs were measured"),
                     measured == 1 ? "it" : "they");
}

std::string TopText(const TopRequest& command, const TopApis& top,
                    const std::optional<LocalRuns>& runs, const draw::Style& style) {
  if (top.costs.empty()) {
    if (!top.waiting.empty()) return WaitingNote(top.waiting);
    if (!command.local) return "the catalogue is empty\n";
    return NothingText(command, runs);
  }
  std::string text =
      report::CostTable(top.costs, top.whole, style) + report::TableNote(top.costs, style);
  if (!top.found) {
    text += fmt::format("(the first {}; more: --limit)\n", top.costs.size());
  } else if (top.costs.size() < *top.found) {
    text += fmt::format("({} of {} APIs; more: --limit)\n", top.costs.size(), *top.found);
  }
  return text + WaitingNote(top.waiting);
}

Result<int> RunTop(const TopRequest& command, const Output& output) {
  if (!command.table.empty()) {
    FIELDCOST_ASSIGN(const Source source, Source::OpenTable(command.table));
    FIELDCOST_ASSIGN(const std::string library, source.LibraryGlob(command.library));
    FIELDCOST_TRY(PrintLabTable(*source.table(),
                                {.library = library,
                                 .sort = command.sort,
                                 .limit = command.limit,
                                 .with_waiting = command.waiting},
                                output));
    return 0;
  }
  volunteer::TimeSpan span;
  if (!command.since.empty()) {
    FIELDCOST_ASSIGN(span.from, ParsePastTime(command.since, SystemClock().Now()));
  }
  FIELDCOST_ASSIGN(const Source source,
                   command.local ? Source::OpenLocal(span) : Source::Open(false));
  FIELDCOST_ASSIGN(const std::string library, source.LibraryGlob(command.library));
  FIELDCOST_ASSIGN(const TopApis top, source.Top({.library = library,
                                                  .key = command.sort,
                                                  .limit = command.limit,
                                                  .with_waiting = command.waiting,
                                                  .versions = command.versions}));
  // Runs are counted without times.
  const std::optional<LocalRuns> runs = command.since.empty() ? source.runs() : std::nullopt;
  FIELDCOST_TRY(PrintCosts(
      AllVersions(top.costs), source, output, CsvKind::kNumbers,
      [&] { return TopText(command, top, runs, output.style) + RunsLine(runs); }, runs));
  return 0;
}

}  // namespace

command::Command TopCommand() {
  return {
      .name = "top",
      .summary = "The cost table",
      .help =
          R"(One line per API, with the figures of the version installed here, otherwise of the newest;
--versions has one line per version.
Functions that only wait (poll, std::condition_variable::wait ...) are set apart: waiting is not a
cost. --waiting lists them like all others.
--table shows one scenario, with lab-only data: exact call counts, variation between runs, and the
shape of the costs.
Examples:
  fieldcost top --limit 40
  fieldcost top --library 'libsqlite3*' --sort p99
  fieldcost top --limit 0 --csv > costs.csv
  fieldcost top --local --json
  fieldcost top --local --since 10m
  fieldcost top --table all.lab --sort p99)",
      .options = {LocalOption(),
                  TableOption(),
                  LibraryOption(),
                  LimitOption("At most N lines; 0 = all"),
                  {.names = "--sort",
                   .value = "KEY",
                   .help = "Sort by this, highest first (total, mean: time)",
                   .default_text = "total",
                   .choices = {"calls", "p50", "p95", "p99", "mean", "total"}},
                  VersionsOption({"--table"}),
                  SinceOption(),
                  WaitingOption()},
      .handler = [](const command::Arguments& arguments) {
        return RunTop({.table = arguments.Text("--table"),
                       .local = arguments.Has("--local"),
                       .library = arguments.Text("--library"),
                       .limit = *arguments.Number("--limit"),
                       .sort = analysis::ParseSortKey(arguments.Text("--sort"))
                                   .value_or(analysis::SortKey::kTotal),
                       .since = arguments.Text("--since"),
                       .waiting = arguments.Has("--waiting"),
                       .versions = VersionsOf(arguments)},
                      OutputOf(arguments));
      }};
}

}  // namespace fieldcost::cli
