#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/command/command.h"

namespace fieldcost::cli {

// Options for recording programs, shared by `trace` and `tree compare`.

// --rate, --runs (with these defaults), --events, --function-pointers, --counters.
std::vector<command::Option> TraceRunOptions(std::string_view usual_rate,
                                             std::string_view usual_runs);

// The recorder's command line (agent/trace/main.cc) as far as these options, except --runs,
// determine it; [0] is the program. kNotFound if the program, or the library for events, is
// missing.
Result<std::vector<std::string>> TraceWords(const command::Arguments& arguments);

// If --events requests events but nothing can be loaded into the command's program, reports why
// there are none. Its samples are still recorded.
void RemarkOnEvents(const command::Arguments& arguments, const std::vector<std::string>& command);

}  // namespace fieldcost::cli
