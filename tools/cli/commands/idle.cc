#include <filesystem>
#include <string>
#include <utility>

#include "common/command/arguments.h"
#include "tools/cli/commands.h"
#include "tools/cli/installed_parts.h"
#include "tools/cli/recorder_target.h"

namespace fieldcost::cli {
namespace {

std::string CheckTarget(const command::Arguments& arguments) {
  if (arguments.Has("--for") && !arguments.program().empty())
    return "--for goes with --pid or --all; a program is recorded to its end";
  return "";
}

Result<int> Run(const command::Arguments& arguments) {
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
      .summary = "Record why CPUs are idle, and who ends that",
      .help =
          R"(Each time a CPU has nothing to do: which stack of the program left it so, by which system call,
which one goes on then, and who woke that. The program needs no rebuild and is not stopped. Nothing
is sent anywhere.

Modes: bpf tells of each time, to the nanosecond (root; a program in the kernel, which has to describe
its types). unprivileged looks at CPUs and at what the program waits for from outside, so many times
a second. literal also keeps a thread on its CPU while its stack is taken (root). auto is bpf, else
unprivileged. What is missing for a mode ends it with status 78. Examples:
  fieldcost idle -o a.fct -- make -j8
  fieldcost idle --pid 4711 --for 30s
  fieldcost idle show a.fct
  fieldcost idle diff old.fct new.fct --side to)",
      .options = {{.names = "--output,-o",
                   .value = "FILE",
                   .help = "The recording; one that is there is replaced",
                   .default_text = "idle.fct",
                   .completes = command::Completes::kFiles,
                   .check = command::CheckNotEmpty},
                  {.names = "--mode",
                   .value = "MODE",
                   .help = "How to find out",
                   .default_text = "auto",
                   .choices = {"auto", "bpf", "unprivileged", "literal"}},
                  RateOption("Looks a second, where a mode looks; in bpf what is a tick", "499"),
                  RunsOption("So many runs; to compare, ten", "1"),
                  PidOption({"--all", "--runs"}),
                  {.names = "--all,-a", .help = "Record all processes", .excludes = {"--runs"}},
                  ForOption({})},
      .commands = {IdleShowCommand(), IdleDiffCommand()},
      .handler = Run,
      .without = {"--json", "--csv", "--no-pager", "--color"},
      .takes_program = true,
      .instead_of_program = {"--pid", "--all"},
      .check = CheckTarget};
}

}  // namespace fieldcost::cli
