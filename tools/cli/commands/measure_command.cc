// `fieldcost measure`: measures all APIs of a scenario exactly, in as many runs as needed.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <sys/utsname.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <tuple>

#include "agent/lab/measure.h"
#include "agent/lab/table.h"
#include "agent/reach/reach.h"
#include "agent/runs/tsc_calibration.h"
#include "agent/settings/scratch_directory.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "common/draw/name_text.h"
#include "common/draw/numbers.h"
#include "common/shm/lab_file.h"
#include "common/wire/lab_table.h"
#include "tools/cli/cli_commands.h"
#include "tools/cli/costs/lab_table_file.h"
#include "tools/cli/lab/exports.h"
#include "tools/cli/lab/lab_answer.h"
#include "tools/cli/lab/measure_progress.h"
#include "tools/cli/lab/measure_request.h"
#include "tools/cli/run/installed_parts.h"
#include "tools/cli/terminal/terminal_io.h"
#include "tools/cli/time_argument.h"
#include "tools/report/lab/lab_page.h"

namespace fieldcost::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kPageMode = 0600;

// ^C ends the current run; completed runs are kept.
class InterruptibleRuns {
 public:
  InterruptibleRuns() {
    struct sigaction action {};
    action.sa_handler = [](int) { lab::Interrupt(); };
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(number, &action, nullptr);
  }
};

std::string Environment() {
  utsname about{};
  ::uname(&about);
  std::string text = fmt::format("{} {}", about.sysname, about.release);
  const auto governor = ReadFile("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", 256);
  if (governor) text += fmt::format(", governor {}", Trim(*governor));
  return EscapeControl(text);
}

// An error if nothing in the program can be measured. OK if something can, or if that is unknown.
Status CheckProgram(const std::string& program) {
  const fs::path path = reach::FindProgram(program);
  if (path.empty()) {
    return Fail(ErrorCode::kNotFound, "cannot run {}: no such program", EscapeControl(program));
  }
  const auto why = reach::ExplainProgram(path);
  if (!why || why->reach == reach::Reach::kAble || why->reach == reach::Reach::kUnreadable) {
    return {};
  }
  return Fail(ErrorCode::kUnsupported, "{} cannot be measured: {}", EscapeControl(program),
              Phrase(why->reach));
}

std::string Seconds(std::uint64_t ns) {
  return draw::FormatCost(static_cast<double>(ns), stats::Metric::kWallTime, StderrStyle());
}

// The result of the map run, before anything was timed.
std::string MapLine(const lab::Measurement& found) {
  std::uint64_t calls = 0;
  for (const lab::ApiSums& api : found.sums.apis()) calls += api.calls;
  const std::size_t groups = found.grouping.groups.size();
  std::string text = fmt::format("plain {} | map {}: {}, {} | {}", Seconds(found.plain.wall_ns),
                                 Seconds(found.map_ns), Counted(found.sums.apis().size(), "API"),
                                 Counted(calls, "call"), Counted(groups, "group"));
  if (found.grouping.is_fewest && groups > 1) {
    text += fmt::format(" (fewest possible: {} APIs share a stack)", found.grouping.clique.size());
  } else if (groups > 1) {
    text += fmt::format(" (at least {})", found.grouping.lower_bound);
  }
  return draw::WrapLines(text, StderrStyle());
}

// The names, as far as known, of functions that were left out.
std::string LeftOutNames(const lab::Measurement& found) {
  constexpr std::size_t kMostNames = 8;
  constexpr std::size_t kNameColumns = 60;
  std::vector<std::string> names;
  for (const std::string& untrusted_name : found.left_out_names) {
    if (names.size() == kMostNames) break;
    const std::string name = EscapeControl(untrusted_name);
    names.push_back(draw::ShortenName(name, kNameColumns, StderrStyle()));
  }
  const std::uint64_t all = std::uint64_t{found.beyond_most} + found.too_long;
  std::string text = fmt::format("{}", fmt::join(names, ", "));
  if (all > names.size()) text += fmt::format(" and {} more", all - names.size());
  return text;
}

// The remarks that readers of the table need, one line each.
std::vector<std::string> Remarks(const lab::Measurement& found, std::uint32_t rounds) {
  std::vector<std::string> lines;
  const auto count = [&](std::uint64_t number, std::string_view one, std::string_view many) {
    if (number == 0) return;
    lines.push_back(Counted(number, one, many));
  };
  if (found.stopped != lab::StoppedBy::kNothing) {
    lines.push_back(fmt::format("stopped after {} of {} rounds: {}", found.finished_rounds, rounds,
                                found.stop_detail));
  }
  count(found.surprised_runs, "run was repeated: it made unplanned calls",
        "runs were repeated: they made unplanned calls");
  count(found.disturbed_runs, "run was repeated: the machine was disturbed",
        "runs were repeated: the machine was disturbed");
  count(found.disturbed_kept, "run is in the table although the machine was disturbed",
        "runs are in the table although the machine was disturbed");
  count(found.failed_runs, "run was left out: its exit status differed from the plain run's",
        "runs were left out: their exit status differed from the plain run's");
  count(found.other_outputs, "run: its output differed from the plain run's",
        "runs: their output differed from the plain run's");
  count(found.lost_calls, "call was lost", "calls were lost");
  count(found.lost_nodes, "call is attributed to its caller: there were too many stacks",
        "calls are attributed to their callers: there were too many stacks");
  const std::string most = draw::FormatCount(shm::kLabApis);
  count(found.beyond_most,
        "API was left out: the program calls more than " + most + "; choose with --apis",
        "APIs were left out: the program calls more than " + most + "; choose with --apis");
  const std::size_t longest = sizeof(shm::LabApi::symbol) - 1;
  count(found.too_long, fmt::format("API was left out: its name is longer than {} bytes", longest),
        fmt::format("APIs were left out: their names are longer than {} bytes", longest));
  if (!found.left_out_names.empty()) lines.push_back("left out: " + LeftOutNames(found));
  count(found.detached, "program was measured in part: it entered a sandbox, or loaded a collector",
        "programs were measured in part: they entered a sandbox, or loaded a collector");
  count(found.still_running,
        "program had not ended five seconds after the command: its part may be incomplete",
        "programs had not ended five seconds after the command: their parts may be incomplete");
  count(found.refused, "part of the programs' data was refused as impossible",
        "parts of the programs' data were refused as impossible");
  if (!found.unstable.empty()) {
    lines.push_back(fmt::format("behaves differently each time, so rounds lack it: {}",
                                fmt::join(found.unstable, ", ")));
  }
  for (const std::string& program : found.unmeasured) lines.push_back("not measured: " + program);
  if (found.cleanup_status != 0) {
    lines.push_back(fmt::format("--cleanup exited with status {}", found.cleanup_status));
  }
  return lines;
}

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

struct Measured {
  wire::LabTable table;
  lab::Measurement found;  // without its sums' table
};

// Measures one scenario, reports it, and builds its table.
Result<Measured> MeasureOne(const lab::MeasureOptions& options, const settings::AgentConfig& config,
                            const std::string& name) {
  const auto started = SystemClock().Now().time_since_epoch();
  Measured measured;
  {
    LabProgress progress;
    FIELDCOST_ASSIGN(measured.found,
                     lab::Measure(options, [&](const auto& at) { progress.Show(at); }));
  }
  WriteStderr(MapLine(measured.found));
  for (const std::string& line : Remarks(measured.found, options.rounds)) Remark(line);
  FIELDCOST_ASSIGN(
      measured.table,
      lab::MakeTable(
          measured.found, config,
          {.name = EscapeControl(name),
           .environment = Environment(),
           .started_us = std::chrono::duration_cast<std::chrono::microseconds>(started).count(),
           .apis = EscapeControl(options.apis)}));
  return measured;
}

// Attributes the costs to the value of this scenario.
void TellByValue(std::uint64_t value, wire::LabTable& table) {
  for (wire::LabApi& api : table.apis) {
    stats::ShapeArgument scan{.number = stats::ShapeArgument::kScanValue, .sums = {}};
    scan.sums.by_bucket[shm::SlotOf(value)] = api.log_cost;
    api.arguments.insert(api.arguments.begin(), scan);
  }
}

Result<Measured> MeasureAll(const MeasureRequest& request, lab::MeasureOptions options,
                            const settings::AgentConfig& config) {
  const std::string name =
      request.name.empty()
          ? fmt::format("{}", fmt::join(request.options.runner.scenario.command, " "))
          : request.name;
  if (request.scan.empty()) return MeasureOne(options, config, name);
  std::vector<wire::LabTable> tables;
  Measured last;
  for (const std::uint64_t value : request.scan) {
    options.runner.scenario.command =
        WithValue(request.options.runner.scenario.command, request.scan_name, value);
    Remark(fmt::format("{} = {}", request.scan_name, value));
    FIELDCOST_ASSIGN(last, MeasureOne(options, config,
                                      fmt::format("{} ({} = {})", name, request.scan_name, value)));
    TellByValue(value, last.table);
    tables.push_back(std::move(last.table));
    if (last.found.stopped != lab::StoppedBy::kNothing) break;
  }
  FIELDCOST_ASSIGN(last.table, wire::MergeLabTables(tables));
  return last;
}

int StatusOf(const lab::Measurement& found) {
  switch (found.stopped) {
    case lab::StoppedBy::kNothing:
    case lab::StoppedBy::kMaxTime:
      return 0;
    case lab::StoppedBy::kInterrupt:
      return 128 + SIGINT;
    case lab::StoppedBy::kTimeout:
      return ExitStatus(ErrorCode::kDeadlineExceeded);
    case lab::StoppedBy::kPrepare:
      return ExitStatus(ErrorCode::kInvalidArgument);
    case lab::StoppedBy::kDisk:
      return ExitStatus(ErrorCode::kIo);
  }
  return 0;
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
std::vector<std::vector<stats::ApiKey>> GroupsOf(const Measured& measured) {
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

Status WriteFiles(const MeasureRequest& request, const Measured& measured) {
  if (!request.save.empty()) FIELDCOST_TRY(WriteLabTable(request.save, measured.table));
  FIELDCOST_TRY(WriteExports(request.exports, measured.table));
  if (request.page.empty()) return {};
  report::LabPageContent content = report::LabPageContentOf(measured.table);
  // With several scenarios, each has its own groups.
  if (request.scan.empty()) content.groups = GroupsOf(measured);
  return WriteFileAtomically(request.page, report::LabPage(content), kPageMode);
}

// Minimum number of runs of the command: the plain run, the map run, and each round.
std::uint64_t RunsOf(const MeasureRequest& request) {
  const std::uint64_t each = 2 + request.options.warmup + request.options.rounds;
  return each * std::max<std::size_t>(1, request.scan.size());
}

Result<int> RunMeasure(const MeasureRequest& request, const Output& output) {
  FIELDCOST_TRY(CheckProgram(request.options.runner.scenario.command[0]));
  FIELDCOST_ASSIGN(RunInput input, RunInput::Open({.file = request.input,
                                                   .runs = RunsOf(request),
                                                   .terminal = RunInput::Terminal::kEmpty}));
  if (!input.note().empty()) Remark(input.note());
  FIELDCOST_ASSIGN(const settings::AgentPaths paths, settings::AgentPaths::FromEnvironment());
  FIELDCOST_ASSIGN(const settings::AgentConfig config, settings::AgentConfig::Load(paths));
  FIELDCOST_ASSIGN(const auto directory, settings::ScratchDirectory::Make(paths, "lab"));
  lab::MeasureOptions options = request.options;
  options.runner.scenario.input = std::make_shared<RunInput>(std::move(input));
  FIELDCOST_ASSIGN(options.runner.library, FindLabLibrary());
  options.runner.directory = directory.path();
  options.tsc_to_ns_multiplier = runs::CalibrateTsc();
  if (options.tsc_to_ns_multiplier == 0) {
    return Fail(ErrorCode::kUnsupported,
                "this machine's time stamp counter is not usable as a clock");
  }
  // Validates the inputs before running anything.
  std::optional<wire::LabTable> base;
  if (!request.base.empty()) {
    FIELDCOST_ASSIGN(base, ReadLabTable(request.base));
  }
  std::optional<Source> field;
  if (request.with_field) {
    FIELDCOST_ASSIGN(field, Source::Open(false));
  }
  const InterruptibleRuns interruptible;
  FIELDCOST_ASSIGN(const Measured measured, MeasureAll(request, options, config));
  if (options.plan_only) {
    FIELDCOST_TRY(WriteStdout(PlanText(measured.found)));
    return 0;
  }
  FIELDCOST_TRY(WriteFiles(request, measured));
  if (base) {
    FIELDCOST_ASSIGN(const int status, PrintLabDiff(*base, measured.table, {}, output));
    return StatusOf(measured.found) != 0 ? StatusOf(measured.found) : status;
  }
  FIELDCOST_TRY(PrintLabTable(measured.table,
                              {.limit = request.limit,
                               .limits_text_only = true,
                               .left_out_apis = measured.found.left_out_names,
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
With --diff-base, exit status 1 means that an API takes 1.05 times as long per call or more, at 5 %
false discoveries, or that its calls or bytes per run grew by 5 % or more (or from 0). Counts that
are the same in every run of a side are compared exactly; where they vary, the gap between the
ranges of both sides must exceed the width of the wider one.
Examples:
  fieldcost measure -- sqlite3 :memory: '.read q.sql'
  fieldcost measure --input q.sql -- sqlite3 :memory:
  fieldcost measure --diff-base a.lab -- sqlite3 :memory: '.read q.sql'
  fieldcost measure --save a.lab --rounds 10 -- ./parse big.json
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
