// `fieldcost measure`: measures all APIs of a scenario exactly, in as many runs as needed.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "agent/lab/measure.h"
#include "common/base/file.h"
#include "common/wire/lab_table.h"
#include "tools/cli/cli_commands.h"
#include "tools/cli/costs/lab_table_file.h"
#include "tools/cli/lab/exports.h"
#include "tools/cli/lab/lab_answer.h"
#include "tools/cli/lab/measure_request.h"
#include "tools/cli/lab/measured_scenario.h"
#include "tools/cli/lab/requirement_file.h"
#include "tools/cli/terminal/terminal_io.h"
#include "tools/report/lab/lab_page.h"

namespace fieldcost::cli {
namespace {

// The command with "{N}" replaced by the value.
std::vector<std::string> WithValue(std::vector<std::string> command, const std::string& name,
                                   std::uint64_t value) {
  const std::string place = "{" + name + "}";
  for (std::string& argument : command) {
    for (std::size_t at = argument.find(place); at != std::string::npos;
         at = argument.find(place, at)) {
      const std::string text = std::to_string(value);
      argument.replace(at, place.size(), text);
      at += text.size();
    }
  }
  return command;
}

// Attributes the costs to the value of this scenario.
void TellByValue(std::uint64_t value, wire::LabTable& table) {
  for (wire::LabApi& api : table.apis) {
    stats::ShapeArgument scan{.number = stats::ShapeArgument::kScanValue, .sums = {}};
    scan.sums.by_bucket[shm::SlotOf(value)] = api.log_cost;
    api.arguments.insert(api.arguments.begin(), scan);
  }
}

Result<MeasuredScenario> MeasureAll(const MeasureRequest& request, LabBench& bench) {
  const std::string name =
      request.name.empty()
          ? fmt::format("{}", fmt::join(request.options.runner.scenario.command, " "))
          : request.name;
  if (request.scan.empty()) return MeasureScenario(bench, name);
  std::vector<wire::LabTable> tables;
  analysis::Coverage coverage;
  MeasuredScenario last;
  for (const std::uint64_t value : request.scan) {
    bench.options.runner.scenario.command =
        WithValue(request.options.runner.scenario.command, request.scan_name, value);
    Remark(fmt::format("{} = {}", request.scan_name, value));
    FIELDCOST_ASSIGN(
        last, MeasureScenario(bench, fmt::format("{} ({} = {})", name, request.scan_name, value)));
    TellByValue(value, last.table);
    tables.push_back(std::move(last.table));
    Merge(last.coverage, coverage);
    if (last.found.stopped != lab::StoppedBy::kNothing) break;
  }
  FIELDCOST_ASSIGN(last.table, wire::MergeLabTables(tables));
  last.coverage = std::move(coverage);
  return last;
}

// The groups, one per line.
std::string PlanText(const lab::Measurement& found) {
  std::string text;
  for (std::size_t i = 0; i < found.grouping.groups.size(); ++i) {
    std::vector<std::string> names;
    for (const std::uint32_t api : found.grouping.groups[i]) {
      names.push_back(stats::DisplayName(found.sums.apis()[api].api));
    }
    std::sort(names.begin(), names.end());
    text += fmt::format("group {}: {}\n", i + 1, fmt::join(names, " "));
  }
  return text;
}

// The groups, with the APIs' names as in the table.
std::vector<std::vector<stats::ApiKey>> GroupsOf(const MeasuredScenario& measured) {
  using Name = std::tuple<std::string, std::string, std::string>;
  const auto name_of = [](const stats::ApiKey& api) {
    return Name{api.soname, api.symbol, api.symbol_version};
  };
  std::map<Name, stats::ApiKey> keys;
  for (const wire::LabApi& api : measured.table.apis) keys.emplace(name_of(api.api), api.api);
  std::vector<std::vector<stats::ApiKey>> groups;
  for (const std::vector<std::uint32_t>& group : measured.found.grouping.groups) {
    groups.emplace_back();
    for (const std::uint32_t api : group) {
      const auto key = keys.find(name_of(measured.found.sums.apis()[api].api));
      if (key != keys.end()) groups.back().push_back(key->second);
    }
  }
  return groups;
}

Status WriteFiles(const MeasureRequest& request, const MeasuredScenario& measured) {
  if (!request.save.empty()) FIELDCOST_TRY(WriteLabTable(request.save, measured.table));
  FIELDCOST_TRY(WriteExports(request.exports, measured.table));
  if (request.page.empty()) return {};
  report::LabPageContent content = report::LabPageContentOf(measured.table);
  // With several scenarios, each has its own groups.
  if (request.scan.empty()) content.groups = GroupsOf(measured);
  content.coverage = measured.coverage;
  return WriteFileAtomically(request.page, report::LabPage(content), kPrivateFileMode);
}

// Minimum number of runs of the command: the plain run, the map run, and each round.
std::uint64_t RequestedRuns(const MeasureRequest& request) {
  const std::uint64_t each = 2 + request.options.warmup + request.options.rounds;
  return each * std::max<std::size_t>(1, request.scan.size());
}

Result<int> RunMeasure(const MeasureRequest& request, const Output& output) {
  FIELDCOST_ASSIGN(const settings::AgentPaths paths, settings::AgentPaths::FromEnvironment());
  FIELDCOST_ASSIGN(LabBench bench,
                   LabBench::Make(paths, request.options,
                                  {.file = request.input, .runs = RequestedRuns(request)}));
  // Validates the inputs before running anything.
  std::optional<wire::LabTable> base;
  if (!request.base.empty()) {
    FIELDCOST_ASSIGN(base, ReadLabTable(request.base));
  }
  std::vector<analysis::Requirement> requirements;
  if (!request.requirements.empty()) {
    FIELDCOST_ASSIGN(requirements, ReadRequirements(request.requirements));
  }
  std::optional<Source> field;
  if (request.with_field) {
    FIELDCOST_ASSIGN(field, Source::Open(false));
  }
  const InterruptibleRuns interruptible;
  FIELDCOST_ASSIGN(const MeasuredScenario measured, MeasureAll(request, bench));
  if (request.options.plan_only) {
    FIELDCOST_TRY(WriteStdout(PlanText(measured.found)));
    return 0;
  }
  FIELDCOST_TRY(WriteFiles(request, measured));
  if (base) {
    FIELDCOST_ASSIGN(const int status, PrintLabDiff(*base, measured.table, {}, output));
    return StatusOf(measured.found) != 0 ? StatusOf(measured.found) : status;
  }
  if (!requirements.empty()) {
    FIELDCOST_ASSIGN(const int status, PrintRequirements(requirements, measured.table,
                                                         LiveRunsOf(measured.found), output));
    return StatusOf(measured.found) != 0 ? StatusOf(measured.found) : status;
  }
  FIELDCOST_TRY(PrintLabTable(measured.table,
                              {.limit = request.limit,
                               .limits_text_only = true,
                               .left_out_apis = measured.found.left_out_names,
                               .coverage = &measured.coverage,
                               .names_uncalled = request.names_uncalled,
                               .field = field ? &*field : nullptr},
                              output));
  return StatusOf(measured.found);
}

}  // namespace

command::Command MeasureCommand() {
  return {
      .name = "measure",
      .summary = "Measure exactly all APIs that a command calls",
      .help =
          R"(The command runs many times: once as it is, once to find every API called and which share a stack,
then in rounds. In each round every API is timed once, and never together with one it calls or is
called by, so no time includes another's measuring overhead. The command must do the same each time;
--prepare restores its files. Each run reads all of standard input, which must be a file, or --input
FILE; a pipe is an error, and from a terminal nothing is read. Nothing leaves this machine.
The table has the most expensive functions first, by TOTAL: the calls of one run by their mean time,
callees included. --save, --json and --csv have all of them.
Each round also counts calls, allocated bytes, and bytes read from and written to files and sockets
(shown by `hist API --table FILE --metric METRIC`); what cannot be seen is not measured.
Below the table, "2 of 88 functions of libz.so.1 were called" counts functions that the library
exports and that can be measured; others are counted apart.
With --diff-base, exit status 1 means that an API takes 1.05 times as long per call or more, at 5 %
false discoveries, or that its calls or bytes per run grew by 5 % or more (or from 0). Counts that
are the same in every run of a side are compared exactly; where they vary, the gap between the
ranges of both sides must exceed the width of the wider one.
--require states what functions may cost, in a file such as
  [[function]]
  name = "libz.so.1!deflate"
  p99 = "1 ms"
  allocated = "0 B"
A figure that is not measured, for example because nothing called the function, never counts as met;
man fieldcost-measure describes the file.
Examples:
  fieldcost measure -- sqlite3 :memory: '.read q.sql'
  fieldcost measure --input q.sql -- sqlite3 :memory:
  fieldcost measure --diff-base a.lab -- sqlite3 :memory: '.read q.sql'
  fieldcost measure --require limits.toml -- ./pack 30
  fieldcost measure --save a.lab --rounds 10 -- ./parse big.json
  fieldcost measure --apis 'libz.so.1!*' --uncalled -- ./pack 30
  fieldcost measure --apis 'libz.so.1!*' --scan N=1,10,100 -- ./pack {N}
  fieldcost top --table a.lab)",
      .options = MeasureRequestOptions(),
      .handler = [](const command::Arguments& arguments) -> Result<int> {
        FIELDCOST_ASSIGN(const MeasureRequest request, MeasureRequestOf(arguments));
        return RunMeasure(request, OutputOf(arguments));
      },
      .takes_program = true};
}

}  // namespace fieldcost::cli
