#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "agent/volunteer/agent.h"
#include "common/base/result.h"
#include "common/stats/api_key.h"

namespace fieldcost::cli {

// Runs a program for `fieldcost run --pick` and `--show`. Both wait for the program, because only
// after it has ended can its results, and the requested functions that were not measured, be
// reported.

// This machine's measurements: the number of values per API, and the runs not measured.
struct Measured {
  std::map<stats::ApiKey, std::uint64_t> values;
  std::vector<runs::SkipCount> skips;
};

// Collects the data that programs have left behind, and counts it.
Result<Measured> CollectMeasured(const settings::AgentPaths& paths);
// Returns only the skip counts: fast enough to call before a program starts.
Measured LookAtSkips(const settings::AgentPaths& paths);

// One line for each name of the pick (see PickGlobs()) that was not measured between `before` and
// `after`: the reason, if known, and what to do. Pure except for the callbacks.
struct AboutNames {
  // Similar function names, offered as suggestions.
  std::function<std::vector<std::string>(std::string_view symbol)> suggest;
  // The reason why the program's calls of functions matching these globs cannot be measured; often
  // empty.
  std::function<std::string(std::string_view globs)> why;
};
std::vector<std::string> UnmeasuredText(std::string_view pick, const Measured& before,
                                        const Measured& after, const AboutNames& about);

// Why requested programs were not measured between `before` and `after`: the last reason counted;
// empty if all were measured. `picked`: requested by name, so load, lease and draw do not apply.
std::string LeftAlone(const Measured& before, const Measured& after, bool picked);

struct Ended {
  int status = 0;  // the program's exit status
  int signal = 0;  // the signal that ended it, or 0
};

// Runs `execute`, which returns an exit status only if its exec fails, in a child process and waits
// for its end. The terminal's signals are left to the program; SIGTERM and SIGHUP are forwarded.
// Another thread calls `look` with the child's pid at once and then every kLookEvery until it has
// ended. kIo.
inline constexpr std::chrono::milliseconds kLookEvery{50};
Result<Ended> RunAndWait(const std::function<int()>& execute,
                         const std::function<void(pid_t program)>& look);

// If a signal ended the child, ends this process by the same signal. Otherwise, or if that fails,
// returns the corresponding exit status.
int EndLike(const Ended& ended);

}  // namespace fieldcost::cli
