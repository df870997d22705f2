#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#include "agent/daemon/agent.h"
#include "agent/reach/reach.h"
#include "common/base/text.h"
#include "common/shm/policy_file.h"
#include "tools/cli/commands.h"
#include "tools/cli/pick.h"
#include "tools/cli/picked_run.h"
#include "tools/cli/session/preload_library.h"
#include "tools/cli/terminal_io.h"

namespace fieldcost::cli {
namespace {

struct Request {
  std::string pick;     // globs "soname!symbol", comma-separated; empty = the random draw
  std::string metrics;  // some of "time,alloc,io,cycles"; empty = the library's default
  std::vector<std::string> arguments;  // the program and its arguments; never empty
};

namespace fs = std::filesystem;

constexpr int kNotFoundStatus = 127;  // as of a POSIX shell
constexpr int kCannotRunStatus = 126;

// The policy file is written by `fieldcost agent` and the daemon; here only if it is missing or
// older than the configuration.
bool PolicyIsCurrent(const agent::AgentPaths& paths) {
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

Status PreparePolicy(const Request& command, const agent::AgentPaths& paths) {
  if (PolicyIsCurrent(paths)) return {};
  FIELDCOST_ASSIGN(agent::Agent agent, agent::Agent::Open(paths, SystemClock()));
  return agent.WritePolicyAtOnce(!command.pick.empty());
}

void SetEnvironment(const Request& command, const agent::AgentPaths& paths,
                    const fs::path& library) {
  SetOrUnset(shm::kStateDirVariable, paths.state_dir.string());
  SetOrUnset(shm::kPickVariable, command.pick);
  SetOrUnset(shm::kAskedVariable, "1");
  SetOrUnset(shm::kMetricsVariable, command.metrics);
  SetOrUnset("LD_PRELOAD", PreloadVariable(library.string(), Variable("LD_PRELOAD")));
}

// Returns only if the program cannot be run.
int Execute(const std::vector<std::string>& arguments) {
  std::vector<char*> raw;
  for (const std::string& argument : arguments) raw.push_back(const_cast<char*>(argument.c_str()));
  raw.push_back(nullptr);
  ::execvp(raw[0], raw.data());
  const int why = errno;
  Remark(fmt::format("cannot run {}: {}", arguments[0], std::strerror(why)));
  return why == ENOENT ? kNotFoundStatus : kCannotRunStatus;
}

// Why nothing can be measured in this program, with its name; empty if something can, or if the
// program is not there, which Execute() says better.
std::string Obstacle(const std::string& program) {
  const fs::path path = agent::FindProgram(program);
  if (path.empty()) return {};
  const auto why = agent::ExplainProgram(path);
  if (!why || why->reach == agent::Reach::kAble || why->reach == agent::Reach::kNotProgram ||
      why->reach == agent::Reach::kUnreadable) {
    return {};
  }
  std::string text = fmt::format("{}: {}", program, Phrase(why->reach));
  if (why->program != path) text += fmt::format(" ({})", why->program.string());
  return text;
}

constexpr bool DidNotStart(const Ended& ended) {
  return ended.status == kNotFoundStatus || ended.status == kCannotRunStatus;
}

// Waits for the program, and says of what nothing was measured although it was asked for.
Result<int> RunPicked(const std::string& pick, const agent::AgentPaths& paths,
                      const std::function<int()>& become_program) {
  FIELDCOST_ASSIGN(const Measured before, CollectMeasured(paths));
  FIELDCOST_ASSIGN(const Ended ended, RunAndWait(become_program));
  if (Variable("FIELDCOST_QUIET").empty() && !DidNotStart(ended)) {
    // Whatever is wrong here, the program has ended as it has.
    if (const auto after = CollectMeasured(paths)) {
      for (const std::string& line : UnmeasuredText(pick, before, *after)) Remark(line);
    } else {
      Remark("what was measured cannot be collected now: " + after.error().message);
    }
  }
  return EndLike(ended);
}

void SayNotMeasured(const std::string& why) {
  if (Variable("FIELDCOST_QUIET").empty()) Remark("nothing is measured: " + why);
}

// Brings the list into its normal form.
Status CheckMetrics(std::string& untrusted_text) {
  FIELDCOST_ASSIGN(untrusted_text, NormalizeMetrics(untrusted_text));
  return {};
}

Result<int> Run(const Request& command) {
  FIELDCOST_ASSIGN(const agent::AgentPaths paths, agent::AgentPaths::FromEnvironment());
  const auto consent = agent::EffectiveConsent(paths);
  if (!consent && command.pick.empty()) {
    SayNotMeasured(consent.error().message);
    return Execute(command.arguments);
  }
  const bool off = !consent || consent->mode == agent::Mode::kOff;
  if (off && command.pick.empty()) {
    SayNotMeasured("fieldcost is off (fieldcost agent local|on)");
    return Execute(command.arguments);
  }
  // The library's presence alone would keep some of these from starting.
  if (const std::string obstacle = Obstacle(command.arguments[0]); !obstacle.empty()) {
    SayNotMeasured(obstacle);
    return Execute(command.arguments);
  }
  FIELDCOST_ASSIGN(const fs::path library, FindPreloadLibrary());
  if (const Status prepared = PreparePolicy(command, paths); !prepared) {
    if (!command.pick.empty()) return prepared.error();  // measuring is what was asked for
    SayNotMeasured(prepared.error().message);
    return Execute(command.arguments);
  }
  const auto become_program = [&] {
    SetEnvironment(command, paths, library);
    return Execute(command.arguments);
  };
  if (command.pick.empty()) return become_program();
  return RunPicked(command.pick, paths, become_program);
}

}  // namespace

command::Command RunCommand() {
  return {
      .name = "run",
      .summary = "Run a program (given after --) and measure a few of its APIs",
      .help =
          R"(What it measures is shown by `fieldcost top --local`, and stays on this machine, but for
what would have been measured anyway (1 run in 16, by chance).
Examples:
  fieldcost run -- python3 report.py
  fieldcost run --pick 'libsqlite3.so.0!sqlite3_*' -- sqlite3 my.db < script.sql
  fieldcost run --pick 'libz.so.1!deflate' --metrics time,alloc,io -- git gc)",
      .options = {{.names = "--pick",
                   .value = "GLOB,...",
                   .help = "Measure these APIs, not a random few: globs soname!symbol, "
                           "comma-separated. Such a run stays on this machine",
                   .completes = command::Completes::kApiGlobs,
                   .check = [](std::string& text) { return CheckPick(text); }},
                  {.names = "--metrics",
                   .value = "METRICS",
                   .help = "What to measure, comma-separated: time; alloc (bytes allocated); io "
                           "(bytes of file and network I/O); cycles",
                   .completes = command::Completes::kMetrics,
                   .check = CheckMetrics}},
      .handler =
          [](const command::Arguments& arguments) {
            return Run({.pick = arguments.Text("--pick"),
                        .metrics = arguments.Text("--metrics"),
                        .arguments = arguments.program()});
          },
      .without = {"--csv"},
      .takes_program = true};
}

}  // namespace fieldcost::cli
