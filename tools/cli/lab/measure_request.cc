#include "tools/cli/lab/measure_request.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>

#include "common/base/text.h"
#include "tools/cli/common_options.h"
#include "tools/cli/run/pick.h"
#include "tools/cli/run/recorder_target.h"
#include "tools/cli/time_argument.h"

namespace fieldcost::cli {
namespace {

constexpr std::string_view kAnyStatus = "all";

// Converts C++ names to the form that the library reads.
Status CheckGlobs(std::string& untrusted_text) {
  FIELDCOST_ASSIGN(untrusted_text, ResolvePick(untrusted_text));
  return {};
}

Status CheckSpan(std::string& untrusted_text) {
  if (ParseDuration(untrusted_text)) return {};
  return Fail(ErrorCode::kInvalidArgument, "expected a time such as 30s, 5m or 1h");
}

Status CheckStatuses(std::string& untrusted_text) {
  if (untrusted_text == kAnyStatus) return {};
  for (std::size_t begin = 0; begin <= untrusted_text.size();) {
    const std::size_t end = std::min(untrusted_text.find(',', begin), untrusted_text.size());
    const auto status = ParseUint64(std::string_view(untrusted_text).substr(begin, end - begin));
    if (!status || *status > 255) {
      return Fail(ErrorCode::kInvalidArgument, "expected 'all' or a list such as 1,2");
    }
    begin = end + 1;
  }
  return {};
}

// A comma at the end does not begin another item.
std::vector<std::string_view> Listed(std::string_view text) {
  std::vector<std::string_view> parts = Split(text, ",");
  if (parts.back().empty()) parts.pop_back();
  return parts;
}

lab::OutputMode OutputModeOf(std::string_view text) {
  if (text == "null") return lab::OutputMode::kNull;
  return text == "inherit" ? lab::OutputMode::kInherit : lab::OutputMode::kPipe;
}

std::optional<std::chrono::milliseconds> SpanOf(std::string_view text) {
  const auto span = ParseDuration(text);
  if (!span) return std::nullopt;
  return std::chrono::duration_cast<std::chrono::milliseconds>(*span);
}

lab::MeasureOptions OptionsOf(const command::Arguments& arguments) {
  lab::MeasureOptions options;
  options.runner.scenario.command = arguments.program();
  options.runner.scenario.output = OutputModeOf(arguments.Text("--output"));
  options.runner.scenario.timeout = SpanOf(arguments.Text("--timeout"));
  options.apis = arguments.Text("--apis");
  for (const std::string_view glob : Listed(arguments.Text("--isolate"))) {
    options.isolate.emplace_back(glob);
  }
  options.rounds = static_cast<std::uint32_t>(*arguments.Number("--rounds"));
  options.warmup = static_cast<std::uint32_t>(*arguments.Number("--warmup"));
  options.seed = arguments.Number("--seed");
  options.max_time = SpanOf(arguments.Text("--max-time"));
  options.prepare = arguments.Text("--prepare");
  options.cleanup = arguments.Text("--cleanup");
  options.accept_any_status = arguments.Text("--ignore-failure") == kAnyStatus;
  if (!options.accept_any_status) {
    for (const std::string_view status : Listed(arguments.Text("--ignore-failure"))) {
      options.accepted_statuses.insert(std::stoi(std::string(status)));
    }
    if (!options.accepted_statuses.empty()) options.accepted_statuses.insert(0);
  }
  options.plan_only = arguments.Has("--plan");
  options.data_slots = arguments.Has("--function-pointers");
  return options;
}

// Checks a text such as "N=1,10,100".
Status CheckScan(std::string& untrusted_text) {
  const std::size_t equals = untrusted_text.find('=');
  const auto bad = [] {
    return Fail(ErrorCode::kInvalidArgument, "expected a name with numbers, such as N=1,10,100");
  };
  if (equals == 0 || equals == std::string::npos || equals + 1 == untrusted_text.size())
    return bad();
  for (const std::string_view value : Listed(std::string_view(untrusted_text).substr(equals + 1))) {
    if (!ParseUint64(value)) return bad();
  }
  return {};
}

std::vector<command::Option> FilesAndComparisons() {
  return {
      LimitOption("At most N lines of the table; 0 = all"),
      {.names = "--save",
       .value = "FILE",
       .help = "Write the table to FILE: merge, top, show, diff and check read it",
       .completes = command::Completes::kFiles},
      {.names = "--diff-base",
       .value = "FILE",
       .help = "Compare with that table instead of printing this one: exit status 1 if something "
               "costs more, 2 if there is too little data",
       .completes = command::Completes::kFiles},
      {.names = "--require",
       .value = "FILE",
       .help = "Check the requirements in FILE instead of printing the table: exit status 1 if one "
               "is violated, 2 if one is not measured",
       .completes = command::Completes::kFiles,
       .check = command::CheckNotEmpty,
       .excludes = {"--diff-base", "--field", "--plan", "--scan"}},
      {.names = "--field",
       .help = "Add the ratio of field cost to cost measured here",
       .excludes = {"--diff-base"}},
      {.names = "--uncalled",
       .help = "List the functions that each measured library exports and nothing called",
       .excludes = {"--diff-base", "--require", "--plan"}},
      {.names = "--html",
       .value = "FILE",
       .help = "Write an HTML page to FILE: spectra, histograms, shapes, pairs and groups",
       .completes = command::Completes::kFiles},
      ExportPprofOption(),
      ExportFoldedOption(),
      {.names = "--name", .value = "TEXT", .help = "Name in the table instead of the command"},
      {.names = "--apis",
       .value = "GLOB,...",
       .help = "Only these APIs: symbols, or globs soname!symbol",
       .completes = command::Completes::kApiGlobs,
       .check = CheckGlobs},
      {.names = "--isolate",
       .value = "GLOB,...",
       .help = "Measure each of these in separate runs",
       .completes = command::Completes::kApiGlobs,
       .check = CheckGlobs},
      {.names = "--rounds",
       .value = "N",
       .help = "How many times each API is timed",
       .default_text = "5",
       .check = command::CheckBetween(0, kMostRounds)}};
}

}  // namespace

std::vector<command::Option> MeasureRequestOptions() {
  std::vector<command::Option> options = FilesAndComparisons();
  const std::vector<command::Option> of_runs = {
      InputOption(),
      {.names = "--warmup",
       .value = "N",
       .help = "Runs before all others that measure nothing",
       .default_text = "0",
       .check = command::CheckBetween(0, kMostRounds)},
      {.names = "--seed",
       .value = "N",
       .help = "Seed for the order of runs [derived from the APIs called]",
       .check = command::CheckNumber},
      {.names = "--max-time",
       .value = "TIME",
       .help = "Stop after that time (30s, 5m, 1h), keeping finished rounds",
       .check = CheckSpan},
      {.names = "--timeout",
       .value = "TIME",
       .help = "Stop if one run takes longer, keeping finished rounds",
       .check = CheckSpan},
      {.names = "--prepare", .value = "COMMAND", .help = "Run this shell command before each run"},
      {.names = "--cleanup",
       .value = "COMMAND",
       .help = "Run this shell command after the last run"},
      {.names = "--scan",
       .value = "NAME=N,...",
       .help = "Measure with each of these numbers in place of {NAME} in the command",
       .check = CheckScan},
      {.names = "--output",
       .value = "WHERE",
       .help = "Where the command's output goes (pipe: it is read and compared)",
       .default_text = "pipe",
       .choices = {"pipe", "null", "inherit"}},
      {.names = "--ignore-failure",
       .value = "LIST",
       .help = "Exit statuses to ignore: all, or a list such as 1,2",
       .check = CheckStatuses},
      {.names = "--function-pointers",
       .help = "Include calls of functions whose address the program takes (programs built with "
               "-fno-plt); this changes their addresses"},
      {.names = "--plan", .help = "Find what is called and form the groups, but time nothing"}};
  options.insert(options.end(), of_runs.begin(), of_runs.end());
  return options;
}

Result<MeasureRequest> MeasureRequestOf(const command::Arguments& arguments) {
  MeasureRequest request{.options = OptionsOf(arguments),
                         .input = arguments.Text("--input"),
                         .scan = {},
                         .scan_name = {},
                         .name = arguments.Text("--name"),
                         .save = arguments.Text("--save"),
                         .base = arguments.Text("--diff-base"),
                         .requirements = arguments.Text("--require"),
                         .limit = *arguments.Number("--limit"),
                         .with_field = arguments.Has("--field"),
                         .names_uncalled = arguments.Has("--uncalled"),
                         .page = arguments.Text("--html"),
                         .exports = ExportsOf(arguments)};
  const std::string& scan = arguments.Text("--scan");
  if (scan.empty()) return request;
  const std::size_t equals = scan.find('=');
  request.scan_name = scan.substr(0, equals);
  for (const std::string_view value : Listed(std::string_view(scan).substr(equals + 1))) {
    request.scan.push_back(*ParseUint64(value));
  }
  return request;
}

}  // namespace fieldcost::cli
