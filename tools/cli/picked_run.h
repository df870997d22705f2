#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "agent/daemon/agent.h"
#include "common/base/result.h"
#include "common/stats/api_key.h"

namespace fieldcost::cli {

// `fieldcost run --pick` and `--show`: what was found, and what somebody asked for by name and has
// not got, can be said only when the program has ended. So these wait for it.

// What has been measured on this machine: values of each API, and runs that were not measured.
struct Measured {
  std::map<stats::ApiKey, std::uint64_t> values;
  std::vector<agent::SkipCount> skips;
};

// Collects what programs have left, and counts it.
Result<Measured> CollectMeasured(const agent::AgentPaths& paths);
// The runs that were not measured alone, which takes no time before a program.
Measured LookAtSkips(const agent::AgentPaths& paths);

// One line for each name of the pick (see PickGlobs()) of which nothing was measured between the
// two: why, as far as that is known, and what to do. Pure but for what it asks.
struct AboutNames {
  // Names that resemble that of a function, which are offered.
  std::function<std::vector<std::string>(std::string_view symbol)> suggest;
  // Why the program's calls of functions that these globs mean cannot be measured; often empty.
  std::function<std::string(std::string_view globs)> why;
};
std::vector<std::string> UnmeasuredText(std::string_view pick, const Measured& before,
                                        const Measured& after, const AboutNames& about);

// Why programs that were asked for were left alone between the two, as the last reason that they
// counted; empty if none was. `picked`: by name, which knows no load, no lease and no draw.
std::string LeftAlone(const Measured& before, const Measured& after, bool picked);

struct Ended {
  int status = 0;  // its exit status
  int signal = 0;  // what ended it, or 0
};

// Runs `execute`, which returns an exit status only if it has not become another program, in a
// process of its own, and waits until it has ended. What is typed at the terminal is the program's
// business; SIGTERM and SIGHUP are passed on. `look` is called with its process id at once and then
// each kLookEvery, on another thread, until it has ended. kIo.
inline constexpr std::chrono::milliseconds kLookEvery{50};
Result<Ended> RunAndWait(const std::function<int()>& execute,
                         const std::function<void(pid_t program)>& look);

// Ends this process as that one ended, if a signal did it. Else, or if that does not help, returns
// the exit status for it.
int EndLike(const Ended& ended);

}  // namespace fieldcost::cli
