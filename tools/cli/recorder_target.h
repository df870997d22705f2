#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/command/command.h"

namespace fieldcost::cli {

// Whom a recorder looks at, and how often: what `trace` and `idle` share.

// --rate HZ and --runs N.
command::Option RateOption(std::string_view help, std::string_view usual);
command::Option RunsOption(std::string_view help, std::string_view usual);
// --input FILE, of every command that runs another one several times (common/base/run_input.h).
command::Option InputOption(std::vector<std::string_view> excludes = {});
// The period of --rate and a little more, so that looks are not in step with timers of 1, 4 or 10
// ms.
std::uint64_t PeriodNs(const command::Arguments& arguments);

// --pid PID and --for TIME.
command::Option PidOption(std::vector<std::string_view> excludes);
command::Option ForOption(std::vector<std::string_view> needs);

// Becomes another program ([0]: its path). Returns only if that fails. kNotFound if a program that
// it is to run itself, `command` [0], is not there.
Result<int> Become(std::vector<std::string> words, const std::vector<std::string>& command);

// Becomes the recorder, whose command line is `words` ([0] is it) and then --pid, --for, and the
// program behind "--", as far as they are given. Returns only if that fails: kNotFound if the
// program is not there.
Result<int> RunRecorder(std::vector<std::string> words, const command::Arguments& arguments);

}  // namespace fieldcost::cli
