#include "tools/cli/commands/check_program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "common/base/child_process.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "common/draw/numbers.h"
#include "tools/cli/costs/lab_table_file.h"
#include "tools/cli/run/installed_parts.h"
#include "tools/cli/terminal/helper_program.h"
#include "tools/cli/terminal/terminal_io.h"

namespace fieldcost::cli {
namespace {

constexpr char kTableName[] = "check.lab";
constexpr char kRecordingName[] = "check.fct";

// Samples are taken 499 times per second of CPU time, at a period that does not synchronise with
// timers (run/recorder_target.h).
constexpr std::uint64_t kPeriodNs = 1'000'000'000 / 499 + 3'009;
// About 1,000 samples of a program that computes. More runs of a short one would take long to
// start.
constexpr std::uint64_t kTracedNs = 2'000'000'000;
constexpr std::uint64_t kMostTracedRuns = 20;

std::uint64_t TracedRuns(std::uint64_t plain_ns) {
  return std::clamp<std::uint64_t>(kTracedNs / std::max<std::uint64_t>(1, plain_ns), 1,
                                   kMostTracedRuns);
}

}  // namespace

Result<CheckedProgram> CheckedProgram::Measure(const settings::AgentPaths& paths,
                                               const Options& options) {
  lab::MeasureOptions measure;
  measure.runner.scenario.command = options.words;
  measure.rounds = options.rounds;
  // The plain run, the map run, the rounds, and tracing.
  const std::uint64_t runs = 2 + options.rounds + 1;
  FIELDCOST_ASSIGN(LabBench bench, LabBench::Make(paths, std::move(measure),
                                                  {.file = options.input, .runs = runs}));
  if (!options.kept.empty()) FIELDCOST_TRY(MakeDirectories(options.kept, 0700));
  CheckedProgram program(options, std::move(bench));
  const InterruptibleRuns interruptible;
  FIELDCOST_ASSIGN(
      MeasuredScenario measured,
      MeasureScenario(program.bench_, fmt::format("{}", fmt::join(options.words, " "))));
  if (!options.kept.empty()) {
    FIELDCOST_TRY(WriteLabTable(options.kept / kTableName, measured.table));
  }
  program.measured_ = std::make_unique<MeasuredScenario>(std::move(measured));
  return program;
}

Result<std::filesystem::path> CheckedProgram::Trace() {
  FIELDCOST_ASSIGN(const std::filesystem::path recorder, FindTraceProgram());
  const std::filesystem::path directory =
      options_.kept.empty() ? bench_.directory.path() : options_.kept;
  const std::filesystem::path recording = directory / kRecordingName;
  const std::uint64_t runs = TracedRuns(measured_->found.plain.wall_ns);
  Remark(fmt::format("recording call paths: {}", Counted(runs, "run")));
  std::vector<std::string> words = {
      recorder.string(),    "--period", std::to_string(kPeriodNs), "--quiet", "--runs",
      std::to_string(runs), "--output", recording.string(),        "--"};
  words.insert(words.end(), options_.words.begin(), options_.words.end());
  FIELDCOST_ASSIGN(const int input, bench_.input->Next());
  // A signal from the terminal is the recorder's, which ends with it.
  const IgnoreInterrupts guard;
  FIELDCOST_ASSIGN(
      const pid_t child,
      StartHelper({.arguments = std::move(words), .input = input, .output = kNowhere}));
  const int status = WaitForHelper(child);
  if (status == 0) return recording;
  if (status == kSignalled + SIGINT) return Fail(ErrorCode::kUnavailable, "interrupted");
  return Fail(ErrorCode::kUnavailable, "{} exited with status {} while call paths were recorded",
              EscapeControl(options_.words[0]), status);
}

std::string CheckedProgram::name() const {
  return std::filesystem::path(options_.words[0]).filename().string();
}

}  // namespace fieldcost::cli
