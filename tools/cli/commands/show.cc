#include "tools/analysis/summary.h"
#include "tools/cli/commands.h"
#include "tools/cli/common_options.h"
#include "tools/cli/cost_answer.h"
#include "tools/cli/find_api.h"
#include "tools/cli/source.h"
#include "tools/report/cost_detail.h"

namespace fieldcost::cli {
namespace {

using Detail = std::string(const analysis::CostSummary& summary, const draw::Style& style);

struct Request {
  std::string api;  // "symbol" or "soname!symbol"
  bool local = false;
  analysis::Selection selection;
};

// `show` and `hist` differ in what they tell of each API found.
Result<int> ShowEach(const Request& command, const Output& output, CsvKind csv, Detail* detail) {
  FIELDCOST_TRY(CheckApiName(command.api));
  FIELDCOST_ASSIGN(const Source source, Source::Open(command.local));
  FIELDCOST_ASSIGN(const std::vector<analysis::CostSummary> summaries,
                   FindApi(source, command.api, command.selection));
  const auto text = [&] {
    std::string all;
    for (const analysis::CostSummary& summary : summaries) {
      all += detail(summary, output.style) + "\n";
    }
    return all;
  };
  FIELDCOST_TRY(PrintCosts(summaries, source.freshness(), output, csv, text));
  return 0;
}

Request RequestOf(const command::Arguments& arguments) {
  return {.api = arguments.Text("api"),
          .local = arguments.Has("--local"),
          .selection = SelectionOf(arguments)};
}

}  // namespace

command::Command ShowCommand() {
  command::Command show{
      .name = "show",
      .summary = "One API: quantiles, histogram, versions",
      .help =
          R"(Time, and what is allocated, are shown in full, every other metric in a line; all of
them in full with --all, one with --metric. --json and --csv have everything.
Examples:
  fieldcost show sqlite3_step
  fieldcost show sqlite3_step --all
  fieldcost show sqlite3_step --of-version '3.40*' --metric wall_time
  fieldcost show sqlite3_step --csv > step.csv
  fieldcost show 'libsqlite3.so.0!sqlite3_step' --json)",
      .options = {ApiOperand(), LocalOption(), {.names = "--all", .help = "Every metric in full"}},
      .handler = [](const command::Arguments& arguments) {
        const Request request = RequestOf(arguments);
        const bool in_full = arguments.Has("--all") || request.selection.metric.has_value();
        return ShowEach(request, OutputOf(arguments), CsvKind::kNumbers,
                        in_full ? report::CostDetail : report::CostBrief);
      }};
  AddSelection("Only this metric", "", show);
  return show;
}

command::Command HistCommand() {
  command::Command hist{.name = "hist",
                        .summary = "One API's histogram",
                        .help = R"(Examples:
  fieldcost hist sqlite3_step
  fieldcost hist malloc --metric alloc_inclusive --csv)",
                        .options = {ApiOperand(), LocalOption()},
                        .handler = [](const command::Arguments& arguments) {
                          Request request = RequestOf(arguments);
                          return ShowEach(request, OutputOf(arguments), CsvKind::kBuckets,
                                          report::HistogramDetail);
                        }};
  AddSelection("Of this metric", kDefaultMetric, hist);
  return hist;
}

}  // namespace fieldcost::cli
