// `fieldcost idle`: records why CPUs go idle and what wakes them.
#include <filesystem>
#include <string>
#include <utility>

#include "common/command/arguments.h"
#include "tools/cli/cli_commands.h"
#include "tools/cli/run/installed_parts.h"
#include "tools/cli/run/recorder_target.h"

namespace fieldcost::cli {
namespace {

Status CheckTarget(const command::Arguments& arguments) {
  if (arguments.Has("--for") && !arguments.program().empty())
    return Fail(ErrorCode::kInvalidArgument,
                "--for requires --pid or --all; a program is recorded to its end");
  return {};
}

Result<int> RunIdle(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(const std::filesystem::path recorder, FindIdleProgram());
  std::vector<std::string> words = {recorder.string(), "--output", arguments.Text("--output"),
                                    "--tick", std::to_string(PeriodNs(arguments))};
  if (arguments.Text("--mode") != "auto")
    words.insert(words.end(), {"--mode", arguments.Text("--mode")});
  if (arguments.Has("--all")) words.emplace_back("--all");
  if (!arguments.program().empty()) words.insert(words.end(), {"--runs", arguments.Text("--runs")});
  return RunRecorder(std::move(words), arguments);
}

}  // namespace

command::Command IdleCommand() {
  return {
      .name = "idle",
      .summary = "Record why CPUs go idle and what wakes them",
      .help =
          R"(Each time a CPU goes idle: the stack that went idle, its system call, the stack that ran next, and
what woke it. The program needs no rebuild and is not stopped. With several runs, each reads all of
standard input, which must not be a pipe, or of --input FILE. A terminal is no error, since most
programs never read it; each run reads what is typed meanwhile. Nothing is sent anywhere.

Modes: bpf records every period, to the nanosecond (root; a program in the kernel, which has to
describe its types). unprivileged samples the CPUs, and what the program waits for, from outside.
literal also keeps a thread on its CPU while its stack is taken (root). auto is bpf, else
unprivileged. A mode whose requirements are missing fails with status 78. Examples:
  fieldcost idle -o a.fct -- make -j8
  fieldcost idle --pid 4711 --for 30s
  fieldcost idle show a.fct
  fieldcost idle diff old.fct new.fct --side to)",
      .options = {{.names = "--output,-o",
                   .value = "FILE",
                   .help = "Recording file; overwritten if it exists",
                   .default_text = "idle.fct",
                   .completes = command::Completes::kFiles,
                   .check = command::CheckNotEmpty},
                  {.names = "--mode",
                   .value = "MODE",
                   .help = "How to record",
                   .default_text = "auto",
                   .choices = {"auto", "bpf", "unprivileged", "literal"}},
                  RateOption("Samples per second; in bpf the tick length", "499"),
                  RunsOption("Number of runs (10 for comparisons)", "1"),
                  InputOption(),
                  PidOption({"--all", "--runs", "--input"}),
                  {.names = "--all,-a",
                   .help = "Record all processes",
                   .excludes = {"--runs", "--input"}},
                  ForOption({})},
      .commands = {IdleShowCommand(), IdleDiffCommand()},
      .handler = RunIdle,
      .without = {"--json", "--csv", "--no-pager", "--color"},
      .takes_program = true,
      .instead_of_program = {"--pid", "--all"},
      .check = CheckTarget};
}

}  // namespace fieldcost::cli
