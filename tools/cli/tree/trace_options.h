#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/command/command.h"

namespace fieldcost::cli {

// Options for recording programs, shared by `trace` and `tree compare`.

// --rate, --runs (these if they are not given), --events, --function-pointers, --counters.
std::vector<command::Option> TraceRunOptions(std::string_view usual_rate,
                                             std::string_view usual_runs);

// The command line of the recorder (agent/trace/main.cc) as far as these options but
// --runs determine it; [0] is the program. kNotFound if it, or the library for events, is missing.
Result<std::vector<std::string>> TraceWords(const command::Arguments& arguments);

// Reports why a command has no events, if --events requests them but nothing can be loaded into its
// program. Its samples are still recorded.
void RemarkOnEvents(const command::Arguments& arguments, const std::vector<std::string>& command);

}  // namespace fieldcost::cli
