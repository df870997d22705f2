#include <unistd.h>

#include <cerrno>

#include "agent/reach/reach.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "tools/cli/commands.h"
#include "tools/cli/session/preload_library.h"

namespace fieldcost::cli {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;
// So that samples are not in step with timers of 1, 4 or 10 ms.
constexpr std::uint64_t kOffStepNs = 3'009;
constexpr std::uint64_t kMostHz = 10'000;
constexpr std::uint64_t kMostRuns = 10'000;

Status CheckRate(std::string& untrusted_text) {
  const auto rate = ParseUint64(untrusted_text);
  if (rate && *rate > 0 && *rate <= kMostHz) return {};
  return Fail(ErrorCode::kInvalidArgument, "it is a number from 1 to {}", kMostHz);
}

Status CheckRuns(std::string& untrusted_text) {
  const auto runs = ParseUint64(untrusted_text);
  if (runs && *runs > 0 && *runs <= kMostRuns) return {};
  return Fail(ErrorCode::kInvalidArgument, "it is a number from 1 to {}", kMostRuns);
}

Result<int> Run(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(const std::filesystem::path recorder, FindTraceProgram());
  const std::string& program = arguments.program()[0];
  if (agent::FindProgram(program).empty()) {
    return Fail(ErrorCode::kNotFound, "cannot run {}: there is no such program",
                EscapeControl(program));
  }
  const std::uint64_t period_ns = kSecondNs / *arguments.Number("--rate") + kOffStepNs;
  std::vector<std::string> words = {recorder.string(), arguments.Text("--output"),
                                    std::to_string(period_ns), arguments.Text("--runs")};
  words.insert(words.end(), arguments.program().begin(), arguments.program().end());
  std::vector<char*> raw;
  for (std::string& word : words) raw.push_back(word.data());
  raw.push_back(nullptr);
  ::execv(raw[0], raw.data());
  return ErrnoError("run", recorder, errno);
}

}  // namespace

command::Command TraceCommand() {
  return {
      .name = "trace",
      .summary = "Record on which call paths a program spends its time",
      .help =
          R"(Stacks are sampled from outside: the program needs no rebuild and no frame pointers, and is not
stopped. What it does in the kernel, and its waits, are not in it. A run that fails is the last one;
^C ends the program and keeps what was recorded. Nothing is sent anywhere. Examples:
  fieldcost trace -o a.fct -- ./app args
  fieldcost trace --runs 10 -o new.fct -- ./app args
  fieldcost tree show a.fct)",
      .options = {{.names = "--output,-o",
                   .value = "FILE",
                   .help = "The recording; one that is there is replaced",
                   .default_text = "trace.fct",
                   .completes = command::Completes::kFiles,
                   .check = command::CheckNotEmpty},
                  {.names = "--rate",
                   .value = "HZ",
                   .help = "Samples a second of CPU time",
                   .default_text = "499",
                   .check = CheckRate},
                  {.names = "--runs",
                   .value = "N",
                   .help = "So many runs, one after the other, in one recording",
                   .default_text = "1",
                   .check = CheckRuns}},
      .handler = Run,
      .without = {"--json", "--csv", "--no-pager", "--color"},
      .takes_program = true};
}

}  // namespace fieldcost::cli
