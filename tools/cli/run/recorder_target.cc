#include "tools/cli/run/recorder_target.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <limits>
#include <utility>

#include "agent/reach/reach.h"
#include "common/base/child_process.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "common/command/arguments.h"
#include "tools/cli/time_argument.h"

namespace fieldcost::cli {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;
constexpr std::uint64_t kOffStepNs = 3'009;
constexpr std::uint64_t kMostHz = 10'000;
constexpr std::uint64_t kMostRuns = 10'000;

Status CheckPid(std::string& untrusted_text) {
  const auto pid = ParseUint64(untrusted_text);
  if (pid && *pid > 0 && *pid <= std::numeric_limits<pid_t>::max()) return {};
  return Fail(ErrorCode::kInvalidArgument, "expected a process ID");
}

Status CheckPositiveSpan(std::string& untrusted_text) {
  const auto span = ParseDuration(untrusted_text);
  if (span && span->count() > 0) return {};
  return Fail(ErrorCode::kInvalidArgument, "expected a time such as 30s, 5m or 1h");
}

}  // namespace

command::Option RateOption(std::string_view help, std::string_view usual) {
  return {.names = "--rate",
          .value = "HZ",
          .help = help,
          .default_text = usual,
          .check = command::CheckBetween(1, kMostHz)};
}

command::Option RunsOption(std::string_view help, std::string_view usual) {
  return {.names = "--runs",
          .value = "N",
          .help = help,
          .default_text = usual,
          .check = command::CheckBetween(1, kMostRuns)};
}

command::Option InputOption(std::vector<std::string_view> excludes) {
  return {.names = "--input",
          .value = "FILE",
          .help = "Each run reads FILE as its standard input",
          .completes = command::Completes::kFiles,
          .check = command::CheckNotEmpty,
          .excludes = std::move(excludes)};
}

std::uint64_t PeriodNs(const command::Arguments& arguments) {
  return kSecondNs / *arguments.Number("--rate") + kOffStepNs;
}

command::Option PidOption(std::vector<std::string_view> excludes) {
  return {.names = "--pid,-p",
          .value = "PID",
          .help = "Record a running process, without changing it",
          .check = CheckPid,
          .excludes = std::move(excludes)};
}

command::Option ForOption(std::vector<std::string_view> needs) {
  return {.names = "--for",
          .value = "TIME",
          .help = "Duration (30s, 5m, 1h) [until it ends, or ^C]",
          .check = CheckPositiveSpan,
          .needs = std::move(needs)};
}

Result<int> Become(std::vector<std::string> words, const std::vector<std::string>& command) {
  if (!command.empty() && reach::FindProgram(command[0]).empty()) {
    return Fail(ErrorCode::kNotFound, "cannot run {}: no such program", EscapeControl(command[0]));
  }
  if (!command.empty()) words.emplace_back("--");
  words.insert(words.end(), command.begin(), command.end());
  const std::vector<char*> pointers = ExecPointers(words);
  ::execv(pointers[0], pointers.data());
  return ErrnoError("run", words[0], errno);
}

Result<int> RunRecorder(std::vector<std::string> words, const command::Arguments& arguments) {
  if (arguments.Has("--pid")) words.insert(words.end(), {"--pid", arguments.Text("--pid")});
  if (arguments.Has("--for")) {
    const std::chrono::nanoseconds span = *ParseDuration(arguments.Text("--for"));
    words.insert(words.end(), {"--for", std::to_string(span.count())});
  }
  if (arguments.Has("--input")) words.insert(words.end(), {"--input", arguments.Text("--input")});
  return Become(std::move(words), arguments.program());
}

}  // namespace fieldcost::cli
