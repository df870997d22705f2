// `fieldcost trace`: records on which call paths a program spends its time.
#include <utility>

#include "tools/cli/cli_commands.h"
#include "tools/cli/run/recorder_target.h"
#include "tools/cli/tree/trace_options.h"

namespace fieldcost::cli {
namespace {

// The arguments of fieldcost-trace besides those of TraceWords() (agent/trace/main.cc).
std::vector<std::string> RecorderOptions(const command::Arguments& arguments) {
  std::vector<std::string> words = {"--output", arguments.Text("--output")};
  if (!arguments.Has("--pid")) words.insert(words.end(), {"--runs", arguments.Text("--runs")});
  return words;
}

Result<int> RunTrace(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(std::vector<std::string> words, TraceWords(arguments));
  RemarkOnEvents(arguments, arguments.program());
  const std::vector<std::string> more = RecorderOptions(arguments);
  words.insert(words.end(), more.begin(), more.end());
  return RunRecorder(std::move(words), arguments);
}

}  // namespace

command::Command TraceCommand() {
  command::Command trace{
      .name = "trace",
      .summary = "Record on which call paths a program spends its time",
      .help =
          R"(Stacks are sampled from outside: the program needs no rebuild and no frame pointers, and is not
stopped. The recording has all its CPU time (metric cpu; [kernel]: what the kernel does for it) and
all its waits (off-cpu). Waits of 1 ms or more have stacks, but for some below 5 ms, and more on a
busy machine: [waits without a stack]; those below 1 ms are [short waits]. Stops after a run that
fails; ^C ends the program and keeps what was recorded. With several runs, each reads all of standard
input, which must not be a pipe, or of --input FILE. A terminal is no error, since most programs
never read it; each run reads what is typed meanwhile. Nothing is sent anywhere.

--events also counts inside the program: each call of code built with -finstrument-functions
(functions), each branch of code built with -fsanitize-coverage=trace-pc (branches), and each call
of public functions of libraries, without a rebuild (LIBRARY!FUNCTION, or FUNCTION of any library; *
is any text). Then calls, wall time, bytes allocated and moved, page faults and context switches are
exact, and samples show what lies below.

--counters takes a stack each time a hardware counter reaches its period, in user mode, and at page
faults (faults). Each is tested first; one that fails is reported as not measured, and the recording
lacks it. Examples:
  fieldcost trace -o a.fct -- ./app args
  fieldcost trace --events 'libz.so.1!*' -- ./app args
  fieldcost trace --events compress -- ./app args
  fieldcost trace --counters instructions,faults -- ./app args
  fieldcost trace --runs 10 -o new.fct -- ./app args
  fieldcost trace -p 4711 --for 30s
  fieldcost tree show a.fct)",
      .options = {{.names = "--output,-o",
                   .value = "FILE",
                   .help = "Recording file; overwritten if it exists",
                   .default_text = "trace.fct",
                   .completes = command::Completes::kFiles,
                   .check = command::CheckNotEmpty},
                  InputOption(),
                  PidOption({"--runs", "--events", "--input"}),
                  ForOption({"--pid"})},
      .handler = RunTrace,
      .without = {"--json", "--csv", "--no-pager", "--color"},
      .takes_program = true,
      .instead_of_program = {"--pid"}};
  const std::vector<command::Option> shared = TraceRunOptions("99", "1");
  trace.options.insert(trace.options.begin() + 1, shared.begin(), shared.end());
  return trace;
}

}  // namespace fieldcost::cli
