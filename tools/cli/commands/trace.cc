#include <unistd.h>

#include <cerrno>
#include <limits>

#include "agent/reach/reach.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "tools/cli/commands.h"
#include "tools/cli/time_text.h"
#include "tools/cli/trace_options.h"

namespace fieldcost::cli {
namespace {

Status CheckPid(std::string& untrusted_text) {
  const auto pid = ParseUint64(untrusted_text);
  if (pid && *pid > 0 && *pid <= std::numeric_limits<pid_t>::max()) return {};
  return Fail(ErrorCode::kInvalidArgument, "it is no process id");
}

Status CheckSpan(std::string& untrusted_text) {
  const auto span = ParseDuration(untrusted_text);
  if (span && span->count() > 0) return {};
  return Fail(ErrorCode::kInvalidArgument, "it is no time, such as 30s, 5m or 1h");
}

Status CheckProgram(const command::Arguments& arguments) {
  if (arguments.Has("--pid")) return {};
  const std::string& program = arguments.program()[0];
  if (!agent::FindProgram(program).empty()) return {};
  return Fail(ErrorCode::kNotFound, "cannot run {}: there is no such program",
              EscapeControl(program));
}

// What fieldcost-trace is given beside what TraceWords() has (agent/sampler/main.cc).
std::vector<std::string> RecorderOptions(const command::Arguments& arguments) {
  std::vector<std::string> words = {"--output", arguments.Text("--output")};
  if (arguments.Has("--pid")) {
    words.insert(words.end(), {"--pid", arguments.Text("--pid")});
  } else {
    words.insert(words.end(), {"--runs", arguments.Text("--runs")});
  }
  if (arguments.Has("--for")) {
    const std::chrono::nanoseconds span = *ParseDuration(arguments.Text("--for"));
    words.insert(words.end(), {"--for", std::to_string(span.count())});
  }
  return words;
}

Result<int> Run(const command::Arguments& arguments) {
  FIELDCOST_TRY(CheckProgram(arguments));
  FIELDCOST_ASSIGN(std::vector<std::string> words, TraceWords(arguments));
  const std::vector<std::string> more = RecorderOptions(arguments);
  words.insert(words.end(), more.begin(), more.end());
  words.emplace_back("--");
  words.insert(words.end(), arguments.program().begin(), arguments.program().end());
  std::vector<char*> raw;
  for (std::string& word : words) raw.push_back(word.data());
  raw.push_back(nullptr);
  ::execv(raw[0], raw.data());
  return ErrnoError("run", words[0], errno);
}

}  // namespace

command::Command TraceCommand() {
  command::Command trace{
      .name = "trace",
      .summary = "Record on which call paths a program spends its time",
      .help =
          R"(Stacks are sampled from outside: the program needs no rebuild and no frame pointers, and is not
stopped. All its CPU time is there (metric cpu; [kernel]: what the kernel does for it) and all its
waits (off-cpu), with their stacks from 1 ms on. A run that fails is the last one; ^C ends the
program and keeps what was recorded. Nothing is sent anywhere.

--events counts inside the program, too: each call of code built with -finstrument-functions
(functions), each branch of code built with -fsanitize-coverage=trace-pc (branches), and each call
of public functions of libraries, without a rebuild (LIBRARY!FUNCTION; * is any text). Then calls,
wall time, bytes allocated and moved, page faults and context switches are exact, and samples say
what lies below.

--counters samples the stacks at which the hardware has counted so many, in user mode, and page
faults (faults). Each is tested before: one that fails is told as not measured, and the recording
does not have it. Examples:
  fieldcost trace -o a.fct -- ./app args
  fieldcost trace --events 'libz.so.1!*' -- ./app args
  fieldcost trace --counters instructions,faults -- ./app args
  fieldcost trace --runs 10 -o new.fct -- ./app args
  fieldcost trace -p 4711 --for 30s
  fieldcost tree show a.fct)",
      .options = {{.names = "--output,-o",
                   .value = "FILE",
                   .help = "The recording; one that is there is replaced",
                   .default_text = "trace.fct",
                   .completes = command::Completes::kFiles,
                   .check = command::CheckNotEmpty},
                  {.names = "--pid,-p",
                   .value = "PID",
                   .help = "Record a process that runs already; it stays as it is",
                   .check = CheckPid,
                   .excludes = {"--runs", "--events"}},
                  {.names = "--for",
                   .value = "TIME",
                   .help = "So long (30s, 5m, 1h); until it ends, or ^C, by default",
                   .check = CheckSpan,
                   .needs = {"--pid"}}},
      .handler = Run,
      .without = {"--json", "--csv", "--no-pager", "--color"},
      .takes_program = true,
      .instead_of_program = "--pid"};
  const std::vector<command::Option> shared = TraceRunOptions("1");
  trace.options.insert(trace.options.begin() + 1, shared.begin(), shared.end());
  return trace;
}

}  // namespace fieldcost::cli
