#include "tools/cli/lab/measured_scenario.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/utsname.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/lab/table.h"
#include "agent/reach/reach.h"
#include "agent/runs/tsc_calibration.h"
#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "common/draw/name_text.h"
#include "common/draw/numbers.h"
#include "common/shm/lab_file.h"
#include "tools/cli/lab/called_exports.h"
#include "tools/cli/lab/measure_progress.h"
#include "tools/cli/run/installed_parts.h"
#include "tools/cli/terminal/terminal_io.h"

namespace fieldcost::cli {
namespace {

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
  const std::filesystem::path path = reach::FindProgram(program);
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
  count(found.detached,
        "program was measured in part: it entered a sandbox, or loaded a "
        "collector",
        "programs were measured in part: they entered a sandbox, or loaded a "
        "collector");
  count(found.still_running,
        "program had not ended five seconds after the command: its part may be "
        "incomplete",
        "programs had not ended five seconds after the command: their parts "
        "may be incomplete");
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

}  // namespace

Result<LabBench> LabBench::Make(const settings::AgentPaths& paths, lab::MeasureOptions options,
                                const LabInput& input) {
  FIELDCOST_TRY(CheckProgram(options.runner.scenario.command[0]));
  FIELDCOST_ASSIGN(RunInput opened, RunInput::Open({.file = input.file,
                                                    .runs = input.runs,
                                                    .terminal = RunInput::Terminal::kEmpty}));
  if (!opened.note().empty()) Remark(opened.note());
  FIELDCOST_ASSIGN(settings::AgentConfig config, settings::AgentConfig::Load(paths));
  FIELDCOST_ASSIGN(auto directory, settings::ScratchDirectory::Make(paths, "lab"));
  FIELDCOST_ASSIGN(options.runner.library, FindLabLibrary());
  const auto shared = std::make_shared<RunInput>(std::move(opened));
  options.runner.scenario.input = shared;
  options.runner.directory = directory.path();
  options.tsc_to_ns_multiplier = runs::CalibrateTsc();
  if (options.tsc_to_ns_multiplier == 0) {
    return Fail(ErrorCode::kUnsupported,
                "this machine's time stamp counter is not usable as a clock");
  }
  return LabBench{.config = std::move(config),
                  .directory = std::move(directory),
                  .input = shared,
                  .options = std::move(options)};
}

Result<MeasuredScenario> MeasureScenario(const LabBench& bench, const std::string& name) {
  const auto started = SystemClock().Now().time_since_epoch();
  MeasuredScenario measured;
  {
    LabProgress progress;
    FIELDCOST_ASSIGN(measured.found,
                     lab::Measure(bench.options, [&](const auto& at) { progress.Show(at); }));
  }
  WriteStderr(MapLine(measured.found));
  for (const std::string& line : Remarks(measured.found, bench.options.rounds)) Remark(line);
  FIELDCOST_ASSIGN(
      measured.table,
      lab::MakeTable(
          measured.found, bench.config,
          {.name = EscapeControl(name),
           .environment = Environment(),
           .started_us = std::chrono::duration_cast<std::chrono::microseconds>(started).count(),
           .apis = EscapeControl(bench.options.apis)}));
  measured.coverage = CoverageOf(measured.found, bench.options);
  return measured;
}

analysis::LiveRuns LiveRunsOf(const lab::Measurement& found) {
  analysis::LiveRuns live;
  for (const lab::ApiSums& api : found.sums.apis()) {
    auto& runs = live[{api.api.soname, api.api.symbol, api.api.symbol_version}];
    for (const std::optional<lab::LiveBytes>& run : api.live) {
      runs.push_back(!run ? std::nullopt
                          : std::optional(analysis::LiveBytes{
                                .calls = run->calls, .middle = run->middle, .last = run->last}));
    }
  }
  return live;
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

InterruptibleRuns::InterruptibleRuns() {
  struct sigaction action {};
  action.sa_handler = [](int) { lab::Interrupt(); };
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], &action, &before_[i]);
  }
}

InterruptibleRuns::~InterruptibleRuns() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &before_[i], nullptr);
}

}  // namespace fieldcost::cli
