#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#include "agent/daemon/agent.h"
#include "agent/daemon/reach.h"
#include "common/base/text.h"
#include "common/shm/policy_file.h"
#include "tools/cli/commands.h"
#include "tools/cli/pick.h"
#include "tools/cli/picked_run.h"
#include "tools/cli/preload_library.h"
#include "tools/cli/terminal_io.h"

namespace fieldcost::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kNotFoundStatus = 127;  // as of a POSIX shell
constexpr int kCannotRunStatus = 126;

// The policy file is written by `fieldcost agent` and the daemon; here only if it is missing or
// older than the configuration.
bool PolicyIsCurrent(const daemon::Profile& profile) {
  std::error_code error;
  const auto policy = fs::last_write_time(profile.policy_file(), error);
  if (error) return false;
  const auto config = fs::last_write_time(profile.config_file, error);
  return error || config <= policy;
}

void SetOrUnset(const char* name, const std::string& value) {
  if (value.empty()) {
    ::unsetenv(name);
  } else {
    ::setenv(name, value.c_str(), 1);
  }
}

Status PreparePolicy(const RunCommand& command, const daemon::Profile& profile) {
  if (PolicyIsCurrent(profile)) return {};
  FIELDCOST_ASSIGN(daemon::Agent agent, daemon::Agent::Open(profile, SystemClock()));
  return agent.WritePolicyAtOnce(!command.pick.empty());
}

void SetEnvironment(const RunCommand& command, const daemon::Profile& profile,
                    const fs::path& library) {
  SetOrUnset(shm::kStateDirVariable, profile.state_dir.string());
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
  const fs::path path = daemon::FindProgram(program);
  if (path.empty()) return {};
  const auto why = daemon::ExplainProgram(path);
  if (!why || why->reach == daemon::Reach::kAble || why->reach == daemon::Reach::kNotProgram ||
      why->reach == daemon::Reach::kUnreadable) {
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
Result<int> RunPicked(const std::string& pick, const daemon::Profile& profile,
                      const std::function<int()>& become_program) {
  FIELDCOST_ASSIGN(const Measured before, CollectMeasured(profile));
  FIELDCOST_ASSIGN(const Ended ended, RunAndWait(become_program));
  if (Variable("FIELDCOST_QUIET").empty() && !DidNotStart(ended)) {
    // Whatever is wrong here, the program has ended as it has.
    if (const auto after = CollectMeasured(profile)) {
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

}  // namespace

Result<int> Run(const RunCommand& command, const Output&) {
  FIELDCOST_ASSIGN(const daemon::Profile profile, daemon::Profile::FromEnvironment());
  const auto consent = daemon::EffectiveConsent(profile);
  if (!consent && command.pick.empty()) {
    SayNotMeasured(consent.error().message);
    return Execute(command.arguments);
  }
  const bool off = !consent || consent->mode == daemon::Mode::kOff;
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
  if (const Status prepared = PreparePolicy(command, profile); !prepared) {
    if (!command.pick.empty()) return prepared.error();  // measuring is what was asked for
    SayNotMeasured(prepared.error().message);
    return Execute(command.arguments);
  }
  const auto become_program = [&] {
    SetEnvironment(command, profile, library);
    return Execute(command.arguments);
  };
  if (command.pick.empty()) return become_program();
  return RunPicked(command.pick, profile, become_program);
}

}  // namespace fieldcost::cli
