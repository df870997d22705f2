#include "tools/cli/tree/trace_options.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>

#include "common/base/nearest.h"
#include "common/base/text.h"
#include "common/command/arguments.h"
#include "tools/cli/run/installed_parts.h"
#include "tools/cli/run/obstacle.h"
#include "tools/cli/run/pick.h"
#include "tools/cli/run/recorder_target.h"
#include "tools/cli/terminal/terminal_io.h"

namespace fieldcost::cli {
namespace {

// The value of `--events`: keywords, and globs of APIs.
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
    } else if (const std::string meant = MeantName(word, {"functions", "branches"});
               !meant.empty()) {
      return Fail(ErrorCode::kInvalidArgument, "no events named {}; did you mean {}?",
                  EscapeControl(word), meant);
    } else {
      FIELDCOST_ASSIGN(const std::string globs, PickGlobs(word));
      if (!events.globs.empty()) events.globs += ',';
      events.globs += globs;
    }
  }
  if (!events.any())
    return Fail(ErrorCode::kInvalidArgument, "expected functions, branches or [LIBRARY!]FUNCTION");
  return events;
}

Status CheckEvents(std::string& untrusted_text) {
  const auto events = ParseEvents(untrusted_text);
  return events ? Status() : Status(events.error());
}

// The names in the recorder (agent/perf/counter.cc).
constexpr std::array<std::string_view, 5> kCounters = {"cycles", "instructions", "cache-misses",
                                                       "branch-misses", "faults"};

Status CheckCounters(std::string& untrusted_text) {
  std::string_view untrusted_left = untrusted_text;
  for (bool more = true; more;) {
    const std::size_t end = std::min(untrusted_left.find(','), untrusted_left.size());
    const std::string_view word = untrusted_left.substr(0, end);
    if (std::ranges::find(kCounters, word) == kCounters.end()) {
      return Fail(ErrorCode::kInvalidArgument,
                  "no counter named \"{}\"; expected cycles, instructions, cache-misses, "
                  "branch-misses or faults",
                  EscapeControl(word));
    }
    more = end < untrusted_left.size();
    untrusted_left.remove_prefix(end + (more ? 1 : 0));
  }
  return {};
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

}  // namespace

std::vector<command::Option> TraceRunOptions(std::string_view usual_rate,
                                             std::string_view usual_runs) {
  return {
      RateOption("Samples per second of CPU time", usual_rate),
      RunsOption("Number of runs (10 for comparisons)", usual_runs),
      {.names = "--events",
       .value = "LIST",
       .help = "Also count these: functions, branches, [LIBRARY!]FUNCTION, ..., comma-separated",
       .check = CheckEvents},
      {.names = "--function-pointers",
       .help = "Include calls of these through function pointers, and of programs built with "
               "-fno-plt; this changes the functions' addresses",
       .needs = {"--events"}},
      {.names = "--counters",
       .value = "LIST",
       .help = "Also sample these: cycles, instructions, cache-misses, branch-misses, faults",
       .check = CheckCounters}};
}

void RemarkOnEvents(const command::Arguments& arguments, const std::vector<std::string>& command) {
  if (!arguments.Has("--events") || command.empty()) return;
  const std::string obstacle = Obstacle(command[0]);
  if (!obstacle.empty()) Remark("no events are recorded: " + obstacle);
}

Result<std::vector<std::string>> TraceWords(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(const std::filesystem::path recorder, FindTraceProgram());
  std::vector<std::string> words = {recorder.string(), "--period",
                                    std::to_string(PeriodNs(arguments))};
  FIELDCOST_TRY(AddEventOptions(arguments.Text("--events"), words));
  if (arguments.Has("--function-pointers")) words.emplace_back("--function-pointers");
  if (arguments.Has("--counters"))
    words.insert(words.end(), {"--counters", arguments.Text("--counters")});
  return words;
}

}  // namespace fieldcost::cli
