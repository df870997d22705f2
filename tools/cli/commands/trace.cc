#include <unistd.h>

#include <cerrno>
#include <limits>

#include "agent/reach/reach.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "tools/cli/commands.h"
#include "tools/cli/session/preload_library.h"
#include "tools/cli/time_text.h"

namespace fieldcost::cli {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;
// So that samples are not in step with timers of 1, 4 or 10 ms.
constexpr std::uint64_t kOffStepNs = 3'009;
constexpr std::uint64_t kMostHz = 10'000;
constexpr std::uint64_t kMostRuns = 10'000;

Status CheckRate(std::string& untrusted_text) {
  const auto rate = ParseUint64(untrusted_text);
  if (rate && *rate > 0 && *rate <= kMostHz) return {};
  return Fail(ErrorCode::kInvalidArgument, "it is a number from 1 to {}", kMostHz);
}

Status CheckRuns(std::string& untrusted_text) {
  const auto runs = ParseUint64(untrusted_text);
  if (runs && *runs > 0 && *runs <= kMostRuns) return {};
  return Fail(ErrorCode::kInvalidArgument, "it is a number from 1 to {}", kMostRuns);
}

// What `--events` says: words, and globs of APIs.
struct Events {
  bool functions = false;
  bool branches = false;
  std::string globs;  // comma-separated
  bool any() const { return functions || branches || !globs.empty(); }
};

Result<Events> ParseEvents(std::string_view untrusted_text) {
  Events events;
  while (!untrusted_text.empty()) {
    const std::string_view word = untrusted_text.substr(0, untrusted_text.find(','));
    untrusted_text.remove_prefix(std::min(word.size() + 1, untrusted_text.size()));
    if (word == "functions") {
      events.functions = true;
    } else if (word == "branches") {
      events.branches = true;
    } else if (word.find('!') != std::string_view::npos) {
      if (!events.globs.empty()) events.globs += ',';
      events.globs += word;
    } else {
      return Fail(ErrorCode::kInvalidArgument,
                  "{} is neither functions nor branches nor LIBRARY!FUNCTION", EscapeControl(word));
    }
  }
  if (!events.any()) return Fail(ErrorCode::kInvalidArgument, "it names no events");
  return events;
}

Status CheckEvents(std::string& untrusted_text) {
  const auto events = ParseEvents(untrusted_text);
  return events ? Status() : Status(events.error());
}

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

// What fieldcost-trace is given (agent/sampler/main.cc).
std::vector<std::string> RecorderOptions(const command::Arguments& arguments) {
  const std::uint64_t period_ns = kSecondNs / *arguments.Number("--rate") + kOffStepNs;
  std::vector<std::string> words = {"--output", arguments.Text("--output"), "--period",
                                    std::to_string(period_ns)};
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

Status AddEventOptions(const std::string& text, std::vector<std::string>& words) {
  if (text.empty()) return {};
  FIELDCOST_ASSIGN(const Events events, ParseEvents(text));
  FIELDCOST_ASSIGN(const std::filesystem::path library, FindTraceLibrary());
  words.insert(words.end(), {"--library", library.string()});
  if (events.functions) words.emplace_back("--functions");
  if (events.branches) words.emplace_back("--branches");
  if (!events.globs.empty()) words.insert(words.end(), {"--apis", events.globs});
  return {};
}

Result<int> Run(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(const std::filesystem::path recorder, FindTraceProgram());
  FIELDCOST_TRY(CheckProgram(arguments));
  std::vector<std::string> words = RecorderOptions(arguments);
  FIELDCOST_TRY(AddEventOptions(arguments.Text("--events"), words));
  words.insert(words.begin(), recorder.string());
  words.emplace_back("--");
  words.insert(words.end(), arguments.program().begin(), arguments.program().end());
  std::vector<char*> raw;
  for (std::string& word : words) raw.push_back(word.data());
  raw.push_back(nullptr);
  ::execv(raw[0], raw.data());
  return ErrnoError("run", recorder, errno);
}

}  // namespace

command::Command TraceCommand() {
  return {
      .name = "trace",
      .summary = "Record on which call paths a program spends its time",
      .help =
          R"(Stacks are sampled from outside: the program needs no rebuild and no frame pointers, and is not
stopped. What it does in the kernel, and its waits, are not in it. A run that fails is the last one;
^C ends the program and keeps what was recorded. Nothing is sent anywhere.

--events counts inside the program, too: each call of code built with -finstrument-functions
(functions), each branch of code built with -fsanitize-coverage=trace-pc (branches), and each call
of public functions of libraries, without a rebuild (LIBRARY!FUNCTION; * is any text). Then calls,
wall time, bytes allocated and moved, page faults and context switches are exact, and samples say
what lies below. Examples:
  fieldcost trace -o a.fct -- ./app args
  fieldcost trace --events 'libz.so.1!*' -- ./app args
  fieldcost trace --runs 10 -o new.fct -- ./app args
  fieldcost trace -p 4711 --for 30s
  fieldcost tree show a.fct)",
      .options = {{.names = "--output,-o",
                   .value = "FILE",
                   .help = "The recording; one that is there is replaced",
                   .default_text = "trace.fct",
                   .completes = command::Completes::kFiles,
                   .check = command::CheckNotEmpty},
                  {.names = "--rate",
                   .value = "HZ",
                   .help = "Samples a second of CPU time",
                   .default_text = "499",
                   .check = CheckRate},
                  {.names = "--runs",
                   .value = "N",
                   .help = "So many runs, one after the other, in one recording",
                   .default_text = "1",
                   .check = CheckRuns},
                  {.names = "--events",
                   .value = "LIST",
                   .help = "functions, branches, LIBRARY!FUNCTION, ..., comma-separated",
                   .check = CheckEvents,
                   .excludes = {"--pid"}},
                  {.names = "--pid,-p",
                   .value = "PID",
                   .help = "Record a process that runs already; it stays as it is",
                   .check = CheckPid,
                   .excludes = {"--runs"}},
                  {.names = "--for",
                   .value = "TIME",
                   .help = "So long (30s, 5m, 1h); until it ends, or ^C, by default",
                   .check = CheckSpan,
                   .needs = {"--pid"}}},
      .handler = Run,
      .without = {"--json", "--csv", "--no-pager", "--color"},
      .takes_program = true,
      .instead_of_program = "--pid"};
}

}  // namespace fieldcost::cli
