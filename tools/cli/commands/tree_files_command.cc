// `fieldcost tree verify` and `recover`: check and repair recordings.
#include "common/base/text.h"
#include "common/recording/recover_recording.h"
#include "common/recording/verify_recording.h"
#include "tools/cli/cli_commands.h"
#include "tools/cli/terminal/terminal_io.h"
#include "tools/cli/tree/tree_json.h"

namespace fieldcost::cli {
namespace {

constexpr int kDamaged = 65;  // the exit status for kCorrupt

std::string FoundText(const recording::VerifyReport& report) {
  std::string text = fmt::format(
      "{}: {} on {}, {}{}, {}{}\n", Counted(report.bytes, "byte"),
      Counted(report.samples, "sample"), Counted(report.paths, "path"), Counted(report.runs, "run"),
      report.open_runs == 0 ? "" : fmt::format(" ({} without an end)", report.open_runs),
      Counted(report.trees, "tree"), report.has_index ? "" : "; not closed, so it has no index");
  if (!report.stop.reason.empty()) {
    text += fmt::format("unreadable from byte {} on: {}\n", report.stop.offset,
                        EscapeControl(report.stop.reason));
  }
  for (const recording::Problem& problem : report.problems) {
    text += fmt::format("at byte {}: {}\n", problem.offset, EscapeControl(problem.what));
  }
  return text;
}

Result<int> Verify(const command::Arguments& arguments) {
  const std::string& file = arguments.Text("file");
  const auto report = recording::VerifyFile(file);
  if (!report) return Within(report.error(), EscapeControl(file));
  if (OutputOf(arguments).json) {
    FIELDCOST_TRY(WriteStdout(VerifyJson(*report)));
  } else {
    FIELDCOST_TRY(WriteStdout(
        FoundText(*report) + (report->is_good() ? "good\n" : "damaged: fieldcost tree recover\n")));
  }
  return report->is_good() ? 0 : kDamaged;
}

Result<int> Recover(const command::Arguments& arguments) {
  const std::string& file = arguments.Text("file");
  const auto report = recording::Recover(file, arguments.Text("--output"));
  if (!report) return Within(report.error(), EscapeControl(file));
  if (OutputOf(arguments).json) {
    FIELDCOST_TRY(WriteStdout(RecoverJson(*report)));
    return 0;
  }
  std::string text = FoundText(report->found);
  text += fmt::format("kept: {}, {}; lost: {}{}{}\n", Counted(report->kept_samples, "sample"),
                      Counted(report->kept_bytes, "byte"), Counted(report->lost_bytes, "byte"),
                      report->reason.empty() ? "" : ": ", EscapeControl(report->reason));
  FIELDCOST_TRY(WriteStdout(text));
  return 0;
}

command::Option FileOperand() {
  return {.names = "file",
          .value = "FILE",
          .help = "A recording",
          .completes = command::Completes::kFiles,
          .required = true};
}

}  // namespace

command::Command TreeVerifyCommand() {
  return {.name = "verify",
          .summary = "Read a whole recording and check all its sums",
          .help = R"(Exit status 65: it is damaged. Example:
  fieldcost tree verify a.fct)",
          .options = {FileOperand()},
          .handler = Verify,
          .without = {"--csv"}};
}

command::Command TreeRecoverCommand() {
  return {.name = "recover",
          .summary = "Recover the intact part of a damaged or unfinished recording",
          .help = R"(The file itself is not changed. Example:
  fieldcost tree recover a.fct -o saved.fct)",
          .options = {FileOperand(),
                      {.names = "--output,-o",
                       .value = "FILE",
                       .help = "Write the intact part to FILE, as a complete recording",
                       .completes = command::Completes::kFiles,
                       .required = true}},
          .handler = Recover,
          .without = {"--csv"}};
}

}  // namespace fieldcost::cli
