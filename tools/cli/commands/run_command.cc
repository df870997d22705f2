// `fieldcost run`: runs a program with the measuring library, and shows the results.
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>
#include <vector>

#include "agent/reach/child_watch.h"
#include "agent/reach/imports.h"
#include "agent/reach/preload_variable.h"
#include "agent/reach/reach.h"
#include "agent/settings/pause.h"
#include "agent/volunteer/agent.h"
#include "common/base/child_process.h"
#include "common/base/clock.h"
#include "common/base/text.h"
#include "common/shm/policy_file.h"
#include "tools/analysis/summary.h"
#include "tools/cli/cli_commands.h"
#include "tools/cli/costs/source.h"
#include "tools/cli/run/installed_parts.h"
#include "tools/cli/run/obstacle.h"
#include "tools/cli/run/pick.h"
#include "tools/cli/run/picked_run.h"
#include "tools/cli/run/run_table.h"
#include "tools/cli/terminal/terminal_io.h"

namespace fieldcost::cli {
namespace {

struct RunRequest {
  std::string pick;     // names as given by the user (ResolvePick); empty = random draw
  std::string globs;    // the same names as "soname!symbol", comma-separated
  std::string metrics;  // some of "time,alloc,io,cycles"; empty = the library's default
  std::vector<std::string> arguments;  // the program and its arguments; never empty
  bool show = false;                   // show results after the program has ended
  std::uint64_t id = 0;                // of this run (FIELDCOST_ASKED); not 0
  draw::Style style;                   // of stderr
};

namespace fs = std::filesystem;

constexpr int kNotFoundStatus = 127;  // as in a POSIX shell
constexpr int kCannotRunStatus = 126;
constexpr char kQuietVariable[] = "FIELDCOST_QUIET";

// `fieldcost agent` and the daemon write the policy file. It is written here only if it is missing
// or older than the configuration.
bool PolicyIsCurrent(const settings::AgentPaths& paths) {
  std::error_code error;
  const auto policy = fs::last_write_time(paths.policy_file(), error);
  if (error) return false;
  const auto config = fs::last_write_time(paths.config_file, error);
  return error || config <= policy;
}

void SetOrUnset(const char* name, const std::string& value) {
  if (value.empty()) {
    ::unsetenv(name);
  } else {
    ::setenv(name, value.c_str(), 1);
  }
}

Status PreparePolicy(const RunRequest& command, const settings::AgentPaths& paths) {
  if (PolicyIsCurrent(paths)) return {};
  FIELDCOST_ASSIGN(volunteer::Agent agent, volunteer::Agent::Open(paths, SystemClock()));
  return agent.WritePolicy({.forced = !command.pick.empty(), .at_once = true});
}

void SetEnvironment(const RunRequest& command, const settings::AgentPaths& paths,
                    const fs::path& library) {
  SetOrUnset(shm::kStateDirVariable, paths.state_dir.string());
  SetOrUnset(shm::kPickVariable, command.globs);
  SetOrUnset(shm::kAskedVariable, std::to_string(command.id));
  SetOrUnset(shm::kMetricsVariable, command.metrics);
  SetOrUnset("LD_PRELOAD", reach::PreloadWith(library));
}

// Returns only if the program cannot be executed.
int Execute(const std::vector<std::string>& arguments) {
  const std::vector<char*> words = ExecPointers(arguments);
  ::execvp(words[0], words.data());
  const int why = errno;
  const bool is_there = why != ENOENT || !reach::FindProgram(arguments[0]).empty();
  Remark(fmt::format("cannot run {}: {}", arguments[0],
                     is_there ? std::strerror(why) : "no such program"));
  return why == ENOENT ? kNotFoundStatus : kCannotRunStatus;
}

constexpr bool DidNotStart(const Ended& ended) {
  return ended.status == kNotFoundStatus || ended.status == kCannotRunStatus;
}

Status ShowFound(const RunRequest& command, const settings::AgentPaths& paths,
                 const Measured& before, const Measured& after) {
  FIELDCOST_ASSIGN(const volunteer::Agent agent, volunteer::Agent::Open(paths, SystemClock()));
  FIELDCOST_ASSIGN(const volunteer::RequestedRows found, agent.RowsOfRequest(command.id));
  // Functions requested by name are shown even if they only wait.
  const RunFindings findings = FindingsOf(analysis::Summarise(found.rows, stats::Whose::kOwn),
                                          found.any_fielded, !command.pick.empty());
  if (!findings.empty()) {
    WriteStderr(RunTable(findings, command.style));
  } else if (command.pick.empty()) {  // for a pick, each glob has its own message
    WriteStderr(
        draw::WrapLines(NothingMeasuredText(LeftAlone(before, after, false)), command.style));
  }
  return {};
}

// Reports the results after the program has ended.
Status SayWhatWasFound(const RunRequest& command, const settings::AgentPaths& paths,
                       const Measured& before) {
  FIELDCOST_ASSIGN(const Measured after, CollectMeasured(paths));
  if (command.show) FIELDCOST_TRY(ShowFound(command, paths, before, after));
  if (command.pick.empty()) return {};
  const auto suggest = [](std::string_view symbol) {
    std::vector<std::string> near;
    for (const bool local : {true, false}) {
      const auto source = Source::Open(local);
      if (source && near.empty()) near = source->Suggest(symbol).value_or(near);
    }
    return near;
  };
  const auto why = [&](std::string_view globs) {
    const std::string& program = command.arguments[0];
    return reach::WhyNotMeasured(program, reach::ImportsOfProgram(program), globs);
  };
  const AboutNames about{.suggest = suggest, .why = why};
  for (const std::string& line : UnmeasuredText(command.pick, before, after, about)) Remark(line);
  return {};
}

void SayNotMeasured(const std::string& why) {
  if (Variable(kQuietVariable).empty()) Remark("nothing is measured: " + why);
}

// Waits for the program and reports which requested functions were measured.
Result<int> RunAndSay(const RunRequest& command, const settings::AgentPaths& paths,
                      const std::function<int()>& become_program) {
  Measured before;
  if (command.pick.empty()) {
    before = LookAtSkips(paths);
  } else if (auto collected = CollectMeasured(paths)) {
    before = *std::move(collected);
  } else {
    SayNotMeasured(collected.error().message);
    return Execute(command.arguments);
  }
  std::optional<reach::ChildWatch> children;
  const auto look = [&](pid_t program) {
    if (!children) {
      children.emplace(reach::SurveyOptions{.run_dir = paths.run_dir(), .uid = ::getuid()},
                       program);
    }
    children->Look();
  };
  FIELDCOST_ASSIGN(const Ended ended, RunAndWait(become_program, look));
  if (Variable(kQuietVariable).empty() && !DidNotStart(ended)) {
    // An error here does not change the program's exit status.
    const Status said = SayWhatWasFound(command, paths, before);
    if (!said) Remark("cannot collect the results now: " + said.error().message);
    for (const std::string& child : children->Unmeasured()) Remark("not measured: " + child);
  }
  return EndLike(ended);
}

// Without a terminal, results are shown only if requested.
bool ShallShow(const command::Arguments& arguments) {
  if (arguments.Has("--no-show") || !Variable(kQuietVariable).empty()) return false;
  return arguments.Has("--show") || StderrIsTerminal();
}

// Differs even between two runs that begin in the same microsecond.
std::uint64_t NewRequestId() {
  constexpr std::uint64_t kProcesses = 1024;
  const auto now = MicrosOf(SystemClock().Now());
  return now * kProcesses + static_cast<std::uint64_t>(::getpid()) % kProcesses;
}

Status CheckPick(std::string& untrusted_text) {
  FIELDCOST_TRY(ResolvePick(untrusted_text));
  return {};
}

// Validates the list and brings it into canonical order.
Status CheckMetrics(std::string& untrusted_text) {
  FIELDCOST_ASSIGN(untrusted_text, NormalizeMetrics(untrusted_text));
  return {};
}

Result<int> RunRun(const RunRequest& command) {
  const auto found_paths = settings::AgentPaths::FromEnvironment();
  if (!found_paths) {
    SayNotMeasured(found_paths.error().message);
    return Execute(command.arguments);
  }
  const settings::AgentPaths& paths = *found_paths;
  const auto consent = settings::EffectiveConsent(paths);
  if (!consent && command.pick.empty()) {
    SayNotMeasured(consent.error().message);
    return Execute(command.arguments);
  }
  const bool off = !consent || consent->mode == settings::Mode::kOff;
  if (off && command.pick.empty()) {
    SayNotMeasured("fieldcost is off (fieldcost agent local|on)");
    return Execute(command.arguments);
  }
  if (command.pick.empty() && settings::PausedUntil(paths, SystemClock().Now())) {
    SayNotMeasured("fieldcost is paused (fieldcost agent resume)");
    return Execute(command.arguments);
  }
  // With the library loaded, some of these would not even start.
  if (const std::string obstacle = Obstacle(command.arguments[0]); !obstacle.empty()) {
    SayNotMeasured(obstacle);
    return Execute(command.arguments);
  }
  FIELDCOST_ASSIGN(const fs::path library, FindPreloadLibrary());
  if (const Status prepared = PreparePolicy(command, paths); !prepared) {
    SayNotMeasured(prepared.error().message);
    return Execute(command.arguments);
  }
  const auto become_program = [&] {
    SetEnvironment(command, paths, library);
    return Execute(command.arguments);
  };
  if (command.pick.empty() && !command.show) return become_program();
  return RunAndSay(command, paths, become_program);
}

}  // namespace

command::Command RunCommand() {
  return {
      .name = "run",
      .summary = "Run a program and measure a few of its APIs",
      .help =
          R"(Measures up to 32 APIs, chosen at random from the public libraries the program calls (of your own:
--pick). Prints results to standard error when the program ends, if that is a terminal or with --show; FIELDCOST_QUIET=1 in the
environment means --no-show. All results: `fieldcost top --local`. Results stay on this machine,
except when the run is also selected for the field (1 in 16), which measures one API. The exit
status is the program's. The -- may be left out, here and wherever a command takes a program.
Examples:
  fieldcost run python3 report.py
  fieldcost run --show -- make 2> found.txt
  fieldcost run --pick sqlite3_step -- sqlite3 my.db < script.sql
  fieldcost run --pick 'libsqlite3.so.0!sqlite3_*' -- sqlite3 my.db < script.sql
  fieldcost run --pick 'libz.so.1!deflate' --metrics time,alloc,io -- git gc
  fieldcost run --pick Json::Reader::parse -- ./my-program)",
      .options = {{.names = "--pick",
                   .value = "GLOB,...",
                   .help =
                       "Measure these APIs instead of a random few: symbols, globs "
                       "soname!symbol, or C++ names as in source code, comma-separated. Such a run "
                       "stays on this machine",
                   .completes = command::Completes::kApiGlobs,
                   .check = CheckPick},
                  {.names = "--metrics",
                   .value = "METRICS",
                   .help = "What to measure, comma-separated: time; alloc (bytes allocated); io "
                           "(bytes of file and network I/O); cycles",
                   .completes = command::Completes::kMetrics,
                   .check = CheckMetrics},
                  {.names = "--show", .help = "Print results to standard error at the end"},
                  {.names = "--no-show", .help = "Do not print results", .excludes = {"--show"}}},
      .handler = [](const command::Arguments& arguments) -> Result<int> {
        const std::string& pick = arguments.Text("--pick");
        std::string globs;
        if (!pick.empty()) {
          FIELDCOST_ASSIGN(globs, ResolvePick(pick));
        }
        return RunRun({.pick = pick,
                       .globs = std::move(globs),
                       .metrics = arguments.Text("--metrics"),
                       .arguments = arguments.program(),
                       .show = ShallShow(arguments),
                       .id = NewRequestId(),
                       .style = StderrStyle()});
      },
      .without = {"--csv"},
      .takes_program = true};
}

}  // namespace fieldcost::cli
