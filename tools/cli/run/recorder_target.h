#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/command/command.h"

namespace fieldcost::cli {

// A recorder's target and sampling rate, shared by `trace` and `idle`.

// --rate HZ and --runs N.
command::Option RateOption(std::string_view help, std::string_view usual);
command::Option RunsOption(std::string_view help, std::string_view usual);
// --input FILE, for commands that run a program several times (common/base/run_input.h).
command::Option InputOption(std::vector<std::string_view> excludes = {});
// Slightly more than the period of --rate, so that samples do not synchronise with timers of 1, 4
// or 10 ms.
std::uint64_t PeriodNs(const command::Arguments& arguments);

// --pid PID and --for TIME.
command::Option PidOption(std::vector<std::string_view> excludes);
command::Option ForOption(std::vector<std::string_view> needs);

// Executes another program; [0] of `words` is its path. Returns only on failure: kNotFound if the
// program that it would run, [0] of `command`, does not exist.
Result<int> Become(std::vector<std::string> words, const std::vector<std::string>& command);

// Executes the recorder with the command line `words` ([0] is its path), followed by --pid, --for
// and the program after "--" if given. Returns only on failure: kNotFound if the program does not
// exist.
Result<int> RunRecorder(std::vector<std::string> words, const command::Arguments& arguments);

}  // namespace fieldcost::cli
